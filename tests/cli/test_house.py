"""What the settings name, found on this machine."""

from pathlib import Path

import pytest

from antiphon.cli.house import open_store, whisper_folders
from antiphon.core.errors import NotFound
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
