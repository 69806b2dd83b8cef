"""What the player asks of a target, and how text is paced into it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from antiphon.bench.recording import Recording, Take


@dataclass(frozen=True, slots=True)
class Line:
    """What to say. With ``tokens`` the text comes as from a language model: one token every ``token_gap_s``.

    The tokens joined are the text. A target that can only take whole texts waits for the last token, as its client
    would have to; its clock starts with the first token all the same.
    """

    text: str
    tokens: tuple[str, ...] = ()
    token_gap_s: float = 0.0
    language: str = ""
    """A code such as ``de``; overrides the target's, where its wire can say so."""


class Request(Protocol):
    """What a player can issue: ``text`` is what reports call it."""

    @property
    def text(self) -> str: ...


RequestT = TypeVar("RequestT", bound=Request, contravariant=True)


class Endpoint(Protocol[RequestT]):
    """What the player asks of anything that it plays requests to. All methods run on one event loop."""

    name: str

    async def open(self, streams: int) -> None: ...

    async def speak(self, line: RequestT, recording: Recording) -> None: ...

    async def close(self) -> None: ...


@dataclass(slots=True)
class Links:
    """What a target's connections cost, before any request: ``connects_s``: from the order to connect to the end of the
    handshake, name look-up and TLS included; ``rtts_s``: a ping and its answer on an idle connection."""

    connects_s: list[float] = field(default_factory=list)
    rtts_s: list[float] = field(default_factory=list)


def links_of(target: object) -> Links:
    """Those that ``target`` keeps in its ``links``; none for one that has no wire."""
    found = getattr(target, "links", None)
    return found if isinstance(found, Links) else Links()


class Target(Protocol):
    """An endpoint that speaks, under load. One with a wire has ``links: Links`` too."""

    name: str
    sample_rate_hz: int

    async def open(self, streams: int) -> None:
        """Make the connections that ``streams`` concurrent requests need, so that none is opened on the clock."""
        ...

    async def speak(self, line: Line, recording: Recording) -> None:
        """One request from first text to end of output. Notes what arrives; failures go into ``recording.fail``."""
        ...

    def take(self, recording: Recording) -> Take:
        """Decode what a finished recording holds. Runs after the run, off the clock."""
        ...

    async def close(self) -> None: ...


async def paced(line: Line, recording: Recording) -> AsyncIterator[tuple[str, bool]]:
    """The text in pieces as they become due: (piece, whether it is the last). Marks each as sent."""
    pieces: Sequence[str] = line.tokens or (line.text,)
    begin_s = recording.now_s()
    for index, piece in enumerate(pieces):
        # against the beginning, not the piece before: late wake-ups must not add up
        delay_s = begin_s + index * line.token_gap_s - recording.now_s()
        if delay_s > 0:
            await asyncio.sleep(delay_s)
        recording.sent()
        yield piece, index == len(pieces) - 1


async def whole_text(line: Line, recording: Recording) -> str:
    """All of the text, once its last token is there; marks the tokens as sent."""
    pieces = [piece async for piece, _ in paced(line, recording)]
    return "".join(pieces)


def finish(recording: Recording, chunks: Sequence[bytes], sample_rate_hz: int, compute_s: float | None = None) -> Take:
    """The take of ``recording`` whose payloads decode to ``chunks`` of s16le PCM."""
    return Take(
        index=recording.index,
        text=recording.text,
        scheduled_s=recording.scheduled_s,
        issued_s=recording.issued_s,
        started_s=recording.started_s,
        last_text_s=recording.last_text_s,
        stamps_s=tuple(recording.stamps_s),
        chunks=tuple(chunks),
        ended_s=recording.ended_s,
        sample_rate_hz=sample_rate_hz,
        wire_bytes=sum(len(payload) for payload in recording.payloads),
        compute_s=compute_s,
        error=recording.error,
        status=recording.status,
    )


def whole_samples(payloads: Sequence[bytes]) -> list[bytes]:
    """Byte chunks of any length as chunks of whole 16-bit samples: a split sample counts where it becomes complete."""
    chunks: list[bytes] = []
    rest = b""
    for payload in payloads:
        data = rest + payload
        whole = len(data) - len(data) % 2
        chunks.append(data[:whole])
        rest = data[whole:]
    return chunks
