"""The machine of ``/stt/websocket``: audio in, transcripts out, finalize and close."""

import json

import pytest

from antiphon.core.errors import AntiphonError, AtCapacity, EngineFailed, InvalidInput, NotFound
from antiphon.core.event import Failed, Flushed, Warned
from antiphon.core.hearing import HearingConfig, Listened, SpeechStarted, SpeechStopped
from antiphon.protocol.cartesia_stt_socket import HearingLimits

from .ear_shell import QUERY, EarShell, final, heard, kinds, s, stt


@pytest.fixture
def shell() -> EarShell:
    shell = stt()
    shell.start()
    return shell


def test_the_stream_is_opened_at_once_and_nothing_is_said(shell: EarShell) -> None:
    assert shell.ear is not None
    assert shell.ear.config == HearingConfig("ink-2", "en", "pcm_s16le", 16_000)
    assert shell.frames == []


def test_audio_that_comes_before_the_first_tick_is_not_lost() -> None:
    shell = stt()
    shell.receive(b"\1\2")
    assert shell.ear is not None
    assert shell.ear.audio == b"\1\2"
    shell.wait(0.1)
    assert shell.ear.audio == b"\1\2"


def test_the_documents_session(shell: EarShell) -> None:
    shell.receive(b"\0\0" * 1600)
    shell.say(heard("Hello", 0.2, 0.6))
    shell.receive("finalize")
    assert shell.ear is not None
    assert list(shell.ear.flushes) == [(1, False)]
    shell.say(final("Hello world.", 0.2, 1.0))
    shell.flushed()
    shell.receive("close")
    assert list(shell.ear.flushes) == [("end", True)]
    shell.say(final(" And good", 1.5, 2.0))
    shell.flushed()
    assert shell.frames == [
        {
            "type": "transcript",
            "request_id": "req-1",
            "text": "Hello",
            "is_final": False,
            "language": "en",
            "words": [{"word": "Hello", "start": 0.2, "end": 0.6}],
        },
        {
            "type": "transcript",
            "request_id": "req-1",
            "text": "Hello world.",
            "is_final": True,
            "duration": 1.0,
            "language": "en",
            "words": [{"word": "Hello", "start": 0.2, "end": 0.6}, {"word": "world.", "start": 0.6, "end": 1.0}],
        },
        {"type": "flush_done", "request_id": "req-1"},
        {
            "type": "transcript",
            "request_id": "req-1",
            "text": " And good",
            "is_final": True,
            "duration": 1.0,
            "language": "en",
            "words": [{"word": "And", "start": 1.5, "end": 1.75}, {"word": "good", "start": 1.75, "end": 2.0}],
        },
        {"type": "done", "request_id": "req-1"},
    ]
    assert shell.closed == 1000
    assert shell.ear is None


@pytest.mark.parametrize(
    "command", ["finalize", " Finalize\n", '"finalize"', '{"type":"finalize"}', '{ "type" : "Finalize" }']
)
def test_F25_finalize_in_every_spelling(shell: EarShell, command: str) -> None:
    shell.receive(command)
    assert shell.ear is not None
    assert list(shell.ear.flushes) == [(1, False)]
    assert shell.frames == []


@pytest.mark.parametrize(
    "odd", ["hello", "", "{", "null", "[]", "5", '{"type":5}', '{"type":"config"}', '{"a":1}', '"x"']
)
def test_F25_other_text_is_an_error_and_the_socket_lives(shell: EarShell, odd: str) -> None:
    [error] = shell.receive(odd)
    assert (error["type"], error["status_code"], error["code"], error["request_id"]) == ("error", 400, 400, "req-1")
    assert error["title"]
    assert error["message"]
    assert error["error_code"] == "invalid_request"
    shell.receive(b"\0\0")
    shell.receive("finalize")
    assert kinds(shell.flushed()) == ["flush_done"]
    assert shell.closed is None


@pytest.mark.parametrize("command", ["close", "done", '{"type":"close"}', '{"type":"done"}', '"done"'])
def test_F26_close_and_done_answer_and_close_the_socket(shell: EarShell, command: str) -> None:
    shell.receive(b"\0\0" * 100)
    assert shell.receive(command) == []
    assert shell.closed is None
    assert kinds(shell.flushed()) == ["done"]
    assert shell.closed == 1000
    assert shell.ear is None


