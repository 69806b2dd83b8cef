"""Peers without a server of their own: a Python call that yields audio, run on threads of this process.

There is no wire in their figures, which favours them. Their "server" is the obvious one: a pool with a thread per
core; requests beyond that wait. A request is stamped when the generator yields, on the worker's thread.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import numpy as np

from antiphon.audio.pcm import encode
from antiphon.bench.recording import Recording, Take
from antiphon.bench.target.contract import Line, finish, whole_samples, whole_text
from antiphon.core.frame import Samples

Speak: TypeAlias = Callable[[str], Iterator[Samples]]
"""Text -> pieces of float32 audio, in order, each as soon as it is made. Called from several threads at once."""


class InProcess:
    """``load`` makes the voice (once, off the clock; it should also warm up) and returns its ``Speak``."""

    def __init__(
        self, name: str, load: Callable[[], Speak], sample_rate_hz: int = 24_000, threads: int | None = None
    ) -> None:
        self.name = name
        self.sample_rate_hz = sample_rate_hz
        self._load = load
        self._speak: Speak | None = None
        self._pool = ThreadPoolExecutor(threads or os.cpu_count() or 1, thread_name_prefix=name)

    async def open(self, streams: int) -> None:
        if self._speak is None:
            self._speak = await asyncio.get_running_loop().run_in_executor(self._pool, self._load)

    async def speak(self, line: Line, recording: Recording) -> None:
        if self._speak is None:
            raise RuntimeError("open the target first")
        text = await whole_text(line, recording)
        await asyncio.get_running_loop().run_in_executor(self._pool, _render, self._speak, text, recording)
        recording.end()

    def take(self, recording: Recording) -> Take:
        return finish(recording, whole_samples(recording.payloads), self.sample_rate_hz)

    async def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def _render(speak: Speak, text: str, recording: Recording) -> None:
    for samples in speak(text):
        if recording.error:  # timed out meanwhile: do not work for nobody
            return
        recording.chunk(encode(np.asarray(samples, np.float32), "pcm_s16le"))
