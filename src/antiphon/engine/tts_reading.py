"""Who reads a stream's text: the caller, at once, a token or two; the workers what is longer.

Reading takes longer than all else that a request costs the caller's loop, which everyone's events pass: a text above
:data:`AT_ONCE_CHARS` is read inside a job of its stream. To wake a worker for each token would cost more than to read
it. A text above :data:`SLICE_CHARS` is read a slice for each quantum. What comes after a text while it is being read
waits its turn in the same line. Times are those at which the text came, so the units are the same.
"""

from collections.abc import Callable, Iterator
from functools import partial

from antiphon.core.clock import Clock
from antiphon.core.speech import Prosody, SpeechConfig
from antiphon.engine.jobs import Job, JobLine, Steps
from antiphon.text.reader import SpeechReader
from antiphon.text.unit import Unit

AT_ONCE_CHARS = 48
SLICE_CHARS = 1_000
"""At most so much is read and begun to be spoken in one quantum."""
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
        self._config = config
        self._made: SpeechReader | None = None
        self._line = line
        self._clock = clock
        self._speak, self._unspoken = speak, unspoken
        # With no delay every push is an utterance of its own, so a text may not be cut.
        self._slice_chars = SLICE_CHARS if config.max_buffer_delay_s > 0 else None
        self._flushed = False
        """Whether no text came since the last flush."""
        # Counters with one writer each: the caller, a worker.
        self._given_jobs = self._done_jobs = 0
        self._given_chars = self._read_chars = 0
        self._taken_chars = self._begun_chars = 0

    @property
    def pending_chars(self) -> int:
        """Characters that no worker has begun to speak."""
        units = self._taken_chars - self._begun_chars
        held = 0 if self._made is None else self._made.pending_chars
        return units + self._given_chars - self._read_chars + held

    def push(self, text: str) -> None:
        now_s = self._clock.now_s()
        self._flushed = False
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
        self._flushed = True
        if self._behind:
            self._hand_over(partial(self._flush, now_s))
        else:
            self._submit(self._reader.flush(now_s))
        self._line.submit(finish)

    def tick(self, now_s: float) -> float | None:
        """Returns when to call again; None: no need."""
        if self._behind:
            return None if self._flushed else now_s + LOOK_AGAIN_S  # after a flush nothing waits for the time
        if self._made is None:
            return None
        self._submit(self._reader.tick(now_s))
        return self._reader.due_s

    @property
    def _reader(self) -> SpeechReader:
        """Made by who first reads: a worker, mostly."""
        if self._made is None:
            config = self._config
            reader = SpeechReader(config.language, config.max_buffer_delay_s, pronunciations=config.pronunciations)
            reader.set_prosody(speed=config.speed, volume=config.volume, emotion=config.emotion)
            self._made = reader
        return self._made

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
        unread = len(text)
        try:
            for piece in self._slices(text):
                units = self._reader.push(piece, now_s)
                sounds = self._sounds()
                self._read_chars += len(piece)
                unread -= len(piece)
                if not unread:
                    self._done_jobs += 1  # the reader is the caller's again while its units are being spoken
                yield from self._spoken(units, sounds, alone=len(text) > SLICE_CHARS)
        finally:
            if unread or not text:
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
            units = self._reader.flush(now_s)
            sounds = self._sounds()
        finally:
            self._done_jobs += 1
        yield from self._spoken(units, sounds, alone=False)

    def _spoken(self, units: list[Unit], sounds: tuple[str, ...], *, alone: bool) -> Steps:
        """``alone``: reading was a quantum of its own; else the first sound comes in the same, without a new turn."""
        if alone:
            yield []
        if sounds:
            yield from self._unspoken(sounds)
        for unit in units:
            yield from self._speak(unit)
