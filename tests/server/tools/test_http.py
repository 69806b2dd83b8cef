"""Tools that are HTTP requests, against a real server on a loopback port."""

import asyncio
import gzip
import tracemalloc
import zlib
from typing import Any

import httpx
import pytest

from antiphon.core.errors import InvalidInput
from antiphon.server.tools.http import HttpTool, filled, placeholders
from antiphon.server.tools.outcome import ToolContext, ToolFailed, ToolOutcome
from antiphon.server.tools.tool import Offer

from ..support import run, until
from .support import OBJECT, Web, answer, never, web

RESET = b""


def tool(url: str, client: httpx.AsyncClient, effect: Any = "write", **more: Any) -> HttpTool:
    return HttpTool(Offer("act", "It acts.", OBJECT, effect), url, client, sleep=never, **more)


async def ask(site: Web, path: str, arguments: dict[str, Any], **more: Any) -> ToolOutcome:
    async with httpx.AsyncClient() as client:
        return await tool(site.url + path, client, **more).run(arguments, "key-1", ToolContext())


def test_arguments_go_into_path_query_and_body() -> None:
    async def test() -> None:
        async with web(answer(200, {"moved": True})) as site:
            outcome = await ask(site, "/orders/{id}?by={who}", {"id": "a/../b?x=1&y", "who": "Ä b", "day": "Friday"})
            assert outcome == ToolOutcome(True, '{"moved": true}')
            assert site.asked[0].line == "POST /orders/a%2F..%2Fb%3Fx%3D1%26y?by=%C3%84%20b HTTP/1.1"
            assert site.asked[0].json == {"day": "Friday"}
            assert site.asked[0].headers["idempotency-key"] == "key-1"
            await ask(site, "/orders?a=1", {"q": "x&y", "n": [1, 2], "flag": True}, method="GET")
            assert site.asked[1].line == "GET /orders?a=1&q=x%26y&n=1&n=2&flag=true HTTP/1.1"

    run(test())


@pytest.mark.parametrize("value", ["", ".", ".."])
def test_an_argument_cannot_climb_out_of_its_place(value: str) -> None:
    with pytest.raises(ToolFailed, match="id"):
        filled("http://host/orders/{id}/pay", {"id": value})
    assert filled("http://host/x-{id}", {"id": value}) == f"http://host/x-{value}"


@pytest.mark.parametrize(
    "url", ["http://{host}/x", "ftp://host/x", "http://me:pw@host/", "/path", "http://[", "https://"]
)
def test_urls_that_cannot_be_tools(url: str) -> None:
    with pytest.raises(InvalidInput):
        placeholders(url)


def test_headers_are_sent_and_redirects_are_not_followed() -> None:
    async def test() -> None:
        async with web(answer(302, None, Location="http://127.0.0.1:1/steal")) as site:
            with pytest.raises(ToolFailed, match="redirect"):
                await ask(site, "/", {}, headers={"Authorization": "Bearer s3cret"})
            assert site.asked[0].headers["authorization"] == "Bearer s3cret"
            assert len(site.asked) == 1

    run(test())


def test_a_refusal_is_told_with_its_body() -> None:
    async def test() -> None:
        async with web(answer(404, {"why": "no such order"})) as site:
            with pytest.raises(ToolFailed, match=r"127\.0\.0\.1 answered 404") as failure:
                await ask(site, "/", {})
            assert failure.value.details == {"status": 404, "answer": {"why": "no such order"}}

    run(test())


def test_a_server_that_is_away_is_tried_again_with_the_same_key() -> None:
    seen: list[str] = []

    def away(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["idempotency-key"])
        if len(seen) < 3:
            raise httpx.ConnectError("refused")
        return httpx.Response(200, stream=httpx.ByteStream(b"done"))

    async def test() -> None:
        async with httpx.AsyncClient(transport=httpx.MockTransport(away)) as client:
            assert (await tool("http://host/", client).run({}, "k", ToolContext())).content == "done"
            assert seen == ["k", "k", "k"]
        async with httpx.AsyncClient() as client:  # nothing listens on port 1
            with pytest.raises(ToolFailed, match="cannot be reached; nothing was done"):
                await tool("http://127.0.0.1:1/", client, attempts=2).run({}, "k", ToolContext())

    run(test())


def test_a_write_that_was_sent_is_not_sent_again() -> None:
    async def test() -> None:
        async with web(RESET, answer(200, "late")) as site:
            with pytest.raises(ToolFailed, match="not known whether it was done"):
                await ask(site, "/", {})
            assert len(site.asked) == 1
        async with web(answer(503), answer(200)) as site:
            with pytest.raises(ToolFailed, match="503"):
                await ask(site, "/", {})

    run(test())


def test_a_read_is_sent_again() -> None:
    async def test() -> None:
        async with web(RESET, answer(503), answer(200, "there")) as site:
            assert (await ask(site, "/", {}, effect="read", method="GET")).content == '"there"'
            assert len(site.asked) == 3

    run(test())


def test_an_endless_answer_is_cut() -> None:
    async def test() -> None:
        async with web(b"HTTP/1.1 200 X\r\nContent-Length: 999999999\r\n\r\n" + b"x" * 400_000) as site:
            outcome = await ask(site, "/", {})
            assert outcome.ok
            assert "only its beginning" in outcome.content
            assert len(outcome.content) < 3_000

    run(test())


def test_a_cancelled_request_lets_go_of_its_connection() -> None:
    async def test() -> None:
        async with web(None) as site:
            task = asyncio.get_running_loop().create_task(ask(site, "/", {}, effect="read"))
            await until(lambda: site.asked)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    run(test())


@pytest.mark.parametrize("times", [1, 2])
def test_what_was_packed_unasked_is_not_unfolded_without_measure(times: int) -> None:
    packed = bytes(100_000_000)
    for _ in range(times):
        packed = zlib.compress(packed, 1)

    async def test() -> None:
        names = ", ".join(["deflate"] * times)
        async with web(b"HTTP/1.1 200 X\r\nContent-Encoding: " + names.encode() + b"\r\n\r\n" + packed) as site:
            tracemalloc.start()
            try:
                if times == 1:
                    assert "only its beginning" in (await ask(site, "/", {})).content
                else:
                    with pytest.raises(ToolFailed, match="answered 200, but packed in a way that was not asked for"):
                        await ask(site, "/", {})
                assert tracemalloc.get_traced_memory()[1] < 20_000_000
            finally:
                tracemalloc.stop()

    run(test())


def test_a_short_answer_that_was_packed_unasked_is_read() -> None:
    async def test() -> None:
        async with web(answer(200, gzip.compress(b'{"moved": true}'), **{"Content-Encoding": "gzip"})) as site:
            assert await ask(site, "/", {}) == ToolOutcome(True, '{"moved": true}')
        async with web(answer(200, b"no such thing", **{"Content-Encoding": "gzip"})) as site:
            with pytest.raises(ToolFailed, match="cannot be read"):
                await ask(site, "/", {})

    run(test())
