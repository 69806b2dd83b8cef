"""The model client against a scripted server on a real loopback socket."""

import asyncio
import logging
import socket
from collections.abc import Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

import pytest

from antiphon.core.brain import BrainDone, BrainEvent, BrainFailed, BrainRequest, Message, TextDelta, ToolCall, ToolSpec
from antiphon.core.clock import ManualClock, MonotonicClock
from antiphon.core.errors import InvalidInput
from antiphon.engine.llm import Llm
from antiphon.engine.llm_endpoint import Health, LlmEndpoint
from tests.engine.scripted_llm import DONE, Drop, Reply, ScriptedServer, Stay, data, scripted_server, words

T = TypeVar("T")
REQUEST = BrainRequest((Message("user", "hello"),))
KEY = "sk-very-secret"


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(work, 20))


def endpoint(server: ScriptedServer | str, model: str = "m", **settings: Any) -> LlmEndpoint:
    return LlmEndpoint(server if isinstance(server, str) else server.url, model, KEY, **settings)


async def collect(llm: Llm, request: BrainRequest = REQUEST) -> list[BrainEvent]:
    try:
        return [event async for event in llm.stream(request)]
    finally:
        await llm.aclose()


async def ask(*replies: Reply, rounds: int = 1, request: BrainRequest = REQUEST, **settings: Any) -> list[BrainEvent]:
    async with scripted_server(*replies) as server:
        return await collect(Llm([endpoint(server, **settings)], MonotonicClock(), rounds=rounds), request)


def text_of(events: list[BrainEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def failure(events: list[BrainEvent]) -> BrainFailed:
    assert isinstance(events[-1], BrainFailed)
    return events[-1]


def closed_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/v1"


def test_text_streams_and_usage_follows() -> None:
    events = run(ask(Reply(words("Hel", "lo", " there."))))
    assert events == [TextDelta("Hel"), TextDelta("lo"), TextDelta(" there."), BrainDone("stop", 7, 3)]


def test_first_token_comes_before_the_stream_ends() -> None:
    async def scenario() -> None:
        async with scripted_server(Reply([data({"content": "Hi"}), Stay()])) as server:
            llm = Llm([endpoint(server)], MonotonicClock())
            async with aclosing(llm.stream(REQUEST)) as events:
                assert await anext(events) == TextDelta("Hi")
            await llm.aclose()

    run(scenario())


def test_tool_calls_arrive_in_fragments() -> None:
    pieces = [
        data({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "look", "arguments": ""}}]}),
        data({"tool_calls": [{"index": 0, "function": {"arguments": '{"id": '}}]}),
        data({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "open", "arguments": "{}"}}]}),
        data({"tool_calls": [{"index": 0, "function": {"arguments": '"1"}'}}]}),
        data({}, "tool_calls"),
        DONE,
    ]
    events = run(ask(Reply(pieces)))
    assert events == [ToolCall("a", "look", '{"id": "1"}'), ToolCall("b", "open", "{}"), BrainDone("tool_calls")]


def test_the_request_on_the_wire() -> None:
    async def scenario() -> ScriptedServer:
        async with scripted_server(Reply(words("ok"))) as server:
            request = BrainRequest(
                (
                    Message("system", "Be short."),
                    Message("user", "Where is it?"),
                    Message("assistant", "", (ToolCall("c1", "look", '{"id": "1"}'),)),
                    Message("tool", '{"status": "sent"}', call_id="c1"),
                ),
                (ToolSpec("look", "Looks."),),
                max_tokens=50,
            )
            await collect(Llm([endpoint(server, extra={"temperature": 0})], MonotonicClock()), request)
            return server

    server = run(scenario())
    body = server.bodies[0]
    assert server.heads[0].startswith("POST /v1/chat/completions ")
    assert f"authorization: Bearer {KEY}".lower() in server.heads[0].lower()
    assert (body["model"], body["stream"], body["max_tokens"], body["temperature"]) == ("m", True, 50, 0)
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"id": "1"}'}}
    assert body["messages"][2] == {"role": "assistant", "content": None, "tool_calls": [call]}
    assert body["messages"][3] == {"role": "tool", "tool_call_id": "c1", "content": '{"status": "sent"}'}
    assert body["tools"][0]["function"]["parameters"] == {"type": "object", "properties": {}}
    assert body["tool_choice"] == "auto"


def test_malformed_messages_are_refused_before_anything_is_sent() -> None:
    request = BrainRequest((Message("assistant", "", (ToolCall("c", "x", "{}"),)), Message("user", "and?")))
    failed = failure(run(ask(Reply(words("never")), request=request)))
    assert "no result" in failed.message
    assert not failed.retryable


