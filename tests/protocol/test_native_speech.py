"""The native speech socket: one stream at a time, exact positions, streams that move, and nonsense."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.core.errors import AtCapacity, EngineFailed, InvalidInput, NotFound
from antiphon.core.event import (
    Audio,
    Event,
    Failed,
    Flushed,
    PhonemeTimes,
    Saved,
    Timed,
    Unsaved,
    Warned,
    WordTimes,
)
from antiphon.core.speech import Prosody
from antiphon.protocol.http import NotSupported
from antiphon.protocol.native_speech import SpeechLimits

from .native_speech_shell import RATE_HZ, Shell, WallClock, audio, kinds, seal_of

EIGHT = {"encoding": "pcm_mulaw", "sample_rate_hz": 8000}


def started(shell: Shell | None = None, **start: Any) -> Shell:
    shell = shell or Shell()
    assert kinds(shell.put("start", **start)) == ["ready"]
    return shell


def words(*timed: tuple[str, int, int]) -> WordTimes:
    return WordTimes(tuple(Timed(*word) for word in timed), (), RATE_HZ)


# -- one stream --------------------------------------------------------------------------------------------------


def test_a_stream_from_its_start_to_its_end() -> None:
    shell = Shell()
    (ready,) = shell.put("start", voice="River", speed=1.25, lead_ms=500, output=EIGHT)
    assert (ready["sample"], ready["resumed"], ready["output"]) == (0, False, EIGHT)
    config = shell.stream.config
    assert (config.voice, config.speed, config.lead_s, config.words) == ("River", 1.25, 0.5, True)
    assert (config.format.container, config.format.encoding, config.format.sample_rate_hz) == ("raw", "pcm_mulaw", 8000)
    for delta in ("Hel", "lo", " there."):
        assert shell.put("text", text=delta) == []
    for change in ({"emotion": "calm", "speed": 2.0}, {"speed": 1.5}):
        assert shell.put("prosody", **change) == []
    shell.put("text", text=" Bye.")
    assert shell.stream.pushed == ["Hel", "lo", " there.", Prosody(1.5, None, "calm"), " Bye."]
    (told,) = shell.say(words(("Hello", 0, 12_000), ("there.", 12_000, 24_000)))
    assert told["words"][1] == {"text": "there.", "start_sample": 4000, "end_sample": 8000}
    frames = shell.say(Audio(bytes(range(256)) * 12, 0, 9216, RATE_HZ))
    assert [(f["type"], len(f["data"])) for f in frames] == [("0x01", 1600), ("0x01", 1472)]
    assert b"".join(f["data"] for f in frames) == bytes(range(256)) * 12
    assert shell.put("end") == []
    assert shell.stream.flushes == [("end", True)]
    assert shell.flushed() == [{"type": "done", "samples": 3072, "reason": "completed"}]
    assert shell.streams == {}
    assert kinds(shell.put("start")) == ["ready"]


@pytest.mark.parametrize("as_bytes", [False, True])
def test_messages_in_text_or_binary_frames(as_bytes: bool) -> None:
    shell = Shell()
    frame = '{"type": "start", "tomorrow": 1}'
    assert kinds(shell.raw(frame.encode() if as_bytes else frame)) == ["ready"]


def test_a_stream_whose_text_is_known_needs_one_message() -> None:
    shell = Shell()
    assert shell.put("start", text="Hello.", end=True)[0]["ended"]
    assert (shell.stream.text, shell.stream.flushes) == ("Hello.", [("end", True)])
    assert shell.put("text", text="x")[0]["code"] == "ended"
    assert kinds(shell.flushed()) == ["done"]
    shell.choke = InvalidInput("too much", "transcript")
    assert kinds(shell.put("start", text="Hello.", end=True)) == ["error"]
    shell.choke, shell.refuse = None, AtCapacity("full")
    assert kinds(shell.put("start", text="Hello.", end=True)) == ["error"]
    assert shell.streams == {}
    shell.refuse = None
    started(shell, text="Hello.")
    assert shell.stream.flushes == []


def test_the_same_settings_are_the_same_value_and_others_are_not() -> None:
    shell = Shell()
    configs = []
    for start in ({"text": "One."}, {"text": "Two."}, {"text": "Two.", "speed": 1.5}, {"text": "One."}):
        shell.put("start", **start, end=True)
        configs.append(shell.stream.config)
        shell.flushed()
    assert configs[0] is configs[1]
    assert [config.speed for config in configs] == [1.0, 1.0, 1.5, 1.0]
    assert configs[3] == configs[0]


def test_flushes_come_back_in_order_with_where_they_end() -> None:
    shell = started()
    shell.put("text", text="One.")
    shell.put("flush", id="a")
    shell.put("text", text="Two.")
    shell.put("flush", id="b")
    shell.say(audio(480))
    assert shell.flushed() == [{"type": "flushed", "id": "a", "sample": 480}]
    shell.say(audio(100))
    assert shell.flushed() == [{"type": "flushed", "id": "b", "sample": 580}]


def test_a_flush_called_end_does_not_end_the_stream() -> None:
    shell = started()
    shell.put("flush", id="end")
    assert kinds(shell.flushed()) == ["flushed"]
    shell.put("text", text="More.")
    assert shell.stream.text == "More."


def test_nothing_of_a_cancelled_stream_follows_but_done() -> None:
    shell = started()
    shell.put("text", text="Hello.")
    shell.say(audio(480))
    key = shell.opened[-1]
    assert shell.put("cancel") == [{"type": "done", "samples": 480, "reason": "cancelled"}]
    assert shell.say(audio(), key) == shell.say(Flushed("end"), key) == []
    assert shell.put("cancel") == []
    started(shell)
    assert shell.say(audio(), key) == []


def test_warnings_and_failures_are_told_and_the_stream_goes_on() -> None:
    shell = started()
    assert shell.say(Warned("no such emotion")) == [{"type": "warning", "message": "no such emotion"}]
    (error,) = shell.say(Failed("one piece"))
    assert (error["code"], error["fatal"]) == ("server_error", False)
    assert kinds(shell.say(PhonemeTimes((Timed("h", 0, 300),), RATE_HZ))) == ["phonemes"]
    assert kinds(shell.say(audio())) == ["0x01"]


def test_a_fatal_failure_breaks_the_stream_off_and_what_was_under_way_is_dropped() -> None:
    shell = started()
    assert kinds(shell.say(Failed("all of it", fatal=True))) == ["error", "done"]
    for late in ("text", "flush", "end", "save", "cancel", "prosody"):
        assert shell.put(late, text="x") == []
    started(shell)
    assert kinds(shell.put("text", text="x" * 50_001)) == ["error"]


def test_a_stream_that_nobody_feeds_is_ended_and_what_waits_is_spoken() -> None:
    shell = started(Shell(limits=SpeechLimits(idle_s=30.0)))
    shell.put("text", text="and then")
    shell.wait(20)
    shell.say(audio())
    assert shell.wait(20) == []
    assert kinds(shell.wait(10)) == ["warning"]
    assert shell.stream.flushes == [("end", True)]
    assert shell.machine.due_s is None
    assert kinds(shell.flushed()) == ["done"]


# -- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (AtCapacity("full"), "at_capacity"),
        (NotFound("no such voice", "voice"), "invalid_message"),
        (EngineFailed("broken"), "server_error"),
    ],
)
def test_a_stream_that_has_no_place_is_not_ready_and_the_socket_lives(error: Any, code: str) -> None:
    shell = Shell()
    shell.refuse = error
    (told,) = shell.put("start")
    assert (told["type"], told["code"], told["fatal"]) == ("error", code, False)
    assert shell.put("text", text="what was under way") == shell.put("end") == []
    shell.refuse = None
    started(shell)


def test_more_text_than_can_wait_breaks_the_stream_off() -> None:
    shell = started()
    shell.choke = InvalidInput("more than 100000 characters wait", "transcript")
    error, done = shell.put("text", text="x")
    assert (error["code"], done["reason"]) == ("invalid_message", "failed")


@pytest.mark.parametrize(
    "frame",
    [
        "{", "[]", "null", '{"type":"text"}', '{"type":"hello"}', b"\1\0\0", b"", b"\3", '{"type":"text","text":5}',
        '{"type":"start","version":2}', '{"type":"start","output":{"encoding":"mp3"}}',
        '{"type":"start","output":{"sample_rate_hz":1}}', '{"type":"start","speed":9}', '{"type":"start","seed":-1}',
        '{"type":"start","lead_ms":1}', '{"type":"start","max_buffer_delay_ms":6000}', "[" * 100_000,
        json.dumps({"type": "start", "voice": "v" * 600}), json.dumps({"type": "flush", "id": "i" * 65}),
        json.dumps({"type": "start", "text": "x" * 50_001}),
        '{"type":"prosody","volume":9}', '"' + "x" * (1 << 20) + '"',
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_and_harms_no_stream(frame: str | bytes) -> None:
    shell = Shell()
    (error,) = shell.raw(frame)
    assert (error["type"], error["code"], error["fatal"]) == ("error", "invalid_message", False)
    started(shell)
    shell.put("text", text="Hello.")
    assert kinds(shell.raw(frame)) == ["error"]
    assert shell.stream.text == "Hello."
    assert kinds(shell.say(audio())) == ["0x01"]


def test_messages_out_of_place() -> None:
    shell = Shell()
    assert [shell.put(kind, text="x")[0]["code"] for kind in ("text", "end", "save", "flush")] == ["no_stream"] * 4
    started(shell)
    assert shell.put("start")[0]["code"] == "invalid_message"
    shell.put("end")
    assert [shell.put(kind, text="x")[0]["code"] for kind in ("text", "end", "flush")] == ["ended"] * 3


def test_flushes_that_wait_are_counted() -> None:
    shell = started(Shell(limits=SpeechLimits(max_flushes=2)))
    assert [kinds(shell.put("flush", id=str(n))) for n in range(3)] == [[], [], ["error"]]
    shell.flushed()
    assert shell.put("flush", id="again") == []


def test_a_server_that_leaves_says_so_and_one_that_closes_drops_the_stream() -> None:
    shell = started()
    assert shell.do(shell.machine.drain(0.0)) == [{"type": "leaving"}]
    assert kinds(shell.say(audio())) == ["0x01"]
    (error,) = shell.do(shell.machine.close(AtCapacity("full")))
    assert (error["code"], error["fatal"]) == ("at_capacity", True)
    assert shell.streams == {}
    machine = shell.machine
    assert shell.put("start") == shell.do(machine.close(AtCapacity("x"))) == shell.do(machine.drain(0.0)) == []


# -- snapshots ---------------------------------------------------------------------------------------------------


def saved(shell: Shell, stream: bytes = b"the rest") -> bytes:
    assert shell.put("save") == []
    told, frame, done = shell.say(Saved("voice-1", stream))
    assert kinds([told, frame, done]) == ["snapshot", "0x02", "done"]
    assert (told["size_bytes"], told["expires_in_ms"]) == (len(frame["data"]), 300_000)
    assert told["sample"] == done["samples"]
    assert done["reason"] == "saved"
    return bytes(frame["data"])


def test_a_stream_goes_on_at_another_server_where_it_was_saved() -> None:
    wall = WallClock()
    shell = started(Shell(seal_of(wall)), output=EIGHT)
    shell.put("text", text="Hello there.")
    shell.put("flush", id="one")
    shell.put("flush", id="two")
    shell.say(Audio(bytes(500), 0, 1500, RATE_HZ))
    shell.flushed()
    sealed = saved(shell)
    assert shell.streams == {}
    other = Shell(seal_of(wall))
    (ready,) = other.raw(b"\2" + sealed)
    assert ready["sample"] == 500
    assert (ready["resumed"], ready["ended"], ready["output"]) == (True, False, EIGHT)
    assert (other.stream.config.voice, other.stream.snapshot) == ("voice-1", b"the rest")
    assert other.say(words(("there.", 3000, 6000)))[0]["words"][0]["start_sample"] == 1000
    other.say(Audio(bytes(100), 1500, 300, RATE_HZ))
    assert other.say(Flushed("flush two")) == [{"type": "flushed", "id": "two", "sample": 600}]
    other.put("text", text="More.")
    other.put("end")
    assert other.flushed() == [{"type": "done", "samples": 600, "reason": "completed"}]


def test_a_stream_whose_text_is_complete_is_resumed_as_such() -> None:
    wall = WallClock()
    shell = started(Shell(seal_of(wall)))
    shell.put("end")
    other = Shell(seal_of(wall))
    assert other.raw(b"\2" + saved(shell))[0]["ended"]
    assert other.put("text", text="x")[0]["code"] == "ended"
    assert kinds(other.say(Flushed("end"))) == ["done"]


def test_what_was_made_before_the_save_comes_before_the_snapshot_and_counts() -> None:
    shell = started()
    shell.put("text", text="Hello.")
    shell.put("save")
    assert kinds(shell.say(audio(480))) == ["0x01"]
    assert shell.put("text", text="late")[0]["code"] == "saving"
    told, _, _ = shell.say(Saved("voice-1", b"x"))
    assert told["sample"] == 480


def test_a_change_that_waits_for_its_text_is_saved_with_the_stream() -> None:
    shell = started()
    shell.put("prosody", speed=1.5)
    key = shell.opened[-1]
    stream = shell.streams[key]
    saved(shell)
    assert stream.pushed == [Prosody(1.5)]


def test_a_cancel_overtakes_a_save() -> None:
    shell = started()
    shell.put("save")
    key = shell.opened[-1]
    assert shell.put("cancel")[0]["reason"] == "cancelled"
    assert shell.say(Saved("voice-1", b"x"), key) == []


def test_a_voice_that_cannot_be_saved_says_so_and_goes_on() -> None:
    shell = started()
    shell.unsavable = NotSupported("voice engine 'hibari' cannot save a stream")
    (error,) = shell.put("save")
    assert (error["code"], error["fatal"]) == ("not_saved", False)
    assert "'hibari' cannot" in error["message"]
    shell.put("text", text="Hello.")
    assert shell.stream.text == "Hello."
    shell.unsavable = None
    shell.put("save")
    assert shell.say(Unsaved("too large"))[0]["message"] == "save: too large; the stream goes on"
    shell.put("text", text=" More.")
    assert shell.stream.text == "Hello. More."


def test_snapshots_that_cannot_be_are_refused_each_with_its_reason() -> None:
    wall = WallClock()
    shell = started(Shell(seal_of(wall)))
    good = saved(shell)
    other = Shell(seal_of(wall, b"another fleet"))
    stranger = Shell(seal_of(wall), owner="bob")
    own = Shell(seal_of(wall, b"mine", shared=False))
    at = len(good) // 2
    for asked, data, why in (
        (shell, good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :], "altered"),
        (shell, good[:-1], "altered"),
        (shell, b"", "none of a stream"),
        (shell, b"{}", "none of a stream"),
        (shell, good[:41] + b"\x02" + good[42:], "another version"),
        (shell, bytes((1 << 20) + 1), "at most 1048576"),
        (other, good, "signed with another key"),
        (own, good, "set the same tts.snapshot_key"),
        (stranger, good, "another API key"),
    ):
        (error,) = asked.raw(b"\2" + data)
        assert error["code"] == "bad_snapshot", error
        assert why in error["message"]
        assert asked.streams == {}
    assert "tts.snapshot_key" not in other.raw(b"\2" + good)[0]["message"]
    wall.unix_s += 300.0
    assert kinds(shell.raw(b"\2" + good)) == ["ready"]
    shell.put("cancel")
    wall.unix_s += 2.0
    assert "expired 2 s ago" in shell.raw(b"\2" + good)[0]["message"]
    started(shell)
    assert shell.raw(b"\2" + good)[0]["code"] == "invalid_message"


def test_a_snapshot_of_other_weights_is_refused_by_the_engine_and_the_socket_lives() -> None:
    wall = WallClock()
    sealed = saved(started(Shell(seal_of(wall))))
    shell = Shell(seal_of(wall))
    shell.refuse = InvalidInput("the snapshot is of a voice with other weights", "snapshot")
    (error,) = shell.raw(b"\2" + sealed)
    assert (error["code"], error["message"]) == ("bad_snapshot", "the snapshot is of a voice with other weights")
    shell.refuse = None
    assert kinds(shell.raw(b"\2" + sealed)) == ["ready"]


def test_the_key_is_not_shown() -> None:
    assert "fleet" not in repr(seal_of(WallClock()))


# -- nonsense ----------------------------------------------------------------------------------------------------

odd_frames = st.one_of(
    st.text(max_size=30),
    st.binary(max_size=60),
    st.binary(max_size=60).map(lambda data: b"\2" + data),
    st.dictionaries(
        st.sampled_from(["type", "text", "id", "voice", "output", "speed", "seed", "lead_ms", "emotion"]),
        st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=2),
        max_size=4,
    ).map(json.dumps),
)
steps = st.one_of(
    st.sampled_from(["start", "text", "flush", "end", "cancel", "save", "prosody"]),
    st.sampled_from(["resume", "wait"]),
    st.builds(Audio, st.binary(max_size=9), st.integers(), st.integers(), st.just(24_000)),
    st.builds(Flushed, st.sampled_from(["end", "flush ", "flush a", None, 1, ("a",)])),
    st.builds(Failed, st.just("x"), st.booleans()),
    st.sampled_from([Saved("v", b"x"), Unsaved("x"), Warned("x"), words(("w", 0, 1))]),
)


@given(st.lists(odd_frames, max_size=12))
@settings(max_examples=150)
def test_odd_frames_never_break_the_socket(frames: list[str | bytes]) -> None:
    shell = Shell()
    for frame in frames:
        shell.raw(frame)
    shell.put("cancel")
    started(shell)


@given(st.lists(steps, max_size=40))
@settings(max_examples=300)
def test_any_course_of_events_keeps_the_promises(course: list[str | Event]) -> None:
    """One ``done`` for each ``ready``, positions that only grow, and never a frame between two streams."""
    shell = Shell(limits=SpeechLimits(max_flushes=3, idle_s=5.0))
    sealed = b""
    frames: list[dict[str, Any]] = []
    for step in course:
        if not isinstance(step, str):
            frames += shell.say(step) if shell.opened else []
        elif step == "resume":
            frames += shell.raw(b"\2" + sealed)
        elif step == "wait":
            frames += shell.wait(3.0)
        else:
            frames += shell.put(step, text="Hi. ", id="a")
        sealed = next((bytes(f["data"]) for f in reversed(frames) if f["type"] == "0x02"), sealed)
    begun, sent = False, 0
    for frame in frames:
        kind = frame["type"]
        if kind == "ready":
            assert not begun
            begun, sent = True, frame["sample"]
        elif kind == "0x01":
            assert begun
            sent += len(frame["data"]) // 2
        elif kind in ("words", "flushed", "done", "snapshot", "warning"):
            assert begun
            if "sample" in frame:
                assert frame["sample"] == sent
            if kind == "done":
                assert frame["samples"] == sent
                begun = False
    assert begun == bool(shell.streams)
