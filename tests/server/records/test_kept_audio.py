"""What is personal does not stay audible, whatever the disk does."""

import errno
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from antiphon.audio.pcm import encode
from antiphon.audio.two_channel import TwoChannelWav
from antiphon.core.frame import Samples
from antiphon.dialog.conversation_events import Moment
from antiphon.dialog.turn_record import Times, TurnRecord
from antiphon.server.records.recorder import Recorder, SessionRecording
from antiphon.settings import RecordSettings

from .support import BEGAN_UNIX_S, facts
from .test_recorder import KEEP, lines

PIECE = encode(np.full(320, 0.5, np.float32), "pcm_s16le")
NUMBER = "my number is 555-867-5309"


def recorder(root: Path, told: list[str], redact: bool = True, kinds: Any = ("audio",), **room: int) -> Recorder:
    settings = RecordSettings(dir=root, kinds=kinds, redact=redact)
    return Recorder(root, settings, KEEP, lambda: BEGAN_UNIX_S, told.append, **room)  # type: ignore[arg-type]


def talk(session: SessionRecording, begin: int, pieces: int) -> int:
    for index in range(begin, begin + pieces):
        session.user_audio(Moment(0.02 * (index + 1), index * 320), PIECE, "pcm_s16le", 16_000)
    return begin + pieces


def turn(session: SessionRecording, text: str, reply: str = "", number: int = 1) -> None:
    spoken = TurnRecord(
        number, "answered", Times(), (), None, user_text=text, reply_text=reply, speech=(16_000, 32_000)
    )
    session.turn(Moment(3.5, 56_000), spoken)


def files(root: Path) -> list[Path]:
    return sorted((root / "audio").rglob("*.wav"))


def loud(file: Path) -> np.ndarray:
    data, _ = soundfile.read(file)
    return np.abs(data) > 0.1


def test_a_full_queue_drops_audio_but_never_what_silences_it(tmp_path: Path) -> None:
    told: list[str] = []
    kept = recorder(tmp_path, told, max_bytes=200 * (len(PIECE) + 256))
    session = kept.session(facts())
    gate = threading.Event()
    kept.queue.submit(gate.wait)
    end = talk(session, 0, 500)  # the disk hangs: the last 300 pieces do not fit any more
    assert len(told) == 1
    turn(session, NUMBER)
    session.end(Moment(0.02 * end, end * 320), "over")
    gate.set()
    assert kept.close()
    (file,) = files(tmp_path)
    heard = loud(file)
    assert 0 < len(heard) < 500 * 320
    assert heard[:8_000, 0].all()
    assert not heard[16_000 - 8_000 : 32_000 + 8_000, 0].any()
    assert soundfile.info(file).frames == len(heard)  # it was closed, too


def test_audio_whose_silencing_found_no_room_at_all_does_not_stay(tmp_path: Path) -> None:
    told: list[str] = []
    kept = recorder(tmp_path, told, max_bytes=20_000, reserve_bytes=2_000)
    session, other = kept.session(facts()), kept.session(facts("as_2"))
    gate = threading.Event()
    talk(session, 0, 5)
    talk(other, 0, 5)
    kept.queue.submit(gate.wait)
    talk(session, 5, 500)
    for number in range(50):
        turn(session, f"{NUMBER}, I said it {number} times", number=number)
    assert kept.queue.submit(gate.wait, 256, owed=True) is False
    gate.set()
    assert kept.close()
    assert [file.name for file in files(tmp_path)] == []  # nor does that of the call whose end never came


def test_without_redaction_what_there_is_stays(tmp_path: Path) -> None:
    kept = recorder(tmp_path, [], redact=False)
    session = kept.session(facts())
    talk(session, 0, 10)
    assert kept.close()  # the call never ended
    (file,) = files(tmp_path)
    assert loud(file)[:, 0].all()


@pytest.mark.parametrize("personal", [True, False])
def test_after_a_failing_write_personal_audio_goes_and_other_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, personal: bool
) -> None:
    real = TwoChannelWav.write

    def write(self: TwoChannelWav, channel: int, at: int, samples: Samples) -> None:
        if at >= 48_000:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(self, channel, at, samples)

    monkeypatch.setattr(TwoChannelWav, "write", write)
    told: list[str] = []
    kept = recorder(tmp_path, told)
    session = kept.session(facts())
    end = talk(session, 0, 200)
    turn(session, NUMBER if personal else "hello")
    session.end(Moment(0.02 * end, end * 320), "over")
    assert kept.close()
    assert len(told) == 1
    assert [len(loud(file)) for file in files(tmp_path)] == ([] if personal else [48_000])


def test_audio_that_cannot_be_silenced_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(TwoChannelWav, "mute", broken)
    kept = recorder(tmp_path, [])
    session = kept.session(facts())
    talk(session, 0, 150)
    turn(session, NUMBER)
    talk(session, 150, 50)
    session.end(Moment(4.0, 64_000), "over")
    assert kept.close()
    assert files(tmp_path) == []


def test_audio_goes_whose_text_cannot_be_read_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: object, text: str) -> str:
        raise RuntimeError("no rule for this")

    monkeypatch.setattr("antiphon.text.redact.Redactor.__call__", broken)
    told: list[str] = []
    kept = recorder(tmp_path, told)
    session = kept.session(facts())
    talk(session, 0, 150)
    turn(session, "hello")
    assert kept.close()
    assert files(tmp_path) == []
    assert "no rule" in told[0]


def test_what_a_dead_process_left_goes_and_what_a_living_one_writes_stays(tmp_path: Path) -> None:
    dead = tmp_path / "audio/2025-12-01/as_0.wav"
    dead.parent.mkdir(parents=True)
    wav = TwoChannelWav(dead, 16_000, 1 << 20)
    wav.write(0, 0, np.full(320, 0.5, np.float32))
    wav.file.close()  # without its header, as a killed process leaves it
    finished = TwoChannelWav(dead.with_name("as_9.wav"), 16_000, 1 << 20)
    finished.close()
    living = recorder(tmp_path, [], redact=False)
    session = living.session(facts())
    talk(session, 0, 50)
    done = threading.Event()
    living.queue.submit(done.set)
    assert done.wait(10.0)
    told: list[str] = []
    assert recorder(tmp_path, told).close()
    assert [file.name for file in files(tmp_path)] == ["as_1.wav", "as_9.wav"]
    assert len(told) == 1
    assert "1 audio file " in told[0]
    session.end(Moment(1.0, 16_000), "over")
    assert living.close()


def test_a_session_that_another_process_began_has_a_second_file(tmp_path: Path) -> None:
    for _ in range(2):
        kept = recorder(tmp_path, [])
        session = kept.session(facts())
        talk(session, 0, 10)
        session.end(Moment(1.0, 16_000), "over")
        assert kept.close()
    assert [file.name for file in files(tmp_path)] == ["as_1.2.wav", "as_1.wav"]


def test_a_name_is_known_although_the_line_that_it_was_said_in_was_dropped(tmp_path: Path) -> None:
    told: list[str] = []
    kept = recorder(tmp_path, told, kinds=("transcript",), max_bytes=4_000)
    session = kept.session(facts())
    gate = threading.Event()
    kept.queue.submit(gate.wait)
    while kept.queue.submit(lambda: None):
        pass
    turn(session, "my name is Anna Meyer")
    gate.set()
    idle = threading.Event()
    kept.queue.submit(idle.set, owed=True)
    assert idle.wait(10.0)
    turn(session, "write to Anna please", number=2)
    assert kept.close()
    assert [line["text"] for line in lines(tmp_path, "transcript")] == ["write to [name] please"]
