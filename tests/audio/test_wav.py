import io
import wave

import numpy as np
import pytest
import soundfile

from antiphon.audio import pcm, wav
from antiphon.core.errors import InvalidInput

WAV_ENCODINGS = ["pcm_s16le", "pcm_s32le", "pcm_f32le", "pcm_mulaw", "pcm_alaw"]
SAMPLES = (np.sin(np.arange(1_001) / 9) * 0.5).astype(np.float32)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("encoding", WAV_ENCODINGS)
def test_libsndfile_reads_what_we_write(encoding: str, known: bool) -> None:
    body = pcm.encode(SAMPLES, encoding)
    data = (
        wav.header(encoding, 22_050, len(SAMPLES) if known else None)
        + body
        + (b"\0" if known and len(body) % 2 else b"")
    )
    got, rate = soundfile.read(io.BytesIO(data), dtype="float32")
    assert rate == 22_050
    assert np.array_equal(got, pcm.decode(body, encoding))


def test_the_standard_library_reads_a_stream_of_unknown_length() -> None:
    body = pcm.encode(SAMPLES, "pcm_s16le")
    with wave.open(io.BytesIO(wav.header("pcm_s16le", 16_000) + body)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16_000, 1, 2)
        assert file.readframes(10_000) == body


@pytest.mark.parametrize(
    ("encoding", "tag", "size"),
    [("pcm_s16le", 1, 44), ("pcm_s32le", 1, 44), ("pcm_f32le", 3, 58), ("pcm_alaw", 6, 58), ("pcm_mulaw", 7, 58)],
)
def test_header_has_tag_and_extension_of_its_format(encoding: str, tag: int, size: int) -> None:
    head = wav.header(encoding, 8_000)
    assert len(head) == size
    assert int.from_bytes(head[20:22], "little") == tag
    assert (b"fact" in head) == (tag != 1)
    assert head[4:8] == head[-4:] == b"\xff\xff\xff\xff"


@pytest.mark.parametrize("samples", [None, 0, 1, 48_000])
@pytest.mark.parametrize("encoding", WAV_ENCODINGS)
def test_parse_reads_back_what_header_wrote(encoding: str, samples: int | None) -> None:
    head = wav.header(encoding, 44_100, samples)
    for cut in range(len(head)):
        assert wav.parse_header(head[:cut]) is None, "more bytes are needed"
    parsed = wav.parse_header(head + b"audio")
    assert parsed == wav.WavHeader(encoding, 44_100, 1, samples, len(head))


def test_parse_skips_chunks_it_does_not_know() -> None:
    head = wav.header("pcm_s16le", 8_000, 5)
    listed = head[:12] + b"LIST\x03\0\0\0abc\0" + head[12:]
    parsed = wav.parse_header(listed)
    assert parsed is not None
    assert (parsed.samples, parsed.data_offset) == (5, len(listed))


def test_parse_reads_the_extensible_format() -> None:
    file = io.BytesIO()
    soundfile.write(file, SAMPLES, 48_000, format="WAVEX", subtype="FLOAT")
    parsed = wav.parse_header(file.getvalue())
    assert parsed is not None
    assert (parsed.encoding, parsed.sample_rate_hz, parsed.samples) == ("pcm_f32le", 48_000, len(SAMPLES))


@pytest.mark.parametrize("data", [b"OggS", b"RIFF\0\0\0\0AVI ", b"ID3\3"])
def test_parse_refuses_what_is_no_wav(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="no WAV"):
        wav.parse_header(data)


def test_parse_refuses_24_bit() -> None:
    file = io.BytesIO()
    soundfile.write(file, SAMPLES, 48_000, format="WAV", subtype="PCM_24")
    with pytest.raises(InvalidInput, match="24 bits"):
        wav.parse_header(file.getvalue())


def test_half_floats_have_no_wav() -> None:
    with pytest.raises(InvalidInput, match="WAV cannot carry pcm_f16le"):
        wav.header("pcm_f16le", 24_000)
