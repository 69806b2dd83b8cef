"""hibari's own ``stream``: the package's Python call, whole sentences, as its README shows it."""

from collections.abc import Iterator

from antiphon.bench.target.inproc import InProcess, Speak
from antiphon.core.frame import Samples


def hibari(threads: int | None = None) -> InProcess:
    """One model, one ONNX Runtime thread per call, a pool of ``threads`` (default: one per core)."""
    return InProcess("hibari", load, threads=threads)


def load() -> Speak:
    from hibari import Hibari

    voice = Hibari(threads=1)

    def speak(text: str) -> Iterator[Samples]:
        yield from voice.stream(text, seed=0)

    for _ in speak("This is a warm up, on Monday the 3rd, for $5."):
        pass
    return speak
