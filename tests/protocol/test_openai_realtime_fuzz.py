"""Whatever clients, streams and brains do: nothing raises, every frame is valid, every response ends exactly once."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.core.brain import BrainDone, BrainFailed, TextDelta, ToolCall
from antiphon.core.errors import EngineFailed, NotFound
from antiphon.core.event import Audio, Failed, Flushed, Timed, Warned, WordTimes
from antiphon.core.hearing import Heard, HearingConfig, Listened
from antiphon.core.speech import SpeechConfig
from antiphon.core.turns import TurnEagerEnded, TurnEnded, TurnResumed, TurnStarted, TurnUpdated
from antiphon.protocol.openai_realtime import RealtimeLimits
from antiphon.protocol.openai_realtime_session import endpoint_settings
from tests.protocol.openai_realtime_shell import Shell

WORDS = st.sampled_from(["", " ", "yes", "Hello there.", " no \n"])
IDS = st.one_of(st.sampled_from(["m1", "m2", "root", "item_2", "item_4", "item_5", "item_8", "", "é"]), st.none())
PARTS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["input_text", "text", "output_text", "input_audio", "output_audio", "input_image"])},
        optional={"text": WORDS, "transcript": st.none() | WORDS},
    ),
    max_size=2,
)
ITEMS = st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "function_call", "function_call_output", "item_reference", "x"])},
    optional={
        "id": IDS,
        "role": st.sampled_from(["user", "assistant", "system", "tool"]),
        "content": PARTS,
        "call_id": st.sampled_from(["c1", "c2"]),
        "name": st.sampled_from(["f", ""]),
        "arguments": WORDS,
        "output": WORDS | st.integers(),
    },
)
DETECTION = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["server_vad", "semantic_vad"]),
        "create_response": st.booleans() | st.none(),
        "interrupt_response": st.booleans(),
        "silence_duration_ms": st.integers(-1, 20_000),
        "threshold": st.floats(0, 1),
        "idle_timeout_ms": st.none() | st.just(5000),
        "eagerness": st.sampled_from(["low", "high", "auto"]),
    },
)
FORMATS = st.sampled_from([{"type": "audio/pcm", "rate": 24000}, {"type": "audio/pcmu"}, {"type": "audio/pcma"}])
SESSIONS = st.fixed_dictionaries(
    {"type": st.sampled_from(["realtime", "transcription"])},
    optional={
        "output_modalities": st.sampled_from([["audio"], ["text"], ["audio", "text"], []]),
        "instructions": WORDS | st.none(),
        "audio": st.fixed_dictionaries(
            {},
            optional={
                "input": st.fixed_dictionaries(
                    {},
                    optional={
                        "turn_detection": DETECTION,
                        "transcription": st.none() | st.just({"model": "whisper-1", "language": "de"}),
                        "format": FORMATS,
                    },
                ),
                "output": st.fixed_dictionaries({}, optional={"voice": st.sampled_from(["ash", {"id": "x"}])}),
            },
        ),
        "tools": st.sampled_from([[], [{"type": "function", "name": "f"}], None]),
        "tool_choice": st.sampled_from(["auto", "none", {"type": "function", "name": "f"}]),
        "max_output_tokens": st.sampled_from(["inf", 5, 0, None]),
    },
)
ORDERS = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "conversation": st.sampled_from(["auto", "none"]),
        "output_modalities": st.sampled_from([["audio"], ["text"]]),
        "input": st.lists(ITEMS, max_size=2),
        "metadata": st.sampled_from([{"a": "b"}, {"a": "x" * 600}]),
    },
)


def event(kind: str, **fields: "st.SearchStrategy[Any]") -> "st.SearchStrategy[Any]":
    return st.fixed_dictionaries({"type": st.just(kind)}, optional={"event_id": st.just("e"), **fields})


CLIENT = st.one_of(
    event("session.update", session=SESSIONS),
    event("input_audio_buffer.append", audio=st.sampled_from(["AAAA" * 4000, "AA==", "", "!"])),
    event("input_audio_buffer.append", audio=st.just("AAAA" * 4000)),
    event("input_audio_buffer.commit"),
    event("input_audio_buffer.clear"),
    event("conversation.item.create", item=ITEMS, previous_item_id=IDS),
    event("conversation.item.retrieve", item_id=IDS),
    event("conversation.item.delete", item_id=IDS),
    event("conversation.item.truncate", item_id=IDS, audio_end_ms=st.integers(-5, 500)),
    event("response.create", response=ORDERS),
    event("response.create"),
    event("response.cancel", response_id=IDS),
    event("output_audio_buffer.clear"),
)
HEARD = st.one_of(
    st.builds(TurnStarted, st.integers(0, 9000)),
    st.builds(TurnUpdated, WORDS, st.integers(0, 9000)),
    st.builds(TurnEagerEnded, WORDS, st.just(3)),
    st.builds(TurnResumed, st.just(4)),
    st.builds(TurnEnded, WORDS, st.integers(0, 9000), st.just("model")),
    st.builds(Heard, WORDS, st.just(0), st.booleans()),
    st.just(Listened(5, False)),
)
THOUGHT = st.one_of(
    st.builds(TextDelta, WORDS),
    st.builds(ToolCall, st.sampled_from(["c1", "c2"]), st.just("f"), st.just("{}")),
    st.builds(BrainDone, st.sampled_from(["stop", "length", "tool_calls"])),
    st.just(BrainFailed("x")),
    st.builds(TextDelta, st.just("Hello there.")),
)
SPOKEN = st.one_of(
    st.builds(lambda n: Audio(bytes(n), 0, n // 2, 24_000), st.integers(0, 30_000)),
    st.just(WordTimes((Timed("Hello", 0, 2400),), (), 24_000)),
    st.just(Flushed("end")),
)
COMMON = st.one_of(
    st.builds(Flushed, st.sampled_from(["end", "hasten", 1, 2, 3])),
    st.builds(Failed, st.just("f"), st.booleans()),
    st.just(Warned("w")),
)
STEPS = st.one_of(
    st.tuples(st.just("client"), CLIENT),
    st.tuples(st.just("client"), event("response.create")),
    st.tuples(st.just("news"), st.tuples(st.integers(1, 12), COMMON | HEARD | THOUGHT | SPOKEN)),
    st.tuples(st.just("ear"), HEARD | COMMON),
    st.tuples(st.just("brain"), THOUGHT),
    st.tuples(st.just("voice"), SPOKEN),
    st.tuples(st.just("turn"), WORDS),
    st.tuples(st.just("refuse"), st.integers(1, 12)),
    st.tuples(st.just("tick"), st.sampled_from([0.0, 1.0, 6.0])),
    st.tuples(st.just("raw"), st.sampled_from(["{", '{"type":"x"}', b"\0", '"', "null"])),
)


Steps = list[tuple[str, Any]]


@settings(max_examples=150, deadline=None)
@given(kind=st.sampled_from(["realtime", "realtime", "transcription"]), steps=st.lists(STEPS, max_size=40))
def test_every_response_ends_once_and_nothing_follows_its_end(kind: str, steps: Steps) -> None:
    shell = Shell(kind, RealtimeLimits(max_items=8))
    play(shell, steps)
    endpoint = shell.settings.input.turn_detection
    assert endpoint is None or endpoint_settings(endpoint)
    shell.do(shell.socket.close(EngineFailed("end")))
    check_order(shell.frames, kind)
    assert shell.socket.due_s is None
    assert shell.tick(100.0) == shell.send("response.create") == []


def play(shell: Shell, steps: Steps) -> None:
    for what, value in steps:
        match what:
            case "client":
                shell.raw(json.dumps(value))
            case "news":
                shell.give(*value)
            case "brain" if shell.asked:
                shell.give(shell.brain, value)
            case "voice" if any(isinstance(config, SpeechConfig) for config in shell.opened.values()):
                shell.give(shell.voice, value)
            case "ear" if any(isinstance(config, HearingConfig) for config in shell.opened.values()):
                shell.give(shell.ear, value)
            case "turn":
                if shell.closed is None and shell.settings.input.turn_detection is not None:
                    shell.append()
                if any(isinstance(config, HearingConfig) for config in shell.opened.values()):
                    shell.give(shell.ear, TurnStarted(0), TurnEnded(value, 100, "model"))
            case "refuse":
                shell.do(shell.socket.refused(value, NotFound("no"), shell.now_s))
            case "tick":
                shell.tick(value)
            case "raw":
                shell.raw(value)


def check_order(frames: list[dict[str, Any]], kind: str) -> None:
    """No life before ``created`` or after ``done``; what begins also ends, inside."""
    created: list[str] = []
    done: list[str] = []
    open_items: set[str] = set()
    open_parts: set[str] = set()
    known: set[str] = set()
    event_ids = [frame["event_id"] for frame in frames]
    assert len(set(event_ids)) == len(event_ids)
    for frame in frames:
        response_id = frame.get("response_id") or frame.get("response", {}).get("id")
        match frame["type"]:
            case "response.created":
                created.append(response_id)
                continue
            case "response.done":
                assert not open_items, "an item outlives its response"
                assert frame["response"]["status"] != "in_progress"
                done.append(response_id)
                continue
            case "response.output_item.added":
                open_items.add(frame["item"]["id"])
            case "response.output_item.done":
                open_items.discard(frame["item"]["id"])
                assert frame["item"]["id"] not in open_parts
            case "response.content_part.added":
                open_parts.add(frame["item_id"])
            case "response.content_part.done":
                open_parts.discard(frame["item_id"])
            case "conversation.item.added":
                assert frame["item"]["id"] not in known
                assert frame["previous_item_id"] is None or frame["previous_item_id"] in known
                known.add(frame["item"]["id"])
            case "conversation.item.deleted":
                known.discard(frame["item_id"])
        if response_id is not None:
            assert response_id in created
            assert response_id not in done
    assert sorted(created) == sorted(done)
    assert not (kind == "transcription" and created)
