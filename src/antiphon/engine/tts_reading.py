"""Who reads a stream's text: the caller, at once, what is short; the workers, bit by bit, what is long.

Reading 50,000 characters takes long enough to be heard by everyone else whose events pass the caller's loop, so a
text above :data:`AT_ONCE_CHARS` is read inside a job of its stream, a slice for each quantum. What comes after it while
it is being read waits its turn in the same line. Times are those at which the text came, so the units are the same.
"""

from collections.abc import Callable, Iterator
from functools import partial

from antiphon.core.clock import Clock
from antiphon.core.speech import Prosody, SpeechConfig
from antiphon.engine.jobs import Job, JobLine, Steps
from antiphon.text.reader import SpeechReader
from antiphon.text.unit import Unit

AT_ONCE_CHARS = 1_000
LOOK_AGAIN_S = 0.1
"""How often a stream whose text is with the workers asks whether it has come back."""


class Reading:
    """One epoch of one stream. ``push``, ``set_prosody``, ``flush`` and ``tick`` are the caller's side.

    ``speak`` speaks a unit, ``unspoken`` tells of sounds that cannot be made; both are called by workers.
    """

    def __init__(
        self,
        config: SpeechConfig,
        line: JobLine,
        clock: Clock,
        *,
        speak: Callable[[Unit], Steps],
        unspoken: Callable[[tuple[str, ...]], Steps],
    ) -> None:
        self._reader = SpeechReader(config.language, config.max_buffer_delay_s)
        self._reader.set_prosody(speed=config.speed, volume=config.volume, emotion=config.emotion)
        self._line = line
        self._clock = clock
        self._speak, self._unspoken = speak, unspoken
        # With no delay every push is an utterance of its own, so a text may not be cut.
        self._slice_chars = AT_ONCE_CHARS if config.max_buffer_delay_s > 0 else None
        # Counters with one writer each: the caller, a worker.
        self._given_jobs = self._done_jobs = 0
        self._given_chars = self._read_chars = 0
        self._taken_chars = self._begun_chars = 0

    @property
    def pending_chars(self) -> int:
        """Characters that no worker has begun to speak."""
        units = self._taken_chars - self._begun_chars
        return units + self._given_chars - self._read_chars + self._reader.pending_chars

    def push(self, text: str) -> None:
        now_s = self._clock.now_s()
        if self._behind or len(text) > AT_ONCE_CHARS:
            self._given_chars += len(text)
            self._hand_over(partial(self._read, text, now_s))
        else:
            self._submit(self._reader.push(text, now_s))

    def set_prosody(self, item: Prosody) -> None:
        if self._behind:
            self._hand_over(partial(self._change, item))
        else:
            self._reader.set_prosody(speed=item.speed, volume=item.volume, emotion=item.emotion)

    def flush(self, finish: Job) -> None:
        """``finish`` comes after all that was pushed."""
        now_s = self._clock.now_s()
        if self._behind:
            self._hand_over(partial(self._flush, now_s))
        else:
            self._submit(self._reader.flush(now_s))
        self._line.submit(finish)

    def tick(self, now_s: float) -> float | None:
        """Returns when to call again; None: no need."""
        if self._behind:
            return now_s + LOOK_AGAIN_S
        self._submit(self._reader.tick(now_s))
        return self._reader.due_s

    @property
    def _behind(self) -> bool:
        """Whether the reader is the workers'."""
        return self._given_jobs != self._done_jobs

    def _hand_over(self, job: Job) -> None:
        self._given_jobs += 1
        self._line.submit(job)

    def _submit(self, units: list[Unit]) -> None:
        if sounds := self._sounds():
            self._line.submit(partial(self._unspoken, sounds))
        for unit in units:
            self._taken_chars += len(unit.text)
            self._line.submit(partial(self._begin, unit))

    def _sounds(self) -> tuple[str, ...]:
        sounds = tuple(dict.fromkeys(self._reader.sounds))
        self._reader.sounds.clear()
        return sounds

    # -- the workers' side ------------------------------------------------------------------

    def _begin(self, unit: Unit) -> Steps:
        self._begun_chars += len(unit.text)
        yield from self._speak(unit)

    def _read(self, text: str, now_s: float) -> Steps:
        try:
            for piece in self._slices(text):
                units = self._reader.push(piece, now_s)
                self._read_chars += len(piece)
                yield from self._spoken(units)
        finally:
            self._done_jobs += 1

    def _slices(self, text: str) -> Iterator[str]:
        size = self._slice_chars or max(1, len(text))
        return (text[at : at + size] for at in range(0, len(text), size))

    def _change(self, item: Prosody) -> Steps:
        try:
            self._reader.set_prosody(speed=item.speed, volume=item.volume, emotion=item.emotion)
            yield []
        finally:
            self._done_jobs += 1

    def _flush(self, now_s: float) -> Steps:
        try:
            yield from self._spoken(self._reader.flush(now_s))
        finally:
            self._done_jobs += 1

    def _spoken(self, units: list[Unit]) -> Steps:
        yield []  # reading was a quantum of its own
        if sounds := self._sounds():
            yield from self._unspoken(sounds)
        for unit in units:
            yield from self._speak(unit)
