"""Opening the engines for a command that works without a server."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from antiphon.engine.build import House, build, build_ear
from antiphon.engine.stt import SttEngine
from antiphon.models.session import Sessions
from antiphon.models.whisper import SIZES
from antiphon.settings import Settings, load
from antiphon.store.hub import is_hub_id
from antiphon.store.store import ModelStore
from antiphon.text.languages import base_language


def open_store(settings: Settings) -> ModelStore:
    return ModelStore(settings.models.root, settings.models.model_dirs, settings.models.wheelhouse)


def whisper_folders(settings: Settings, store: ModelStore) -> dict[str, Path]:
    """Name -> folder of the Whisper models that the settings ask for. Raises ``ModelUnavailable``, ``NotFound``."""
    sizes = {size: repo for size, repo in SIZES.items() if size not in store.names}
    return dict(_folder(sizes.get(entry, entry), store) for entry in settings.stt.whisper)


def transducer_folders(settings: Settings, store: ModelStore) -> dict[str, tuple[Path, tuple[str, ...]]]:
    """Name -> folder and languages of the transducers that the settings ask for. Raises like the above."""
    found: dict[str, tuple[Path, tuple[str, ...]]] = {}
    for entry in settings.stt.sherpa:
        name, folder = _folder(entry.model, store)
        found[name] = (folder, tuple(map(base_language, entry.languages)))
    return found


def _folder(entry: str, store: ModelStore) -> tuple[str, Path]:
    """Name and folder of a model: a folder as it is, else one of the store's (``owner/name``: of the hub)."""
    folder = Path(entry).expanduser()
    if folder.is_dir() or (os.sep in entry and not is_hub_id(entry)):
        return folder.name, folder
    return entry.rpartition("/")[2], store.folder(entry)


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
        whisper=whisper_folders(settings, store), sherpa=transducer_folders(settings, store),
        sessions=Sessions(settings.engine.provider),
    )  # fmt: skip
    try:
        yield ear
    finally:
        scheduler.close()
