"""From a capacity to a limit: how many streams a server may take at once, and what one costs. Pure."""

from dataclasses import dataclass
from pathlib import Path

from antiphon.bench.capacity import Capacity, Limits


@dataclass(frozen=True, slots=True)
class Admission:
    """``streams``: listeners at any moment, steady. ``places``: requests at the same moment, which is what a server can
    count: a place is free when its audio is made, not when it is played. Both kept ``limits``.

    ``cores``/``gpus`` of the server, ``price_per_hour`` of all of it in dollars (0: not stated).
    """

    streams: int
    places: int
    limits: Limits
    cores: int
    gpus: int = 0
    price_per_hour: float = 0.0

    @property
    def per_core(self) -> float:
        return self.streams / self.cores if self.cores else 0.0

    @property
    def per_gpu(self) -> float | None:
        return self.streams / self.gpus if self.gpus else None

    @property
    def per_dollar(self) -> float | None:
        """Hours of one stream for a dollar."""
        return self.streams / self.price_per_hour if self.price_per_hour else None

    @property
    def dollars_per_hour(self) -> float | None:
        """Of one stream."""
        return self.price_per_hour / self.streams if self.price_per_hour and self.streams else None

    def toml(self, note: str) -> str:
        """The file that ``antiphon serve --limits`` reads. ``note``: where it comes from, in one line."""
        return (
            f"# {note}\n# Kept at {self.streams} listeners at any moment and {self.places} requests at once: "
            f"{self.limits.text}.\n[server]\nmax_streams = {max(1, self.places)}\n"
        )


def write_limits(admission: Admission, path: Path, note: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(admission.toml(note), "utf-8")


def admit(
    steady: Capacity, burst: Capacity, limits: Limits, cores: int, gpus: int = 0, price_per_hour: float = 0.0
) -> Admission:
    """Of two searches. Raises ``ValueError`` where nothing held: there is no limit at which the service is good."""
    if not steady.streams or not burst.streams:
        raise ValueError("not even the smallest load kept the objective: there is no limit to write")
    return Admission(steady.streams, burst.streams, limits, cores, gpus, price_per_hour)
