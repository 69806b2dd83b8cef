"""A stream of speech over the native speech socket (``docs/speech.md``): text in, audio and word times out; it can be
saved, and resumed on another server."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import TypeAlias

import msgspec
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from antiphon.client.decoding import Known
from antiphon.client.dial import dial, introduce
from antiphon.client.errors import ClientError, Refused, SessionLost, SessionOver, Unreachable
from antiphon.protocol import native_speech_messages as wire
from antiphon.protocol.native_frames import AUDIO
from antiphon.protocol.native_messages import AudioShape, ErrorMessage
from antiphon.protocol.native_speech import SNAPSHOT

PATH = "/speech/websocket"
_PLAIN = wire.Start()
_NOT_SAVED = ("not_saved", "no_stream")
_known: Known[wire.AnyServerMessage] = Known(wire.AnyServerMessage)


@dataclass(frozen=True, slots=True)
class SpeechOptions:
    """``start``: voice, format, pace and so on, as :class:`~antiphon.protocol.native_speech_messages.Start` has them;
    of a stream that is resumed they are what they were. ``ready_within_s``: the longest wait for the server's first
    word. ``most_events``: how many may wait to be taken; when they do, nothing more is read. ``tls``: whom to trust,
    where that is not what the system trusts."""

    start: wire.Start = _PLAIN
    api_key: str = field(default="", repr=False)
    ready_within_s: float = 10.0
    most_events: int = 2_000
    tls: SSLContext | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SpeechAudio:
    """Samples ``[start_sample, start_sample + samples)`` of the stream, in its output format."""

    start_sample: int
    samples: int
    data: bytes


@dataclass(frozen=True, slots=True)
class SpeechSnapshot:
    """A stream that was stopped, as bytes for :func:`resume`: it was heard up to ``sample``, the rest is in ``data``
    (which holds text), good for ``expires_in_s`` from when it was made."""

    data: bytes = field(repr=False)
    sample: int
    expires_in_s: float


SpeechEvent: TypeAlias = (
    SpeechAudio
    | wire.Words
    | wire.Phonemes
    | wire.Flushed
    | wire.WarningMessage
    | wire.Leaving
    | ErrorMessage
    | wire.Done
)


@contextlib.asynccontextmanager
async def speak(url: str, options: SpeechOptions | None = None) -> AsyncIterator["SpeechStream"]:
    """A stream of speech by the server at ``url`` (http, https, ws or wss). Leaving drops what was not spoken.

    Raises ``InvalidInput`` (a wrong address or option), ``Unreachable``, ``Refused``.
    """
    options = options or SpeechOptions()
    options.start.check()
    async with _opened(url, msgspec.json.encode(options.start).decode(), options) as stream:
        yield stream


@contextlib.asynccontextmanager
async def resume(
    url: str, snapshot: SpeechSnapshot | bytes, options: SpeechOptions | None = None
) -> AsyncIterator["SpeechStream"]:
    """The stream that was saved goes on, by the server at ``url``. Raises as :func:`speak`."""
    data = snapshot.data if isinstance(snapshot, SpeechSnapshot) else snapshot
    async with _opened(url, bytes((SNAPSHOT,)) + data, options or SpeechOptions()) as stream:
        yield stream


@contextlib.asynccontextmanager
async def _opened(url: str, first: str | bytes, options: SpeechOptions) -> AsyncIterator["SpeechStream"]:
    socket = await dial(url, options.api_key, options.tls, options.ready_within_s, PATH)
    ready = await introduce(socket, first, wire.Ready, _known.decode, options.ready_within_s)
    stream = SpeechStream(socket, ready, options.most_events)
    try:
        yield stream
    finally:
        await stream.close()


class SpeechStream:
    """Iterate over it for what happens (:data:`SpeechEvent`); ``Done`` is the last. The iteration raises
    ``SessionLost`` where the socket broke, ``Refused`` where the server broke off.

    Made by :func:`speak` and :func:`resume`. All that sends raises ``SessionOver`` after the end.
    """

    def __init__(self, socket: ClientConnection, ready: wire.Ready, most_events: int) -> None:
        self.output: AudioShape = ready.output
        self.ended = ready.ended
        """Whether the text is complete."""
        self.sample = ready.sample
        """Of the next audio to come in."""
        self._socket = socket
        self._most_events = most_events
        self._events: asyncio.Queue[SpeechEvent | ClientError | None] = asyncio.Queue()
        self._room = asyncio.Event()
        self._told: wire.Snapshot | None = None
        self._saving: asyncio.Future[SpeechSnapshot] | None = None
        self._over = False
        self._heard_out = False
        self._reader = asyncio.create_task(self._read())

    async def send(self, text: str) -> None:
        """More text, joined verbatim with what came before: spaces count."""
        await self._put(wire.Text(text=text))

    async def change(
        self, *, speed: float | None = None, volume: float | None = None, emotion: str | None = None
    ) -> None:
        """For text from here on."""
        await self._put(wire.ChangeProsody(speed=speed, volume=volume, emotion=emotion))

    async def flush(self, id: str = "") -> None:
        """Speak all that came before; ``Flushed`` with this ``id`` follows its audio."""
        await self._put(wire.Flush(id=id))

    async def end(self) -> None:
        """The text is complete."""
        await self._put(wire.End())
        self.ended = True

    async def cancel(self) -> None:
        """Nothing more of it is wanted; ``Done`` follows, unless it was over already."""
        with contextlib.suppress(SessionOver):
            await self._put(wire.Cancel())

    async def save(self) -> SpeechSnapshot:
        """Stop it, and give the rest of it as bytes for :func:`resume`. What was made before comes first; it can be
        taken afterwards too.

        Raises ``Refused`` where the voice cannot be saved (the stream goes on), ``SessionOver`` where it had all been
        spoken, ``SessionLost``.
        """
        saving = self._saving
        if saving is None:
            self._check_open()
            saving = self._saving = asyncio.get_running_loop().create_future()
            self._room.set()  # while it is saved more may wait than usual, or nobody could wait here
            await self._put(wire.Save())
        return await asyncio.shield(saving)

    async def close(self) -> None:
        """Drop what was not spoken, and the socket. Idempotent."""
        self._over = True
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        self._settle(SessionOver("the stream was closed"))
        await self._socket.close()
        self._events.put_nowait(None)  # whoever still iterates is let go

    async def __aiter__(self) -> AsyncIterator[SpeechEvent]:
        while not self._heard_out:
            event = await self._events.get()
            self._room.set()
            self._heard_out = event is None or isinstance(event, ClientError | wire.Done)
            if isinstance(event, ClientError):
                raise event
            if event is not None:
                yield event

    # Inside

    def _check_open(self) -> None:
        if self._over:
            raise SessionOver("the stream is over; begin another one")

    async def _put(self, message: wire.ClientMessage) -> None:
        self._check_open()
        with contextlib.suppress(ConnectionClosed):  # the reader says why
            await self._socket.send(msgspec.json.encode(message).decode())

    async def _read(self) -> None:
        last: ClientError | None = None
        try:
            while not self._over:
                for event in self._heard(await self._socket.recv()):
                    self._events.put_nowait(event)
                while self._events.qsize() >= self._most_events and self._saving is None:
                    self._room.clear()
                    await self._room.wait()
        except ConnectionClosed as closed:
            frame = closed.rcvd
            why = f"closed with {frame.code}" if frame else "no goodbye"
            last = SessionLost(f"the socket was lost before the stream was done ({why})")
        except msgspec.DecodeError as error:
            last = Unreachable(f"the server sent what is no message: {error}")
        except Refused as error:
            last = error
        self._over = True
        if last is not None:
            self._events.put_nowait(last)
        self._settle(last or SessionOver("all of the stream had been spoken before it could be saved"))

    def _heard(self, frame: str | bytes) -> list[SpeechEvent]:
        """Raises ``Refused``, ``msgspec.DecodeError``."""
        if isinstance(frame, bytes):
            return self._bytes(frame)
        message = _known.decode(frame)
        match message:
            case None | wire.Ready():
                return []
            case wire.Snapshot():
                self._told = message
                return []
            case ErrorMessage(fatal=True):
                raise Refused(message.message, message.code, param=message.param)
            case ErrorMessage() if self._saving is not None and message.code in _NOT_SAVED:
                self._settle(Refused(message.message, message.code))
                return []
            case wire.Done():
                self._over = True
                return [message]
            case _:
                return [message]

    def _bytes(self, frame: bytes) -> list[SpeechEvent]:
        if frame[:1] == bytes((SNAPSHOT,)) and self._told is not None:
            expires_in_s = self._told.expires_in_ms / 1000
            snapshot = SpeechSnapshot(frame[1:], self._told.sample, expires_in_s)
            if self._saving is not None and not self._saving.done():
                self._saving.set_result(snapshot)
            return []
        if frame[:1] != bytes((AUDIO,)):
            return []
        start = self.sample
        samples = (len(frame) - 1) // self.output.sample_bytes
        self.sample += samples
        return [SpeechAudio(start, samples, frame[1:])]

    def _settle(self, error: ClientError) -> None:
        """Whoever waits for a snapshot gets none."""
        if self._saving is not None and not self._saving.done():
            self._saving.set_exception(error)
            self._saving.exception()  # it is no fault if nobody waits any more
            self._saving = None
