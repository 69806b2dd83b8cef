"""The native speech socket as a pure machine: text in as JSON, audio out as binary frames, a stream that can be moved.

A text frame is a JSON message. A binary frame says by its first byte what it is: ``{`` (0x7B) and the whole frame is a
JSON message; 0x01, and the rest is audio (from the server only); 0x02, and the rest is a snapshot.

There is one stream at a time; when it is ``done`` the next may start. Its place is taken at ``start``. An error that
breaks a stream off is followed by ``done``, and what the client had under way for it is dropped silently. Of a stream
that was cancelled nothing follows but ``done``.
"""

import itertools
from dataclasses import dataclass
from typing import Final, Literal

from antiphon.core.errors import AntiphonError, AtCapacity, InvalidInput, ModelUnavailable
from antiphon.core.event import Audio, Event, Failed, Flushed, PhonemeTimes, Saved, Unsaved, Warned, WordTimes
from antiphon.core.speech import SpeechConfig
from antiphon.core.turns import TurnEvent
from antiphon.protocol import native_speech_messages as wire
from antiphon.protocol.actions import Action, Cancel, Close, Flush, Key, Open, Push, Save, Send, SendBytes
from antiphon.protocol.http import NotSupported
from antiphon.protocol.native_frames import JSON, AudioFrames, message_frame, placed
from antiphon.protocol.native_messages import ErrorMessage
from antiphon.protocol.native_speech_snapshot import SavedSpeech, SpeechSeal
from antiphon.protocol.native_speech_stream import Configs, SpeechStream

SNAPSHOT: Final = 0x02
END: Final = "end"
"""Marker of a stream's last flush; those of the client are its ids, marked as such."""
_FLUSH: Final = "flush "


@dataclass(frozen=True, slots=True)
class SpeechLimits:
    """Bounds and defaults of one socket. ``idle_s``: a stream that got no text for so long, and has spoken all, is
    ended. ``max_flushes``: that wait for their audio. ``chunk_s``: longest audio in one frame."""

    max_frame_bytes: int = 1 << 20
    max_flushes: int = 128
    idle_s: float = 30.0
    chunk_s: float = 0.2
    max_buffer_delay_s: float = 3.0


