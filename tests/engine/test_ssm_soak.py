"""Ten minutes of one stream of the state-space voice: nothing grows, nothing drifts."""

from functools import cache

import numpy as np
import pytest

from antiphon.audio.resample import resample
from antiphon.bench.wer import word_errors
from antiphon.core.event import Audio, Event, Flushed
from antiphon.core.frame import AudioFormat
from antiphon.core.speech import SpeechConfig
from antiphon.engine.fake import VirtualLoop
from antiphon.engine.ssm import SsmEngine
from antiphon.models.moonshine import Moonshine
from antiphon.models.ssm_voice import RIVER
from antiphon.settings import load
from antiphon.store.store import ModelStore
from tests.models.ssm_weights import voice

PARAGRAPH = (
    "Thank you for waiting. I have looked at your account, and I can see that the invoice was paid on Monday. "
    "The parcel left our house on Tuesday morning, so it should be with you by the end of the week. "
    "Is there anything else that I can help you with today? "
)
LEAST_S = 600.0
PARAGRAPHS = 4
"""About a minute."""
MOST_ERRORS = 6
"""Of 208 words in a minute, by Moonshine."""


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_minute_ten_is_as_minute_one() -> None:
    loop = VirtualLoop()
    engine = SsmEngine(voice(), loop.scheduler, 1)
    config = SpeechConfig(voice=RIVER.id, format=AudioFormat("raw", "pcm_f32le", 24_000), words=True)
    stream = engine.open_stream(config, lambda: None)
    said: list[np.ndarray] = []
    made_s, turn = 0.0, 0
    bytes_per_stream = stream._run.track.state.bytes_per_slot
    while made_s < LEAST_S:
        stream.push(PARAGRAPH)
        stream.flush(turn)
        turn += 1
        events: list[Event] = []
        while loop.scheduler.run_next():
            events += stream.pull()
        assert Flushed(turn - 1) in events
        said.append(np.concatenate([np.frombuffer(e.data, np.float32) for e in events if isinstance(e, Audio)]))
        made_s += len(said[-1]) / 24_000
        track = stream._run.track
        assert track.state.bytes_per_slot == bytes_per_stream
        assert not track.queue
        assert len(track.words.spoken) + len(track.words.owners) + len(track.words.ready) == 0
        assert len(stream._run.reading.log) <= 1
    first, last = said[0], said[-1]
    lengths = [len(part) for part in said[1:]]
    # What a paragraph comes after may move a duration by a frame here and there, not more.
    assert max(lengths) - min(lengths) < 0.02 * min(lengths)
    levels = [10 * np.log10(np.mean(part.astype(np.float64) ** 2)) for part in said]
    assert max(levels) - min(levels) < 0.5
    spectra = [np.log(np.abs(np.fft.rfft(_frames(part), axis=1)).mean(axis=0) + 1e-6) for part in (first, last)]
    assert np.abs(spectra[0] - spectra[1]).mean() < 0.1
    assert abs(_pitch_hz(first) / _pitch_hz(last) - 1) < 0.02
    wrong = [sum(_errors(part) for part in said[start:][:PARAGRAPHS]) for start in (0, len(said) - PARAGRAPHS)]
    print(f"word errors of {PARAGRAPHS * len(PARAGRAPH.split())}: first minute {wrong[0]}, last minute {wrong[1]}")
    assert max(wrong) <= MOST_ERRORS


def _frames(samples: np.ndarray) -> np.ndarray:
    return np.lib.stride_tricks.sliding_window_view(samples, 1024)[::256] * np.hanning(1024)


def _errors(samples: np.ndarray) -> int:
    """Words that Moonshine hears otherwise than they were written."""
    found = _ear().transcribe(resample(samples, 24_000, 16_000)).text
    return word_errors(PARAGRAPH, found).errors


@cache
def _ear() -> Moonshine:
    models = load().models
    store = ModelStore(models.root.expanduser(), models.model_dirs, models.wheelhouse)
    names = ("encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin")
    return Moonshine(*(store.path("moonshine-tiny-en", name) for name in names))


def _pitch_hz(samples: np.ndarray) -> float:
    """Median over loud frames of the lag with the highest autocorrelation, 100 to 400 Hz."""
    frames = np.lib.stride_tricks.sliding_window_view(samples, 1200)[::1200]
    loud = frames[np.sqrt((frames**2).mean(axis=1)) > 0.03]
    power = np.abs(np.fft.rfft(loud, 4096, axis=1)) ** 2
    correlation = np.fft.irfft(power, axis=1)[:, 60:240]
    return float(np.median(24_000 / (60 + correlation.argmax(axis=1))))
