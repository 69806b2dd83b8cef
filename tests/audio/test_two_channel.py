from pathlib import Path

import numpy as np
import pytest
import soundfile

from antiphon.audio.two_channel import TwoChannelWav
from antiphon.core.frame import Samples


def ramp(count: int, start: int = 1) -> Samples:
    out: Samples = (np.arange(start, start + count) / 32_768).astype(np.float32)
    return out


def read(path: Path) -> np.ndarray:
    data, rate_hz = soundfile.read(path, dtype="int16", always_2d=True)
    assert rate_hz == 16_000
    assert data.shape[1] == 2
    return data


def wav(path: Path, limit: int = 1 << 20) -> TwoChannelWav:
    return TwoChannelWav(path / "a.wav", 16_000, limit)


def test_each_channel_keeps_its_own_place(tmp_path: Path) -> None:
    file = wav(tmp_path)
    file.write(1, 5, ramp(3, 100))
    file.write(0, 0, ramp(4))
    file.close()
    file.close()
    assert read(file.path)[:, 0].tolist() == [1, 2, 3, 4, 0, 0, 0, 0]
    assert read(file.path)[:, 1].tolist() == [0, 0, 0, 0, 0, 100, 101, 102]


def test_a_file_that_was_never_closed_can_be_read(tmp_path: Path) -> None:
    file = wav(tmp_path)
    file.write(0, 0, ramp(4))
    data = file.path.read_bytes()
    assert len(data) == 44 + 16
    assert data[:4] == b"RIFF"
    assert np.frombuffer(data[44:], "<i2")[::2].tolist() == [1, 2, 3, 4]


def test_muting_touches_one_channel_only(tmp_path: Path) -> None:
    file = wav(tmp_path)
    file.write(0, 0, ramp(6))
    file.write(1, 0, ramp(6))
    file.mute(0, 2, 100)
    file.close()
    assert read(file.path)[:, 0].tolist() == [1, 2, 0, 0, 0, 0]
    assert read(file.path)[:, 1].tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("by", [-40_000, -3, 3, 40_000])
def test_moving_loses_nothing(tmp_path: Path, by: int) -> None:
    file = wav(tmp_path)
    samples = ramp(30_000) if abs(by) < 100 else np.tile(ramp(30_000), 3)
    file.write(1, 50_000, samples)
    file.move(1, 50_000, 50_000 + len(samples), by)
    file.close()
    channel = read(file.path)[:, 1]
    at = 50_000 + by
    assert np.array_equal(channel[at : at + len(samples)], np.rint(samples * 32_768).astype(np.int16))
    assert not channel[:at].any()
    assert not channel[at + len(samples) :].any()


def test_what_is_before_the_beginning_or_beyond_the_limit_is_left_out(tmp_path: Path) -> None:
    file = wav(tmp_path, 10)
    file.write(0, -2, ramp(4))
    file.write(0, 8, ramp(5, 50))
    file.write(0, 50, ramp(5, 60))
    file.move(0, 0, 10, 5)
    file.move(0, 0, 10, -20)
    file.write(1, 0, np.array([np.nan, 2.0, -2.0], np.float32))
    file.close()
    assert len(read(file.path)) == 10
    assert read(file.path)[:3, 1].tolist() == [0, 32_767, -32_768]


def test_an_existing_recording_is_not_overwritten(tmp_path: Path) -> None:
    wav(tmp_path).close()
    with pytest.raises(FileExistsError):
        wav(tmp_path)
