"""Scripted streams that can be saved and resumed."""

from collections.abc import Callable

from antiphon.core.speech import SpeechConfig

from .support import ScriptedEngine, ScriptedStream


class MovableStream(ScriptedStream):
    """``saves``: of at most how many bytes it was asked for, each time."""

    def __init__(self, engine: ScriptedEngine, config: SpeechConfig, wake: Callable[[], None]) -> None:
        super().__init__(engine, config, wake)
        self.saves: list[int] = []

    def save_soon(self, limit_bytes: int) -> None:
        self.saves.append(limit_bytes)


class MovableEngine(ScriptedEngine):
    """``resumed``: what its streams were resumed from, whose they are, how far they may run ahead."""

    def __init__(self) -> None:
        super().__init__()
        self.resumed: list[tuple[bytes, str, float | None]] = []

    def open_stream(self, config: SpeechConfig, wake: Callable[[], None]) -> ScriptedStream:
        if self.refuse is not None:
            raise self.refuse
        self.streams.append(MovableStream(self, config, wake))
        return self.streams[-1]

    def resume(
        self, snapshot: bytes, wake: Callable[[], None], *, owner: str, lead_s: float | None
    ) -> ScriptedStream:
        stream = self.open_stream(SpeechConfig("v"), wake)
        self.resumed.append((snapshot, owner, lead_s))
        return stream
