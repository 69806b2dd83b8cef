"""An ear without a server: a Python call that transcribes a whole recording, run on threads of this process.

The recording is played to it in real time, as to any ear; the call begins at the true end of speech, and its answer is
the final. There is no wire and no turn detection in its figures, which favours it, and nothing before the end.
"""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import msgspec

from antiphon.audio.resample import resample
from antiphon.bench.clip import EAR_RATE_HZ, Clip
from antiphon.bench.hearing import FINALIZE
from antiphon.bench.recording import Recording
from antiphon.core.frame import Samples

Transcribe: TypeAlias = Callable[[Samples], str]
"""16 kHz mono float32 -> text. Called from several threads at once."""


class InProcessEar:
    """``load`` makes the recogniser (once, off the clock; it should also warm up). ``speed``: times real time."""

    def __init__(
        self, name: str, load: Callable[[], Transcribe], threads: int | None = None, speed: float = 1.0
    ) -> None:
        if speed <= 0:
            raise ValueError("speed must be positive")
        self.name = name
        self._load = load
        self._speed = speed
        self._transcribe: Transcribe | None = None
        self._pool = ThreadPoolExecutor(threads or os.cpu_count() or 1, thread_name_prefix=name)

    async def open(self, streams: int) -> None:
        if self._transcribe is None:
            self._transcribe = await asyncio.get_running_loop().run_in_executor(self._pool, self._load)

    async def speak(self, line: Clip, recording: Recording) -> None:
        if self._transcribe is None:
            raise RuntimeError("open the target first")
        recording.sent()
        clip = line.until_true_end()
        await asyncio.sleep(clip.audio_s / self._speed)
        recording.mark(FINALIZE)
        samples = resample(clip.samples, clip.rate_hz, EAR_RATE_HZ)
        text = await asyncio.get_running_loop().run_in_executor(self._pool, self._transcribe, samples)
        recording.chunk(transcript(text))
        recording.end()

    async def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def transcript(text: str) -> bytes:
    """``text`` as the final of Cartesia's listening socket, which :mod:`~antiphon.bench.hearing` reads."""
    final = {"type": "transcript", "request_id": "bench", "is_final": True, "text": text, "duration": 0.0}
    return msgspec.json.encode(final)
