import io
from pathlib import Path

import numpy as np
import pytest
import soundfile

from antiphon.audio import pcm
from antiphon.audio.container import open_encoder
from antiphon.audio.flac import with_length
from antiphon.audio.read import read
from antiphon.core.errors import InvalidInput
from antiphon.core.frame import AudioFormat, Samples


def test_channels_are_averaged(tmp_path: Path) -> None:
    stereo = np.stack([np.full(100, 0.5), np.full(100, -0.25)], axis=1)
    soundfile.write(tmp_path / "two.wav", stereo, 8_000, subtype="FLOAT")
    for source in (tmp_path / "two.wav", str(tmp_path / "two.wav"), (tmp_path / "two.wav").read_bytes()):
        samples, rate = read(source)
        assert rate == 8_000
        assert samples.dtype == np.float32
        assert np.allclose(samples, 0.125)


@pytest.mark.parametrize("encoding", pcm.ENCODINGS)
def test_raw_pcm_with_its_encoding(encoding: str) -> None:
    wave = (np.sin(np.arange(500) / 7) * 0.4).astype(np.float32)
    data = pcm.encode(wave, encoding)
    samples, rate = read(data + b"\1" * (pcm.bytes_per_sample(encoding) - 1), encoding=encoding, sample_rate_hz=8_000)
    assert rate == 8_000
    assert np.array_equal(samples, pcm.decode(data, encoding))


@pytest.mark.parametrize("seconds", [0.01, 0.048, 0.7, 2.0])
def test_streamed_flac_of_unknown_length_is_read_to_its_last_sample(seconds: float, speech_24k: Samples) -> None:
    source = speech_24k[10_000 : 10_000 + round(seconds * 24_000)]
    encoder = open_encoder(AudioFormat("flac"), 24_000)
    data = encoder.push(source) + encoder.finish()
    samples, rate = read(data)
    assert rate == 24_000
    assert len(samples) == len(source)
    assert np.abs(samples - source).max() <= 1 / 32_768
    assert soundfile.info(io.BytesIO(with_length(data))).frames == len(source)


def test_files_that_know_their_length_are_left_alone() -> None:
    file = io.BytesIO()
    soundfile.write(file, np.zeros(5_000), 24_000, format="FLAC")
    assert with_length(file.getvalue()) == file.getvalue()
    for other in (b"", b"fLaC", b"RIFF" * 20):
        assert with_length(other) == other


@pytest.mark.parametrize("data", [b"", b"hello, I am text", bytes(1_000)])
def test_what_is_no_audio_is_an_input_error(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="no audio file"):
        read(data)


def test_raw_needs_both_encoding_and_rate() -> None:
    with pytest.raises(InvalidInput, match="both"):
        read(b"\0\0", encoding="pcm_s16le")


def test_too_long_is_refused_before_it_fills_memory() -> None:
    file = io.BytesIO()
    soundfile.write(file, np.zeros(8_000 * 3), 8_000, format="WAV")
    assert len(read(file.getvalue(), most_s=3.0)[0]) == 24_000
    with pytest.raises(InvalidInput, match="longer than 2 s"):
        read(file.getvalue(), most_s=2.0)
    with pytest.raises(InvalidInput, match="longer than 1 s"):
        read(bytes(20_000), encoding="pcm_s16le", sample_rate_hz=8_000, most_s=1.0)
