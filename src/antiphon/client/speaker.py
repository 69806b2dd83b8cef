"""A player that feeds a real loudspeaker: the device's thread reads samples, the session's thread brings them."""

import threading
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from antiphon.client.playback import MOST_REPLIES, Position
from antiphon.core.clock import Clock
from antiphon.core.errors import InvalidInput
from antiphon.protocol.native_messages import AudioShape

MOST_S = 600.0
"""Audio that may wait to be played."""


@dataclass(slots=True)
class _Reply:
    waiting: deque[bytes] = field(default_factory=deque)
    waiting_bytes: int = 0
    read_bytes: int = 0
    underruns: int = 0
    ended: bool = False
    dry: bool = False
    hold_bytes: int | None = None  # paused: nothing is read beyond
    last_read_s: float = float("-inf")


class Speaker:
    """``read`` is called by the device, all else by the session. 16-bit samples only.

    ``pre_roll_s``: audio that is gathered before a reply begins to sound, so that a late packet is not heard.
    ``latency_s``: from being read to being heard, as the device states it; may be set when it is known.
    """

    def __init__(self, clock: Clock, shape: AudioShape, *, pre_roll_s: float = 0.06, latency_s: float = 0.0) -> None:
        if shape.encoding != "pcm_s16le":
            raise InvalidInput(f"a loudspeaker takes pcm_s16le, not {shape.encoding}", "output.encoding")
        self.latency_s = latency_s
        self._clock = clock
        self._rate_hz = shape.sample_rate_hz
        self._pre_roll_bytes = 2 * round(pre_roll_s * shape.sample_rate_hz)
        self._lock = threading.Lock()
        self._replies: dict[str, _Reply] = {}

    def read(self, count_bytes: int) -> bytes:
        """The next ``count_bytes``, silence where there is nothing. Never waits."""
        with self._lock:
            now_s = self._clock.now_s()
            out = bytearray()
            for reply in self._replies.values():
                if len(out) >= count_bytes:
                    break
                ready = reply.ended or reply.read_bytes or reply.waiting_bytes >= self._pre_roll_bytes
                if not ready:
                    break  # the next one waits behind it
                wanted = count_bytes - len(out)
                if reply.hold_bytes is not None:
                    wanted = min(wanted, reply.hold_bytes - reply.read_bytes)
                taken = _take(reply, wanted)
                out += taken
                if taken:
                    reply.last_read_s, reply.dry = now_s, False
                if reply.hold_bytes is not None:
                    break
                if len(out) < count_bytes and not reply.ended:
                    reply.underruns += not reply.dry
                    reply.dry = True
                    break
            return bytes(out.ljust(count_bytes, b"\0"))

    def push(self, reply_id: str, data: bytes) -> None:
        with self._lock:
            reply = self._reply(reply_id)
            if reply.ended:
                return
            if sum(other.waiting_bytes for other in self._replies.values()) > MOST_S * self._rate_hz * 2:
                return  # ten minutes that nobody plays: the device has stopped
            reply.waiting.append(data)
            reply.waiting_bytes += len(data)

    def end(self, reply_id: str) -> None:
        with self._lock:
            self._reply(reply_id).ended = True

    def clear(self, reply_id: str, fade_ms: int) -> None:
        with self._lock:
            reply = self._reply(reply_id)
            faded = b"" if reply.hold_bytes is not None else self._fade(reply, fade_ms)
            reply.waiting = deque([faded] if faded else [])
            reply.waiting_bytes = len(faded)
            reply.ended, reply.hold_bytes = True, None

    def pause(self, reply_id: str, fade_ms: int) -> None:
        with self._lock:
            reply = self._reply(reply_id)
            if reply.hold_bytes is None:
                faded = self._fade(reply, fade_ms)
                if faded:
                    reply.waiting.appendleft(faded)
                    reply.waiting_bytes += len(faded)
                reply.hold_bytes = reply.read_bytes + len(faded)

    def go_on(self, reply_id: str) -> None:
        with self._lock:
            reply = self._reply(reply_id)
            reply.hold_bytes, reply.dry = None, True  # what is missing now is not missed

    def position(self, reply_id: str) -> Position:
        with self._lock:
            reply = self._replies.get(reply_id)
            if reply is None:
                return Position()
            behind_s = max(0.0, self.latency_s - (self._clock.now_s() - reply.last_read_s))
            sample = max(0, reply.read_bytes // 2 - round(behind_s * self._rate_hz))
            over = reply.ended and not reply.waiting_bytes and (not reply.read_bytes or not behind_s)
            return Position(sample, reply.underruns, over)

    def _fade(self, reply: _Reply, fade_ms: int) -> bytes:
        """The next samples, taken out and fading to silence; nothing where it has not begun to sound."""
        if not reply.read_bytes:
            return b""
        tail = _take(reply, 2 * round(fade_ms * self._rate_hz / 1000))
        reply.read_bytes -= len(tail)  # they are still to be read
        samples = np.frombuffer(tail, "<i2")
        return (samples * np.linspace(1.0, 0.0, len(samples))).astype("<i2").tobytes()

    def _reply(self, reply_id: str) -> _Reply:
        reply = self._replies.get(reply_id)
        if reply is None:
            reply = self._replies[reply_id] = _Reply()
            if len(self._replies) > MOST_REPLIES:
                del self._replies[next(iter(self._replies))]
        return reply


def _take(reply: _Reply, most: int) -> bytes:
    out = bytearray()
    while reply.waiting and len(out) < most:
        piece = reply.waiting.popleft()
        rest = most - len(out)
        out += piece[:rest]
        if len(piece) > rest:
            reply.waiting.appendleft(piece[rest:])
    reply.waiting_bytes -= len(out)
    reply.read_bytes += len(out)
    return bytes(out)
