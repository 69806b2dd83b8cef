import io
import struct
import sys

import numpy as np
import pytest
import soundfile

from antiphon.audio import activity, pcm
from antiphon.audio.container import CONTAINERS, Encoder, check_format, open_encoder
from antiphon.audio.framing import mp3_frame_bytes, ogg_page_bytes
from antiphon.audio.read import read
from antiphon.audio.resample import resample
from antiphon.core.errors import InvalidInput
from antiphon.core.frame import AudioFormat, Samples

from .conftest import cuts, snr_db

CARTESIA_RATES = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000]
CARTESIA_BIT_RATES = [32_000, 64_000, 96_000, 128_000, 192_000]
CODECS = ["mp3", "opus", "flac", "aac"]

# What a decoder puts before the audio: LAME's 576 and every decoder's 529 samples; AAC's first, empty frame. Opus says
# in its header how much to skip, FLAC has none.
DELAY_SAMPLES = {"mp3": 1_105, "aac": 1_024}
LEAST_SNR_DB = {"mp3": 15, "opus": 12, "flac": 60, "aac": 20}


def run(encoder: Encoder, samples: Samples, slices: list[slice]) -> list[bytes]:
    return [*(encoder.push(samples[piece]) for piece in slices), encoder.finish()]


def whole(samples: Samples) -> list[slice]:
    return [slice(0, len(samples))]


def in_20_ms(samples: Samples, rate_hz: int = 24_000) -> list[slice]:
    size = rate_hz // 50
    return [slice(at, at + size) for at in range(0, len(samples), size)]


def decode(container: str, data: bytes) -> tuple[Samples, int]:
    if container != "aac":
        return read(data)
    av = pytest.importorskip("av")
    with av.open(io.BytesIO(data)) as file:
        frames = list(file.decode(audio=0))
    return np.concatenate([frame.to_ndarray()[0] for frame in frames]), frames[0].sample_rate


def frames_of(container: str, data: bytes) -> list[bytes]:
    """Cut into frames or pages; fails where ``data`` is not whole ones."""
    sizes = {"mp3": mp3_frame_bytes, "opus": ogg_page_bytes, "aac": adts_frame_bytes}
    found, at = [], 0
    while at < len(data):
        size = sizes[container](data, at)
        assert size is not None
        assert at + size <= len(data), "a frame is cut"
        found.append(data[at : at + size])
        at += size
    return found


def adts_frame_bytes(data: bytes, at: int) -> int:
    assert data[at] == 0xFF
    assert data[at + 1] & 0xF6 == 0xF0
    return (data[at + 3] & 3) << 11 | data[at + 4] << 3 | data[at + 5] >> 5


@pytest.mark.parametrize("rate_hz", CARTESIA_RATES)
@pytest.mark.parametrize("encoding", pcm.ENCODINGS)
def test_raw_chunked_equals_whole_bit_for_bit(encoding: str, rate_hz: int, speech_24k: Samples) -> None:
    format = AudioFormat("raw", encoding, rate_hz)
    expected = pcm.encode(resample(speech_24k, 24_000, rate_hz), encoding)
    assert b"".join(run(open_encoder(format, 24_000), speech_24k, whole(speech_24k))) == expected
    parts = run(open_encoder(format, 24_000), speech_24k, cuts(len(speech_24k), seed=rate_hz))
    assert b"".join(parts) == expected
    assert all(len(part) % pcm.bytes_per_sample(encoding) == 0 for part in parts), "chunks must be whole samples"


@pytest.mark.parametrize("encoding", ["pcm_s16le", "pcm_f32le", "pcm_mulaw", "pcm_alaw", "pcm_s32le"])
def test_A1_one_wav_header_then_samples_only(encoding: str, speech_24k: Samples) -> None:
    parts = run(open_encoder(AudioFormat("wav", encoding, 24_000), 24_000), speech_24k, in_20_ms(speech_24k))
    data = b"".join(parts)
    assert parts[0].startswith(b"RIFF")
    assert data.count(b"RIFF") == data.count(b"data") == 1
    assert data.endswith(pcm.encode(speech_24k, encoding))


def test_A3_no_byte_after_the_last_sample(speech_24k: Samples) -> None:
    encoder = open_encoder(AudioFormat("wav", "pcm_s16le", 24_000), 24_000)
    pushed = encoder.push(speech_24k)
    assert encoder.finish() == b""
    assert len(pushed) == 44 + 2 * len(speech_24k)


