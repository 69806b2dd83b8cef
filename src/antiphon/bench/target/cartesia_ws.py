"""Cartesia's ``/tts/websocket``: the main wire. Sockets stay open between requests, as in a real agent."""

import asyncio
import contextlib
from collections.abc import Mapping
from itertools import count

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from antiphon.bench.recording import Recording, Take
from antiphon.bench.target.contract import Line, Links, finish, paced, whole_samples
from antiphon.core.clock import Clock, MonotonicClock
from antiphon.protocol.cartesia_messages import Chunk, decode_server_message

VERSION = "2026-03-01"
PINGS = 5


class _Head(msgspec.Struct):
    """Just enough of a message to know whose it is; the audio stays undecoded until after the run."""

    type: str
    context_id: str = ""


_read_head = msgspec.json.Decoder(_Head).decode
_write = msgspec.json.Encoder().encode


class CartesiaWs:
    """Speaks contexts over WebSockets.

    ``url``: base of the server (http, https, ws or wss). ``sockets`` 0: one context at a time on a socket, sockets
    reused and added as needed (one per caller); k > 0: all contexts share k sockets. ``extra`` goes into every request
    (``max_buffer_delay_ms``, ``add_timestamps``, ...). ``keep_all``: recordings keep every message, not only audio.
    """

    def __init__(
        self,
        url: str,
        *,
        voice: str = "default",
        model: str = "sonic-3",
        language: str = "en",
        sample_rate_hz: int = 24_000,
        sockets: int = 0,
        api_key: str = "",
        extra: Mapping[str, object] | None = None,
        name: str = "cartesia-ws",
        keep_all: bool = False,
        clock: Clock | None = None,
    ) -> None:
        self.name = name
        self.sample_rate_hz = sample_rate_hz
        self._url = websocket_url(url) + "/tts/websocket?cartesia_version=" + VERSION
        self._headers = {"X-API-Key": api_key} if api_key else {}
        self._sockets = sockets
        self._keep_all = keep_all
        self._clock = clock or MonotonicClock()
        self.links = Links()
        self._ids = count()
        self._all: list[_Link] = []
        self._free: list[_Link] = []
        self._cancels: set[asyncio.Task[None]] = set()
        self._request: dict[str, object] = {
            "model_id": model,
            "voice": {"mode": "id", "id": voice},
            "language": language,
            "output_format": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": sample_rate_hz},
            **(extra or {}),
        }

    async def open(self, streams: int) -> None:
        wanted = self._sockets or streams
        self._all = [link for link in self._all if link.alive]
        self._free = [link for link in self._free if link.alive]
        fresh = await asyncio.gather(*(self._connect() for _ in range(wanted - len(self._all))))
        if not self._sockets:
            self._free.extend(fresh)
        if fresh:
            self.links.rtts_s += [await fresh[0].rtt_s() for _ in range(PINGS)]

    async def speak(self, line: Line, recording: Recording) -> None:
        context_id = f"bench-{next(self._ids)}"
        try:
            link = await self._link(recording.index)
        except InvalidStatus as refusal:
            recording.fail(f"refused at the handshake: {refusal.response.status_code}", refusal.response.status_code)
            return
        ended = link.listen(context_id, recording)
        request = self._request | ({"language": line.language} if line.language else {})
        try:
            async for piece, last in paced(line, recording):
                if ended.done():
                    break
                await link.send({"context_id": context_id, "transcript": piece, "continue": not last} | request)
            await ended
        except ConnectionClosed as closed:
            recording.fail(f"socket closed: {closed}")
        except asyncio.CancelledError:
            cancel = asyncio.create_task(link.cancel(context_id))
            self._cancels.add(cancel)
            cancel.add_done_callback(self._cancels.discard)
            raise
        finally:
            link.forget(context_id)
            if not self._sockets and link.alive:
                self._free.append(link)

    def take(self, recording: Recording) -> Take:
        audio: list[bytes] = []
        compute_ms = 0.0
        for payload in recording.payloads:
            message = decode_server_message(payload)
            if not isinstance(message, Chunk):
                continue
            audio.append(message.data)
            compute_ms += message.step_time
        if self._keep_all:
            # its stamps are of all messages: no figures are taken from it
            audio = [b"".join(audio)]
        return finish(recording, whole_samples(audio), self.sample_rate_hz, compute_ms / 1e3 if audio else None)

    async def close(self) -> None:
        await asyncio.gather(*(link.close() for link in self._all))
        self._all.clear()
        self._free.clear()

    async def _link(self, index: int) -> "_Link":
        if self._sockets:
            alive = [link for link in self._all if link.alive]
            return alive[index % len(alive)] if alive else await self._connect()
        while self._free:
            link = self._free.pop()
            if link.alive:
                return link
        return await self._connect()

    async def _connect(self) -> "_Link":
        begin_s = self._clock.now_s()
        socket = await connect(
            self._url, additional_headers=self._headers, compression=None, max_size=None, max_queue=None, proxy=None
        )
        self.links.connects_s.append(self._clock.now_s() - begin_s)
        link = _Link(socket, self._clock, self._keep_all)
        self._all.append(link)
        return link


