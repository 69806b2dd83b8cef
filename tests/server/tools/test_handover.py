"""A handover is told, signed, to a real receiver; what may pass is tried again, and nothing of it is raised."""

import asyncio
import hashlib
import hmac
from typing import Any

import pytest
from pydantic import SecretStr

from antiphon.core.errors import InvalidInput
from antiphon.server.tools.handover import HandoverHook, signature
from antiphon.settings import HandoverSettings

from ..support import run, until
from .support import Web, answer, never, web

PAYLOAD = {
    "session_id": "s1",
    "reason": "asked for a person",
    "transcript": [{"role": "user", "content": "A person, please."}],
    "ledger": [{"turn": 1, "kind": "handover"}],
}


def hook(site: Web, **more: Any) -> HandoverHook:
    return HandoverHook(HandoverSettings(url=site.url + "/take", **more), now_s=lambda: 1_700_000_000.0, sleep=never)


def test_it_arrives_whole_and_signed() -> None:
    async def test() -> None:
        async with web(answer(204)) as site:
            sender = hook(site, secret=SecretStr("swordfish"))
            assert await sender.handover(PAYLOAD)
            asked = site.asked[0]
            assert asked.line == "POST /take HTTP/1.1"
            assert asked.json.items() >= PAYLOAD.items()
            assert asked.json["type"] == "handover"
            mac = hmac.new(b"swordfish", b"1700000000." + asked.body, hashlib.sha256).hexdigest()
            assert asked.headers["x-antiphon-signature"] == f"t=1700000000,v1={mac}"
            assert asked.json["id"] == asked.headers["x-antiphon-delivery"]
            await sender.aclose()

    run(test())


@pytest.mark.parametrize("first", [b"", answer(503), answer(429)])
def test_what_may_pass_is_tried_again_as_the_same_message(first: bytes) -> None:
    async def test() -> None:
        async with web(first, first, answer(200)) as site:
            assert await hook(site).handover(PAYLOAD)
            assert len(site.asked) == 3
            assert len({asked.headers["x-antiphon-delivery"] for asked in site.asked}) == 1
            assert len({asked.body for asked in site.asked}) == 1
            assert "x-antiphon-signature" not in site.asked[0].headers

    run(test())


def test_a_refusal_is_final_and_attempts_end() -> None:
    async def test() -> None:
        async with web(answer(400)) as site:
            assert not await hook(site).handover(PAYLOAD)
            assert len(site.asked) == 1
        async with web(answer(500)) as site:
            assert not await hook(site, attempts=2).handover(PAYLOAD)
            assert len(site.asked) == 2

    run(test())


def test_a_receiver_that_says_nothing_is_given_up() -> None:
    async def test() -> None:
        async with web(None) as site:
            assert not await hook(site, timeout_s=0.05, attempts=2).handover(PAYLOAD)

    run(test())


def test_whoever_is_cancelled_does_not_stop_the_delivery() -> None:
    async def test() -> None:
        async with web(answer(200)) as site:
            sender = hook(site)
            waiting = asyncio.get_running_loop().create_task(sender.handover(PAYLOAD))
            await asyncio.sleep(0)
            waiting.cancel()
            await sender.aclose()
            assert len(site.asked) == 1

    run(test())


def test_the_end_does_not_wait_for_ever() -> None:
    async def test() -> None:
        async with web(None) as site:
            sender = hook(site, timeout_s=60)
            waiting = asyncio.get_running_loop().create_task(sender.handover(PAYLOAD))
            await until(lambda: site.asked)
            await sender.aclose(wait_s=0.01)
            assert not await waiting

    run(test())


def test_what_cannot_be_written_or_sent_is_no_fault_of_the_conversation() -> None:
    async def test() -> None:
        assert not await HandoverHook(HandoverSettings()).handover(PAYLOAD)
        loop: list[object] = []
        loop.append(loop)
        assert not await HandoverHook(HandoverSettings(url="http://127.0.0.1:1/")).handover({"reason": loop})

    run(test())


@pytest.mark.parametrize("url", ["nowhere", "ftp://host/", "http://", "http://[/"])
def test_a_url_that_cannot_work_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match=r"agent\.handover\.url"):
        HandoverHook(HandoverSettings(url=url))


def test_a_signature_depends_on_time_and_body() -> None:
    made = {signature(b"k", b"a", 1), signature(b"k", b"b", 1), signature(b"k", b"a", 2), signature(b"l", b"a", 1)}
    assert len(made) == 4
