"""A microphone and a loudspeaker behind a sound library that a test holds in its hand."""

import asyncio
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from antiphon.cli.talk_audio import devices, loudspeaker, microphone
from antiphon.core.clock import ManualClock
from antiphon.core.errors import InvalidInput
from antiphon.protocol.native_messages import AudioShape


class PortAudioError(Exception):
    pass


class Stream:
    """Remembers how it was opened; the test calls back."""

    latency = 0.03

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.call: Callable[..., None] = options["callback"]
        self.is_open = False

    def __enter__(self) -> "Stream":
        self.is_open = True
        return self

    def __exit__(self, *about: object) -> None:
        self.is_open = False


def library(*, broken: bool = False, absent: str = "") -> tuple[Any, list[Stream]]:
    streams: list[Stream] = []

    def opened(**options: Any) -> Stream:
        if broken:
            raise PortAudioError("device busy")
        streams.append(Stream(**options))
        return streams[-1]

    def query(kind: str) -> dict[str, str]:
        if kind == absent:
            raise PortAudioError("no device")
        return {"name": kind}

    made = SimpleNamespace(
        PortAudioError=PortAudioError, RawInputStream=opened, RawOutputStream=opened, query_devices=query
    )
    return made, streams


def test_devices_are_those_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = library()
    monkeypatch.setitem(sys.modules, "sounddevice", found)
    assert devices() is found
    for absent in ("input", "output"):
        monkeypatch.setitem(sys.modules, "sounddevice", library(absent=absent)[0])
        assert devices() is None
    monkeypatch.setitem(sys.modules, "sounddevice", None)  # cannot be imported
    assert devices() is None


def test_the_loudspeaker_plays_what_the_player_has_and_knows_its_own_delay() -> None:
    sound, streams = library()
    clock = ManualClock()
    with loudspeaker(sound, clock, AudioShape()) as speaker:
        (stream,) = streams
        assert stream.is_open
        assert (stream.options["samplerate"], stream.options["dtype"]) == (24_000, "int16")
        speaker.push("r", b"\1\0" * 4_800)
        speaker.end("r")
        out = bytearray(9_600)
        stream.call(out, 4_800, None, None)
        assert out == b"\1\0" * 4_800
        assert speaker.position("r").sample == 4_800 - 720  # 30 ms are still in the device
        clock.advance(0.03)
        assert speaker.position("r").over
    assert not stream.is_open


def test_the_microphone_gives_its_pieces_in_order_and_drops_the_oldest() -> None:
    sound, streams = library()

    async def main() -> list[bytes]:
        pieces = microphone(sound)
        first = asyncio.ensure_future(anext(pieces))
        await asyncio.sleep(0)
        (stream,) = streams
        assert (stream.options["samplerate"], stream.options["blocksize"]) == (16_000, 320)
        for number in range(300):
            stream.call(bytes([number % 256]), 320, None, None)
        heard = [await first]
        heard += [await anext(pieces) for _ in range(200)]
        await pieces.aclose()
        assert not stream.is_open
        return heard

    heard = asyncio.run(main())
    numbers = [piece[0] for piece in heard]
    assert numbers[1:] == [(numbers[1] + step) % 256 for step in range(200)]
    assert numbers[1] >= 48  # at most five seconds wait


def test_devices_that_cannot_be_opened_are_said_so() -> None:
    sound, _ = library(broken=True)
    with (
        pytest.raises(InvalidInput, match="loudspeaker cannot be opened: device busy"),
        loudspeaker(sound, ManualClock(), AudioShape()),
    ):
        pass

    async def main() -> None:
        await anext(microphone(sound))

    with pytest.raises(InvalidInput, match="microphone cannot be opened: device busy"):
        asyncio.run(main())
