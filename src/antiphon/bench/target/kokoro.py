"""kokoro-onnx, an optional peer (extra ``peers``): its own ``create``, cut into sentences as its examples do."""

import re
from collections.abc import Iterator
from pathlib import Path

from antiphon.bench.target.inproc import InProcess, Speak
from antiphon.core.errors import ModelUnavailable
from antiphon.core.frame import Samples

VOICE = "af_heart"


def kokoro_onnx(model: Path, voices: Path, threads: int | None = None) -> InProcess:
    """``model``: kokoro-v1.0 ONNX file; ``voices``: its voices archive. Opening raises ``ModelUnavailable`` with what
    to do when the package or a file is missing."""
    return InProcess("kokoro-onnx", lambda: load(model, voices), threads=threads)


def load(model: Path, voices: Path) -> Speak:
    for path in (model, voices):
        if not path.is_file():
            raise ModelUnavailable(f"kokoro-onnx needs {path.name}, and {path} does not exist")
    try:
        from kokoro_onnx import Kokoro
    except ImportError:
        raise ModelUnavailable("the peer kokoro-onnx is not installed: pip install 'antiphon[peers]'") from None
    voice = Kokoro(str(model), str(voices))

    def speak(text: str) -> Iterator[Samples]:
        for sentence in re.split(r"(?<=[.!?])\s+", text.strip()):
            samples, _ = voice.create(sentence, voice=VOICE, speed=1.0, lang="en-us")
            yield samples

    for _ in speak("This is a warm up."):
        pass
    return speak
