"""``antiphon hear``: turns as they are heard, for people and for programs, from files, pipes and recorders."""

import io
import json
import stat
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
from typer.testing import CliRunner

from antiphon.cli import app
from antiphon.cli.hear import _hear
from antiphon.cli.hear_pages import JsonPage, TextPage
from antiphon.cli.microphone import microphone, recorder
from antiphon.core.errors import EngineFailed, InvalidInput
from antiphon.core.event import Failed
from antiphon.core.hearing import EAR_RATE_HZ, HeardWord, HearingConfig
from antiphon.engine.fake import FakeEar, FakeEarStream

SCRIPT = ("what time is it", "thank you")
RAW = HearingConfig()


def audio(seconds: float) -> Iterator[bytes]:
    for _ in range(round(seconds * 10)):
        yield bytes(2 * EAR_RATE_HZ // 10)


def heard(*, words: bool = False, seconds: float = 5.0) -> list[dict[str, object]]:
    out = io.StringIO()
    _hear(FakeEar(*SCRIPT), RAW, audio(seconds), JsonPage(out, words), [])  # type: ignore[arg-type]
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_events_come_as_json_lines_in_order() -> None:
    events = heard(words=True)
    ends = [event for event in events if event["type"] == "turn.end"]
    assert [end["transcript"] for end in ends] == ["what time is it", " thank you"]
    assert [end["reason"] for end in ends] == ["model", "model"]
    finals = [event for event in events if event["type"] == "final"]
    assert finals[0]["words"][1] == {"word": "time", "start": 0.5, "end": 1.0, "confidence": 1.0}  # type: ignore[index]
    kinds = [event["type"] for event in events]
    assert kinds.index("turn.start") < kinds.index("interim") < kinds.index("turn.end")


def test_what_is_said_when_the_sound_ends_is_not_lost() -> None:
    end = heard(seconds=1.6)[-1]
    assert (end["type"], end["transcript"], end["reason"]) == ("turn.end", "what time is", "closed")


def test_text_is_a_line_a_turn_with_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    with TextPage(words=True) as page:
        words: list[HeardWord] = []
        _hear(FakeEar(*SCRIPT), RAW, audio(5.0), page, words)  # type: ignore[arg-type]
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "00:00:00.000  what time is it"
    assert lines[2] == "    00:00:00.500  00:00:01.000  time"
    assert lines[5] == "00:00:03.000  thank you"
    assert "".join(word.text for word in words) == "what time is it thank you"


def test_a_failure_of_the_ear_or_of_the_source_is_raised() -> None:
    class Failing(FakeEar):
        def open_stream(self, config, wake) -> FakeEarStream:  # type: ignore[no-untyped-def]
            stream = super().open_stream(config, wake)
            stream.say(Failed("the ear failed"))
            return stream

    def broken() -> Iterator[bytes]:
        yield bytes(3200)
        raise InvalidInput("the file breaks off")

    page = JsonPage(io.StringIO(), False)
    with pytest.raises(EngineFailed, match="the ear failed"):
        _hear(Failing(*SCRIPT), RAW, audio(1.0), page, [])  # type: ignore[arg-type]
    ear = FakeEar(*SCRIPT)
    with pytest.raises(InvalidInput, match="breaks off"):
        _hear(ear, RAW, broken(), page, [])  # type: ignore[arg-type]
    assert ear.streams[0].closed


def test_a_file_is_read_no_faster_than_it_is_heard() -> None:
    read = 0

    def endless() -> Iterator[bytes]:
        nonlocal read
        for piece in audio(60.0):
            read += 1
            yield piece

    class Slow(FakeEar):
        def open_stream(self, config, wake) -> FakeEarStream:  # type: ignore[no-untyped-def]
            stream = super().open_stream(config, wake)
            stream.backlog_s = 100.0
            stream.say(Failed("enough"))  # ends the run at the first look
            return stream

    with pytest.raises(EngineFailed, match="enough"):
        _hear(Slow(), RAW, endless(), JsonPage(io.StringIO(), False), [])  # type: ignore[arg-type]
    assert read < 20


def test_the_real_ear_hears_the_real_voice(tmp_path: Path) -> None:
    runner, speech, subtitles = CliRunner(), tmp_path / "speech.flac", tmp_path / "speech.srt"
    sentence = "How far is the nearest railway station?"
    assert runner.invoke(app, ["say", sentence, "--out", str(speech)]).exit_code == 0
    result = runner.invoke(app, ["hear", str(speech), "--srt", str(subtitles), "--words"])
    assert result.exit_code == 0, result.output
    assert sentence in result.output
    assert subtitles.read_text().startswith("1\n00:00:0")
    assert sentence in subtitles.read_text()


def test_subtitles_are_written_whatever_ends_the_listening(tmp_path: Path) -> None:
    """And where they cannot be, that is said before anything is heard."""
    speech, cut, subtitles = tmp_path / "speech.flac", tmp_path / "cut.flac", tmp_path / "speech.srt"
    runner, sentence = CliRunner(), "Where is the nearest railway station? " * 4
    assert runner.invoke(app, ["say", sentence, "--out", str(speech)]).exit_code == 0
    whole = speech.read_bytes()
    cut.write_bytes(whole[: len(whole) // 2] + bytes(len(whole) // 4))
    result = runner.invoke(app, ["hear", str(cut), "--srt", str(subtitles)])
    assert "railway station" in subtitles.read_text(), result.output
    nowhere = tmp_path / "none" / "x.srt"
    result = runner.invoke(app, ["hear", str(speech), "--srt", str(nowhere)])
    assert isinstance(result.exception, InvalidInput)
    assert str(nowhere) in str(result.exception)
    assert result.output == ""


def test_silence_is_told_from_failure(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "quiet.wav", np.zeros(EAR_RATE_HZ, np.float32), EAR_RATE_HZ)
    result = CliRunner().invoke(app, ["hear", str(tmp_path / "quiet.wav")])
    assert result.exit_code == 0
    assert "no speech was heard" in result.output


def test_a_recogniser_is_chosen_by_name(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "quiet.wav", np.zeros(EAR_RATE_HZ, np.float32), EAR_RATE_HZ)
    call = ["hear", str(tmp_path / "quiet.wav"), "--model"]
    assert CliRunner().invoke(app, [*call, "moonshine-tiny-en"]).exit_code == 0
    result = CliRunner().invoke(app, [*call, "nope"])
    assert isinstance(result.exception, InvalidInput)
    assert "moonshine-tiny-en" in str(result.exception)


def test_one_source_must_be_named() -> None:
    for arguments in (["hear"], ["hear", "x.wav", "--mic"]):
        assert isinstance(CliRunner().invoke(app, arguments).exception, InvalidInput)


def test_the_microphone_is_whatever_can_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert recorder(16_000) is None
    with pytest.raises(InvalidInput, match="arecord"), microphone(16_000):
        pass
    fake = tmp_path / "arecord"
    fake.write_text('#!/bin/sh\necho "$@"\n')
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    with microphone(16_000) as pieces:
        assert b"-r 16000" in b"".join(pieces)
    fake.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(InvalidInput, match="could not record"), microphone(16_000) as pieces:
        list(pieces)
