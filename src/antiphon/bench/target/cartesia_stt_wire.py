"""One connection to a Cartesia socket that listens: opened, read and stamped, and fed as a microphone would feed it.

A piece of audio is sent when its last sample has been spoken, against the beginning and not the piece before, so that
late wake-ups do not add up.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol
from urllib.parse import urlencode

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from antiphon.audio.pcm import bytes_per_sample
from antiphon.bench.clip import Clip
from antiphon.bench.hearing import FINALIZE
from antiphon.bench.recording import Recording
from antiphon.bench.target.cartesia_ws import VERSION, websocket_url

CHUNK_S = 0.02
FAST_CHUNK_S = 0.1
SETTLE_S = 0.5
"""A turn may begin anew this long after its end before the recording is broken off."""


class _Head(msgspec.Struct):
    """Just enough of a message to go on; the rest is read after the run."""

    type: str = ""
    status_code: int = 0
    message: str = ""
    title: str = ""


_read_head = msgspec.json.Decoder(_Head).decode


class Ear(Protocol):
    """An endpoint that listens."""

    name: str
    turns: bool

    async def open(self, streams: int) -> None: ...

    async def speak(self, line: Clip, recording: Recording) -> None:
        """Play one clip. Notes what arrives; failures go into ``recording.fail``."""
        ...

    async def close(self) -> None: ...


class EarWire:
    """Address and parameters of one kind of socket."""

    def __init__(
        self, url: str, path: str, *, model: str, language: str, api_key: str, extra: dict[str, str] | None
    ) -> None:
        self._base = websocket_url(url) + path
        self._query = {"cartesia_version": VERSION, "model": model, "language": language, **(extra or {})}
        self._headers = {"X-API-Key": api_key} if api_key else {}

    @asynccontextmanager
    async def connected(self, clip: Clip, recording: Recording) -> AsyncIterator["EarSocket | None"]:
        """A socket for the clip's format and its reader; None, and a failed recording, where it is refused."""
        query = self._query | {"encoding": clip.encoding, "sample_rate": str(clip.rate_hz)}
        try:
            connection = await connect(
                f"{self._base}?{urlencode(query)}",
                additional_headers=self._headers,
                compression=None,
                max_size=None,
                max_queue=None,
                proxy=None,
            )
        except InvalidStatus as refusal:
            recording.fail(f"refused at the handshake: {refusal.response.status_code}", refusal.response.status_code)
            yield None
            return
        socket = EarSocket(connection, recording)
        try:
            yield socket
        finally:
            await socket.close()


class EarSocket:
    """One connection; its reader stamps every message and wakes whoever waits for one."""

    def __init__(self, connection: ClientConnection, recording: Recording) -> None:
        self._connection = connection
        self.recording = recording
        self._seen: dict[str, asyncio.Event] = {}
        self.last_s: dict[str, float] = {}
        self.closed = asyncio.Event()
        self._reader = asyncio.create_task(self._read())

    async def send(self, data: bytes | str) -> None:
        await self._connection.send(data)

    def expect(self, kind: str) -> asyncio.Event:
        """Set when a message of this type arrives from now on, or the socket closes."""
        event = self._seen[kind] = asyncio.Event()
        if self.closed.is_set():
            event.set()
        return event

    async def close(self) -> None:
        await self._connection.close()
        await self._reader

    async def _read(self) -> None:
        try:
            while True:
                payload = await self._connection.recv(decode=False)
                stamp_s = self.recording.now_s()
                self.recording.chunk_at(stamp_s, payload)
                head = _read_head(payload)
                self.last_s[head.type] = stamp_s
                if head.type == "error" and not self.recording.error:
                    self.recording.fail(head.message or head.title or "error without a text", head.status_code)
                if head.type in self._seen:
                    self._seen[head.type].set()
        except (ConnectionClosed, msgspec.DecodeError) as error:
            if isinstance(error, msgspec.DecodeError):
                self.recording.fail(f"a message that is no JSON object: {error}")
        finally:
            self.closed.set()
            for event in self._seen.values():
                event.set()


async def feed(
    socket: EarSocket, clip: Clip, chunk_s: float, speed: float = 1.0, *, stop_after_turn: bool = False
) -> None:
    recording = socket.recording
    chunk = max(1, round(chunk_s * clip.rate_hz))
    size = bytes_per_sample(clip.encoding)
    data = clip.data
    recording.sent()
    assert recording.started_s is not None
    begin_s = recording.started_s
    end_s = begin_s + clip.audio_s if clip.true_end_s is None else begin_s + clip.true_end_s
    for at in range(0, len(clip.samples), chunk):
        until = min(at + chunk, len(clip.samples))
        if speed > 0:
            due_s = begin_s + until / clip.rate_hz / speed
            delay_s = due_s - recording.now_s()
            if delay_s > 0:
                await asyncio.sleep(delay_s)
            recording.behind(recording.now_s() - due_s)
        if socket.closed.is_set():
            return
        await socket.send(data[at * size : until * size])
        if stop_after_turn and _turn_is_over(socket.last_s, end_s, recording.now_s()):
            return


def _turn_is_over(last_s: dict[str, float], true_end_s: float, now_s: float) -> bool:
    ended_s = last_s.get("turn.end", 0.0)
    return ended_s > true_end_s and now_s - ended_s > SETTLE_S and last_s.get("turn.start", 0.0) < ended_s


async def finalize(socket: EarSocket) -> None:
    flushed = socket.expect("flush_done")
    socket.recording.mark(FINALIZE)
    await socket.send("finalize")
    await flushed.wait()


async def first_of(*events: asyncio.Event) -> None:
    waits = [asyncio.create_task(event.wait()) for event in events]
    _, pending = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in pending:
        wait.cancel()


def note_end(recording: Recording, well: bool, otherwise: str) -> None:
    if recording.error:
        return
    if well:
        recording.end()
    else:
        recording.fail(otherwise)
