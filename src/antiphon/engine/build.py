"""Puts the engines together from models that are on this machine."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from antiphon.core.clock import Clock, MonotonicClock
from antiphon.engine.registry import Registry
from antiphon.engine.scheduler import Scheduler
from antiphon.engine.tts import TtsEngine
from antiphon.models.hibari import HibariVoice


@dataclass(frozen=True, slots=True)
class House:
    """What a server or a command needs to speak; ``close`` ends the workers."""

    scheduler: Scheduler
    registry: Registry

    def close(self) -> None:
        self.registry.close()
        self.scheduler.close()


def build(
    model_file: Callable[[str, str], Path],
    workers: int,
    capacity: int,
    default_voice: str | None = None,
    clock: Clock | None = None,
) -> House:
    """Load the voices. ``model_file(model, file)`` gives a verified path and raises ``ModelUnavailable``.

    ``capacity`` is the number of streams at once, over all callers.
    """
    hibari = HibariVoice(model_file("hibari", "hibari.onnx"))
    scheduler = Scheduler(clock or MonotonicClock(), workers)
    return House(scheduler, Registry([TtsEngine(hibari, scheduler, capacity)], default_voice))
