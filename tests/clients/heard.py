"""What a listener would notice: is it speech, of the right length, with the words of the text at the right places."""

import io
import re
from dataclasses import dataclass, field

import av
import numpy as np
import numpy.typing as npt
import scipy.signal
import soundfile

Wave = npt.NDArray[np.float64]

ANSWER = (
    "Sure, your table is booked for seven o'clock. A glass of wine is $3.14, and Dr. Smith will host you. "
    "Would you like a seat by the window?"
)
"""Three sentences, with full stops that end none."""

LONG = " ".join(
    f"This is sentence number {n} of a very long story, and it goes on and on without saying much at all."
    for n in range(1, 16)
)
"""About a minute and a half of speech: what is cancelled must not be over already."""

SHORT = "And now to something new."

SECONDS_PER_LETTER = (0.035, 0.14)
SPEECH_RMS_DBFS = -45.0
WORD_PEAK_DBFS = -42.0

_SUBTYPES = {"pcm_f32le": "FLOAT", "pcm_s16le": "PCM_16", "pcm_mulaw": "ULAW", "pcm_alaw": "ALAW"}
SAMPLE_BYTES = {"pcm_f32le": 4, "pcm_s16le": 2, "pcm_mulaw": 1, "pcm_alaw": 1}


def tokens(text: str) -> list[str]:
    """The text as a language model writes it: pieces of words, each with the space before it."""
    pieces = re.findall(r"\s*\S{1,4}", text)
    assert "".join(pieces) == text
    return pieces


def raw_wave(data: bytes, encoding: str, rate_hz: int) -> Wave:
    """Headerless samples, read by libsndfile (not by the code under test)."""
    assert len(data) % SAMPLE_BYTES[encoding] == 0, "a sample is cut in two"
    wave, _ = soundfile.read(
        io.BytesIO(data), format="RAW", subtype=_SUBTYPES[encoding], samplerate=rate_hz, channels=1, endian="LITTLE"
    )
    return np.asarray(wave, dtype=np.float64)


def file_wave(data: bytes) -> tuple[Wave, int, str]:
    """Samples, rate and format of a file with a header (wav, mp3, flac, ogg)."""
    with soundfile.SoundFile(io.BytesIO(data)) as file:
        assert file.channels == 1
        rate_hz, kind = file.samplerate, f"{file.format}/{file.subtype}"
        wave = _streamed_flac_wave(data) if file.format == "FLAC" else file.read()
        return np.asarray(wave, dtype=np.float64), rate_hz, kind


def _streamed_flac_wave(data: bytes) -> Wave:
    """A stream's header cannot say how long it will be, and libsndfile reads no such file to its end."""
    resampler = av.AudioResampler(format="dbl", layout="mono")
    with av.open(io.BytesIO(data)) as container:
        frames = [part for frame in container.decode(audio=0) for part in resampler.resample(frame)]
    return np.concatenate([frame.to_ndarray()[0] for frame in frames])


@dataclass
class Said:
    """What arrived for one context or request."""

    audio: bytearray = field(default_factory=bytearray)
    words: list[str] = field(default_factory=list)
    start_s: list[float] = field(default_factory=list)
    end_s: list[float] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    flush_ids: list[int] = field(default_factory=list)

    def add_words(self, words: list[str], start_s: list[float], end_s: list[float]) -> None:
        assert len(words) == len(start_s) == len(end_s)
        self.words += words
        self.start_s += start_s
        self.end_s += end_s


def dbfs(wave: Wave) -> float:
    return float(20 * np.log10(np.sqrt(np.mean(np.square(wave))) + 1e-12)) if len(wave) else -240.0


def assert_speech(wave: Wave, rate_hz: int, text: str) -> float:
    """Not silent, not clipped, of a plausible length for the text. Returns the length in seconds."""
    assert len(wave), "no audio at all"
    assert np.isfinite(wave).all()
    duration_s = len(wave) / rate_hz
    letters = sum(character.isalnum() for character in text)
    shortest, longest = (letters * seconds for seconds in SECONDS_PER_LETTER)
    assert shortest < duration_s < longest, f"{duration_s:.2f} s for {letters} letters"
    assert dbfs(wave) > SPEECH_RMS_DBFS, f"silent: {dbfs(wave):.0f} dBFS"
    assert np.abs(wave).max() <= 1.0
    assert np.mean(np.abs(wave) > 0.999) < 1e-3, "clipped"
    return duration_s


def assert_word_times(
    words: list[str], start_s: list[float], end_s: list[float], text: str, wave: Wave, rate_hz: int
) -> None:
    """Every word as written, in order; times rise, stay inside the audio, and there is sound where a word is."""
    assert words == text.split()
    duration_s = len(wave) / rate_hz
    assert all(np.diff(start_s) > 0), f"starts do not rise: {start_s}"
    assert all(end > start for start, end in zip(start_s, end_s, strict=True))
    assert all(end <= following + 0.011 for end, following in zip(end_s, start_s[1:], strict=False)), "words overlap"
    assert start_s[0] >= 0.0
    assert end_s[-1] <= duration_s + 0.011
    # Speech fills the audio: no long silence before the first word or after the last.
    assert start_s[0] < 0.4
    assert duration_s - end_s[-1] < 0.8
    for word, start, end in zip(words, start_s, end_s, strict=True):
        span = wave[int(start * rate_hz) : max(int(end * rate_hz), int(start * rate_hz) + 1)]
        assert 20 * np.log10(np.abs(span).max() + 1e-12) > WORD_PEAK_DBFS, f"nothing sounds where {word!r} should be"


def assert_said(said: Said, encoding: str, rate_hz: int, text: str) -> Wave:
    """All of it: speech of the text with the times of its words."""
    wave = raw_wave(bytes(said.audio), encoding, rate_hz)
    assert_speech(wave, rate_hz, text)
    assert_word_times(said.words, said.start_s, said.end_s, text, wave, rate_hz)
    return wave


def likeness(wave: Wave, rate_hz: int, other: Wave, other_rate_hz: int) -> float:
    """Correlation of two recordings below 3.5 kHz, 1.0 for the same speech. Allows for a codec's delay."""
    common_hz = 8000
    first, second = (
        scipy.signal.resample_poly(samples, common_hz, rate)
        for samples, rate in ((wave, rate_hz), (other, other_rate_hz))
    )
    low = scipy.signal.butter(6, 3500, fs=common_hz, output="sos")
    first, second = (scipy.signal.sosfiltfilt(low, samples) for samples in (first, second))
    scores = scipy.signal.correlate(first, second, method="fft")
    lags = scipy.signal.correlation_lags(len(first), len(second))
    near = np.abs(lags) < common_hz // 4
    return float(scores[near].max() / (np.linalg.norm(first) * np.linalg.norm(second) + 1e-12))
