"""Whatever comes in, in whatever order: the listening machines never raise and keep what the wire promises."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.core.errors import AtCapacity, InvalidInput
from antiphon.core.event import Audio, Failed, Flushed, Warned
from antiphon.core.hearing import Heard, HeardWord, Listened, SpeechStarted, SpeechStopped, TurnScored
from antiphon.core.turns import TurnEagerEnded, TurnEnded, TurnResumed, TurnStarted, TurnUpdated
from antiphon.protocol.cartesia_stt_messages import decode_stt_message, decode_turns_message
from antiphon.protocol.cartesia_stt_socket import HearingLimits

from .ear_shell import QUERY, EarShell, kinds, stt, turns

LIMITS = HearingLimits(max_frame_bytes=64, max_text_chars=200, max_waiting=3)
TEXTS = st.sampled_from(["", " ", "a", "ab", "ab c", "b", " c", "\n"])
SAMPLES = st.integers(0, 200_000)

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
thresholds = st.dictionaries(
    st.sampled_from(["start_threshold", "eager_end_threshold", "end_threshold", "end_timeout_ms", "odd"]),
    st.none() | st.floats(0, 1) | st.integers(0, 12_000) | json_values,
    max_size=4,
)
frames = st.one_of(
    st.sampled_from(["finalize", "close", "done", '{"type":"finalize"}', '{"type":"close"}', '"finalize"']),
    st.text(max_size=30),
    st.binary(max_size=70),
    json_values.map(json.dumps),
    thresholds.map(lambda turn: json.dumps({"type": "config", "turn": turn})),
)
queries = st.one_of(
    st.just(QUERY),
    st.text(max_size=40).map(lambda odd: f"{QUERY}&{odd}"),
    st.lists(st.sampled_from(QUERY.split("&")), max_size=3).map("&".join),
    st.tuples(
        st.sampled_from(["encoding", "sample_rate", "language", "keyterm", "min_volume", "turn_end_threshold"]),
        st.text(max_size=9),
    ).map(lambda odd: f"{QUERY}&{odd[0]}={odd[1]}"),
)
words = st.lists(st.builds(HeardWord, TEXTS, SAMPLES, SAMPLES, st.floats(0, 1)), max_size=3).map(tuple)
ear_events = st.one_of(
    st.builds(Heard, TEXTS, st.integers(0, 4), st.booleans(), words, SAMPLES, SAMPLES, st.sampled_from(["en", ""])),
    st.builds(SpeechStarted, SAMPLES),
    st.builds(SpeechStopped, SAMPLES),
    st.builds(Listened, SAMPLES, st.booleans()),
    st.builds(TurnScored, SAMPLES, st.floats(0, 1), SAMPLES),
    st.builds(Failed, st.text(max_size=5), st.booleans()),
    st.builds(Warned, st.text(max_size=5)),
    st.builds(Flushed, st.sampled_from(["end", "pause", "x", 0, 1, 2, None])),
    st.just(Audio(b"", 0, 0, 1)),
)
turn_events = st.one_of(
    st.builds(TurnStarted, SAMPLES),
    st.builds(TurnUpdated, TEXTS, SAMPLES),
    st.builds(TurnEagerEnded, TEXTS, SAMPLES),
    st.builds(TurnResumed, SAMPLES),
    st.builds(TurnEnded, TEXTS, SAMPLES, st.sampled_from(["model", "timeout", "closed"])),
)
steps = st.one_of(
    frames,
    ear_events,
    turn_events,
    st.sampled_from([AtCapacity("full"), InvalidInput("no")]),
    st.floats(0, 300).map(lambda seconds: ("wait", seconds)),
    st.just("flushed"),
)


def course(shell: EarShell, taken: list[Any]) -> None:
    """Does the steps; a socket that has been closed, or whose client is told that it will be, says no more."""
    shell.start()
    for step in taken:
        over = shell.closed is not None
        if step == "flushed":
            sent = shell.flushed() if shell.ear is not None and shell.ear.flushes else []
        elif isinstance(step, str | bytes):
            sent = shell.receive(step)
        elif isinstance(step, tuple):
            sent = shell.wait(step[1])
        elif isinstance(step, Exception):
            sent = shell.do(shell.machine.refused(1, step, shell.clock.now_s()))  # type: ignore[arg-type]
        else:
            sent = shell.say(step)
        assert not (over and sent)
        assert (shell.closed is None) == (shell.machine.due_s is not None)
        assert (shell.closed is None) == (shell.ear is not None)
    for frame in shell.frames:
        assert frame["request_id"] == "req-1"
        assert None not in frame.values()
        if frame["type"] == "error":
            assert 400 <= frame["status_code"] == frame["code"]
    # Left alone, with a stream that answers, it comes to its end.
    for _ in range(10):
        while shell.ear is not None and shell.ear.flushes:
            shell.flushed()
        shell.wait(300.0)
    assert shell.closed is not None
    assert shell.ear is None


@given(queries, st.lists(steps, max_size=30))
@settings(max_examples=150, deadline=None)
def test_any_course_of_a_dictation(query: str, taken: list[Any]) -> None:
    shell = stt(query, LIMITS)
    course(shell, taken)
    for raw in shell.raw:
        decode_stt_message(raw)
    answered = kinds(shell.frames).count("flush_done")
    assert answered <= sum(isinstance(step, str) and "finalize" in step.lower() for step in taken)
    interim = False
    for frame in shell.frames:
        if frame["type"] == "transcript":
            interim = not frame["is_final"]
        elif frame["type"] in ("flush_done", "done"):
            assert not interim, "an interim has had its final by the time its flush is answered"
    if "done" in kinds(shell.frames):
        assert shell.frames[-1]["type"] == "done"
        assert shell.closed == 1000


@given(queries, st.lists(steps | turn_events, max_size=30))
@settings(max_examples=150, deadline=None)
def test_any_course_of_a_conversation(query: str, taken: list[Any]) -> None:
    shell = turns(query, LIMITS)
    course(shell, taken)
    for raw in shell.raw:
        decode_turns_message(raw)
    state, shown = "idle", ""
    for at, frame in enumerate(shell.frames):
        kind = frame["type"]
        assert (kind == "connected") == (at == 0) or (at == 0 and kind == "error" and shell.closed == 1008)
        if kind == "turn.start":
            assert state == "idle"
            state, shown = "speaking", ""
        elif kind == "turn.resume":
            assert state == "eager"
            state = "speaking"
        elif kind.startswith("turn."):
            assert state == "speaking" or (state == "eager" and kind == "turn.end")
            assert frame["transcript"].startswith(shown)
            assert kind != "turn.update" or frame["transcript"] != shown or not shown
            shown = frame["transcript"]
            state = {"turn.update": "speaking", "turn.eager_end": "eager", "turn.end": "idle"}[kind]
    if shell.closed == 1000:
        assert state == "idle", "no turn is left open by an orderly close"


@given(st.lists(st.binary(min_size=1, max_size=64), max_size=20))
@settings(max_examples=50, deadline=None)
def test_F31_every_byte_of_audio_arrives_in_order(pieces: list[bytes]) -> None:
    shell = stt(QUERY, LIMITS)
    for piece in pieces:
        shell.receive(piece)
        shell.say(Warned("x"))
    if pieces:
        assert shell.ear is not None
        assert shell.ear.audio == b"".join(pieces)
