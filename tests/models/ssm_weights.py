"""Which weights the tests of the state-space voice use: the package's, or those that were exported last."""

from pathlib import Path

import pytest

from antiphon.models.ssm_voice import SsmVoice, packaged

EXPORTED = Path(__file__).parents[2] / "build" / "voice" / "export"


def folder() -> Path:
    found = packaged() or EXPORTED
    if not (found / "voice.json").is_file():
        pytest.skip("there is no state-space voice yet: `make train-voice`", allow_module_level=True)
    return found


_loaded: list[SsmVoice] = []


def voice() -> SsmVoice:
    """Loaded once for all tests."""
    if not _loaded:
        _loaded.append(SsmVoice(folder()))
    return _loaded[0]