def test_F26_close_without_any_audio_still_says_done(shell: EarShell) -> None:
    shell.receive("close")
    assert shell.flushed() == [{"type": "done", "request_id": "req-1"}]
    assert shell.closed == 1000


def test_what_comes_after_close_is_ignored(shell: EarShell) -> None:
    shell.receive("close")
    for frame in (b"\0\0", "finalize", "close", "nonsense"):
        assert shell.receive(frame) == []
    assert shell.ear is not None
    assert len(shell.ear.flushes) == 1
    assert shell.ear.audio == b""


def test_F26_a_stream_that_never_ends_does_not_keep_the_client_waiting_for_ever(shell: EarShell) -> None:
    shell.receive("done")
    assert shell.wait(29.9) == []
    [error] = shell.wait(0.2)
    assert (error["type"], error["status_code"]) == ("error", 500)
    assert shell.closed == 1011
    assert shell.machine.due_s is None


def test_F27_finalize_twice_and_with_nothing_buffered(shell: EarShell) -> None:
    shell.receive("finalize")
    shell.receive("finalize")
    assert kinds(shell.flushed() + shell.flushed()) == ["flush_done", "flush_done"]
    shell.receive("finalize")
    assert kinds(shell.flushed()) == ["flush_done"]


def test_finalizes_before_a_close_are_answered_before_done(shell: EarShell) -> None:
    shell.receive("finalize")
    shell.receive("close")
    assert kinds(shell.flushed() + shell.flushed()) == ["flush_done", "done"]


def test_too_many_waiting_finalizes_are_refused_and_the_socket_lives() -> None:
    shell = stt(limits=HearingLimits(max_waiting=3))
    shell.start()
    assert [shell.receive("finalize") for _ in range(3)] == [[], [], []]
    assert kinds(shell.receive("finalize")) == ["error"]
    shell.flushed()
    assert shell.receive("finalize") == []


def test_F28_required_keys_are_always_there_and_none_is_null(shell: EarShell) -> None:
    shell.say(heard("Hel", 0.0, 0.2, words=False), final("Hello", 0.0, 0.5, words=False))
    for frame in shell.frames:
        assert {"type", "text", "is_final", "request_id"} <= set(frame)
        assert None not in frame.values()
        assert "words" not in frame


def test_F29_finals_are_only_the_new_audio_and_keep_their_joining_space(shell: EarShell) -> None:
    for event in (
        heard("One", 0, 1),
        final("One two.", 0, 1),
        heard(" Three", 1.2, 2),
        final(" Three", 1.2, 2),
        final("，四", 2, 3),
        final(" \n five ", 3, 4),
    ):
        shell.say(event)
    finals = [frame["text"] for frame in shell.frames if frame["is_final"]]
    assert "".join(finals) == "One two. Three，四 \n five "


def test_S2_an_interim_that_says_nothing_new_is_not_repeated(shell: EarShell) -> None:
    shell.say(heard("Hello", 0, 0.5), heard("Hello", 0, 0.6), heard("", 0, 0.7), heard("Hello", 0, 0.8))
    assert [frame["text"] for frame in shell.frames] == ["Hello"]
    shell.say(final("Hello", 0, 1), heard("Hello", 1, 2))
    assert [frame["is_final"] for frame in shell.frames] == [False, True, False]


def test_durations_of_finals_add_up_to_the_audio(shell: EarShell) -> None:
    shell.say(heard("a", 0.5, 0.8), final("a", 0.5, 1.25), final("", 1.25, 3.0))
    shell.say(heard("b", 4.0, 4.2), final("b", 4.0, 5.5))
    assert [frame.get("duration") for frame in shell.frames if frame["is_final"]] == [1.25, 4.25]
    assert all("duration" not in frame for frame in shell.frames if not frame["is_final"])


def test_S12_an_interim_that_comes_to_nothing_is_taken_back_by_an_empty_final(shell: EarShell) -> None:
    shell.say(heard("Uh", 0, 0.4))
    shell.receive("finalize")
    frames = shell.flushed()
    assert kinds(frames) == ["transcript", "flush_done"]
    assert frames[0] == {"type": "transcript", "request_id": "req-1", "text": "", "is_final": True}
    shell.say(heard("Uh", 1, 1.4), final("", 1, 2))
    assert shell.frames[-1]["is_final"] is True
    shell.say(final("", 2, 3))
    assert [frame["text"] for frame in shell.frames if frame["type"] == "transcript"] == ["Uh", "", "Uh", ""]


