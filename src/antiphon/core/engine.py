"""The contract between the server and every engine, whether it steps slots or runs jobs.

``push`` and ``pull`` never block; ``wake`` is called, from any thread, when an empty outbox gets something: whoever is
woken pulls until nothing comes. Cancel is an epoch: output of an older epoch is dropped at the one place where results
are distributed.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, runtime_checkable

from antiphon.core.event import Event, Marker

Config = TypeVar("Config", contravariant=True)

Wake = Callable[[], None]
"""Thread-safe callback: "there is something to pull"."""


class Stream(Protocol):
    """One caller's stream. All methods are called from one thread (the session's) and return at once."""

    def push(self, item: Any) -> None:
        """Give input (text delta, prosody, samples). Raises ``InvalidInput`` when the bounded inbox would overflow."""
        ...

    def flush(self, marker: Marker, *, last: bool = False) -> None:
        """Force out all that was pushed; ``Flushed(marker)`` follows it. ``last``: no input comes after."""
        ...

    def pull(self, limit: int | None = None) -> list[Event]:
        """Take up to ``limit`` events (all if None), in order, making room: a stream with a full outbox waits."""
        ...

    def tick(self, now_s: float) -> float | None:
        """Let waiting text go whose time has come; returns when to call again (monotonic seconds), or None."""
        ...

    def cancel(self) -> None:
        """Drop queued work and undelivered output. Nothing made before this is pulled after it."""
        ...

    def close(self) -> None:
        """Cancel and give the place back. Idempotent."""
        ...


class Engine(Protocol[Config]):
    """A source of streams."""

    name: str

    def open_stream(self, config: Config, wake: Wake) -> Stream:
        """Take a place. Raises ``AtCapacity`` when none is free, ``NotFound``/``InvalidInput`` for a bad config."""
        ...

    def warm_up(self) -> None:
        """One real inference, so that readiness is earned."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class Savable(Protocol):
    """A stream that can be moved to another engine, here or on another machine."""

    def save_soon(self, limit_bytes: int) -> None:
        """Stop between two steps. ``Saved`` is the last event that is pulled, after all that was made before; or, where
        that cannot be or would be larger than ``limit_bytes``, ``Unsaved``, and the stream goes on. Nothing may be
        pushed meanwhile."""
        ...


@runtime_checkable
class Resuming(Protocol):
    """An engine whose streams can be saved."""

    def resume(self, snapshot: bytes, wake: Wake, *, owner: str, lead_s: float | None) -> Stream:
        """Open a stream that goes on where another one was saved; ``owner`` and ``lead_s`` as for one that is opened.

        Raises ``AtCapacity``, and ``InvalidInput`` for a snapshot that this engine cannot go on with."""
        ...


class StepModel(Protocol):
    """A model whose memory is a fixed-size state per slot, kept outside the weights.

    ``state`` has a leading slot axis. A masked-out slot's state does not change, and a slot's result does not depend
    on its neighbours: alone equals among others, chunked equals whole.
    """

    def init_state(self, slots: int) -> Any: ...

    def step(self, inputs: Any, state: Any, mask: Any) -> tuple[Any, Any]:
        """``inputs`` [slots, ...], ``mask`` bool [slots] -> (outputs [slots, ...], new state)."""
        ...

    def save(self, state: Any, slot: int) -> bytes: ...

    def load(self, state: Any, slot: int, snapshot: bytes) -> Any: ...
