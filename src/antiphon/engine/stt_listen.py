"""The worker's side of one stream: what to do next with the audio that is there, one bounded quantum at a time.

Nothing but the voice activity detector runs in silence. In speech the open window is decoded again at a cadence; at the
first frames of a pause it is decoded at once, so that the text is ready before somebody asks for it. A window ends at a
pause, or, where nobody pauses, at a quiet place between two words: cost for each second of audio stays flat.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import partial

import numpy as np

from antiphon.core.clock import Clock
from antiphon.core.errors import AntiphonError
from antiphon.core.event import Event, Failed, Flushed, Marker
from antiphon.core.frame import Samples
from antiphon.core.hearing import EAR_RATE_HZ, HearingConfig, Listened, SpeechStarted
from antiphon.engine.jobs import Steps
from antiphon.engine.stt_dictation import PRE_ROLL_SAMPLES, ROOMY_S, Dictation, Senses
from antiphon.engine.stt_pace import Pace
from antiphon.engine.stt_segment import FRAME_SAMPLES, Segmenter
from antiphon.engine.stt_tape import Tape
from antiphon.engine.stt_turn import TurnView

FIRST_PAUSE_FRAMES = 2
"""Silent frames (64 ms) after which the window is decoded in case that this is the end."""
CLOSE_SILENCE_S = 1.2
"""A pause that ends a window in any case."""
FULL_S = 9.5
"""From ``ROOMY_S`` on a window ends at a pause of 160 ms, from this on at one of 96 ms."""
YOUNG_SAMPLES = 2 * EAR_RATE_HZ
"""While a window is no longer than this and shows nothing, it is decoded twice as often."""
LISTENED_SAMPLES = 3 * FRAME_SAMPLES
LATE_SAMPLES = EAR_RATE_HZ // 4
VOICED = 0.5
FRAMES_PER_QUANTUM = 16


class Kind(IntEnum):
    """Jobs in the order of their urgency."""

    FINISH = 0
    CLOSE = 1
    CUT = 2
    PAUSE = 3
    SCORE = 4
    INTERIM = 5


BEHIND_SLACK_S = 0.5
"""A file that is read faster than it plays stands back behind those who speak now."""
_SLACK_S = {Kind.FINISH: -0.5, Kind.CLOSE: 0.0, Kind.CUT: 0.2, Kind.PAUSE: 0.03, Kind.SCORE: 0.05, Kind.INTERIM: 0.5}


@dataclass(slots=True)
class _Job:
    kind: Kind
    steps: Steps
    deadline_s: float
    asked_s: float


class Listener:
    """Touched by one worker at a time. Positions are absolute samples of the stream at 16 kHz."""

    def __init__(
        self, senses: Senses, config: HearingConfig, clock: Clock, idle: Callable[[], bool] = lambda: False
    ) -> None:
        self._senses = senses
        self._clock = clock
        self._tape = Tape()
        self._vad_state = senses.vad.init_state(1)
        self._segmenter = Segmenter()
        self._pace = Pace(senses.recogniser.interims, idle)
        self._text = Dictation(senses, config, self._tape, self._segmenter, self._pace)
        self._job: _Job | None = None
        self._marker: tuple[Marker, bool] | None = None
        self._listened_to = 0
        self._full_s = min(FULL_S, senses.recogniser.max_window_s - 2.0)
        self._max_s = senses.recogniser.max_window_s

    # -- input ------------------------------------------------------------------------------

    def hear(self, samples: Samples) -> None:
        """More audio, in order. It is looked at by :meth:`step`."""
        self._tape.append(samples)

    def finish(self, marker: Marker, *, last: bool) -> None:
        """All audio so far is to become final, then ``Flushed(marker)``. Only when :attr:`looked_at_all`."""
        self._marker = (marker, last)

    def skip(self, samples: int) -> None:
        """A cancel: what is open is forgotten, and ``samples`` more were dropped unseen."""
        to = self._tape.end + samples
        self._tape.skip(to)
        self._segmenter.skip(to)
        self._vad_state = self._senses.vad.init_state(1)
        self._text.reset(to)
        self._job, self._marker = None, None
        self._listened_to = to

    @property
    def looked_at_all(self) -> bool:
        """No whole frame waits, and no marker is being worked on."""
        return self.waiting_samples < FRAME_SAMPLES and self._marker is None

    @property
    def waiting_samples(self) -> int:
        return self._tape.end - self._segmenter.position

    # -- work -------------------------------------------------------------------------------

    def deadline_s(self, behind: bool) -> float | None:
        """When the next quantum's result is needed; None if there is nothing to do."""
        job = self._plan(behind)
        return job.deadline_s if job is not None else None

    def abandon(self) -> tuple[Marker, bool] | None:
        """Something broke: forget what is open, and say which marker is owed."""
        owed = self._marker
        self.skip(0)
        return owed

    def busy(self, behind: bool) -> bool:
        return self._plan(behind) is not None or not self.looked_at_all

    def step(self, behind: bool) -> tuple[list[Event], tuple[Marker, bool] | None]:
        """One quantum: its events, and the marker that it finished.

        ``behind``: much audio waits (a file is pushed faster than it is played): no interims, and nothing is looked at
        before the decodes that belong before it are done.
        """
        job = self._plan(behind)
        if self.waiting_samples >= FRAME_SAMPLES and not self._blocks(job, behind):
            return self._look(), None
        if job is None:
            return [], None
        self._job = job
        try:
            events = next(job.steps)
        except StopIteration:
            events = []
            self._done(job)
        except AntiphonError as error:
            events = [Failed(str(error))]
            self._text.give_up(self._segmenter.position)
            if self._marker is not None:
                events.append(Flushed(self._marker[0]))
            self._done(job)
        finished = None
        if self._marker is not None and any(isinstance(event, Flushed) for event in events):
            finished, self._marker, self._job = self._marker, None, None
        return events, finished

    def _done(self, job: _Job) -> None:
        self._job = None
        if job.kind is Kind.INTERIM:
            self._pace.took(self._clock.now_s() - job.asked_s)

    def _blocks(self, job: _Job | None, behind: bool) -> bool:
        """Whether audio waits for the job: it decides where the next window begins."""
        if job is None:
            return False
        wanted = self._wanted(behind)
        ends = wanted is not None and wanted[0] <= Kind.CUT
        # a machine that is too slow looks at what comes next only when the pause is judged: no end is passed over
        late = behind or self.waiting_samples > LATE_SAMPLES
        return ends or job.kind <= Kind.CUT or (late and job.kind < Kind.INTERIM)

    def _plan(self, behind: bool) -> _Job | None:
        """The job to go on with, or the most urgent new one."""
        job, wanted = self._job, self._wanted(behind)
        if job is not None:
            stale = job.kind is Kind.INTERIM and wanted is not None and wanted[0] < Kind.SCORE
            if not stale:
                return job
            self._job = None
        if wanted is None:
            return None
        now_s = self._clock.now_s()
        kind, begin = wanted
        slack_s = _SLACK_S[kind] + (BEHIND_SLACK_S if behind else 0.0)
        self._job = _Job(kind, begin(), now_s + slack_s, now_s)
        return self._job

    def _wanted(self, behind: bool) -> tuple[Kind, Callable[[], Steps]] | None:
        text, window, segmenter = self._text, self._text.window, self._segmenter
        if self._marker is not None and self.waiting_samples < FRAME_SAMPLES:
            return Kind.FINISH, partial(text.finish, self._marker[0])
        silence_s = segmenter.silence_samples / EAR_RATE_HZ
        if window is not None:
            length_s = (segmenter.position - window.start) / EAR_RATE_HZ
            frames = segmenter.silence_samples // FRAME_SAMPLES
            enough = 3 if length_s >= self._full_s else 5 if length_s >= ROOMY_S else CLOSE_SILENCE_S / 0.032
            if frames >= enough:
                return Kind.CLOSE, text.close
            if length_s >= self._max_s - 0.5:
                return Kind.CUT, text.cut
            if frames >= FIRST_PAUSE_FRAMES and not window.complete:
                return Kind.PAUSE, text.pause
        if text.turn is not None and text.turn.due(segmenter.quiet_from, silence_s):
            return Kind.SCORE, text.score
        if window is not None and text.interims and not behind and segmenter.quiet_from is None:
            fresh_s = (self._tape.end - max(window.asked_to, window.start + PRE_ROLL_SAMPLES)) / EAR_RATE_HZ
            young = not window.steady.words and segmenter.position - window.start < YOUNG_SAMPLES
            if self._pace.due(fresh_s, first=young):
                return Kind.INTERIM, text.interim
        return None

    def _look(self) -> list[Event]:
        """Voice activity of some frames; stops where a window may have to end."""
        events: list[Event] = []
        for _ in range(FRAMES_PER_QUANTUM):
            at = self._segmenter.position
            if self._tape.end - at < FRAME_SAMPLES:
                break
            frame = self._tape.read(at, at + FRAME_SAMPLES)
            output, self._vad_state = self._senses.vad.step(frame[np.newaxis], self._vad_state, np.ones(1, np.bool_))
            events.extend(self._frame(float(output[0])))
            wanted = self._wanted(True)
            if wanted is not None:
                break
        self._tape.forget(self._needed_from())
        return events

    def _frame(self, probability: float) -> list[Event]:
        at = self._segmenter.position
        told = self._segmenter.push(probability)
        events: list[Event] = []
        for event in told:
            events.append(event)
            if isinstance(event, SpeechStarted):
                self._text.open(event.at_sample, (self._segmenter.position - event.at_sample) // FRAME_SAMPLES)
        if self._segmenter.speaking and self._segmenter.quiet_from is None:
            self._text.voiced(at, surely=not told and probability >= VOICED)
        position = self._segmenter.position
        if position - self._listened_to >= LISTENED_SAMPLES:
            self._listened_to = position
            events.append(Listened(position, self._segmenter.speaking))
        return events

    def _needed_from(self) -> int:
        """Where the audio begins that may be read again."""
        from_sample = self._segmenter.position - PRE_ROLL_SAMPLES - 8 * FRAME_SAMPLES
        if self._text.window is not None:
            from_sample = min(from_sample, self._text.window.start)
        if self._text.turn is not None:
            from_sample = min(from_sample, self._segmenter.position - TurnView.MAX_AUDIO_SAMPLES)
        return max(0, from_sample)
