"""Opening the engines for a command that works without a server."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from antiphon.engine.build import House, build, build_ear
from antiphon.engine.stt import SttEngine
from antiphon.settings import Settings, load
from antiphon.store.store import ModelStore


def open_store(settings: Settings) -> ModelStore:
    return ModelStore(settings.models.root, settings.models.model_dirs, settings.models.wheelhouse)


@contextmanager
def open_house(config: Path | None, default_voice: str | None = None) -> Iterator[House]:
    """Engines with one worker per core; closed at the end."""
    settings = load(config)
    store = open_store(settings)
    house = build(store.path, settings.engine.worker_count, 1, default_voice or settings.tts.default_voice)
    try:
        yield house
    finally:
        house.close()


@contextmanager
def open_ear(config: Path | None) -> Iterator[SttEngine]:
    """The ear alone, with one worker per core and one place."""
    settings = load(config)
    scheduler, ear = build_ear(open_store(settings).path, settings.engine.worker_count, 1)
    try:
        yield ear
    finally:
        scheduler.close()