@pytest.mark.parametrize(
    ("status", "says", "retryable"),
    [
        (401, "key was not accepted", False),
        (404, "no model 'm'", False),
        (400, "refused", False),
        (301, "redirects", False),
        (429, "too many requests", True),
        (503, "server failed", True),
    ],
)
def test_a_refusal_says_what_was_wrong(status: int, says: str, retryable: bool) -> None:
    body = '{"error": {"message": "because of ' + KEY + '"}}'
    failed = failure(run(ask(Reply([body], status, {"content-type": "application/json"}))))
    assert says in failed.message
    assert "m at 127.0.0.1" in failed.message
    assert KEY not in failed.message
    assert failed.retryable is retryable


def test_429_waits_as_long_as_asked_and_then_succeeds() -> None:
    busy = Reply(["{}"], 429, {"retry-after": "0.3"})
    clock = MonotonicClock()
    started_s = clock.now_s()
    events = run(ask(busy, Reply(words("ok")), rounds=2))
    assert text_of(events) == "ok"
    assert clock.now_s() - started_s >= 0.3


def test_429_that_asks_for_more_than_a_caller_bears_fails_at_once() -> None:
    clock = MonotonicClock()
    started_s = clock.now_s()
    failed = failure(run(ask(Reply(["{}"], 429, {"retry-after": "60"}), rounds=3)))
    assert "try again after 60 s" in failed.message
    assert clock.now_s() - started_s < 5


def test_5xx_is_tried_again() -> None:
    assert text_of(run(ask(Reply(["oops"], 500), Reply(words("ok")), rounds=2))) == "ok"


def test_refused_connection_is_named() -> None:
    failed = failure(run(collect(Llm([endpoint(closed_port())], MonotonicClock(), rounds=1))))
    assert "cannot connect" in failed.message
    assert failed.retryable


def test_a_drop_before_the_first_token_is_tried_again() -> None:
    assert text_of(run(ask(Reply([Drop()]), Reply(words("ok")), rounds=2))) == "ok"


def test_a_drop_after_the_first_token_is_not_said_twice() -> None:
    events = run(ask(Reply([data({"content": "Half"}), Drop()]), Reply(words("ok")), rounds=3))
    assert text_of(events) == "Half"
    assert "connection broke" in failure(events).message


def test_a_stream_that_ends_early_is_not_taken_for_whole() -> None:
    events = run(ask(Reply([data({"content": "Half a"})])))
    assert text_of(events) == "Half a"
    assert "ended before" in failure(events).message


