"""Whatever comes in, in whatever order: the machine never raises and never speaks for the dead."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.core.errors import AtCapacity, EngineFailed, InvalidInput, NotFound
from antiphon.core.event import Audio, Failed, Flushed, PhonemeTimes, Warned, WordTimes
from antiphon.protocol.cartesia_messages import decode_server_message
from antiphon.protocol.cartesia_tts import SocketLimits
from antiphon.protocol.versions import KNOWN

from .shell import BASE, Shell, audio, words

IDS = st.sampled_from(["a", "b", "c", ""])
TEXTS = st.sampled_from(["", " ", "Hello.", " you", "\n", "x" * 60])

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
fields = st.sampled_from(
    [*BASE, "context_id", "transcript", "continue", "flush", "cancel", "max_buffer_delay_ms", "generation_config"]
)
odd_frames = st.one_of(
    st.text(max_size=40),
    st.binary(max_size=40),
    json_values.map(json.dumps),
    st.dictionaries(fields, json_values, max_size=6).map(json.dumps),
    st.dictionaries(fields, json_values, max_size=3).map(
        lambda odd: json.dumps({**BASE, "context_id": "a", "transcript": "Hi.", "continue": True, **odd})
    ),
)

good_steps = st.one_of(
    st.tuples(st.just("push"), IDS, TEXTS),
    st.tuples(st.just("end"), IDS, TEXTS),
    st.tuples(st.just("flush"), IDS, TEXTS),
    st.tuples(st.just("cancel"), IDS),
    st.tuples(st.just("audio"), st.integers(0, 9), st.integers(0, 9000)),
    st.tuples(st.just("words"), st.integers(0, 9)),
    st.tuples(st.just("flushed"), st.integers(0, 9)),
    st.tuples(st.just("failed"), st.integers(0, 9)),
    st.tuples(st.just("warned"), st.integers(0, 9)),
    st.tuples(st.just("refused"), st.integers(0, 9)),
    st.tuples(st.just("wait"), st.floats(0, 12)),
)


def take(shell: Shell, step: tuple[Any, ...]) -> list[dict[str, Any]]:
    name, *rest = step
    if name == "push":
        return shell.push(rest[1], context_id=rest[0], add_timestamps=True)
    if name == "end":
        return shell.end(context_id=rest[0], transcript=rest[1])
    if name == "flush":
        return shell.push(rest[1], context_id=rest[0], flush=True)
    if name == "cancel":
        return shell.cancel(rest[0])
    if name == "wait":
        return shell.wait(rest[0])
    if not shell.opened:
        return []
    key = shell.opened[rest[0] % len(shell.opened)]
    if name == "audio":
        return shell.say(audio(rest[1]), key)
    if name == "words":
        return shell.say(words(("w", 0, 1)), key)
    if name == "failed":
        return shell.say(Failed("x"), key)
    if name == "warned":
        return shell.say(Warned("x"), key)
    if name == "refused":
        return shell.do(shell.socket.refused(key, AtCapacity("full"), shell.clock.now_s()))
    if key in shell.streams and shell.streams[key].flushes:
        return shell.flushed(key)
    return []


@given(st.lists(odd_frames, max_size=12), st.sampled_from(KNOWN))
@settings(max_examples=150)
def test_odd_frames_never_break_the_socket(frames: list[str | bytes], version: str) -> None:
    shell = Shell(version)
    for frame in frames:
        shell.raw(frame)
    for frame in shell.frames:
        decode_server_message(json.dumps(frame))
    # Unless one of the odd frames opened it already, a good context works as ever.
    shell.send(context_id="fine", transcript="Hello.")
    assert shell.stream.text == "Hello."


@given(st.lists(good_steps, max_size=40))
@settings(max_examples=300)
def test_any_course_of_events_keeps_the_contexts_promises(steps: list[tuple[Any, ...]]) -> None:
    shell = Shell(limits=SocketLimits(max_contexts=3, max_unspoken_chars=200, max_waiting=4))
    for step in steps:
        before = shell.socket.open_contexts
        sent = take(shell, step)
        if step[0] == "cancel":
            assert sent == []
        for frame in sent:
            assert frame["context_id"]
            assert frame["done"] is (frame["type"] in ("done", "error"))
        # Each end belongs to a context; an error may also refuse one that never opened.
        ends = sum(frame["done"] for frame in sent)
        assert shell.socket.open_contexts >= before - max(ends, step[0] == "cancel")
        assert shell.socket.open_contexts <= 3
        assert set(shell.streams) == {c.key for c in shell.socket._contexts.values() if c.opened}
        if any(not context.closing for context in shell.socket._contexts.values()):
            assert shell.socket.due_s is not None
    # Everything ends by itself once the streams have said all.
    shell.wait(1000.0)
    for _ in range(1000):
        if not shell.streams:
            break
        for key in list(shell.streams):
            if key in shell.streams and shell.streams[key].flushes:
                shell.flushed(key)
        shell.wait(1000.0)
    assert shell.socket.open_contexts == 0
    assert not shell.streams


@given(
    st.lists(
        st.one_of(
            st.builds(Audio, st.binary(max_size=9), st.integers(), st.integers(), st.just(24_000)),
            st.builds(WordTimes, st.just(()), st.just(()), st.just(24_000)),
            st.builds(PhonemeTimes, st.just(()), st.just(24_000)),
            st.builds(Flushed, st.sampled_from(["end", "other", 0, 1, 99, None, ("a",)])),
            st.builds(Failed, st.text(max_size=5), st.booleans()),
            st.sampled_from([EngineFailed("x"), InvalidInput("x"), NotFound("x", "voice")]),
        ),
        max_size=8,
    ),
    st.integers(0, 3),
)
@settings(max_examples=150)
def test_any_event_for_any_key_is_taken(events: list[Any], key: int) -> None:
    shell = Shell()
    shell.push("Hello.", flush=True)
    for event in events:
        if isinstance(event, Exception):
            shell.do(shell.socket.refused(key, event, 0.0))
        else:
            shell.say(event, key)
    if key != shell.opened[0]:
        assert shell.frames == []