def test_nothing_was_said_so_no_final_claims_an_utterance(shell: EarShell) -> None:
    shell.receive(b"\0\0" * 1000)
    shell.receive("finalize")
    shell.say(final("", 0, 1))
    assert kinds(shell.flushed()) == ["flush_done"]


def test_words_are_bare_and_the_language_is_told_only_if_known(shell: EarShell) -> None:
    event = final(" ciao mondo", 0, 1)
    words = tuple(type(word)(" " + word.text, word.start_sample, word.end_sample) for word in event.words)
    shell.say(type(event)(event.text, 0, True, words, 0, s(1), "it"), type(event)("x", 0, True, (), s(1), s(2), ""))
    assert [word["word"] for word in shell.frames[0]["words"]] == ["ciao", "mondo"]
    assert shell.frames[0]["language"] == "it"
    assert "language" not in shell.frames[1]


def test_F31_odd_frames_are_passed_on_as_they_are(shell: EarShell) -> None:
    for size in (1, 3, 0, 7, 640):
        shell.receive(bytes(range(256))[:size] if size < 256 else b"x" * size)
    assert shell.ear is not None
    assert len(shell.ear.audio) == 651, "the spare byte is the stream's to carry; none is lost or padded here"


@pytest.mark.parametrize(
    "query", ["", "model=ink-2", QUERY + "&encoding=opus", QUERY + "&sample_rate=x", QUERY + "&language=%00"]
)
def test_F32_a_bad_query_is_told_on_the_socket_which_then_closes(query: str) -> None:
    shell = stt(query)
    [error] = shell.start()
    assert (error["type"], error["status_code"], error["code"]) == ("error", 400, 400)
    assert shell.closed == 1008
    assert shell.machine.due_s is None
    assert shell.receive(b"\0\0") == []
    assert shell.key is None


@pytest.mark.parametrize(
    ("refusal", "status", "code"),
    [
        (AtCapacity("full"), 429, 1013),
        (NotFound("no such model", "model"), 400, 1008),
        (InvalidInput("no such language", "language"), 400, 1008),
        (EngineFailed("broken"), 500, 1011),
    ],
)
def test_F32_a_stream_that_cannot_be_had(refusal: AntiphonError, status: int, code: int) -> None:
    shell = stt(refuse=refusal)
    [error] = shell.start()
    assert (error["status_code"], error["code"]) == (status, status)
    assert shell.closed == code


def test_audio_that_the_stream_will_not_take_ends_the_session(shell: EarShell) -> None:
    shell.choke = InvalidInput("more than a minute of audio waits already")
    [error] = shell.receive(b"\0\0")
    assert "minute" in error["message"]
    assert shell.closed == 1008
    assert shell.ear is None
    assert shell.say(final("late", 0, 1)) == []


def test_frames_beyond_the_limits_are_refused_and_the_socket_lives() -> None:
    shell = stt(limits=HearingLimits(max_frame_bytes=10, max_text_chars=20))
    shell.start()
    [error] = shell.receive(b"\0" * 11)
    assert error["status_code"] == 413
    [error] = shell.receive("finalize" + " " * 20)
    assert error["status_code"] == 413
    shell.receive(b"\0" * 10)
    assert shell.ear is not None
    assert shell.ear.audio == b"\0" * 10


def test_an_error_quotes_little_of_what_caused_it(shell: EarShell) -> None:
    [error] = shell.receive("x" * 4000)
    assert len(json.dumps(error)) < 700


def test_failures(shell: EarShell) -> None:
    [error] = shell.say(Failed("a window could not be decoded"))
    assert (error["status_code"], error["code"]) == (500, 500)
    assert shell.closed is None
    shell.say(final("Still here.", 0, 1))
    [_, error] = shell.say(final("x", 1, 2), Failed("gone", fatal=True))
    assert error["error_code"] == "generation_failed"
    assert shell.closed == 1011
    assert shell.say(final("late", 0, 1)) == []


def test_S6_implausible_audio_is_told_once(shell: EarShell) -> None:
    for _ in range(3):
        shell.say(Warned("is the sample rate 24000?"))
    assert shell.frames == [{"type": "warning", "request_id": "req-1", "message": "is the sample rate 24000?"}]
    assert len(shell.notes) == 3
    for at in range(100):
        shell.say(Warned(f"w{at}"))
    assert len(shell.frames) <= 16