def test_half_a_tool_call_is_never_given_on() -> None:
    half = data({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x'}}]})
    events = run(ask(Reply([half])))
    assert [type(event) for event in events] == [BrainFailed]


def test_S11_open_but_mute_before_the_first_token() -> None:
    events = run(
        ask(Reply([": keep-alive\n\n", data({"role": "assistant", "content": ""}), Stay()]), first_token_s=0.15)
    )
    assert "no first token within 0.15 s" in failure(events).message


def test_S11_open_but_mute_after_the_first_token() -> None:
    events = run(ask(Reply([data({"content": "So,"}), ": keep-alive\n\n", Stay()]), mute_s=0.15))
    assert text_of(events) == "So,"
    assert "open but silent for 0.15 s" in failure(events).message


def test_a_finished_answer_on_an_open_stream_is_done() -> None:
    events = run(ask(Reply([data({"content": "All."}), data({}, "stop"), Stay()]), mute_s=0.15))
    assert events == [TextDelta("All."), BrainDone("stop")]


@pytest.mark.parametrize("line", ["data: {oops\n\n", "data: 5\n\n", b"data: \xff\xfe\n\n"])
def test_malformed_stream(line: object) -> None:
    events = run(ask(Reply([data({"content": "A"}), line, *words("B")])))
    assert text_of(events) == "A"
    assert "stream" in failure(events).message


def test_an_error_inside_the_stream_is_passed_on() -> None:
    events = run(ask(Reply([data({"content": "A"}), 'data: {"error": {"message": "overloaded"}}\n\n'])))
    assert "overloaded" in failure(events).message


def test_a_web_page_is_no_answer() -> None:
    failed = failure(run(ask(Reply(["<html>"], 200, {"content-type": "text/html"}))))
    assert "web page" in failed.message


def test_a_server_that_does_not_stream_is_understood() -> None:
    body = '{"choices": [{"message": {"content": "Whole."}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 2}}'
    events = run(ask(Reply([body[:20], body[20:]], 200, {"content-type": "application/json"})))
    assert events == [TextDelta("Whole."), BrainDone("stop", 2, 0)]


def test_failover_goes_on_at_once_and_is_remembered() -> None:
    async def scenario() -> tuple[list[str], int]:
        async with scripted_server(Reply(["{}"], 401)) as bad, scripted_server(Reply(words("good"))) as good:
            llm = Llm([endpoint(bad), endpoint(good)], MonotonicClock())
            said = [text_of([event async for event in llm.stream(REQUEST)]) for _ in range(3)]
            await llm.aclose()
            return said, len(bad.bodies)

    assert run(scenario()) == (["good"] * 3, 1)


def test_failover_from_a_mute_endpoint() -> None:
    async def scenario() -> str:
        async with scripted_server(Reply([Stay()])) as mute, scripted_server(Reply(words("good"))) as good:
            llm = Llm([endpoint(mute, first_token_s=0.15), endpoint(good)], MonotonicClock())
            said = text_of(await collect(llm))
            await asyncio.wait_for(mute.left.wait(), 2)
            return said

    assert run(scenario()) == "good"


def test_all_endpoints_down_names_each() -> None:
    async def scenario() -> list[BrainEvent]:
        async with scripted_server(Reply(["{}"], 401)) as bad:
            return await collect(
                Llm([endpoint(bad, "one"), endpoint(closed_port(), "two")], MonotonicClock(), rounds=1)
            )

    failed = failure(run(scenario()))
    assert "one at" in failed.message
    assert "two at" in failed.message
    assert failed.retryable


def test_cancelling_closes_the_http_stream_at_once() -> None:
    async def scenario() -> None:
        async with scripted_server(Reply([data({"content": "Well,"}), Stay()])) as server:
            llm = Llm([endpoint(server, mute_s=60.0)], MonotonicClock())
            begun = asyncio.Event()

            async def listen() -> None:
                async for _ in llm.stream(REQUEST):
                    begun.set()

            task = asyncio.create_task(listen())
            await begun.wait()
            task.cancel()
            await asyncio.wait_for(server.left.wait(), 2)
            with pytest.raises(asyncio.CancelledError):
                await task
            await llm.aclose()

    run(scenario())


def test_closing_the_iterator_closes_the_http_stream() -> None:
    async def scenario() -> None:
        async with scripted_server(Reply([data({"content": "Well,"}), Stay()])) as server:
            llm = Llm([endpoint(server)], MonotonicClock())
            async with aclosing(llm.stream(REQUEST)) as events:
                await anext(events)
            await asyncio.wait_for(server.left.wait(), 2)
            await llm.aclose()

    run(scenario())


def test_the_key_is_in_no_log_and_no_repr(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    run(ask(Reply(words("ok"))))
    assert caplog.text
    assert KEY not in caplog.text
    assert KEY not in repr(LlmEndpoint("http://h/v1", "m", KEY))


@pytest.mark.parametrize("url", ["host/v1", "ftp://host", "http://", "https://user:pass@host/v1"])
def test_urls_that_cannot_work_are_refused(url: str) -> None:
    with pytest.raises(InvalidInput):
        LlmEndpoint(url, "m")


@pytest.mark.parametrize("url", ["http://h/v1", "http://h/v1/", "http://h/v1/chat/completions"])
def test_base_or_whole_url(url: str) -> None:
    assert LlmEndpoint(url, "m").chat_url == "http://h/v1/chat/completions"


def test_health_cools_down_longer_each_time_and_forgets_on_success() -> None:
    clock = ManualClock()
    health = Health(2, cool_down_s=5.0)
    health.failed(0, clock.now_s())
    assert list(health.order(4.9)) == [1, 0]
    assert list(health.order(5.0)) == [0, 1]
    health.failed(0, 5.0)
    assert list(health.order(14.9)) == [1, 0]
    health.failed(1, 5.0, at_least_s=60.0)
    assert list(health.order(6.0)) == [0, 1]
    health.answered(0)
    health.failed(0, 20.0)
    assert list(health.order(25.0)) == [0, 1]


def test_cancelling_while_nothing_came_yet_closes_the_connection() -> None:
    async def scenario() -> None:
        async with scripted_server(Reply([Stay()])) as server:
            llm = Llm([endpoint(server, first_token_s=60.0)], MonotonicClock())
            task = asyncio.create_task(collect(llm))
            await server.asked.wait()
            task.cancel()
            await asyncio.wait_for(server.left.wait(), 2)
            with pytest.raises(asyncio.CancelledError):
                await task

    run(scenario())


def test_many_answers_at_once_do_not_mix() -> None:
    async def scenario() -> list[str]:
        replies = [Reply(words(*(f"{number}-{i} " for i in range(5)))) for number in range(20)]
        async with scripted_server(*replies) as server:
            llm = Llm([endpoint(server)], MonotonicClock())

            async def one() -> str:
                return text_of([event async for event in llm.stream(REQUEST)])

            said = await asyncio.gather(*(one() for _ in range(20)))
            await llm.aclose()
            return list(said)

    wanted = {"".join(f"{number}-{i} " for i in range(5)) for number in range(20)}
    assert set(run(scenario())) == wanted


def test_a_failed_request_of_ours_does_not_cool_the_endpoint_down() -> None:
    async def scenario() -> tuple[int, int]:
        async with (
            scripted_server(Reply(["{}"], 400), Reply(words("first"))) as one,
            scripted_server(Reply(["{}"], 400), Reply(words("second"))) as two,
        ):
            llm = Llm([endpoint(one), endpoint(two)], MonotonicClock())
            failed = failure([event async for event in llm.stream(REQUEST)])
            assert not failed.retryable
            assert text_of(await collect(llm)) == "first"
            return len(one.bodies), len(two.bodies)

    assert run(scenario()) == (2, 1)
