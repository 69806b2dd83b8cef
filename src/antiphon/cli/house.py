"""Opening the engines for a command that works without a server."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from antiphon.engine.build import House, build, build_ear
from antiphon.engine.stt import SttEngine
from antiphon.models.session import Sessions
from antiphon.settings import Settings, load
from antiphon.store.store import ModelStore


def open_store(settings: Settings) -> ModelStore:
    return ModelStore(settings.models.root, settings.models.model_dirs, settings.models.wheelhouse)


def whisper_folders(settings: Settings, store: ModelStore) -> dict[str, Path]:
    """Name -> folder of the Whisper models that the settings ask for. Raises ``ModelUnavailable``, ``NotFound``."""
    found: dict[str, Path] = {}
    for entry in settings.stt.whisper:
        folder = Path(entry).expanduser()
        if os.sep in entry:
            found[folder.name] = folder
        else:
            found[entry] = store.folder(entry)
    return found


@contextmanager
def open_house(config: Path | None, default_voice: str | None = None) -> Iterator[House]:
    """Engines with one worker per core; closed at the end."""
    settings = load(config)
    store = open_store(settings)
    voice = default_voice or settings.tts.default_voice
    sessions = Sessions(settings.engine.provider)
    house = build(store.path, settings.engine.worker_count, 1, voice, ssm=settings.tts.ssm, sessions=sessions)
    try:
        yield house
    finally:
        house.close()


@contextmanager
def open_ear(config: Path | None) -> Iterator[SttEngine]:
    """The ear alone, with one worker per core and one place."""
    settings = load(config)
    store = open_store(settings)
    scheduler, ear = build_ear(
        store.path, settings.engine.worker_count, 1,
        whisper=whisper_folders(settings, store), sessions=Sessions(settings.engine.provider),
    )  # fmt: skip
    try:
        yield ear
    finally:
        scheduler.close()
