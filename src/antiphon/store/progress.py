"""How far a pull has come, as values; whoever shows them (a terminal, a log) is passed in as a callback."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Phase: TypeAlias = Literal["waiting", "downloading", "unpacking", "ready"]


@dataclass(frozen=True, slots=True)
class PullProgress:
    """One step of a pull.

    ``phase``: "waiting" (another pull holds the store), "downloading" (``item`` is an archive), "unpacking" (``item``
    is a file of the model), "ready" (the model is complete). ``done_bytes`` of ``total_bytes`` (None: not known).
    """

    model: str
    phase: Phase
    item: str = ""
    done_bytes: int = 0
    total_bytes: int | None = None


ProgressCallback: TypeAlias = Callable[[PullProgress], None]


def ignore_progress(progress: PullProgress) -> None:
    """For callers who do not watch."""
