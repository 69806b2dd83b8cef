"""What the settings name, found on this machine."""

from pathlib import Path

import pytest

from antiphon.cli.house import open_store, transducer_folders, whisper_folders
from antiphon.core.errors import ModelUnavailable, NotFound
from antiphon.settings import Settings


def test_whispers_are_folders_or_names_of_the_store(tmp_path: Path) -> None:
    def folders(*names: str) -> dict[str, Path]:
        settings = Settings(models={"root": tmp_path}, stt={"whisper": names})  # type: ignore[arg-type]
        return whisper_folders(settings, open_store(settings))

    large = tmp_path / "large"
    assert folders() == {}
    assert folders(str(large), "~/other") == {"large": large, "other": Path("~/other").expanduser()}
    with pytest.raises(NotFound, match="nope"):
        folders("nope")
    for name in ("small", "Systran/faster-whisper-small"):
        with pytest.raises(ModelUnavailable, match="models pull Systran/faster-whisper-small`"):
            folders(name)


def test_transducers_are_folders_or_repositories_of_the_hub(tmp_path: Path) -> None:
    def found(*models: dict[str, object]) -> dict[str, tuple[Path, tuple[str, ...]]]:
        settings = Settings(models={"root": tmp_path}, stt={"sherpa": models})  # type: ignore[arg-type]
        return transducer_folders(settings, open_store(settings))

    small = tmp_path / "zipformer"
    assert found({"model": str(small)}) == {"zipformer": (small, ("en",))}
    assert found({"model": str(small), "languages": "de-AT, fr"}) == {"zipformer": (small, ("de", "fr"))}
    with pytest.raises(ModelUnavailable, match="models pull org/zipformer`"):
        found({"model": "org/zipformer"})
