import json
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from antiphon.audio.pcm import encode
from antiphon.core.event import Audio
from antiphon.dialog.conversation_actions import CancelSpeech
from antiphon.dialog.conversation_events import FromVoice, Moment
from antiphon.dialog.turn_record import Times, TurnRecord
from antiphon.server.records.recorder import Recorder
from antiphon.server.records.turns import records_for
from antiphon.settings import RecordSettings
from antiphon.text.redact import Redactor

from .support import BEGAN_UNIX_S, conversation, facts

KEEP = {"audio": 30.0, "transcript": 30.0, "retrieved": 30.0, "generated": 30.0, "log": 30.0}


def recorder(root: Path, told: list[str] | None = None, keep: dict[str, float] | None = None, **more: Any) -> Recorder:
    settings = RecordSettings(dir=root, **more)
    report = (told if told is not None else []).append
    return Recorder(root, settings, keep or KEEP, lambda: BEGAN_UNIX_S, report)  # type: ignore[arg-type]


def lines(root: Path, kind: str) -> list[dict[str, Any]]:
    files = sorted((root / kind).rglob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def told_of(root: Path, **more: Any) -> str:
    kept = recorder(root, **more)
    conversation(records_for([kept.session])(facts()))
    assert kept.close()
    return "".join(file.read_text() for file in root.rglob("*.jsonl"))


def test_each_kind_is_kept_apart(tmp_path: Path) -> None:
    told_of(tmp_path, redact=False)
    log = lines(tmp_path, "log")
    assert [line["event"] for line in log] == ["begin", "turn", "turn", "end"]
    assert log[0]["route"] == "/agents/websocket"
    turn = log[1]
    assert turn["outcome"] == "interrupted"
    assert turn["cause"] is None
    assert sum(turn["stages_ms"].values()) == pytest.approx(turn["silence_ms"], abs=0.5)
    assert turn["tools"][0]["name"] == "look_up"
    assert turn["session"] == "as_1"
    assert turn["unix_s"] == pytest.approx(BEGAN_UNIX_S + turn["after_s"], abs=0.01)
    assert {entry["kind"] for entry in turn["ledger"]} >= {"turn.started", "turn.ended", "brain.first", "tool.called"}
    said = lines(tmp_path, "transcript")
    assert [line["text"] for line in said] == ["my name is Anna where is my order", "no stop that please"]
    generated = lines(tmp_path, "generated")
    assert generated[0]["text"].startswith(generated[0]["heard"])
    (result,) = lines(tmp_path, "retrieved")
    assert result["content"] == '{"email":"anna@mail.example","order":4711}'


def test_the_log_has_nobodys_words(tmp_path: Path) -> None:
    told_of(tmp_path, redact=False, kinds=("log",))
    text = "".join(file.read_text() for file in (tmp_path / "log").rglob("*") if file.is_file())
    assert [path.name for path in tmp_path.iterdir()] == ["log"]
    for word in ("Anna", "order", "stop that", "Thank", "mail.example", "noon"):
        assert word not in text


def test_personal_data_is_replaced_by_default(tmp_path: Path) -> None:
    text = told_of(tmp_path)
    for word in ("Anna", "anna", "555", "mail.example"):
        assert word not in text
    assert lines(tmp_path, "transcript")[0]["text"] == "my name is [name] where is my order"
    assert "Thank you, [name]. I will call [phone]" in lines(tmp_path, "generated")[0]["text"]
    assert lines(tmp_path, "retrieved")[0]["content"] == '{"email":"[email]","order":4711}'


def test_a_kind_that_may_not_be_kept_is_not_written(tmp_path: Path) -> None:
    told_of(tmp_path, keep={**KEEP, "transcript": 0.0, "audio": 0.0}, kinds=("transcript", "log", "audio"))
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


def test_old_recordings_go_when_the_recorder_starts(tmp_path: Path) -> None:
    old = tmp_path / "generated" / "2025-01-01" / "as_0.jsonl"
    old.parent.mkdir(parents=True)
    old.write_text("{}\n")
    os.utime(old, (BEGAN_UNIX_S - 40 * 86_400,) * 2)
    assert recorder(tmp_path).close()
    assert not old.exists()


def test_a_folder_that_cannot_be_written_is_said_once_and_the_call_goes_on(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    told: list[str] = []
    kept = recorder(blocked, told, kinds=("log", "transcript", "audio"))
    conversation(records_for([kept.session])(facts()))
    assert kept.close()
    assert len(told) == 1
    assert "the calls go on" in told[0]


def level(seconds: float) -> bytes:
    return encode(np.full(round(seconds * 16_000), 0.5, np.float32), "pcm_s16le")


def audio_of(root: Path, text: str, reply: str, redact: bool = True) -> np.ndarray:
    kept = recorder(root, kinds=("audio",), redact=redact)
    session = kept.session(facts())
    for index in range(200):
        session.user_audio(Moment(0.02 * (index + 1), index * 320), level(0.02), "pcm_s16le", 16_000)
    session.observe(Moment(1.0, 0), FromVoice("s", Audio(b"", 0, 1, 16_000)))
    session.agent_audio(Moment(1.0, 0), "s", 0, level(3.0))
    session.observe(Moment(3.0, 0), CancelSpeech("s", 0))
    spoken = TurnRecord(1, "answered", Times(), (), None, user_text=text, reply_text=reply, speech=(16_000, 32_000),
                        speeches=("s",))  # fmt: skip
    session.turn(Moment(3.5, 56_000), spoken)
    session.end(Moment(4.0, 64_000), "over")
    assert kept.close()
    (file,) = (root / "audio").rglob("*.wav")
    data, _ = soundfile.read(file)
    return np.abs(data) > 0.1


def test_audio_has_the_caller_left_and_what_was_played_of_the_agent_right(tmp_path: Path) -> None:
    loud = audio_of(tmp_path, "hello", "hi")
    assert loud[:, 0].all()
    assert len(loud) == 64_000
    assert loud[16_000:48_000, 1].all()
    assert not loud[:16_000, 1].any()
    assert not loud[48_000:, 1].any()


def test_audio_is_silent_where_personal_data_was_said(tmp_path: Path) -> None:
    loud = audio_of(tmp_path / "a", "my number is 555-867-5309", "hi")
    assert not loud[16_000 - 8_000 : 32_000 + 8_000, 0].any()
    assert loud[:8_000, 0].all()
    assert loud[40_000:, 0].all()
    assert loud[16_000:48_000, 1].all()
    loud = audio_of(tmp_path / "b", "hello", "that is 555-867-5309")
    assert loud[:, 0].all()
    assert not loud[:, 1].any()
    loud = audio_of(tmp_path / "c", "my number is 555-867-5309", "555-867-5309", redact=False)
    assert loud[:, 0].all()
    assert loud[16_000:48_000, 1].all()


def test_audio_is_recorded_only_where_it_is_asked_for(tmp_path: Path) -> None:
    told_of(tmp_path)
    assert not (tmp_path / "audio").exists()


def test_a_turns_text_is_read_through_on_the_disks_thread_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readers: set[str] = set()

    class Watched(Redactor):
        def __call__(self, text: str) -> str:
            readers.add(threading.current_thread().name)
            return super().__call__(text)

    monkeypatch.setattr("antiphon.server.records.recorder.Redactor", Watched)
    kept = recorder(tmp_path, kinds=("transcript", "generated", "retrieved", "log", "audio"))
    gate = threading.Event()
    kept.queue.submit(gate.wait)
    conversation(records_for([kept.session])(facts()))
    assert not readers  # the disk hangs, and so far nobody has looked at a word
    gate.set()
    assert kept.close()
    assert readers == {"recorder"}
    assert lines(tmp_path, "transcript")[0]["text"] == "my name is [name] where is my order"
    assert [line["event"] for line in lines(tmp_path, "log")] == ["begin", "turn", "turn", "end"]


def test_a_name_is_replaced_in_what_is_kept_even_if_what_it_was_said_in_is_not(tmp_path: Path) -> None:
    told_of(tmp_path, kinds=("generated",))
    assert "Thank you, [name]." in lines(tmp_path, "generated")[0]["text"]
