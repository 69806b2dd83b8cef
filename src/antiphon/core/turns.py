"""Turns of a speaker: what is decided about them, and the settings of the decision.

The *likelihood* throughout is that the speaker is still in their turn: it rises above ``start`` when one begins, and
falls below ``eager_end`` and then ``end`` as it ends.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from antiphon.core.errors import InvalidInput

EndReason: TypeAlias = Literal["model", "timeout", "closed"]

_RANGES = {"start": (0.5, 0.9), "eager_end": (0.3, 0.6), "end": (0.05, 0.5), "end_timeout_s": (0.64, 11.2)}


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """Thresholds of the likelihood, and the longest pause within a turn. Raises ``InvalidInput`` where out of range.

    Ranges and defaults are those of Cartesia's turns socket.
    """

    start: float = 0.8
    eager_end: float = 0.4
    end: float = 0.2
    end_timeout_s: float = 5.6
    wordless_s: float | None = None
    """A turn in which nothing was understood (a hum, a cough) ends after so much silence; None: as any other."""

    opener_s: float | None = None
    """A turn in which nothing was said so far but what mostly begins one ("All right.", "Okay, so") goes on for so much
    silence at least; None: such words are an answer like any other."""

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise InvalidInput(f"{name} must be from {low} to {high}, not {value}", name)
        if not self.start > self.eager_end > self.end:
            raise InvalidInput(
                f"thresholds must fall strictly: start {self.start} > eager_end {self.eager_end} > end {self.end}",
                "eager_end",
            )


@dataclass(frozen=True, slots=True)
class TurnStarted:
    at_sample: int


@dataclass(frozen=True, slots=True)
class TurnUpdated:
    """``transcript`` is the turn's text so far; it only ever grows. ``confidence``: the recogniser's, in [0, 1], of the
    segment it heard last."""

    transcript: str
    at_sample: int
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class TurnEagerEnded:
    """Probably over: worth preparing an answer for. A :class:`TurnResumed` or :class:`TurnEnded` follows."""

    transcript: str
    at_sample: int
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class TurnResumed:
    at_sample: int


@dataclass(frozen=True, slots=True)
class TurnEnded:
    transcript: str
    at_sample: int
    reason: EndReason
    confidence: float = 1.0


TurnEvent: TypeAlias = TurnStarted | TurnUpdated | TurnEagerEnded | TurnResumed | TurnEnded
