import numpy as np
import pytest

from antiphon.audio import pcm, sniff
from antiphon.audio.container import open_encoder
from antiphon.audio.resample import resample
from antiphon.core.errors import InvalidInput
from antiphon.core.frame import AudioFormat, Samples


@pytest.mark.parametrize("container", ["wav", "mp3", "opus", "flac", "aac"])
def test_a_container_is_known_by_its_first_bytes(container: str, speech_24k: Samples) -> None:
    encoder = open_encoder(AudioFormat(container), 24_000)
    data = encoder.push(speech_24k) + encoder.finish()
    assert sniff.container_of(data) == container
    told = sniff.mismatch(data, "pcm_s16le")
    assert told is not None
    assert container in told


@pytest.mark.parametrize("data", [b"", b"\xff", b"\xff" * 64, bytes(64)])
def test_silence_is_no_container(data: bytes) -> None:
    assert sniff.container_of(data) is None


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 24_000])
@pytest.mark.parametrize("encoding", pcm.ENCODINGS)
def test_the_promised_encoding_is_accepted(encoding: str, rate_hz: int, speech_24k: Samples) -> None:
    data = pcm.encode(resample(speech_24k, 24_000, rate_hz), encoding)
    assert sniff.mismatch(data, encoding) is None
    sniff.require(data, encoding)


@pytest.mark.parametrize(
    ("promised", "sent"),
    [
        ("pcm_mulaw", "pcm_s16le"),
        ("pcm_alaw", "pcm_s16le"),
        ("pcm_s16le", "pcm_f32le"),
        ("pcm_mulaw", "pcm_f32le"),
        ("pcm_f32le", "pcm_mulaw"),
        ("pcm_s16le", "pcm_mulaw"),
    ],
)
def test_A14_wrong_format_is_told_not_played(promised: str, sent: str, speech_24k: Samples) -> None:
    data = pcm.encode(speech_24k[2_000:14_000], sent)
    with pytest.raises(InvalidInput, match=f"{promised} was promised, but these bytes look like") as error:
        sniff.require(data, promised)
    assert error.value.param == "encoding"


@pytest.mark.parametrize("encoding", pcm.ENCODINGS)
def test_silence_and_hiss_are_not_accused(encoding: str) -> None:
    hiss = np.random.default_rng(0).standard_normal(4_000).astype(np.float32) * 0.05
    for piece in (np.zeros(4_000, np.float32), hiss):
        assert sniff.mismatch(pcm.encode(piece, encoding), encoding) is None
