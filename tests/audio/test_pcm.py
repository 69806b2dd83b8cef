import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.audio import pcm
from antiphon.core.errors import InvalidInput

ALL_S16 = np.arange(-32_768, 32_768, dtype=np.int16)


@pytest.mark.parametrize(
    ("encoding", "size"),
    [("pcm_s16le", 2), ("pcm_s32le", 4), ("pcm_f32le", 4), ("pcm_f16le", 2), ("pcm_mulaw", 1), ("pcm_alaw", 1)],
)
def test_every_encoding_has_its_size(encoding: str, size: int) -> None:
    assert pcm.bytes_per_sample(encoding) == size
    assert len(pcm.encode(np.zeros(7, np.float32), encoding)) == 7 * size
    assert encoding in pcm.ENCODINGS


def test_unknown_encoding_names_the_valid_ones() -> None:
    for call in (lambda: pcm.bytes_per_sample("mp3"), lambda: pcm.PcmReader("mp3"), lambda: pcm.decode(b"", "mp3")):
        with pytest.raises(
            InvalidInput, match="pcm_s16le, pcm_s32le, pcm_f32le, pcm_f16le, pcm_mulaw, pcm_alaw"
        ) as told:
            call()
        assert told.value.param == "encoding"


def test_s16_decode_then_encode_is_the_identity() -> None:
    data = ALL_S16.astype("<i2").tobytes()
    assert pcm.encode(pcm.decode(data, "pcm_s16le"), "pcm_s16le") == data


def test_s16_rounds_to_nearest_and_clips() -> None:
    samples = np.array([0.0, 0.4 / 32768, 0.6 / 32768, -0.6 / 32768, 1.0, -1.0, 1.7, -1.7], np.float32)
    assert np.frombuffer(pcm.encode(samples, "pcm_s16le"), "<i2").tolist() == [
        0,
        0,
        1,
        -1,
        32767,
        -32768,
        32767,
        -32768,
    ]


def test_s32_keeps_all_that_float32_holds_above_its_last_bit() -> None:
    samples = np.random.default_rng(0).uniform(-1, 1, 1_000).astype(np.float32)
    np.testing.assert_allclose(
        pcm.decode(pcm.encode(samples, "pcm_s32le"), "pcm_s32le"), samples, rtol=0, atol=2.0**-32
    )
    assert np.frombuffer(pcm.encode(np.array([1.0, -1.0], np.float32), "pcm_s32le"), "<i4").tolist() == [
        2**31 - 1,
        -(2**31),
    ]


@pytest.mark.parametrize("encoding", pcm.ENCODINGS)
def test_damaged_samples_become_silence_or_full_scale_never_noise(encoding: str) -> None:
    samples = np.array([np.nan, np.inf, -np.inf, 3.0, -3.0], np.float32)
    back = pcm.decode(pcm.encode(samples, encoding), encoding)
    assert np.isfinite(back).all()
    np.testing.assert_allclose(back, [0, 1, -1, 1, -1], atol=0.03)


@pytest.mark.parametrize(("encoding", "quiet"), [("pcm_f32le", "<f4"), ("pcm_f16le", "<f2")])
def test_float_input_that_is_no_number_is_made_safe(encoding: str, quiet: str) -> None:
    data = np.array([np.nan, np.inf, 0.25], quiet).tobytes()
    assert pcm.decode(data, encoding).tolist() == [0.0, 1.0, 0.25]


# Decision values and levels from ITU-T G.711, tables 1a/1b (A-law) and 2a/2b (mu-law), scaled to 16 bits.
@pytest.mark.parametrize(
    ("encoding", "code", "level"),
    [
        ("pcm_mulaw", 0xFF, 0),
        ("pcm_mulaw", 0x7F, 0),
        ("pcm_mulaw", 0x80, 32_124),
        ("pcm_mulaw", 0x00, -32_124),
        ("pcm_mulaw", 0x8F, 16_764),
        ("pcm_mulaw", 0x90, 15_996),
        ("pcm_mulaw", 0xEF, 132),
        ("pcm_mulaw", 0xFE, 8),
        ("pcm_alaw", 0xD5, 8),
        ("pcm_alaw", 0x55, -8),
        ("pcm_alaw", 0xAA, 32_256),
        ("pcm_alaw", 0x2A, -32_256),
        ("pcm_alaw", 0xA5, 16_896),
        ("pcm_alaw", 0xC5, 264),
        ("pcm_alaw", 0x80, 5_504),
    ],
)
def test_g711_levels(encoding: str, code: int, level: int) -> None:
    assert pcm.decode(bytes([code]), encoding)[0] * 32_768 == level


@pytest.mark.parametrize("encoding", ["pcm_mulaw", "pcm_alaw"])
def test_g711_codes_survive_decode_and_encode(encoding: str) -> None:
    codes = bytes(range(256))
    again = pcm.encode(pcm.decode(codes, encoding), encoding)
    differing = [code for code in range(256) if again[code] != code]
    # mu-law has two zeros; the negative one comes back as the positive one
    assert differing == ([0x7F] if encoding == "pcm_mulaw" else [])


@pytest.mark.parametrize(("encoding", "bias", "least"), [("pcm_mulaw", 132, 0), ("pcm_alaw", 0, 8)])
def test_g711_error_is_at_most_half_a_step_of_the_segment(encoding: str, bias: int, least: int) -> None:
    samples = ALL_S16[np.argsort(ALL_S16)]
    got = pcm.decode(pcm.encode(samples.astype(np.float32) / 32_768, encoding), encoding) * 32_768
    size = np.abs(samples.astype(np.float64))
    # 16 steps to a segment, and a segment starts at a power of two: half a step is a 32nd of the sample's size at most
    allowed = np.maximum((size + bias) / 32, least)
    within_range = size < 32_124
    assert np.all(np.abs(got - samples)[within_range] <= allowed[within_range] + 1)
    assert np.all(np.diff(got) >= 0), "companding must be monotonic"


def test_decode_refuses_half_a_sample() -> None:
    with pytest.raises(InvalidInput, match="whole samples"):
        pcm.decode(b"\0\0\0", "pcm_s16le")


@settings(max_examples=60, deadline=None)
@given(
    data=st.binary(max_size=400),
    sizes=st.lists(st.integers(0, 9), min_size=1, max_size=60),
    encoding=st.sampled_from(pcm.ENCODINGS),
)
def test_reader_carries_odd_bytes_over_frames(data: bytes, sizes: list[int], encoding: str) -> None:
    reader = pcm.PcmReader(encoding)
    parts, at = [], 0
    for size in sizes:
        parts.append(reader.feed(memoryview(data)[at : at + size]))
        at += size
    parts.append(reader.feed(bytearray(data[at:])))
    whole = len(data) - len(data) % pcm.bytes_per_sample(encoding)
    assert np.array_equal(np.concatenate(parts), pcm.decode(data[:whole], encoding))
    assert reader.pending_bytes == len(data) - whole
