"""From what arrived to what it means. Pure; every boundary is defined here and in docs/bench.md.

Sources of the definitions: *audible* is the start of the first 10 ms window within 25 dB of the utterance's speech
level (``audio.activity``); underruns follow from replaying the arrivals through a simulated player.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antiphon.audio.activity import first_audible_sample
from antiphon.audio.pcm import decode
from antiphon.bench.delivery import Stall, delivery
from antiphon.bench.recording import Take
from antiphon.bench.sound import Sound, listen

PRE_ROLL_S = 0.0
"""The simulated player starts at the first chunk. A pre-roll would hide stalls that a real player lets one hear."""

GAP_TOLERANCE_S = 1e-4
"""Stalls shorter than this are rounding of clocks, not gaps."""

RESAMPLES = 1_000
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Playback:
    """What a listener's player did. ``underruns``: times it ran dry; ``gap_s``: silence that this made, in all.

    ``end_s``: when the last sample had been played, on the clock of the stamps. ``sustained_s``: from when on it played
    to the end without running dry (None: it played nothing).
    """

    underruns: int
    gap_s: float
    end_s: float
    sustained_s: float | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures of one take, in seconds. None: cannot be known (no audio arrived, nothing audible, nothing stated).

    ``late_s``: how late the player issued it (the client's fault, never the server's).
    ``ttfb_s``: first text sent -> first chunk of audio there.
    ``ttfa_s``: first text sent -> the chunk that holds the first audible sample there.
    ``heard_s``: first text sent -> the simulated player plays that sample: ``ttfa_s`` plus the silence in front of it.
    ``leading_silence_s``: position of the first audible sample in the audio.
    ``text_to_audio_s``: last text sent -> that chunk there, when text came in pieces (negative: audio was first).
    ``last_byte_s``: first text sent -> last chunk there.
    ``realtime_factor``: seconds of audio per second until the last chunk.
    ``rtf``: compute seconds that the server stated / seconds of audio.
    ``refused_s``: time until a failed request was told so.
    ``sustained_s``: first text sent -> the simulated player plays, and from then on to the end without running dry.
    ``needed_pre_roll_s``, ``jitter_s``, ``pace``, ``stall``: see :class:`~antiphon.bench.delivery.Delivery`; the
    longest stall. ``sound``: what is in the audio.
    """

    late_s: float
    ttfb_s: float | None
    ttfa_s: float | None
    heard_s: float | None
    leading_silence_s: float | None
    text_to_audio_s: float | None
    last_byte_s: float | None
    audio_s: float
    realtime_factor: float | None
    rtf: float | None
    underruns: int
    gap_s: float
    chunks: int
    wire_bytes: int
    refused_s: float | None
    error: str
    sustained_s: float | None = None
    needed_pre_roll_s: float | None = None
    jitter_s: float | None = None
    pace: float | None = None
    stall: Stall | None = None
    sound: Sound | None = None

    @property
    def stall_s(self) -> float | None:
        """Length of the longest stall; None where there was none."""
        return None if self.stall is None else self.stall.length_s

    @property
    def recovered_s(self) -> float | None:
        return None if self.stall is None else self.stall.recovered_s


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Distribution:
    """Quantiles by linear interpolation; ``*_ci`` are 95 % percentile-bootstrap intervals."""

    count: int
    mean: float
    p50: float
    p90: float
    p95: float
    p99: float
    max: float
    p50_ci: Interval
    p95_ci: Interval
    p90_ci: Interval | None = None
    p99_ci: Interval | None = None


def playback(
    stamps_s: Sequence[float], samples: Sequence[int], sample_rate_hz: int, pre_roll_s: float = PRE_ROLL_S
) -> Playback:
    """Play chunks of ``samples[i]`` samples that arrived at ``stamps_s[i]``.

    The player starts ``pre_roll_s`` after the first chunk, never skips, and after a stall goes on with the next chunk.
    """
    underruns, gap_s, end_s, sustained_s = 0, 0.0, 0.0, None
    for stamp_s, start_s, dry_s, count in _play(stamps_s, samples, sample_rate_hz, pre_roll_s):
        if dry_s is not None:
            underruns += 1
            gap_s += stamp_s - dry_s
        if sustained_s is None or dry_s is not None:
            sustained_s = start_s
        end_s = start_s + count / sample_rate_hz
    return Playback(underruns, gap_s, end_s, sustained_s)


