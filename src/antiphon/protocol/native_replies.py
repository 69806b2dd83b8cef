"""What the agent says on a native socket: one reply at a time, and reports about those before it."""

from dataclasses import dataclass
from typing import Literal

from antiphon.core.event import WordTimes
from antiphon.protocol import native_messages as wire
from antiphon.protocol.actions import Cancel, Key
from antiphon.protocol.native_frames import AudioFrames, WireAction, message_frame, placed

_MOST = 64
"""Replies that are remembered: reports about older ones are late by minutes."""


@dataclass(slots=True)
class _Reply:
    key: Key
    sent_bytes: int = 0
    played: int = 0
    underruns: int = 0
    state: Literal["speaking", "ended", "cleared"] = "speaking"
    paused: bool = False


class Replies:
    """Of one socket that has begun, in its ``output``. Nothing of a cleared or ended reply leaves, and a reply is heard
    no further than it was sent. ``chunk_s``: longest audio in one frame.
    """

    def __init__(self, output: wire.AudioShape, chunk_s: float) -> None:
        self._output = output
        self._frames = AudioFrames(output, chunk_s)
        self._replies: dict[str, _Reply] = {}
        self._speaking: str | None = None

    @property
    def speaking(self) -> bool:
        return self._speaking is not None

    def begin(self, reply_id: str, key: Key) -> list[WireAction]:
        """A reply that is still speaking ends here."""
        if reply_id in self._replies:
            return []
        actions = [] if self._speaking is None else self.end(self._speaking)
        self._replies[reply_id] = _Reply(key)
        if len(self._replies) > _MOST:
            del self._replies[next(iter(self._replies))]
        self._speaking = reply_id
        return [*actions, message_frame(wire.ReplyStarted(reply_id=reply_id))]

    def text(self, reply_id: str, delta: str) -> list[WireAction]:
        reply = self._open(reply_id)
        return [message_frame(wire.ReplyText(reply_id=reply_id, delta=delta), reply.key)] if reply and delta else []

    def words(self, reply_id: str, times: WordTimes) -> list[WireAction]:
        reply = self._open(reply_id)
        if reply is None or not times.words:
            return []
        words = placed(times.words, times.sample_rate_hz, self._output.sample_rate_hz)
        return [message_frame(wire.ReplyWords(reply_id=reply_id, words=words), reply.key)]

    def audio(self, reply_id: str, data: bytes) -> list[WireAction]:
        reply = self._open(reply_id)
        if reply is None:
            return []
        reply.sent_bytes += len(data)
        return [*self._frames.of(data, reply.key)]

    def mark(self, reply_id: str) -> list[WireAction]:
        reply = self._open(reply_id)
        if reply is None:
            return []
        return [message_frame(wire.ReplyMark(reply_id=reply_id, sample=self._samples(reply)), reply.key)]

    def end(self, reply_id: str, *, failed: bool = False) -> list[WireAction]:
        reply = self._open(reply_id)
        if reply is None:
            return []
        reply.state, self._speaking = "ended", None
        reason: Literal["completed", "failed"] = "failed" if failed else "completed"
        return [
            message_frame(wire.ReplyEnded(reply_id=reply_id, samples=self._samples(reply), reason=reason), reply.key)
        ]

    def pause(self, reply_id: str, fade_ms: int) -> list[WireAction]:
        reply = self._replies.get(reply_id)
        if reply is None or reply.state == "cleared" or reply.paused:
            return []
        reply.paused = True
        return [message_frame(wire.ReplyPaused(reply_id=reply_id, fade_ms=fade_ms), reply.key)]

    def go_on(self, reply_id: str) -> list[WireAction]:
        reply = self._replies.get(reply_id)
        if reply is None or reply.state == "cleared" or not reply.paused:
            return []
        reply.paused = False
        return [message_frame(wire.ReplyContinued(reply_id=reply_id), reply.key)]

    def clear(self, reply_id: str, fade_ms: int) -> list[WireAction]:
        reply = self._replies.get(reply_id)
        if reply is None or reply.state == "cleared":
            return []
        reply.state = "cleared"
        if self._speaking == reply_id:
            self._speaking = None
        return [Cancel(reply.key), message_frame(wire.Clear(reply_id=reply_id, fade_ms=fade_ms))]

    def played(self, report: wire.Played) -> wire.Played | None:
        """The client's report, within what was sent and reported before; None of a reply that is not known."""
        reply = self._replies.get(report.reply_id)
        if reply is None:
            return None
        reply.played = max(reply.played, min(report.sample, self._samples(reply)))
        reply.underruns = max(reply.underruns, report.underruns)
        return wire.Played(reply_id=report.reply_id, sample=reply.played, underruns=reply.underruns)

    def _open(self, reply_id: str) -> _Reply | None:
        reply = self._replies.get(reply_id)
        return reply if reply is not None and reply.state == "speaking" else None

    def _samples(self, reply: _Reply) -> int:
        return reply.sent_bytes // self._frames.sample_bytes
