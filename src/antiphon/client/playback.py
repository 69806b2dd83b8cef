"""What has been heard of each reply. A player is told what arrives and says how far it has come.

:class:`SimulatedPlayer` is a loudspeaker that exists only as a model: on the clock that it was given, it plays what
arrives without a pause, runs dry when nothing is there, and stops when it is told to.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from antiphon.core.clock import Clock
from antiphon.protocol.native_messages import AudioShape

ROUNDING_S = 1e-4
"""A hole shorter than this is rounding of clocks."""
MOST_REPLIES = 64


@dataclass(frozen=True, slots=True)
class Position:
    """How far a reply was played: samples ``[0, sample)``. ``underruns``: holes in it so far. ``over``: all that will
    ever be played of it has been."""

    sample: int = 0
    underruns: int = 0
    over: bool = False


class Player(Protocol):
    """Plays one reply after the other, in the order in which they arrive."""

    def push(self, reply_id: str, data: bytes) -> None:
        """Whole samples of the reply, to be played behind all that is there."""
        ...

    def end(self, reply_id: str) -> None:
        """No more of it will come; what is there plays on."""
        ...

    def clear(self, reply_id: str, fade_ms: int) -> None:
        """Drop what is left of it, fading out over ``fade_ms``."""
        ...

    def pause(self, reply_id: str, fade_ms: int) -> None:
        """Fall silent within ``fade_ms`` and keep what is there."""
        ...

    def go_on(self, reply_id: str) -> None:
        """Play on behind where :meth:`pause` stopped."""
        ...

    def position(self, reply_id: str) -> Position:
        """Of a reply that was never pushed: ``Position()``."""
        ...


@dataclass(slots=True)
class Piece:
    """Samples ``[first_sample, first_sample + samples)`` of a reply that sound without a hole from ``start_s`` on
    (monotonic seconds). The last ``faded_s`` of it fade to silence. ``data``: the samples, where they are kept."""

    reply_id: str
    start_s: float
    arrived_s: float
    first_sample: int
    samples: int
    faded_s: float = 0.0
    data: bytearray = field(default_factory=bytearray, repr=False)


@dataclass(slots=True)
class _Reply:
    received: int = 0
    underruns: int = 0
    ended: bool = False
    cleared: bool = False


class SimulatedPlayer:
    """``pre_roll_s``: how long the first audio waits before a reply begins to sound. ``delay_s``: from playing to
    hearing (a device's own latency). ``keep``: remember all samples, in :attr:`pieces`, for a recording."""

    def __init__(
        self, clock: Clock, shape: AudioShape, *, pre_roll_s: float = 0.0, delay_s: float = 0.0, keep: bool = False
    ) -> None:
        self._clock = clock
        self._shape = shape
        self._pre_roll_s = pre_roll_s
        self._delay_s = delay_s
        self._keep = keep
        self._pieces: deque[Piece] = deque()
        self._held: deque[Piece] = deque()  # while paused: what is not to sound yet
        self._paused: str | None = None
        self._replies: dict[str, _Reply] = {}
        self._free_s = float("-inf")  # when all that is to sound will have been played

    @property
    def pieces(self) -> Iterator[Piece]:
        """All that sounded and will sound, in order; only of the latest replies unless everything is kept."""
        return iter(self._pieces)

    @property
    def free_s(self) -> float:
        """When the last sample that is to sound will have been heard (monotonic seconds)."""
        return self._free_s + self._delay_s

    @property
    def paused(self) -> bool:
        """Whether it is silent because it was told to be, and has something to go on with, or may get it."""
        return self._paused is not None

    def push(self, reply_id: str, data: bytes) -> None:
        now_s = self._clock.now_s()
        reply = self._reply(reply_id)
        samples = len(data) // self._shape.sample_bytes
        if not samples or reply.cleared or reply.ended:
            return
        if self._paused is not None:
            self._add(self._held, reply_id, now_s, now_s, reply.received, data)
        else:
            dry = now_s > self._free_s + ROUNDING_S
            if dry and reply.received:
                reply.underruns += 1
            first_s = now_s if reply.received else now_s + self._pre_roll_s
            start_s = first_s if dry else self._free_s
            self._free_s = self._add(self._pieces, reply_id, start_s, now_s, reply.received, data)
        reply.received += samples

    def end(self, reply_id: str) -> None:
        self._reply(reply_id).ended = True

    def clear(self, reply_id: str, fade_ms: int) -> None:
        self._reply(reply_id).cleared = True
        dropped = self._cut(reply_id, fade_ms)
        waiting = [piece for piece in (*dropped, *self._held) if piece.reply_id != reply_id]
        if self._paused in (None, reply_id):
            self._paused = None
            self._schedule(waiting)
            waiting = []
        self._held = deque(waiting)

    def pause(self, reply_id: str, fade_ms: int) -> None:
        if self._paused is None and not self._reply(reply_id).cleared:
            self._held = deque(self._cut(reply_id, fade_ms))
            self._paused = reply_id

    def go_on(self, reply_id: str) -> None:
        if self._paused == reply_id:
            self._paused = None
            held, self._held = self._held, deque()
            self._schedule(held)

    def position(self, reply_id: str) -> Position:
        reply = self._replies.get(reply_id)
        if reply is None:
            return Position()
        now_s = self._clock.now_s() - self._delay_s
        sample, left = 0, sum(piece.samples for piece in self._held if piece.reply_id == reply_id)
        for piece in self._pieces:
            if piece.reply_id != reply_id:
                continue
            # rounded, so that what ends now has ended
            played = min(max(round((now_s - piece.start_s) * self._shape.sample_rate_hz), 0), piece.samples)
            left += piece.samples - played
            if played:
                sample = piece.first_sample + played
        return Position(sample, reply.underruns, (reply.ended or reply.cleared) and not left)

    def _reply(self, reply_id: str) -> _Reply:
        reply = self._replies.get(reply_id)
        if reply is None:
            reply = self._replies[reply_id] = _Reply()
            if len(self._replies) > MOST_REPLIES:
                oldest = next(iter(self._replies))
                del self._replies[oldest]
                while not self._keep and self._pieces and self._pieces[0].reply_id == oldest:
                    self._pieces.popleft()
        return reply

    def _add(
        self, to: deque[Piece], reply_id: str, start_s: float, now_s: float, first_sample: int, data: bytes
    ) -> float:
        """Append, to the last piece where there is no hole between. Returns when it ends."""
        last = to[-1] if to else None
        held = to is self._held
        if last is None or last.reply_id != reply_id or not (held or abs(self._end_s(last) - start_s) < ROUNDING_S):
            last = Piece(reply_id, start_s, now_s, first_sample, 0)
            to.append(last)
        last.samples += len(data) // self._shape.sample_bytes
        if self._keep:
            last.data += data
        return self._end_s(last)

    def _cut(self, reply_id: str, fade_ms: int) -> list[Piece]:
        """Let the reply fall silent now; what then does not sound of it, and all that waited behind it, comes back."""
        cut_s = self._clock.now_s() + fade_ms / 1000
        kept: deque[Piece] = deque()
        rest: list[Piece] = []
        for piece in self._pieces:
            if piece.start_s >= cut_s:
                rest.append(piece)
                continue
            kept.append(piece)
            if piece.reply_id == reply_id and self._end_s(piece) > cut_s:
                rest.append(self._split(piece, round((cut_s - piece.start_s) * self._shape.sample_rate_hz)))
                piece.faded_s = min(fade_ms / 1000, piece.samples / self._shape.sample_rate_hz)
        self._pieces = kept
        self._free_s = max((self._end_s(piece) for piece in kept), default=float("-inf"))
        return [piece for piece in rest if piece.samples]

    def _split(self, piece: Piece, at: int) -> Piece:
        at = max(0, min(at, piece.samples))
        rest = Piece(piece.reply_id, 0.0, piece.arrived_s, piece.first_sample + at, piece.samples - at)
        rest.data = piece.data[at * self._shape.sample_bytes :]
        piece.samples = at
        del piece.data[at * self._shape.sample_bytes :]
        return rest

    def _schedule(self, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            piece.start_s = max(self._clock.now_s(), self._free_s)
            self._pieces.append(piece)
            self._free_s = self._end_s(piece)

    def _end_s(self, piece: Piece) -> float:
        return piece.start_s + piece.samples / self._shape.sample_rate_hz
