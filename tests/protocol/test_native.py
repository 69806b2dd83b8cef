"""The native agent socket: frames, order, positions, and what is left of them under nonsense."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.core.errors import AtCapacity, EngineFailed, NotFound
from antiphon.core.event import Timed, WordTimes
from antiphon.core.turns import TurnEagerEnded, TurnEnded, TurnResumed, TurnStarted, TurnUpdated
from antiphon.protocol import native_messages as wire
from antiphon.protocol.actions import Cancel, CloseSocket, Send, SendBytes
from antiphon.protocol.native import NativeAction, NativeLimits, NativeSocket, Tell

START = {"type": "start"}


def socket(**start: Any) -> NativeSocket:
    machine = NativeSocket(NativeLimits())
    told = machine.receive(json.dumps(START | start), 0.0)
    assert [type(action) for action in told] == [Tell]
    machine.ready("s1", "token", resumed=False)
    return machine


def sent(actions: list[NativeAction]) -> list[dict[str, Any]]:
    return [json.loads(action.frame) for action in actions if isinstance(action, Send)]


def told(actions: list[NativeAction]) -> list[Any]:
    return [action.news for action in actions if isinstance(action, Tell)]


def put(machine: NativeSocket, kind: str, **fields: Any) -> list[NativeAction]:
    return machine.receive(json.dumps({"type": kind, **fields}), 1.0)


@pytest.mark.parametrize("as_bytes", [False, True])
def test_start_in_a_text_or_a_binary_frame(as_bytes: bool) -> None:
    machine = NativeSocket(NativeLimits())
    frame = json.dumps(START | {"input": {"encoding": "pcm_mulaw", "sample_rate_hz": 8000}, "resume": "abc"})
    (start,) = told(machine.receive(frame.encode() if as_bytes else frame, 0.0))
    assert (start.input.encoding, start.output.sample_rate_hz, start.resume) == ("pcm_mulaw", 24_000, "abc")
    (ready,) = sent(machine.ready("s1", "token", resumed=True))
    assert (ready["type"], ready["resumed"], ready["input"]["sample_rate_hz"]) == ("ready", True, 8000)
    assert ready["resume_window_ms"] == 30_000


def test_audio_that_looks_like_json_is_audio() -> None:
    machine = socket()
    samples = b'{"type":"close"}'
    assert told(machine.receive(b"\1" + samples, 1.0)) == [samples]
    assert told(machine.receive(b"\1", 1.0)) == []
    (error,) = sent(machine.receive(b"\2\0\0", 1.0))
    assert (error["type"], error["fatal"]) == ("error", False)


@pytest.mark.parametrize(
    "frame",
    [b"\1\0\0", '{"type":"interrupt"}', "{", '{"type":"start","version":9}',
     '{"type":"start","output":{"encoding":"mp3"}}', '{"type":"start","input":{"sample_rate_hz":1}}',
     '{"type":"start","agent":{"turn":{"end":0.9}}}',
     '{"type":"start","agent":{"tools":[{"name":"f"},{"name":"f"}]}}'],
)  # fmt: skip
def test_a_bad_beginning_ends_it(frame: str | bytes) -> None:
    machine = NativeSocket(NativeLimits())
    actions = machine.receive(frame, 0.0)
    assert sent(actions)[0]["fatal"]
    assert actions[-1] == CloseSocket(1008)
    assert machine.receive(json.dumps(START), 0.0) == []


def test_a_client_that_does_not_begin_is_given_up() -> None:
    machine = NativeSocket(NativeLimits(start_wait_s=10.0))
    assert machine.tick(5.0) == []
    assert machine.due_s == 15.0
    assert machine.tick(15.0)[-1] == CloseSocket(1008)
    assert machine.due_s is None


def test_turns_of_the_user_in_samples_of_the_input() -> None:
    machine = socket(input={"encoding": "pcm_s16le", "sample_rate_hz": 8000})
    ended = TurnEnded("Hi.", 3200, "model")
    events = (TurnStarted(1600), TurnUpdated("Hi", 5), TurnEagerEnded("Hi", 6), TurnResumed(7), ended)
    messages = [message for event in events for message in sent(machine.turn(event))]
    assert [message["type"] for message in messages] == [
        "turn.start", "turn.update", "turn.eager_end", "turn.resume", "turn.end",
    ]  # fmt: skip
    assert (messages[0]["at_sample"], messages[-1]["at_sample"]) == (800, 1600)


def test_a_reply_from_its_start_to_its_end() -> None:
    machine = socket()
    assert sent(machine.begin_reply("r1", 7)) == [{"type": "reply.start", "reply_id": "r1"}]
    assert sent(machine.text("r1", "Hello"))[0]["delta"] == "Hello"
    times = WordTimes((Timed("Hello", 0, 8000),), (), 16_000)
    assert sent(machine.words("r1", times))[0]["words"] == [{"text": "Hello", "start_sample": 0, "end_sample": 12_000}]
    frames = [action for action in machine.audio("r1", bytes(10_000)) if isinstance(action, SendBytes)]
    assert [len(frame.frame) for frame in frames] == [4801, 4801, 401]
    assert all(frame.frame[0] == 1 and frame.key == 7 for frame in frames)
    assert sent(machine.mark("r1"))[0]["sample"] == 5000
    assert sent(machine.end_reply("r1")) == [
        {"type": "reply.end", "reply_id": "r1", "samples": 5000, "reason": "completed"}
    ]
    assert machine.audio("r1", b"\0\0") == machine.end_reply("r1") == []


def test_C3_nothing_of_a_cleared_reply_follows_and_what_is_queued_is_dropped() -> None:
    machine = socket()
    machine.begin_reply("r1", 7)
    machine.audio("r1", bytes(9600))
    actions = machine.clear("r1", 20)
    assert actions[0] == Cancel(7)
    assert sent(actions) == [{"type": "clear", "reply_id": "r1", "fade_ms": 20}]
    assert machine.audio("r1", b"\0\0") == machine.text("r1", "x") == machine.end_reply("r1") == []
    assert machine.clear("r1", 20) == []


def test_B7_a_reply_that_was_sent_to_its_end_can_still_be_cleared() -> None:
    machine = socket()
    machine.begin_reply("r1", 7)
    machine.end_reply("r1")
    assert sent(machine.clear("r1", 0))[0]["type"] == "clear"


def test_B8_cleared_is_not_played() -> None:
    machine = socket()
    machine.begin_reply("r1", 7)
    machine.audio("r1", bytes(48_000))
    assert told(put(machine, "played", reply_id="r1", sample=1000)) == [wire.Played(reply_id="r1", sample=1000)]
    machine.clear("r1", 0)
    assert told(put(machine, "played", reply_id="r1", sample=1200, underruns=2)) == [
        wire.Played(reply_id="r1", sample=1200, underruns=2)
    ]


@pytest.mark.parametrize(("said", "meant"), [(10, 500), (600, 600), (99_999_999, 1000)])
def test_a_reply_is_heard_no_further_than_it_was_sent_and_never_less(said: int, meant: int) -> None:
    machine = socket()
    machine.begin_reply("r1", 7)
    machine.audio("r1", bytes(2000))
    put(machine, "played", reply_id="r1", sample=500)
    assert told(put(machine, "played", reply_id="r1", sample=said))[0].sample == meant


def test_a_second_reply_ends_the_first() -> None:
    machine = socket()
    machine.begin_reply("r1", 7)
    assert [message["type"] for message in sent(machine.begin_reply("r2", 8))] == ["reply.end", "reply.start"]


def test_tools_are_answered_once() -> None:
    machine = socket()
    assert sent(machine.call_tool("c1", "look_up", "{}"))[0] == {
        "type": "tool.call", "call_id": "c1", "name": "look_up", "arguments": "{}",
    }  # fmt: skip
    assert machine.call_tool("c1", "look_up", "{}") == []
    assert told(put(machine, "tool.result", call_id="c1", content="7")) == [wire.ToolResult(call_id="c1", content="7")]
    assert told(put(machine, "tool.result", call_id="c1", content="7")) == []
    machine.call_tool("c2", "book", "{}")
    assert sent(machine.cancel_tool("c2"))[0]["type"] == "tool.cancel"
    assert told(put(machine, "tool.result", call_id="c2", content="late")) == []


def test_what_else_a_client_says() -> None:
    machine = socket()
    assert told(put(machine, "interrupt")) == [wire.Interrupt()]
    assert told(put(machine, "text", text="Hello")) == [wire.Say(text="Hello")]
    assert told(put(machine, "dtmf", digits="12#")) == [wire.Dtmf(digits="12#")]
    for kind, fields in (("dtmf", {"digits": "x"}), ("text", {"text": " "}), ("start", {}), ("nope", {})):
        actions = put(machine, kind, **fields)
        assert (sent(actions)[0]["fatal"], told(actions)) == (False, [])


def test_hanging_up() -> None:
    machine = socket()
    actions = put(machine, "close")
    assert told(actions) == [wire.Close()]
    assert sent(actions) == [{"type": "closed", "reason": "client"}]
    assert actions[-1] == CloseSocket(1000)
    assert machine.begin_reply("r1", 7) == machine.close("again") == []


def test_a_leaving_server_sends_its_reply_to_the_end() -> None:
    machine = socket()
    machine.begin_reply("r1", 7)
    assert machine.drain(1.0) == []
    actions = machine.end_reply("r1")
    assert [message["type"] for message in sent(actions)] == ["reply.end", "closed"]
    assert actions[-1] == CloseSocket(1012)
    assert socket().drain(1.0)[-1] == CloseSocket(1012)


@pytest.mark.parametrize(
    ("error", "code", "close"),
    [(AtCapacity("full"), "at_capacity", 1013), (NotFound("no voice", "voice"), "invalid_message", 1008),
     (EngineFailed("gone"), "server_error", 1011)],
)  # fmt: skip
def test_failures(error: Any, code: str, close: int) -> None:
    assert sent(socket().fail(error, fatal=False))[0] | {"message": "", "param": None} == {
        "type": "error", "code": code, "message": "", "param": None, "fatal": False,
    }  # fmt: skip
    assert socket().fail(error, fatal=True)[-1] == CloseSocket(close)


CLIENT = st.one_of(
    st.sampled_from([START, {"type": "interrupt"}, {"type": "text", "text": "x"}, {"type": "x"}, {"type": "close"}]),
    st.fixed_dictionaries(
        {"type": st.just("played"), "reply_id": st.sampled_from("abc"), "sample": st.integers(-5, 9000)},
        optional={"underruns": st.integers(-1, 3)},
    ),
    st.fixed_dictionaries({"type": st.just("tool.result"), "call_id": st.sampled_from("ab"), "content": st.just("1")}),
)
STEPS = st.one_of(
    st.tuples(st.just("client"), CLIENT),
    st.tuples(st.just("raw"), st.binary(max_size=9) | st.text(max_size=9)),
    st.tuples(st.sampled_from(["begin", "text", "audio", "mark", "end", "clear"]), st.sampled_from("abc")),
    st.tuples(st.sampled_from(["call", "cancel"]), st.sampled_from("ab")),
    st.tuples(st.sampled_from(["tick", "drain"]), st.floats(0, 20)),
)


@settings(max_examples=150, deadline=None)
@given(steps=st.lists(STEPS, max_size=40), begun=st.booleans())
def test_whatever_happens_the_order_holds(steps: list[tuple[str, Any]], begun: bool) -> None:
    machine = NativeSocket(NativeLimits())
    actions: list[NativeAction] = machine.receive(json.dumps(START), 0.0) if begun else []
    for what, value in steps:
        actions += {
            "client": lambda v: machine.receive(json.dumps(v), 1.0),
            "raw": lambda v: machine.receive(v, 1.0),
            "begin": lambda v: machine.begin_reply(v, ord(v)),
            "text": lambda v: machine.text(v, "hi"),
            "audio": lambda v: machine.audio(v, bytes(6000)),
            "mark": machine.mark,
            "end": machine.end_reply,
            "clear": lambda v: machine.clear(v, 5),
            "call": lambda v: machine.call_tool(v, "f", "{}"),
            "cancel": machine.cancel_tool,
            "tick": machine.tick,
            "drain": machine.drain,
        }[what](value)
    begun_replies: list[str] = []
    speaking: str | None = None
    heard: dict[str, int] = {}
    for place, action in enumerate(actions):
        match action:
            case CloseSocket():
                assert place == len(actions) - 1
            case SendBytes():
                assert speaking is not None
                assert action.key == ord(speaking)
            case Tell(news=wire.Played() as report):
                assert 0 <= heard.get(report.reply_id, 0) <= report.sample
                heard[report.reply_id] = report.sample
            case Tell(news=news) if place == 0:
                assert isinstance(news, wire.Start)
            case Send():
                message = json.loads(action.frame)
                if message["type"] == "reply.start":
                    assert speaking is None
                    assert message["reply_id"] not in begun_replies
                    speaking = message["reply_id"]
                    begun_replies.append(speaking)
                elif message["type"] in ("reply.text", "reply.words", "reply.mark", "reply.end"):
                    assert message["reply_id"] == speaking
                if message["type"] in ("reply.end", "clear") and message["reply_id"] == speaking:
                    speaking = None


def test_a_pause_keeps_what_is_buffered() -> None:
    machine = socket()
    machine.begin_reply("r1", 1)
    machine.audio("r1", b"\0\0" * 100)
    (pause,) = sent(machine.pause_reply("r1", 40))
    assert (pause["type"], pause["reply_id"], pause["fade_ms"]) == ("reply.pause", "r1", 40)
    assert machine.pause_reply("r1", 40) == []
    (audio,) = machine.audio("r1", b"\0\0" * 100)
    assert isinstance(audio, SendBytes)
    assert sent(machine.continue_reply("r1")) == [{"type": "reply.continue", "reply_id": "r1"}]
    assert machine.continue_reply("r1") == []
    machine.end_reply("r1")
    assert sent(machine.pause_reply("r1", 40))[0]["type"] == "reply.pause", "what was sent to its end may still sound"
    machine.clear("r1", 40)
    assert machine.continue_reply("r1") == machine.pause_reply("r1", 40) == []


def test_a_resumed_session_says_what_was_heard() -> None:
    machine = NativeSocket(NativeLimits())
    (start,) = told(put(machine, "start", resume="t", heard={"reply_id": "r1", "sample": 480}))
    assert (start.heard.reply_id, start.heard.sample) == ("r1", 480)
    (error,) = sent(put(NativeSocket(NativeLimits()), "start", heard={"reply_id": "r1", "sample": -1}))
    assert (error["param"], error["fatal"]) == ("heard.sample", True)


def test_more_turns_than_anybody_writes_are_refused_one_by_one() -> None:
    machine = socket()
    frame = json.dumps({"type": "text", "text": "hello"})
    answers = [machine.receive(frame, 5.0) for _ in range(12)]
    assert [bool(told(actions)) for actions in answers] == [True] * 10 + [False] * 2
    [error] = sent(answers[-1])
    assert (error["code"], error["fatal"]) == ("too_fast", False)
    assert not told(machine.receive('{"type":"dtmf","digits":"1#"}', 5.0))
    assert told(machine.receive('{"type":"dtmf","digits":"1"}', 5.0))  # keys by themselves are not answered at once
    assert told(machine.receive('{"type":"interrupt"}', 5.0))
    assert [bool(told(machine.receive(frame, 6.0))) for _ in range(3)] == [True, True, False]
