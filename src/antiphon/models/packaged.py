"""Weights that come with the package, and are read by numpy."""

import hashlib
import io
import zipfile
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from antiphon.core.errors import ModelUnavailable

ASSETS = Path(str(files("antiphon"))) / "assets"


def read_weights(path: Path, sha256: str = "") -> dict[str, NDArray[np.generic]]:
    """What an ``.npz`` holds, by name; ``sha256``: what it must be, if that is known. Raises ``ModelUnavailable``."""
    try:
        data = path.read_bytes()
        if sha256 and hashlib.sha256(data).hexdigest() != sha256:
            raise ModelUnavailable(f"{path} is damaged: install antiphon anew (its SHA-256 is not {sha256})")
        with np.load(io.BytesIO(data)) as held:
            return {name: held[name] for name in held.files}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ModelUnavailable(f"{path} cannot be read: install antiphon anew ({error})") from error
