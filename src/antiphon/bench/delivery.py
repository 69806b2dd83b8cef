"""How audio was delivered: stalls, recovery, jitter, and the pre-roll that would have hidden them. Pure.

*Media* is counted in samples, arrivals in seconds of the client's clock. The *lead* is what has arrived and has not
been played yet, if the player began with the first chunk and never stopped.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

STALL_S = 0.1
"""A pause between two chunks counts as a stall if it is longer than the audio of the earlier one by this."""


@dataclass(frozen=True, slots=True)
class Stall:
    """``begin_s``: from the first chunk's arrival to the last chunk before the stall. ``length_s``: to the next chunk.
    ``recovered_s``: from its end until the lead was again what it had been before (None: not before the end)."""

    begin_s: float
    length_s: float
    recovered_s: float | None


@dataclass(frozen=True, slots=True)
class Delivery:
    """``needed_pre_roll_s``: the least pre-roll with which the player would not have run dry.

    ``pace``: seconds of audio per second between the first and the last chunk (None: one chunk). ``jitter_s``: mean
    distance of the times between arrivals from what the median pace asks for (RFC 3550's measure, unsmoothed, at the
    server's own pace).
    """

    needed_pre_roll_s: float
    pace: float | None
    jitter_s: float
    stalls: tuple[Stall, ...]

    @property
    def worst_stall(self) -> Stall | None:
        return max(self.stalls, key=lambda stall: stall.length_s, default=None)


def delivery(stamps_s: Sequence[float], samples: Sequence[int], sample_rate_hz: int) -> Delivery:
    """Of chunks of ``samples[i]`` (more than none) samples that arrived at ``stamps_s[i]``, in order."""
    if not stamps_s:
        return Delivery(0.0, None, 0.0, ())
    lengths = [count / sample_rate_hz for count in samples]
    media = _before(lengths)
    pre_roll_s = max(stamp - stamps_s[0] - before for stamp, before in zip(stamps_s, media, strict=True))
    gaps = [later - earlier for earlier, later in itertools.pairwise(stamps_s)]
    span_s = stamps_s[-1] - stamps_s[0]
    pace = media[-1] / span_s if gaps and span_s > 0 else None
    stalls = tuple(
        Stall(stamps_s[at] - stamps_s[0], gap, _recovered(stamps_s, media, lengths, at))
        for at, gap in enumerate(gaps)
        if gap > lengths[at] + STALL_S
    )
    return Delivery(max(0.0, pre_roll_s), pace, _jitter(gaps, lengths), stalls)


def _jitter(gaps: Sequence[float], lengths: Sequence[float]) -> float:
    if not gaps:
        return 0.0
    seconds_per_second = median(gap / length for gap, length in zip(gaps, lengths, strict=False))
    off = [abs(gap - seconds_per_second * length) for gap, length in zip(gaps, lengths, strict=False)]
    return sum(off) / len(off)


def _recovered(
    stamps_s: Sequence[float], media: Sequence[float], lengths: Sequence[float], at: int
) -> float | None:
    """Seconds from the chunk after ``at`` until the lead is what it was at ``at``."""

    def lead(chunk: int) -> float:
        return media[chunk] + lengths[chunk] - (stamps_s[chunk] - stamps_s[0])

    before = lead(at)
    for chunk in range(at + 1, len(stamps_s)):
        if lead(chunk) >= before - 1e-9:
            return stamps_s[chunk] - stamps_s[at + 1]
    return None


def _before(lengths: Sequence[float]) -> list[float]:
    total, before = 0.0, []
    for length in lengths:
        before.append(total)
        total += length
    return before
