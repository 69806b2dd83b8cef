"""A microphone and a loudspeaker for a conversation, where this machine has them (extra ``talk``)."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from antiphon.client import Speaker
from antiphon.core.clock import Clock
from antiphon.core.errors import InvalidInput
from antiphon.protocol.native_messages import AudioShape

MIC_RATE_HZ = 16_000
_BLOCK_S = 0.02
_MOST_BLOCKS = 250
"""Five seconds of microphone may wait to be sent; then the oldest goes."""


def devices() -> ModuleType | None:
    """The sound library, if it is there and finds a microphone and a loudspeaker."""
    try:
        import sounddevice
    except (ImportError, OSError):  # OSError: PortAudio itself is missing
        return None
    try:
        sounddevice.query_devices(kind="input")
        sounddevice.query_devices(kind="output")
    except (sounddevice.PortAudioError, ValueError):
        return None
    return sounddevice  # type: ignore[no-any-return]


@contextmanager
def loudspeaker(sound: Any, clock: Clock, shape: AudioShape) -> Iterator[Speaker]:
    """A player that sounds. Raises ``InvalidInput`` where the device cannot be opened."""
    speaker = Speaker(clock, shape)

    def play(out: Any, frames: int, time: Any, status: Any) -> None:
        out[:] = speaker.read(2 * frames)

    try:
        stream = sound.RawOutputStream(
            samplerate=shape.sample_rate_hz, channels=1, dtype="int16", latency="low", callback=play
        )
    except (sound.PortAudioError, ValueError) as error:
        raise InvalidInput(f"the loudspeaker cannot be opened: {error}") from None
    with stream:
        speaker.latency_s = float(stream.latency)
        yield speaker


async def microphone(sound: Any) -> AsyncIterator[bytes]:
    """Pieces of 20 ms, 16 bit at 16 kHz. Raises ``InvalidInput`` where the device cannot be opened."""
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[bytes] = asyncio.Queue(_MOST_BLOCKS)

    def put(data: bytes) -> None:
        if pieces.full():
            pieces.get_nowait()
        pieces.put_nowait(data)

    def record(data: Any, frames: int, time: Any, status: Any) -> None:
        loop.call_soon_threadsafe(put, bytes(data))

    try:
        stream = sound.RawInputStream(
            samplerate=MIC_RATE_HZ,
            channels=1,
            dtype="int16",
            blocksize=round(_BLOCK_S * MIC_RATE_HZ),
            latency="low",
            callback=record,
        )
    except (sound.PortAudioError, ValueError) as error:
        raise InvalidInput(f"the microphone cannot be opened: {error}") from None
    with stream:
        while True:
            yield await pieces.get()