class NativeSpeechSocket:
    """The machine of one WebSocket. ``owner``: whose snapshots these are.

    No method raises for anything that a client sent or a stream said.
    """

    def __init__(self, limits: SpeechLimits, seal: SpeechSeal, owner: str) -> None:
        self._limits = limits
        self._seal = seal
        self._owner = owner
        self._keys = itertools.count(1)
        self._stream: SpeechStream | None = None
        self._configs = Configs(limits.max_buffer_delay_s)
        self._broken = False
        """The stream before broke off: its client may not know yet."""
        self._over = False

    @property
    def due_s(self) -> float | None:
        """When to call :meth:`tick` at the latest (monotonic seconds); None: no need."""
        stream = self._stream
        if stream is None or stream.ended or stream.saving:
            return None
        return stream.active_s + self._limits.idle_s

    # From the client

    def receive(self, frame: str | bytes, now_s: float) -> list[Action]:
        """A frame from the client."""
        if self._over:
            return []
        if self._stream is not None:
            self._stream.fresh = False
        try:
            if isinstance(frame, bytes) and frame[:1] == bytes((SNAPSHOT,)):
                return self._resume(frame[1:], now_s)
            if len(frame) > self._limits.max_frame_bytes:
                raise InvalidInput(f"a frame may have {self._limits.max_frame_bytes} bytes, not {len(frame)}")
            if isinstance(frame, bytes) and frame[:1] != bytes((JSON,)):
                raise InvalidInput("a binary frame is a JSON object, or begins with 0x02 and has a snapshot behind it")
            return self._obey(wire.decode_message(frame), now_s)
        except InvalidInput as error:
            return [self._told(error)]

    def _obey(self, message: wire.AnyClientMessage, now_s: float) -> list[Action]:
        if isinstance(message, wire.Start):
            return self._start(message, now_s)
        stream = self._stream
        name = message.__struct_config__.tag
        if stream is None:
            if self._broken or isinstance(message, wire.Cancel):
                return []
            return [self._error("no_stream", f"{name}: there is no stream; 'start' or a snapshot begins one")]
        if isinstance(message, wire.Cancel):
            return self._finish(stream, "cancelled", [Cancel(stream.key)])
        if stream.saving:
            about = f"{name}: the stream is being saved; what comes later goes to the one that is resumed"
            return [self._error("saving", about)]
        stream.active_s = now_s
        if isinstance(message, wire.Save):
            stream.saving = True
            return [*stream.take_prosody(), Save(stream.key, self._seal.stream_limit_bytes)]
        if stream.ended:
            return [self._error("ended", f"{name}: the text of this stream was ended; wait for 'done'")]
        match message:
            case wire.Text():
                return [*stream.take_prosody(), Push(stream.key, message.text)] if message.text else []
            case wire.ChangeProsody():
                stream.change(message)
                return []
            case wire.Flush():
                if len(stream.flushes) >= self._limits.max_flushes:
                    raise InvalidInput(f"flush: {self._limits.max_flushes} flushes wait already", "id")
                stream.flushes.append(message.id)
                return [Flush(stream.key, _FLUSH + message.id, last=False)]
            case wire.End():
                return self._end(stream)

    def _start(self, start: wire.Start, now_s: float) -> list[Action]:
        self._require_none()
        config = self._configs.of(start)
        frames = AudioFrames(start.output, self._limits.chunk_s)
        stream = self._begin(SpeechStream(next(self._keys), start.output, frames, now_s))
        key, ready = stream.key, wire.Ready(output=start.output, ended=start.end)
        said: list[Action] = [Push(key, start.text)] if start.text else []
        said += self._end(stream) if start.end else []
        # The word goes first, under the stream's key: if the stream is refused, it is dropped with it.
        return [message_frame(ready, key), Open(key, config), *said]

    def _resume(self, sealed: bytes, now_s: float) -> list[Action]:
        self._require_none()
        saved = self._seal.open(sealed, self._owner)
        key, frames = next(self._keys), AudioFrames(saved.output, self._limits.chunk_s)
        stream = self._begin(
            SpeechStream(key, saved.output, frames, now_s, saved.sample, list(saved.flushes), saved.ended)
        )
        ready = wire.Ready(output=saved.output, sample=saved.sample, resumed=True, ended=saved.ended)
        voice = SpeechConfig(voice=saved.voice, language="")
        return [message_frame(ready, stream.key), Open(stream.key, voice, saved.stream)]

    def _require_none(self) -> None:
        if self._stream is not None:
            raise InvalidInput("a stream is open on this socket; cancel it, or end it and wait for 'done'", "type")

    def _begin(self, stream: SpeechStream) -> SpeechStream:
        self._stream, self._broken = stream, False
        return stream

    # From the stream

    def deliver(self, key: Key, event: Event | TurnEvent, now_s: float) -> list[Action]:
        """An event of a stream; of one that is gone: nothing."""
        stream = self._held(key)
        if stream is None:
            return []
        stream.fresh = False
        match event:
            case Audio():
                stream.active_s = now_s
                return self._audio(stream, event.data)
            case WordTimes():
                found = placed(event.words, event.sample_rate_hz, stream.output.sample_rate_hz)
                return [message_frame(wire.Words(words=found), key)] if found else []
            case PhonemeTimes():
                found = placed(event.phonemes, event.sample_rate_hz, stream.output.sample_rate_hz)
                return [message_frame(wire.Phonemes(phonemes=found), key)] if found else []
            case Flushed():
                return self._flushed(stream, event, now_s)
            case Warned():
                return [message_frame(wire.WarningMessage(message=event.message), key)]
            case Failed(fatal=True):
                return self._break_off(stream, self._error("server_error", event.message))
            case Failed():
                return [self._error("server_error", event.message)]
            case Saved() if stream.saving:
                return self._saved(stream, event)
            case Unsaved():
                return self._unsaved(stream, event.message)
            case _:
                return []

    def refused(self, key: Key, error: AntiphonError, now_s: float) -> list[Action]:
        """The shell could not open the stream, or the stream would not take what was asked of it."""
        stream = self._held(key)
        if stream is None:
            return []
        if stream.saving:
            return self._unsaved(stream, str(error))
        if stream.fresh:
            self._stream, self._broken = None, True
            return [Cancel(key), self._told(error)]
        return self._break_off(stream, self._told(error))

    def tick(self, now_s: float) -> list[Action]:
        """End a stream that nobody uses any more."""
        stream, due_s = self._stream, self.due_s
        if stream is None or due_s is None or now_s < due_s:
            return []
        about = f"no text came for {self._limits.idle_s:g} s: the stream is ended"
        return [message_frame(wire.WarningMessage(message=about), stream.key), *self._end(stream)]

    def drain(self, now_s: float) -> list[Action]:
        """The server wants to leave: a stream under way is spoken to its end, unless its client saves it."""
        return [] if self._over else [message_frame(wire.Leaving())]

    def close(self, reason: AntiphonError) -> list[Action]:
        """The socket is about to close."""
        if self._over:
            return []
        self._over = True
        stream, self._stream = self._stream, None
        dropped: list[Action] = [] if stream is None else [Cancel(stream.key)]
        return [*dropped, self._told(reason, fatal=True)]

    # Inside

    def _held(self, key: Key) -> SpeechStream | None:
        return self._stream if self._stream is not None and self._stream.key == key else None

    def _audio(self, stream: SpeechStream, data: bytes) -> list[Action]:
        stream.sent_samples += len(data) // stream.frames.sample_bytes
        return [*stream.frames.of(data, stream.key)]

    def _end(self, stream: SpeechStream) -> list[Action]:
        stream.ended = True
        return [Flush(stream.key, END, last=True)]

    def _flushed(self, stream: SpeechStream, event: Flushed, now_s: float) -> list[Action]:
        stream.active_s = now_s
        if event.marker == END:
            return self._finish(stream, "completed", [Close(stream.key)]) if stream.ended else []
        if not stream.flushes or event.marker != _FLUSH + stream.flushes[0]:
            return []
        return [message_frame(wire.Flushed(id=stream.flushes.pop(0), sample=stream.sent_samples), stream.key)]

    def _saved(self, stream: SpeechStream, event: Saved) -> list[Action]:
        seal = self._seal
        sealed = seal.close(
            SavedSpeech(
                owner=self._owner,
                voice=event.voice,
                output=stream.output,
                sample=stream.sent_samples,
                flushes=stream.flushes,
                ended=stream.ended,
                expires_unix_s=seal.now_unix_s() + seal.ttl_s,
                stream=event.snapshot,
            )
        )
        told = wire.Snapshot(sample=stream.sent_samples, size_bytes=len(sealed), expires_in_ms=round(seal.ttl_s * 1000))
        given: list[Action] = [Close(stream.key), message_frame(told), SendBytes(bytes((SNAPSHOT,)) + sealed)]
        return self._finish(stream, "saved", given)

    def _unsaved(self, stream: SpeechStream, why: str) -> list[Action]:
        stream.saving = False
        return [self._error("not_saved", f"save: {why}; the stream goes on", "type")]

    def _break_off(self, stream: SpeechStream, error: Send) -> list[Action]:
        self._broken = True
        return self._finish(stream, "failed", [Cancel(stream.key), error])

    def _finish(
        self, stream: SpeechStream, reason: Literal["completed", "cancelled", "saved", "failed"], first: list[Action]
    ) -> list[Action]:
        self._stream = None
        return [*first, message_frame(wire.Done(samples=stream.sent_samples, reason=reason))]

    def _told(self, error: AntiphonError, *, fatal: bool = False) -> Send:
        param = error.param if isinstance(error, InvalidInput) else None
        code = (
            "bad_snapshot" if param == "snapshot"
            else "not_supported" if isinstance(error, NotSupported)
            else "invalid_message" if isinstance(error, InvalidInput)
            else "at_capacity" if isinstance(error, AtCapacity)
            else "not_ready" if isinstance(error, ModelUnavailable)
            else "server_error"
        )  # fmt: skip
        return self._error(code, str(error), param, fatal=fatal)

    def _error(self, code: str, message: str, param: str | None = None, *, fatal: bool = False) -> Send:
        return message_frame(ErrorMessage(code=code, message=message, param=param, fatal=fatal))
