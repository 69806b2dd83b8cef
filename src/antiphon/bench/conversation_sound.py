"""Who is heard when, in a two-channel recording. Pure; every boundary of the conversation bench is found here.

*Audible* is a 10 ms window within 25 dB of the speech level (``audio.activity``): of the utterance for the caller, of
the whole track for the agent.
"""

from dataclasses import dataclass

import numpy as np

from antiphon.audio.activity import (
    AUDIBLE_DB,
    WINDOW_S,
    first_audible_sample,
    last_audible_sample,
    speech_level_dbfs,
    window_power,
)
from antiphon.bench.conversation_recording import TwoChannels
from antiphon.core.frame import Samples

SILENT_S = 0.5
"""A voice that is not heard for this long has stopped; shorter holes are pauses between words."""


@dataclass(frozen=True, slots=True)
class Span:
    """Audible from ``start_s`` to ``end_s`` (seconds of the recording), without a hole that counts."""

    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class AgentSound:
    """The agent's track as audible windows: ``audible`` [windows] of 10 ms."""

    audible: np.ndarray[tuple[int], np.dtype[np.bool_]]
    level_dbfs: float

    def first_after(self, at_s: float) -> float | None:
        """Start of the first audible window that begins at ``at_s`` or later."""
        first = max(0, int(np.ceil(at_s / WINDOW_S - 1e-6)))
        found = np.flatnonzero(self.audible[first:])
        return None if not len(found) else (first + int(found[0])) * WINDOW_S

    def last_before(self, at_s: float) -> float | None:
        """End of the last audible window that ends at ``at_s`` or earlier."""
        found = np.flatnonzero(self.audible[: max(0, int(np.floor(at_s / WINDOW_S + 1e-6)))])
        return None if not len(found) else (int(found[-1]) + 1) * WINDOW_S

    def stops_after(self, at_s: float) -> float | None:
        """When the voice that is heard at ``at_s`` stops, for at least :data:`SILENT_S`; ``at_s`` itself where it is
        silent there and stays so; None where it is never heard."""
        last = self.last_before(at_s)
        if last is None and self.first_after(at_s) is None:
            return None
        stop_s = at_s
        while True:
            following = self.first_after(stop_s)
            if following is None or following - stop_s >= SILENT_S:
                return stop_s
            stop_s = following + WINDOW_S


def agent_sound(samples: Samples, rate_hz: int) -> AgentSound:
    level = speech_level_dbfs(samples, rate_hz)
    power = window_power(samples, rate_hz)
    audible = power >= 10 ** ((level - AUDIBLE_DB) / 10) if np.isfinite(level) else np.zeros(len(power), np.bool_)
    return AgentSound(audible, level)


def spoken_span(recording: TwoChannels, start_s: float, end_s: float) -> Span | None:
    """Where the caller is audible between two places of the recording; None: nowhere."""
    rate_hz = recording.rate_hz
    at = round(start_s * rate_hz)
    part = recording.caller[at : round(end_s * rate_hz)]
    first, last = first_audible_sample(part, rate_hz), last_audible_sample(part, rate_hz)
    if first is None or last is None:
        return None
    return Span((at + first) / rate_hz, (at + last + 1) / rate_hz)


def longest_hole(sound: AgentSound, start_s: float, end_s: float) -> float:
    """The longest silence of the agent that begins between the two moments and ends with its voice again."""
    longest, at_s = 0.0, start_s
    while True:
        quiet_s = _first_quiet(sound, at_s)
        if quiet_s is None or quiet_s >= end_s:
            return longest
        following = sound.first_after(quiet_s)
        if following is None:
            return longest
        longest, at_s = max(longest, following - quiet_s), following


def _first_quiet(sound: AgentSound, at_s: float) -> float | None:
    first = max(0, int(np.floor(at_s / WINDOW_S + 1e-6)))
    found = np.flatnonzero(~sound.audible[first:])
    return None if not len(found) else max(at_s, (first + int(found[0])) * WINDOW_S)
