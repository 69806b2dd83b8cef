"""The weights that the tests of the state-space voice use: those of the package, without which they fail."""

from pathlib import Path

from antiphon.models.ssm_voice import SsmVoice, packaged


def folder() -> Path:
    found = packaged()
    if found is None:
        raise FileNotFoundError("the package has no state-space voice: src/antiphon/assets/ssm/voice.json is missing")
    return found


_loaded: list[SsmVoice] = []


def voice() -> SsmVoice:
    """Loaded once for all tests."""
    if not _loaded:
        _loaded.append(SsmVoice(folder()))
    return _loaded[0]
