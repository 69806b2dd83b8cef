"""Transcription over HTTP: a recording in, its text out, whichever dialect asks."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import IO

from antiphon.audio.recording import blocks
from antiphon.core.errors import AntiphonError
from antiphon.core.event import Event, Flushed
from antiphon.core.frame import Samples
from antiphon.core.hearing import EAR_RATE_HZ
from antiphon.protocol.transcription import Transcript, TranscriptDraft, TranscriptionRequest
from antiphon.server.exchange import END, BodyWriter, Order
from antiphon.server.lines import Line

PUSH_BYTES = 4 * EAR_RATE_HZ
"""A second of what is pushed: 16 kHz floats."""


class RecordingFeed:
    """Decodes a file beside the event loop, a second at a time, and no further ahead of the ear than it can use."""

    def __init__(self, file: IO[bytes], encoding: str | None = None, sample_rate_hz: int | None = None) -> None:
        self.samples = 0
        """At 16 kHz, of what was decoded so far."""
        self._file = file
        self._blocks: Iterator[Samples] = blocks(file, encoding=encoding, sample_rate_hz=sample_rate_hz)
        self._room = asyncio.Event()
        self._decoding: asyncio.Future[Samples | None] | None = None

    @property
    def duration_s(self) -> float:
        return self.samples / EAR_RATE_HZ

    async def run(self, line: Line) -> None:
        while (block := await self._decoded()) is not None:
            self.samples += len(block)
            data = block.tobytes()
            for start in range(0, len(data), PUSH_BYTES):
                while line.clogged:
                    self._room.clear()
                    await self._room.wait()
                line.push(data[start : start + PUSH_BYTES])
        line.flush(END, last=True)

    def pulled(self, line: Line) -> None:
        self._room.set()

    async def close(self) -> None:
        if self._decoding is not None:  # a thread may still be reading
            await asyncio.wait((self._decoding,))
        self._file.close()

    async def _decoded(self) -> Samples | None:
        loop = asyncio.get_running_loop()
        self._decoding = loop.run_in_executor(None, next, self._blocks, None)
        return await asyncio.shield(self._decoding)


class TranscriptBody:
    """An answer that is written once all has been heard."""

    def __init__(self, reply: Callable[[Transcript], bytes], duration_s: Callable[[], float]) -> None:
        self._reply = reply
        self._duration_s = duration_s
        self._draft = TranscriptDraft()

    def deliver(self, event: Event) -> list[bytes]:
        if isinstance(event, Flushed):
            return [self._reply(self._draft.finish(self._duration_s()))]
        self._draft.add(event)
        return []

    def fail(self, error: AntiphonError) -> list[bytes]:
        return []


def transcription_order(
    request: TranscriptionRequest,
    file: IO[bytes],
    content_type: str,
    reply: Callable[[Transcript], bytes] | None = None,
    events: BodyWriter | None = None,
) -> Order:
    """One of ``reply`` (all at the end) and ``events`` (as it comes)."""
    config = request.config
    feed = RecordingFeed(file, config.encoding, config.sample_rate_hz) if request.raw else RecordingFeed(file)
    if events is None:
        assert reply is not None
        events = TranscriptBody(reply, lambda: feed.duration_s)
    decoded = replace(config, encoding="pcm_f32le", sample_rate_hz=EAR_RATE_HZ)
    return Order(
        decoded, feed, content_type, events, stages=("recognition", "transcript"), at_once=reply is None
    )