def test_A3_joined_sentences_have_no_click_at_the_joint(speech_24k: Samples) -> None:
    bodies = []
    for rate_hz in (24_000, 16_000):
        one = b"".join(
            run(open_encoder(AudioFormat("wav", "pcm_s16le", rate_hz), 24_000), speech_24k, in_20_ms(speech_24k))
        )
        samples, _ = read(one)
        joined = np.concatenate([samples, samples])
        bodies.append(activity.clicks(joined, rate_hz))
    assert bodies == [[], []]


@pytest.mark.parametrize("rate_hz", CARTESIA_RATES)
@pytest.mark.parametrize("container", CODECS)
def test_A13_everything_pushed_can_be_decoded(container: str, rate_hz: int, speech_24k: Samples) -> None:
    encoder = open_encoder(AudioFormat(container, sample_rate_hz=rate_hz, bit_rate_bps=96_000), 24_000)
    got, got_hz = decode(container, b"".join(run(encoder, speech_24k, in_20_ms(speech_24k))))
    assert got_hz == encoder.sample_rate_hz
    assert (encoder.sample_rate_hz == rate_hz) == (encoder.notice is None or "Hz is sent" not in encoder.notice)
    wanted = resample(speech_24k, 24_000, got_hz)
    got = got[DELAY_SAMPLES.get(container, 0) :]
    assert len(got) >= len(wanted)
    if container in ("opus", "flac"):
        assert len(got) == len(wanted)
    assert snr_db(wanted, got[: len(wanted)]) > LEAST_SNR_DB[container]


@pytest.mark.parametrize("container", CODECS)
def test_codec_chunked_equals_whole(container: str, speech_24k: Samples) -> None:
    format = AudioFormat(container, sample_rate_hz=16_000)
    decoded = [
        decode(container, b"".join(run(open_encoder(format, 24_000), speech_24k, slices)))[0]
        for slices in (whole(speech_24k), in_20_ms(speech_24k), cuts(len(speech_24k), seed=3))
    ]
    assert len(decoded[0]) == len(decoded[1]) == len(decoded[2])
    assert snr_db(decoded[0], decoded[1]) > 60
    assert snr_db(decoded[0], decoded[2]) > 60


@pytest.mark.parametrize("container", ["mp3", "opus", "aac"])
def test_every_push_returns_whole_frames(container: str, speech_24k: Samples) -> None:
    parts = run(open_encoder(AudioFormat(container), 24_000), speech_24k, in_20_ms(speech_24k))
    assert sum(len(frames_of(container, part)) for part in parts) > 25
    assert sum(part != b"" for part in parts) > 20, "bytes leave as they become available"


def test_every_push_returns_whole_flac_frames(speech_24k: Samples) -> None:
    parts = run(open_encoder(AudioFormat("flac"), 24_000), speech_24k, in_20_ms(speech_24k))
    assert parts[0].startswith(b"fLaC")
    assert all(part[:2] == b"\xff\xf8" for part in parts[1:] if part)
    assert len([part for part in parts[1:] if part]) >= len(speech_24k) // 1_152


@pytest.mark.parametrize("bit_rate", CARTESIA_BIT_RATES)
@pytest.mark.parametrize("rate_hz", CARTESIA_RATES)
def test_mp3_has_the_bit_rate_asked_for_or_says_so(rate_hz: int, bit_rate: int, speech_24k: Samples) -> None:
    encoder = open_encoder(AudioFormat("mp3", sample_rate_hz=rate_hz, bit_rate_bps=bit_rate), 24_000)
    source = speech_24k[:24_000]
    data = b"".join(run(encoder, source, whole(source)))
    possible = min(bit_rate, 320_000 if rate_hz >= 32_000 else 160_000 if rate_hz >= 16_000 else 64_000)
    assert (encoder.notice is None) == (possible == bit_rate)
    frames = frames_of("mp3", data)
    frame_s = (1_152 if rate_hz >= 32_000 else 576) / rate_hz
    assert 8 * len(data) / (len(frames) * frame_s) == pytest.approx(possible, rel=0.01)
    info = soundfile.info(io.BytesIO(data))
    assert (info.samplerate, info.channels) == (rate_hz, 1)


def test_mp3_stream_starts_with_audio_not_with_an_empty_frame(speech_24k: Samples) -> None:
    first = frames_of("mp3", b"".join(run(open_encoder(AudioFormat("mp3"), 24_000), speech_24k, whole(speech_24k))))[0]
    assert any(first[4:])