def test_S7_telephone_audio_is_asked_for_as_it_is() -> None:
    shell = stt("model=ink-2&encoding=pcm_mulaw&sample_rate=8000")
    shell.start()
    assert shell.ear is not None
    assert (shell.ear.config.encoding, shell.ear.config.sample_rate_hz) == ("pcm_mulaw", 8000)


def test_a_socket_lives_through_at_least_three_minutes_of_silence_and_ends_tidily(shell: EarShell) -> None:
    assert shell.wait(180.0) == []
    shell.receive(b"\0\0")
    assert shell.wait(180.0) == []
    assert shell.closed is None
    shell.wait(100.0)
    assert shell.ear is not None
    assert list(shell.ear.flushes) == [("end", True)]
    assert kinds(shell.flushed()) == ["done"]
    assert shell.closed == 1000


def test_due_is_never_late(shell: EarShell) -> None:
    shell.clock.advance(5.0)
    shell.receive(b"\0\0")
    assert shell.machine.due_s == shell.clock.now_s() + HearingLimits().idle_s
    shell.receive("close")
    assert shell.machine.due_s == shell.clock.now_s() + HearingLimits().close_limit_s


def test_the_server_closes(shell: EarShell) -> None:
    [error] = shell.close(EngineFailed("shutting down"))
    assert (error["type"], error["status_code"]) == ("error", 500)
    assert shell.ear is None
    assert shell.receive("finalize") == []
    assert shell.close(EngineFailed("again")) == []


def test_a_long_pause_finalizes_by_itself_if_asked_to() -> None:
    shell = stt(QUERY + "&max_silence_duration_secs=0.5")
    shell.start()
    assert shell.ear is not None
    shell.say(Listened(s(0.5), speech=False))
    shell.say(SpeechStarted(s(0.6)), SpeechStopped(s(1.0)), Listened(s(1.4), speech=False))
    assert not shell.ear.flushes
    shell.say(SpeechStarted(s(1.45)), SpeechStopped(s(2.0)), Listened(s(2.5), speech=False))
    shell.say(Listened(s(3.0), speech=False))
    assert len(shell.ear.flushes) == 1, "once a pause"
    shell.say(heard("Hi", 1, 2), final("Hi.", 1, 2))
    assert shell.flushed() == []
    assert [frame["text"] for frame in shell.frames] == ["Hi", "Hi."]


def test_a_stream_that_still_hears_out_its_audio_is_neither_idle_nor_late(shell: EarShell) -> None:
    for _ in range(5):
        shell.clock.advance(200)
        shell.say(Listened(0, speech=True))
        assert shell.wait(0) == []
    shell.receive("close")
    for at in range(5):
        shell.clock.advance(25)
        shell.say(final(f" {at}", at, at + 1))
        assert shell.wait(0) == []
    assert kinds(shell.flushed()) == ["done"]
    assert shell.closed == 1000


def test_a_server_that_leaves_hears_out_what_has_come_and_has_the_client_come_back(shell: EarShell) -> None:
    shell.receive(b"\0\0")
    assert shell.do(shell.machine.drain(shell.clock.now_s())) == []
    assert shell.do(shell.machine.drain(shell.clock.now_s())) == []
    assert shell.ear is not None
    assert list(shell.ear.flushes) == [("end", True)]
    shell.say(final("Hi.", 0, 1))
    assert kinds(shell.flushed()) == ["done"]
    assert shell.closed == 1012
    fresh = stt()
    fresh.do(fresh.machine.drain(0.0))
    assert fresh.closed == 1012


def test_without_being_asked_no_pause_finalizes(shell: EarShell) -> None:
    shell.say(SpeechStarted(0), SpeechStopped(s(1)), Listened(s(60), speech=False))
    assert shell.ear is not None
    assert not shell.ear.flushes


def test_min_volume_is_noted() -> None:
    shell = stt(QUERY + "&min_volume=0.1")
    assert shell.start() == []
    assert shell.notes == ["min_volume is accepted and not used"]


@pytest.mark.parametrize("marker", [0, 2, -1, "other", None, ("a",), "end"])
def test_markers_that_nobody_asked_for_say_nothing(shell: EarShell, marker: object) -> None:
    shell.receive("finalize")
    assert shell.say(Flushed(marker)) == []
    assert kinds(shell.flushed()) == ["flush_done"]


def test_another_streams_events_are_not_ours(shell: EarShell) -> None:
    assert shell.machine.deliver(7, final("x", 0, 1), 0.0) == []
    assert shell.machine.refused(7, AtCapacity("x"), 0.0) == []
