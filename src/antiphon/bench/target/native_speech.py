"""The native speech socket: audio as binary frames, without base64. A stream at a time on a socket, sockets reused."""

import asyncio
import contextlib

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from antiphon.bench.recording import Recording, Take
from antiphon.bench.target.cartesia_ws import PINGS, websocket_url
from antiphon.bench.target.contract import Line, Links, finish, paced
from antiphon.core.clock import Clock, MonotonicClock
from antiphon.protocol.native_frames import AUDIO
from antiphon.protocol.native_messages import AudioShape
from antiphon.protocol.native_speech_messages import End, Start, Text

_AT_CAPACITY = 429


class _Head(msgspec.Struct):
    """Just enough of a message to know what it means for the take."""

    type: str
    code: str = ""
    message: str = ""
    reason: str = ""


_read_head = msgspec.json.Decoder(_Head).decode
_write = msgspec.json.Encoder().encode


class NativeSpeech:
    """``url``: base of the server. ``voice``, ``model`` empty: the server's own."""

    def __init__(
        self,
        url: str,
        *,
        voice: str = "",
        model: str = "",
        language: str = "",
        sample_rate_hz: int = 24_000,
        api_key: str = "",
        name: str = "native-speech",
        clock: Clock | None = None,
    ) -> None:
        self.name = name
        self.sample_rate_hz = sample_rate_hz
        self.links = Links()
        self._url = websocket_url(url) + "/speech/websocket"
        self._headers = {"X-API-Key": api_key} if api_key else {}
        self._clock = clock or MonotonicClock()
        shape = AudioShape("pcm_s16le", sample_rate_hz)
        self._start = Start(voice=voice, model=model, language=language, output=shape, words=False)
        self._free: list[ClientConnection] = []

    async def open(self, streams: int) -> None:
        fresh = await asyncio.gather(*(self._connect() for _ in range(streams - len(self._free))))
        self._free.extend(fresh)
        for _ in range(PINGS if fresh else 0):
            begin_s = self._clock.now_s()
            with contextlib.suppress(ConnectionClosed):
                await (await fresh[0].ping())
                self.links.rtts_s.append(self._clock.now_s() - begin_s)

    async def speak(self, line: Line, recording: Recording) -> None:
        try:
            link = self._free.pop() if self._free else await self._connect()
        except InvalidStatus as refusal:
            recording.fail(f"refused at the handshake: {refusal.response.status_code}", refusal.response.status_code)
            return
        feeding = asyncio.create_task(self._feed(link, line, recording))
        whole = False
        try:
            whole = await _hear(link, recording)
        except ConnectionClosed as closed:
            recording.fail(f"socket lost: {closed}")
        finally:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)
            if whole:
                self._free.append(link)
            else:  # a stream that was not heard to its end goes with its socket
                await link.close()

    def take(self, recording: Recording) -> Take:
        return finish(recording, [payload[1:] for payload in recording.payloads], self.sample_rate_hz)

    async def close(self) -> None:
        await asyncio.gather(*(link.close() for link in self._free))
        self._free.clear()

    async def _feed(self, link: ClientConnection, line: Line, recording: Recording) -> None:
        start = self._start
        if line.language:
            start = msgspec.structs.replace(start, language=line.language)
        begun = False
        async for piece, last in paced(line, recording):
            if not begun:
                await link.send(_write(msgspec.structs.replace(start, text=piece, end=last)), text=True)
                begun = True
                continue
            await link.send(_write(Text(text=piece)), text=True)
            if last:
                await link.send(_write(End()), text=True)

    async def _connect(self) -> ClientConnection:
        begin_s = self._clock.now_s()
        link = await connect(
            self._url, additional_headers=self._headers, compression=None, max_size=None, max_queue=None, proxy=None
        )
        self.links.connects_s.append(self._clock.now_s() - begin_s)
        return link


async def _hear(link: ClientConnection, recording: Recording) -> bool:
    """Until the stream is over; whether the socket may be used again."""
    failure = ""
    status = 0
    while True:
        frame = await link.recv(decode=False)
        if frame[0] == AUDIO:
            recording.chunk(frame)
            continue
        head = _read_head(frame)
        if head.type == "error":
            failure, status = head.message, _AT_CAPACITY if head.code == "at_capacity" else 0
            if not recording.payloads:  # refused: no stream, no end of one
                recording.fail(failure, status)
                return False
        elif head.type == "done":
            if head.reason == "completed" and not failure:
                recording.end()
            else:
                recording.fail(failure or head.reason, status)
            return True