def measure(take: Take, pre_roll_s: float = PRE_ROLL_S) -> Measured:
    """All figures of one take."""
    late_s = max(0.0, take.issued_s - take.scheduled_s)
    sizes = [len(chunk) // 2 for chunk in take.chunks]
    heard = [(stamp, size) for stamp, size in zip(take.stamps_s, sizes, strict=True) if size]
    audio_s = sum(size for _, size in heard) / take.sample_rate_hz
    played = playback([stamp for stamp, _ in heard], [size for _, size in heard], take.sample_rate_hz, pre_roll_s)
    sent = delivery([stamp for stamp, _ in heard], [size for _, size in heard], take.sample_rate_hz)
    refused_s = None
    if take.error and take.ended_s is not None:
        refused_s = take.ended_s - (take.started_s if take.started_s is not None else take.issued_s)
    ttfb_s = ttfa_s = heard_s = leading_s = text_s = last_s = factor = sustained_s = None
    samples = decode(take.pcm, "pcm_s16le")
    if heard and take.started_s is not None:
        ttfb_s = heard[0][0] - take.started_s
        last_s = heard[-1][0] - take.started_s
        factor = audio_s / last_s if last_s > 0 else None
        sustained_s = None if played.sustained_s is None else played.sustained_s - take.started_s
        audible = first_audible_sample(samples, take.sample_rate_hz)
        if audible is not None:
            stamp_s, plays_s = _arrives_and_plays(heard, audible, take.sample_rate_hz, pre_roll_s)
            ttfa_s = stamp_s - take.started_s
            heard_s = plays_s - take.started_s
            leading_s = audible / take.sample_rate_hz
            if take.last_text_s is not None and take.last_text_s > take.started_s:
                text_s = stamp_s - take.last_text_s
    rtf = take.compute_s / audio_s if take.compute_s is not None and audio_s > 0 else None
    return Measured(
        late_s=late_s,
        ttfb_s=ttfb_s,
        ttfa_s=ttfa_s,
        heard_s=heard_s,
        leading_silence_s=leading_s,
        text_to_audio_s=text_s,
        last_byte_s=last_s,
        audio_s=audio_s,
        realtime_factor=factor,
        rtf=rtf,
        underruns=played.underruns,
        gap_s=played.gap_s,
        chunks=len(heard),
        wire_bytes=take.wire_bytes,
        refused_s=refused_s,
        error=take.error,
        sustained_s=sustained_s,
        needed_pre_roll_s=sent.needed_pre_roll_s if heard else None,
        jitter_s=sent.jitter_s if len(heard) > 1 else None,
        pace=sent.pace,
        stall=sent.worst_stall,
        sound=listen(samples, take.sample_rate_hz) if heard else None,
    )


def distribution(values: Sequence[float], seed: int = 0) -> Distribution | None:
    """Quantiles and bootstrap intervals of ``values``; None when there are none. The seed fixes the resampling."""
    if not values:
        return None
    data = np.asarray(values, dtype=np.float64)
    p50, p90, p95, p99 = (float(value) for value in np.quantile(data, (0.5, 0.9, 0.95, 0.99)))
    resampled = _resampled_quantiles(data, (0.5, 0.9, 0.95, 0.99), seed)
    tail = (1 - CONFIDENCE) / 2
    bounds = np.quantile(resampled, (tail, 1 - tail), axis=0)
    half, ninety, ninety_five, ninety_nine = (Interval(float(low), float(high)) for low, high in bounds.T)
    return Distribution(
        count=len(data),
        mean=float(data.mean()),
        p50=p50,
        p90=p90,
        p95=p95,
        p99=p99,
        max=float(data.max()),
        p50_ci=half,
        p95_ci=ninety_five,
        p90_ci=ninety,
        p99_ci=ninety_nine,
    )


def _play(
    stamps_s: Sequence[float], samples: Sequence[int], sample_rate_hz: int, pre_roll_s: float
) -> Iterator[tuple[float, float, float | None, int]]:
    """Per chunk with samples: (arrival, when it starts to play, when the player had run dry or None, samples)."""
    play_s: float | None = None
    for stamp_s, count in zip(stamps_s, samples, strict=True):
        if count == 0:
            continue
        if play_s is None:
            play_s = stamp_s + pre_roll_s
        dry_s = None
        if stamp_s > play_s + GAP_TOLERANCE_S:
            dry_s, play_s = play_s, stamp_s
        yield stamp_s, play_s, dry_s, count
        play_s += count / sample_rate_hz


def _arrives_and_plays(
    heard: Sequence[tuple[float, int]], sample: int, sample_rate_hz: int, pre_roll_s: float
) -> tuple[float, float]:
    """When the chunk that holds ``sample`` arrived, and when the simulated player plays the sample."""
    position = 0
    chunks = _play([stamp for stamp, _ in heard], [size for _, size in heard], sample_rate_hz, pre_roll_s)
    for stamp_s, start_s, _, size in chunks:
        if sample < position + size:
            return stamp_s, start_s + (sample - position) / sample_rate_hz
        position += size
    raise ValueError(f"sample {sample} lies behind the {position} samples that arrived")


def _resampled_quantiles(data: NDArray[np.float64], at: tuple[float, ...], seed: int) -> NDArray[np.float64]:
    """Quantiles ``at`` of bootstrap resamples: ``[resamples, len(at)]``."""
    rng = np.random.default_rng(seed)
    drawn = data[rng.integers(0, len(data), (RESAMPLES, len(data)))]
    quantiles: NDArray[np.float64] = np.quantile(drawn, at, axis=1).T
    return quantiles
