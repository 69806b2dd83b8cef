"""The systems under test, by name: our server over one of its wires, and the peers it is compared with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from antiphon.bench.arrivals import ClosedLoop
from antiphon.bench.player import Player
from antiphon.bench.target.cartesia_bytes import CartesiaBytes
from antiphon.bench.target.cartesia_sse import CartesiaSse
from antiphon.bench.target.cartesia_ws import CartesiaWs
from antiphon.bench.target.contract import Line, Target
from antiphon.bench.target.hibari import hibari
from antiphon.bench.target.kokoro import kokoro_onnx
from antiphon.bench.target.native_speech import NativeSpeech
from antiphon.bench.target.openai_speech import OpenaiSpeech
from antiphon.bench.target.piper import piper
from antiphon.core.errors import InvalidInput, ModelUnavailable

Wire: TypeAlias = Literal["cartesia-ws", "cartesia-sse", "cartesia-bytes", "openai", "native-speech"]
WIRES: tuple[Wire, ...] = ("cartesia-ws", "cartesia-sse", "cartesia-bytes", "openai", "native-speech")
PEERS: tuple[str, ...] = ("hibari", "kokoro", "piper")

DEFAULT_VOICE = "f786b574-daa5-4673-aa0c-cbe3e8534c02"
"""An id that clients of the Cartesia wire hard-code: every server of it must know it."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where the server is and how to ask it. ``voice``/``model`` empty: the wire's own defaults. ``sockets``: see
    :class:`~antiphon.bench.target.cartesia_ws.CartesiaWs`."""

    url: str
    wire: Wire = "cartesia-ws"
    name: str = "antiphon"
    voice: str = ""
    model: str = ""
    api_key: str = ""
    sample_rate_hz: int = 24_000
    sockets: int = 0

    def target(self, *, model: str = "") -> Target:
        """A fresh target. ``model`` overrides the server's. Raises ``InvalidInput`` for an unknown wire."""
        model = model or self.model
        name, voice, key, rate = self.name, self.voice, self.api_key, self.sample_rate_hz
        if self.wire == "openai":
            return OpenaiSpeech(
                self.url, voice=voice or "alloy", model=model or "tts-1", api_key=key, sample_rate_hz=rate, name=name
            )
        if self.wire == "native-speech":
            return NativeSpeech(self.url, voice=voice, model=model, api_key=key, sample_rate_hz=rate, name=name)
        voice, model = voice or DEFAULT_VOICE, model or "sonic-3"
        if self.wire == "cartesia-bytes":
            return CartesiaBytes(self.url, voice=voice, model=model, api_key=key, sample_rate_hz=rate, name=name)
        if self.wire == "cartesia-sse":
            return CartesiaSse(self.url, voice=voice, model=model, api_key=key, sample_rate_hz=rate, name=name)
        if self.wire == "cartesia-ws":
            return CartesiaWs(
                self.url,
                voice=voice,
                model=model,
                api_key=key,
                sample_rate_hz=rate,
                sockets=self.sockets,
                name=name,
            )
        raise InvalidInput(f"unknown wire {self.wire!r}; known: {', '.join(WIRES)}", "wire")


@dataclass(frozen=True, slots=True)
class System:
    """A target that has been tried out. ``playing_s``: mean length of its audio; ``service_s``: mean time until its
    last byte, alone; ``places``: how many requests it works on at once (None: not known)."""

    target: Target
    playing_s: float
    service_s: float
    places: int | None = None

    @property
    def name(self) -> str:
        return self.target.name

    def demand(self, streams: int) -> float | None:
        """Share of its places that ``streams`` would keep busy; beyond 1 the queue grows without end."""
        return None if self.places is None else streams / self.playing_s * self.service_s / self.places


def peer(name: str, threads: int, kokoro_files: tuple[Path, Path] | None) -> Target:
    """A peer by name. Raises ``InvalidInput`` for an unknown one, ``ModelUnavailable`` if its files are not known."""
    if name == "hibari":
        return hibari(threads)
    if name == "kokoro":
        if kokoro_files is None:
            raise ModelUnavailable("the peer kokoro needs files: antiphon models pull kokoro-82m-int8 kokoro-voices")
        return kokoro_onnx(*kokoro_files, threads)
    if name == "piper":
        return piper(None, threads)
    raise InvalidInput(f"unknown peer {name!r}; known: {', '.join(PEERS)}", "peers")


def try_out(player: Player, target: Target, texts: Sequence[str], places: int | None = None) -> System:
    """Speak ``texts`` one after the other: warms the system up and tells how long it speaks and works.

    Raises ``ModelUnavailable`` with the target's own words when not one succeeds.
    """
    played = player.play(target, [Line(text) for text in texts], ClosedLoop(1, 0, len(texts)))
    good = [take for take in played.takes if not take.error and take.audio_s > 0 and take.started_s is not None]
    if not good:
        error = played.takes[0].error or "it sent no audio"
        raise ModelUnavailable(f"{target.name} does not speak: {error}")
    playing_s = sum(take.audio_s for take in good) / len(good)
    service_s = sum((take.ended_s or 0.0) - (take.started_s or 0.0) for take in good) / len(good)
    return System(target, playing_s, service_s, places)


Progress: TypeAlias = Callable[[str], None]
"""Called with one line of text when a step of the bench begins."""


def silent(_: str) -> None:
    """No progress wanted."""
