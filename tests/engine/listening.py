"""What the tests of whole streams of speech do and measure."""

import itertools

import numpy as np

from antiphon.core.engine import Stream
from antiphon.core.event import Audio, Event, WordTimes
from antiphon.core.frame import AudioFormat, Samples
from antiphon.engine.fake import VirtualLoop

RATE_HZ = 24_000
FORMAT = AudioFormat("raw", "pcm_f32le", RATE_HZ)


def spoken(stream: Stream, loop: VirtualLoop, *deltas: str) -> list[Event]:
    """All events of a stream that gets these pieces of text one after the other, and ends."""
    events: list[Event] = []
    for delta in deltas:
        stream.push(delta)
        loop.run()
        events += stream.pull()
    stream.flush("end", last=True)
    while loop.scheduler.backlog():
        loop.run()
        events += stream.pull()
    return events + stream.pull()


def sound(events: list[Event]) -> Samples:
    return np.frombuffer(b"".join(event.data for event in events if isinstance(event, Audio)), np.float32)


def said(events: list[Event]) -> list[tuple[str, int, int]]:
    lists = [event.words for event in events if isinstance(event, WordTimes)]
    return [(word.text, word.start_sample, word.end_sample) for words in lists for word in words]


def level_db(samples: Samples) -> float:
    return float(10 * np.log10((samples.astype(np.float64) ** 2).mean() + 1e-12))


def colour_db(samples: Samples) -> np.ndarray:
    """Long-term spectrum in 20 bands of equal ratio from 100 Hz to 8 kHz: what a voice's timbre is on average."""
    frames = np.lib.stride_tricks.sliding_window_view(samples, 1024)[::256] * np.hanning(1024)
    power = (np.abs(np.fft.rfft(frames, axis=1)) ** 2).mean(axis=0)
    edges = np.geomspace(100, 8_000, 21) / (RATE_HZ / 1024)
    bands = [power[int(low) : max(int(low) + 1, int(high))].mean() for low, high in itertools.pairwise(edges)]
    return 10 * np.log10(bands)
