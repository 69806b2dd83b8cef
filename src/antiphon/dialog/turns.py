"""What turn detection says, and the four numbers by which it decides. Source of both: Cartesia's turns socket."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from antiphon.core.errors import InvalidInput

EndReason: TypeAlias = Literal["model", "timeout", "closed"]
"""Why a turn ended: it was judged finished, nobody spoke for too long, or the caller closed the stream."""


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The user began to talk; the first event of every turn. ``at_sample`` (16 kHz) is where the speech began."""

    at_sample: int = 0


@dataclass(frozen=True, slots=True)
class TurnUpdated:
    """The transcript of the turn grew. It is all of the turn so far and only ever gets longer."""

    transcript: str


@dataclass(frozen=True, slots=True)
class TurnEagerEnded:
    """The turn is probably over: a reply may be prepared. ``TurnResumed`` or ``TurnEnded`` follows."""

    transcript: str


@dataclass(frozen=True, slots=True)
class TurnResumed:
    """The eager end was wrong; the turn goes on."""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn is over. ``transcript`` is empty where a noise was taken for speech.

    ``at_sample`` (16 kHz) is the media time of the decision.
    """

    transcript: str
    reason: EndReason
    at_sample: int = 0


TurnEvent: TypeAlias = TurnStarted | TurnUpdated | TurnEagerEnded | TurnResumed | TurnEnded


@dataclass(frozen=True, slots=True)
class TurnSettings:
    """Thresholds on the likelihood that the user is *still in their turn*.

    A turn starts above ``start_threshold``, ends eagerly below ``eager_end_threshold`` and ends below
    ``end_threshold``; after ``end_timeout_ms`` of silence it ends anyway. Raises ``InvalidInput`` for values outside
    their ranges or not strictly start > eager end > end; its ``param`` is the field.
    """

    start_threshold: float = 0.8
    eager_end_threshold: float = 0.4
    end_threshold: float = 0.2
    end_timeout_ms: int = 5600

    def __post_init__(self) -> None:
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
                raise InvalidInput(f"{name} must be a number from {low:g} to {high:g}, not {value!r}", name)
        if not self.start_threshold > self.eager_end_threshold:
            raise InvalidInput("start_threshold must be greater than eager_end_threshold", "start_threshold")
        if not self.eager_end_threshold > self.end_threshold:
            raise InvalidInput("eager_end_threshold must be greater than end_threshold", "eager_end_threshold")

    def changed(
        self,
        start_threshold: float | None = None,
        eager_end_threshold: float | None = None,
        end_threshold: float | None = None,
        end_timeout_ms: int | None = None,
    ) -> "TurnSettings":
        """These settings with what is given changed, all at once. Raises ``InvalidInput``."""
        return TurnSettings(
            self.start_threshold if start_threshold is None else start_threshold,
            self.eager_end_threshold if eager_end_threshold is None else eager_end_threshold,
            self.end_threshold if end_threshold is None else end_threshold,
            self.end_timeout_ms if end_timeout_ms is None else end_timeout_ms,
        )


RANGES = {
    "start_threshold": (0.5, 0.9),
    "eager_end_threshold": (0.3, 0.6),
    "end_threshold": (0.05, 0.5),
    "end_timeout_ms": (640, 11_200),
}
"""Lowest and highest value of each setting."""
