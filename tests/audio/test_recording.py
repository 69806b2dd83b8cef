"""Recordings piece by piece: what comes out is the whole, whatever container it came in."""

import io
import sys

import numpy as np
import pytest
import soundfile

from antiphon.audio.container import open_encoder
from antiphon.audio.recording import blocks
from antiphon.core.errors import InvalidInput
from antiphon.core.frame import AudioFormat, Samples


def speechlike(seconds: float, rate_hz: int) -> Samples:
    t = np.arange(round(seconds * rate_hz)) / rate_hz
    return (0.3 * np.sin(2 * np.pi * 440 * t) * np.sin(2 * np.pi * 1.5 * t)).astype(np.float32)


def written(samples: Samples, rate_hz: int, kind: str) -> io.BytesIO:
    file = io.BytesIO()
    soundfile.write(file, samples, rate_hz, format=kind)
    file.seek(0)
    return file


def encoded(samples: Samples, rate_hz: int, container: str) -> io.BytesIO:
    """As our own server streams it: the length is not known when the header is written."""
    encoder = open_encoder(AudioFormat(container, "pcm_s16le", rate_hz), rate_hz)
    return io.BytesIO(encoder.push(samples) + encoder.finish())


def whole(file: io.BytesIO, **raw: object) -> Samples:
    return np.concatenate(list(blocks(file, **raw)))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["WAV", "FLAC", "AIFF"])
def test_lossless_files_at_the_asked_rate_come_back_as_they_are(kind: str) -> None:
    samples = speechlike(3.3, 16_000)
    assert np.abs(whole(written(samples, 16_000, kind)) - samples).max() < 2e-4


@pytest.mark.parametrize("kind", ["OGG", "MP3"])
def test_lossy_files_are_about_as_long_as_they_were(kind: str) -> None:
    assert len(whole(written(speechlike(3.0, 44_100), 44_100, kind))) == pytest.approx(48_000, abs=1_600)


@pytest.mark.parametrize("rate_hz", [6_000, 8_000, 44_100, 96_000])
def test_any_rate_becomes_16_khz_and_cutting_leaves_no_seam(rate_hz: int) -> None:
    out = whole(written(speechlike(3.5, rate_hz), rate_hz, "WAV"))
    assert len(out) == pytest.approx(56_000, abs=2)
    assert np.abs(out[200:-200] - speechlike(3.5, 16_000)[200 : len(out) - 200]).max() < 2e-3


def test_it_comes_in_pieces_of_about_a_second() -> None:
    sizes = [len(piece) for piece in blocks(written(speechlike(5.0, 16_000), 16_000, "WAV"))]
    assert max(sizes) <= 16_000
    assert len(sizes) >= 5


def test_channels_are_averaged() -> None:
    left = speechlike(1.0, 16_000)
    out = whole(written(np.stack([left, np.zeros_like(left)], axis=1), 16_000, "WAV"))
    assert np.abs(out - left / 2).max() < 2e-4


@pytest.mark.parametrize("container", ["wav", "flac", "mp3", "opus"])
def test_streamed_files_that_do_not_know_their_length_are_read_to_the_end(container: str) -> None:
    rate_hz = 24_000
    out = whole(encoded(speechlike(4.0, rate_hz), rate_hz, container))
    assert len(out) == pytest.approx(64_000, abs=2_000)


def test_a_streamed_flac_is_not_changed_by_being_read() -> None:
    file = encoded(speechlike(1.0, 16_000), 16_000, "flac")
    before = file.getvalue()
    whole(file)
    assert file.getvalue() == before


@pytest.mark.parametrize(("encoding", "dtype", "scale"), [("pcm_s16le", "<i2", 32_767), ("pcm_f32le", "<f4", 1)])
def test_raw_samples_by_encoding_and_rate(encoding: str, dtype: str, scale: float) -> None:
    samples = speechlike(2.2, 16_000)
    data = (samples * scale).astype(dtype).tobytes()
    assert np.abs(whole(io.BytesIO(data + b"\0"), encoding=encoding, sample_rate_hz=16_000) - samples).max() < 1e-4


def test_a_wav_is_read_as_a_wav_whatever_was_promised() -> None:
    samples = speechlike(1.0, 8_000)
    out = whole(written(samples, 8_000, "WAV"), encoding="pcm_s16le", sample_rate_hz=16_000)
    assert len(out) == pytest.approx(16_000, abs=2)


@pytest.mark.parametrize("data", [b"hello" * 100, b"RIFF", b"", b"fLaC" + bytes(60), b"OggS" + bytes(60)])
def test_what_is_no_recording_is_said_to_be_none(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="no recording"):
        whole(io.BytesIO(data))


def test_what_libsndfile_cannot_read_names_the_extra_that_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    for data in (b"\0\0\0\x18ftypM4A " + bytes(60), b"\x1aE\xdf\xa3" + bytes(60)):
        with pytest.raises(InvalidInput, match=r"antiphon\[aac\]"):
            whole(io.BytesIO(data))


@pytest.mark.parametrize(("container", "codec"), [("mp4", "aac"), ("webm", "libopus")])
def test_m4a_and_webm_with_the_extra(container: str, codec: str) -> None:
    av = pytest.importorskip("av")
    file = io.BytesIO()
    with av.open(file, "w", format=container) as media:
        stream = media.add_stream(codec, rate=48_000, layout="mono")
        frame = av.AudioFrame.from_ndarray(speechlike(2.0, 48_000)[np.newaxis], format="fltp", layout="mono")
        frame.sample_rate = 48_000
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            media.mux(packet)
    file.seek(0)
    assert len(whole(file)) == pytest.approx(32_000, abs=1_600)
    with pytest.raises(InvalidInput, match=container):
        whole(io.BytesIO(file.getvalue()[:40]))
