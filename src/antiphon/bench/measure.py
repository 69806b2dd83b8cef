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
from antiphon.bench.recording import Take

PRE_ROLL_S = 0.0
"""The simulated player starts at the first chunk. A pre-roll would hide stalls that a real player lets one hear."""

GAP_TOLERANCE_S = 1e-4
"""Stalls shorter than this are rounding of clocks, not gaps."""

RESAMPLES = 1_000
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Playback:
    """What a listener's player did. ``underruns``: times it ran dry; ``gap_s``: silence that this made, in all.

    ``end_s``: when the last sample had been played, on the clock of the stamps.
    """

    underruns: int
    gap_s: float
    end_s: float


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


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Distribution:
    """Quantiles by linear interpolation; ``p50_ci``/``p95_ci`` are 95 % percentile-bootstrap intervals."""

    count: int
    mean: float
    p50: float
    p90: float
    p95: float
    p99: float
    max: float
    p50_ci: Interval
    p95_ci: Interval


def playback(
    stamps_s: Sequence[float], samples: Sequence[int], sample_rate_hz: int, pre_roll_s: float = PRE_ROLL_S
) -> Playback:
    """Play chunks of ``samples[i]`` samples that arrived at ``stamps_s[i]``.

    The player starts ``pre_roll_s`` after the first chunk, never skips, and after a stall goes on with the next chunk.
    """
    underruns, gap_s, end_s = 0, 0.0, 0.0
    for stamp_s, start_s, dry_s, count in _play(stamps_s, samples, sample_rate_hz, pre_roll_s):
        if dry_s is not None:
            underruns += 1
            gap_s += stamp_s - dry_s
        end_s = start_s + count / sample_rate_hz
    return Playback(underruns, gap_s, end_s)


def measure(take: Take, pre_roll_s: float = PRE_ROLL_S) -> Measured:
    """All figures of one take."""
    late_s = max(0.0, take.issued_s - take.scheduled_s)
    sizes = [len(chunk) // 2 for chunk in take.chunks]
    heard = [(stamp, size) for stamp, size in zip(take.stamps_s, sizes, strict=True) if size]
    audio_s = sum(size for _, size in heard) / take.sample_rate_hz
    played = playback([stamp for stamp, _ in heard], [size for _, size in heard], take.sample_rate_hz, pre_roll_s)
    refused_s = None
    if take.error and take.ended_s is not None:
        refused_s = take.ended_s - (take.started_s if take.started_s is not None else take.issued_s)
    ttfb_s = ttfa_s = heard_s = leading_s = text_s = last_s = factor = None
    if heard and take.started_s is not None:
        ttfb_s = heard[0][0] - take.started_s
        last_s = heard[-1][0] - take.started_s
        factor = audio_s / last_s if last_s > 0 else None
        audible = first_audible_sample(decode(take.pcm, "pcm_s16le"), take.sample_rate_hz)
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
    )


def distribution(values: Sequence[float], seed: int = 0) -> Distribution | None:
    """Quantiles and bootstrap intervals of ``values``; None when there are none. The seed fixes the resampling."""
    if not values:
        return None
    data = np.asarray(values, dtype=np.float64)
    p50, p90, p95, p99 = (float(value) for value in np.quantile(data, (0.5, 0.9, 0.95, 0.99)))
    resampled = _resampled_quantiles(data, (0.5, 0.95), seed)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(resampled, (tail, 1 - tail), axis=0)
    return Distribution(
        count=len(data),
        mean=float(data.mean()),
        p50=p50,
        p90=p90,
        p95=p95,
        p99=p99,
        max=float(data.max()),
        p50_ci=Interval(float(low[0]), float(high[0])),
        p95_ci=Interval(float(low[1]), float(high[1])),
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
