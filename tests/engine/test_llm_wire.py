"""Requests and deltas without a socket: what compatible servers make of the format, and how it may be cut."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.core.brain import BrainEvent, BrainRequest, Message, TextDelta, ToolCall, ToolSpec
from antiphon.core.errors import InvalidInput
from antiphon.engine.llm_sse import BrokenStream, SseDecoder
from antiphon.engine.llm_wire import DeltaDecoder, encode_request, error_text


def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
    return json.dumps({"choices": [{"delta": delta, "finish_reason": finish}]})


def part(arguments: object = None, **more: Any) -> dict[str, Any]:
    name = more.pop("name", None)
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    return {"tool_calls": [{"function": function, **more}]}


def decode(*payloads: str, taken: set[str] | None = None) -> tuple[list[BrainEvent], DeltaDecoder]:
    decoder = DeltaDecoder(taken or set())
    return [event for payload in payloads for event in decoder.feed(payload)], decoder


def calls_of(events: list[BrainEvent]) -> list[tuple[str, str]]:
    return [(event.name, event.arguments) for event in events if isinstance(event, ToolCall)]


STREAM = "data: one\r\n\r\n: alive\n\ndata: two\ndata:lines\n\nevent: x\nid: 4\ndata: grüße €\n\n".encode()


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_sse_however_the_bytes_are_cut(cuts: list[int]) -> None:
    decoder, events, edges = SseDecoder(), [], [0, *sorted(cuts), len(STREAM)]
    for start, end in pairwise(edges):
        events += decoder.feed(STREAM[start:end])
    assert [*events, *decoder.finish()] == ["one", "two\nlines", "grüße €"]


def test_sse_without_the_last_empty_line() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: [DONE]") == []
    assert decoder.finish() == ["[DONE]"]


def test_sse_line_without_end_is_bounded() -> None:
    decoder = SseDecoder()
    with pytest.raises(BrokenStream, match="1 MiB"):
        decoder.feed(b"x" * 1_200_000)


@pytest.mark.parametrize(
    "payloads",
    [
        # ids, no indices
        [part('{"a":', name="f", id="1"), part("1}"), part("{}", name="g", id="2")],
        # every call at index 0, whole, with ids
        [part('{"a":1}', name="f", id="1", index=0), part("{}", name="g", id="2", index=0)],
        # neither ids nor indices
        [part('{"a":', name="f"), part("1}"), part("{}", name="g")],
        # the id and the name with each piece
        [
            part('{"a":', name="f", id="1", index=0),
            part("1}", name="f", id="1", index=0),
            part("{}", name="g", index=1),
        ],
        # out of order, and interleaved
        [part("{", name="g", index=1), part('{"a":1', name="f", index=0), part("}", index=1), part("}", index=0)],
        # arguments as an object, none for the second
        [part({"a": 1}, name="f", index=0), part(name="g", index=1)],
    ],
    ids=["ids", "index-0", "bare", "repeated", "interleaved", "objects"],
)
@pytest.mark.parametrize("finish", ["tool_calls", "stop", "function_call", "tool_use"])
def test_tool_calls_however_the_server_writes_them(payloads: list[dict[str, Any]], finish: str) -> None:
    events, decoder = decode(*map(chunk, payloads), chunk({}, finish))
    found = [(name, json.loads(arguments)) for name, arguments in calls_of(events)]
    assert found == [("f", {"a": 1}), ("g", {})]
    assert len({event.call_id for event in events if isinstance(event, ToolCall)}) == 2
    assert decoder.reason == "tool_calls"


def test_call_ids_are_unique_in_the_conversation() -> None:
    events, _ = decode(chunk(part("{}", name="f", id="call_0", index=0), "tool_calls"), taken={"call_0", "call_1_0"})
    (call,) = (event for event in events if isinstance(event, ToolCall))
    assert call.call_id not in {"", "call_0", "call_1_0"}


def test_the_old_function_call_is_understood() -> None:
    first, second = {"name": "f", "arguments": '{"a"'}, {"arguments": ":1}"}
    events, _ = decode(chunk({"function_call": first}), chunk({"function_call": second}, "function_call"))
    assert calls_of(events) == [("f", '{"a":1}')]


@pytest.mark.parametrize(
    ("finish", "reason"),
    [("stop", "stop"), ("end_turn", "stop"), ("eos", "stop"), ("length", "length"), ("max_tokens", "length"),
     ("STOP", "stop"), ("made_up", "stop"), ("tool_calls", "stop")],
)  # fmt: skip
def test_reasons_of_an_answer_in_words(finish: str, reason: str) -> None:
    _, decoder = decode(chunk({"content": "x"}, finish))
    assert decoder.done().reason == reason


@pytest.mark.parametrize(("finish", "says"), [("content_filter", "filter"), ("error", "error of its own")])
def test_answers_that_were_stopped_are_no_answers(finish: str, says: str) -> None:
    with pytest.raises(BrokenStream, match=says):
        decode(chunk({"content": "x"}, finish))


@pytest.mark.parametrize(("finish", "says"), [("length", "cut off"), ("tool_calls", "not a JSON object")])
def test_broken_arguments_are_never_given_on(finish: str, says: str) -> None:
    with pytest.raises(BrokenStream, match=says):
        decode(chunk(part('{"a":', name="f"), finish))


@given(st.lists(st.integers(0, 40), max_size=6))
def test_thoughts_in_the_text_are_not_spoken(cuts: list[int]) -> None:
    text = "\n<think>I wonder < hm.</think>\n\nHello <b> you."
    edges = [0, *sorted(cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(edges)]
    events, _ = decode(*(chunk({"content": piece}) for piece in pieces), chunk({}, "stop"))
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "Hello <b> you."


@pytest.mark.parametrize("text", ["<3 you", "<thin ice", "<", "  <th", "think"])
def test_text_that_only_looks_like_a_thought_is_spoken(text: str) -> None:
    events, _ = decode(*(chunk({"content": char}) for char in text), chunk({}, "stop"))
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == text


def test_separate_thoughts_are_life_but_no_token() -> None:
    events, decoder = decode(chunk({"reasoning_content": "hm"}))
    assert (events, decoder.alive, decoder.begun) == ([], 1, False)


def test_content_in_parts() -> None:
    events, _ = decode(
        chunk({"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]})
    )
    assert events == [TextDelta("ab")]


def test_chunks_that_say_nothing() -> None:
    empty = ['{"choices": []}', '{"choices": null}', chunk({}), chunk({"role": "assistant", "content": None})]
    events, decoder = decode(*empty, '{"choices": [{"index": 0}]}')
    assert (events, decoder.alive, decoder.reason) == ([], 0, "")


@pytest.mark.parametrize(
    ("body", "says"),
    [({"error": {"message": "a\n b"}}, "a b"), ({"error": "c"}, "c"), ({"detail": "d"}, "d"), ("e" * 999, "e" * 300)],
)
def test_error_bodies_of_all_shapes(body: object, says: str) -> None:
    assert error_text(body) == says


CALL = Message("assistant", "", (ToolCall("c", "f", ""),))


@pytest.mark.parametrize(
    "messages",
    [
        (),
        (CALL,),
        (CALL, Message("user", "and?")),
        (Message("tool", "{}", call_id="c"),),
        (CALL, Message("tool", "{}", call_id="d")),
        (CALL, Message("tool", "{}", call_id="c"), Message("tool", "{}", call_id="c")),
    ],
)
def test_X3_messages_that_no_server_would_take(messages: tuple[Message, ...]) -> None:
    with pytest.raises(InvalidInput):
        encode_request(BrainRequest(messages), "m", {})


def test_empty_assistant_turns_and_empty_arguments() -> None:
    messages = (Message("user", "a"), Message("assistant", ""), CALL, Message("tool", "", call_id="c"))
    body = encode_request(BrainRequest(messages), "m", {}, usage=False)
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "tool"]
    assert body["messages"][1]["tool_calls"][0]["function"]["arguments"] == "{}"
    assert not {"tools", "tool_choice", "max_tokens", "stream_options"} & set(body)


@pytest.mark.parametrize(
    ("choice", "sent"), [("required", "required"), ("f", {"type": "function", "function": {"name": "f"}})]
)
def test_tool_choice(choice: str, sent: object) -> None:
    request = BrainRequest((Message("user", "a"),), (ToolSpec("f", "F."),), tool_choice=choice)
    assert encode_request(request, "m", {})["tool_choice"] == sent


def test_tool_with_broken_parameters_is_named() -> None:
    request = BrainRequest((Message("user", "a"),), (ToolSpec("f", "F.", "{"),))
    with pytest.raises(InvalidInput, match="'f'"):
        encode_request(request, "m", {})