class _Link:
    """One socket, its reader, and the contexts that wait for it."""

    def __init__(self, socket: ClientConnection, clock: Clock, keep_all: bool) -> None:
        self._socket = socket
        self._keep_all = keep_all
        self._clock = clock
        self._waiting: dict[str, tuple[Recording, asyncio.Future[None]]] = {}
        self.alive = True
        self._reader = asyncio.create_task(self._read())

    def listen(self, context_id: str, recording: Recording) -> asyncio.Future[None]:
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[context_id] = (recording, ended)
        return ended

    def forget(self, context_id: str) -> None:
        self._waiting.pop(context_id, None)

    async def send(self, message: Mapping[str, object]) -> None:
        await self._socket.send(_write(message), text=True)

    async def cancel(self, context_id: str) -> None:
        with contextlib.suppress(ConnectionClosed):
            await self.send({"context_id": context_id, "cancel": True})

    async def rtt_s(self) -> float:
        """A ping and its answer."""
        begin_s = self._clock.now_s()
        with contextlib.suppress(ConnectionClosed):
            await (await self._socket.ping())
        return self._clock.now_s() - begin_s

    async def close(self) -> None:
        await self._socket.close()
        await self._reader

    async def _read(self) -> None:
        try:
            while True:
                payload = await self._socket.recv(decode=False)
                stamp_s = self._clock.now_s()
                head = _read_head(payload)
                waiting = self._waiting.get(head.context_id)
                if waiting is None:
                    continue
                recording, ended = waiting
                if head.type == "chunk" or (self._keep_all and head.type not in ("done", "error")):
                    recording.chunk_at(stamp_s, payload)
                elif head.type in ("done", "error") and not ended.done():
                    if head.type == "done":
                        recording.end()
                    else:
                        status, text = _why(payload)
                        recording.fail(text, status)
                    ended.set_result(None)
        except (ConnectionClosed, msgspec.DecodeError) as error:
            self.alive = False
            for recording, ended in self._waiting.values():
                if not ended.done():
                    recording.fail(f"socket lost: {error}")
                    ended.set_result(None)


class _Why(msgspec.Struct):
    status_code: int = 0
    title: str = ""
    message: str = ""
    error: str = ""


def _why(payload: bytes) -> tuple[int, str]:
    why = msgspec.json.decode(payload, type=_Why)
    return why.status_code, why.message or why.error or why.title or "error without a text"


def websocket_url(url: str) -> str:
    """``http(s)://`` as ``ws(s)://``, without a slash at the end."""
    for plain, socket in (("http://", "ws://"), ("https://", "wss://")):
        if url.startswith(plain):
            return socket + url.removeprefix(plain).rstrip("/")
    return url.rstrip("/")