@pytest.mark.parametrize(
    ("container", "most_ms"), [("raw", 20), ("wav", 20), ("mp3", 100), ("opus", 80), ("flac", 60), ("aac", 140)]
)
def test_first_audio_leaves_early(container: str, most_ms: int, speech_24k: Samples) -> None:
    encoder = open_encoder(AudioFormat(container), 24_000)
    head = {"wav": 44, "flac": 86, "opus": 1_000}.get(container, 0)
    sent, pushed_ms = 0, 0
    for piece in in_20_ms(speech_24k):
        sent += len(encoder.push(speech_24k[piece]))
        pushed_ms += 20
        if sent > head:
            break
    assert pushed_ms <= most_ms


def test_opus_pages_are_short(speech_24k: Samples) -> None:
    pages = frames_of("opus", b"".join(run(open_encoder(AudioFormat("opus"), 24_000), speech_24k, whole(speech_24k))))
    ends = [struct.unpack_from("<q", page, 6)[0] for page in pages]
    assert max(np.diff(ends)) <= 0.06 * 48_000


def test_raw_and_wav_hold_nothing_back_after_flush(speech_24k: Samples) -> None:
    for container, head in (("raw", 0), ("wav", 44)):
        encoder = open_encoder(AudioFormat(container, "pcm_s16le", 8_000), 24_000)
        sent = len(encoder.push(speech_24k[:12_000])) + len(encoder.flush())
        assert sent == head + 2 * 4_000
        rest = encoder.push(speech_24k[12_000:]) + encoder.finish()
        assert sent + len(rest) == head + 2 * len(speech_24k) // 3


@pytest.mark.parametrize("container", CONTAINERS)
def test_memory_of_a_stream_is_bounded(container: str, speech_24k: Samples) -> None:
    encoder = open_encoder(AudioFormat(container, sample_rate_hz=16_000), 24_000)
    held = 0
    for _ in range(15):
        encoder.push(speech_24k)
        sink = getattr(encoder._codec, "_sink", None)
        framer = getattr(encoder._codec, "_framer", None)
        held = max(held, len(sink._new) if sink else 0, len(getattr(framer, "_held", b"")))
    assert held < 5_000


@pytest.mark.parametrize("container", CONTAINERS)
def test_finish_comes_once_and_push_after_it_is_an_error(container: str, speech_24k: Samples) -> None:
    encoder = open_encoder(AudioFormat(container), 24_000)
    encoder.push(speech_24k[:4_800])
    encoder.finish()
    assert encoder.finish() == encoder.flush() == b""
    with pytest.raises(ValueError, match="finished"):
        encoder.push(speech_24k[:480])


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_stream_without_a_sample_is_an_empty_file(container: str) -> None:
    data = open_encoder(AudioFormat(container), 24_000).finish()
    if container == "wav":
        samples, rate_hz = read(data)
        assert (len(samples), rate_hz) == (0, 24_000)
    elif container == "opus":
        assert len(frames_of("opus", data)) == 2, "the two pages of headers"
    else:
        assert data == b""


@pytest.mark.parametrize("container", CONTAINERS)
def test_one_bad_sample_does_not_poison_the_stream(container: str, speech_24k: Samples) -> None:
    bad = speech_24k.copy()
    bad[10_000] = np.nan
    bad[12_000] = np.inf
    encoder = open_encoder(AudioFormat(container, "pcm_s16le"), 24_000)
    data = b"".join(run(encoder, bad, in_20_ms(bad)))
    got = pcm.decode(data, "pcm_s16le") if container == "raw" else decode(container, data)[0]
    delay = DELAY_SAMPLES.get(container, 0)
    assert np.isfinite(got).all()
    assert snr_db(speech_24k[24_000:], got[delay:][24_000 : len(speech_24k)]) > 10


@pytest.mark.parametrize(
    ("format", "param", "told"),
    [
        (AudioFormat("ogg"), "container", "raw, wav, mp3, opus, flac, aac"),
        (AudioFormat("raw", "pcm_s24le"), "encoding", "pcm_s16le"),
        (AudioFormat("wav", "pcm_f16le"), "encoding", "WAV cannot carry"),
        (AudioFormat("raw", sample_rate_hz=0), "sample_rate", "outside"),
        (AudioFormat("mp3", sample_rate_hz=10_000_000), "sample_rate", "outside"),
        (AudioFormat("mp3", bit_rate_bps=0), "bit_rate", "positive"),
    ],
)
def test_formats_that_cannot_be_are_refused_by_name(format: AudioFormat, param: str, told: str) -> None:
    for call in (check_format, lambda asked: open_encoder(asked, 24_000)):
        with pytest.raises(InvalidInput, match=told) as error:
            call(format)
        assert error.value.param == param


def test_aac_without_pyav_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(InvalidInput, match=r"pip install 'antiphon\[aac\]'"):
        open_encoder(AudioFormat("aac"), 24_000)
