"""The worker's side of one stream: what to do next with the audio that is there, one bounded quantum at a time.

Nothing but the voice activity detector runs in silence. In speech the open window is decoded again at a cadence; at the
first frames of a pause it is decoded at once, so that the text is ready before somebody asks for it. A window ends at a
pause, or, where nobody pauses, at a quiet place between two words: cost for each second of audio stays flat.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from antiphon.core.clock import Clock
from antiphon.core.engine import StepModel
from antiphon.core.errors import AntiphonError
from antiphon.core.event import Event, Failed, Flushed, Marker
from antiphon.core.frame import Samples
from antiphon.core.hearing import EAR_RATE_HZ, HearingConfig, Listened, SpeechStarted, TurnScored
from antiphon.engine.ear import Ask, Hypothesis, Recogniser
from antiphon.engine.jobs import Steps
from antiphon.engine.scorer import TurnScorer
from antiphon.engine.stt_cut import cut_places, is_whole
from antiphon.engine.stt_pace import Pace
from antiphon.engine.stt_segment import FRAME_SAMPLES, Segmenter
from antiphon.engine.stt_tape import Tape
from antiphon.engine.stt_turn import TurnView
from antiphon.engine.stt_window import Transcript, Window

PRE_ROLL_SAMPLES = 4_000
"""Audio before an onset that is decoded with it (250 ms): a soft first consonant is no voice to the detector yet."""
POST_ROLL_SAMPLES = 3_200
FIRST_PAUSE_FRAMES = 3
"""Silent frames (96 ms) after which the window is decoded in case that this is the end."""
CLOSE_SILENCE_S = 0.8
"""A pause that ends a window in any case."""
ROOMY_S, FULL_S = 5.0, 8.0
"""From the first on a window ends at a pause of 160 ms, from the second at one of 96 ms."""
MAX_SEGMENT_S = 30.0
FREEZE_BELOW = 0.6
"""A turn that is over with this likelihood may end now: its words are made final before that is told."""
LISTENED_SAMPLES = 1_600
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
_SLACK_S = {Kind.FINISH: 0.0, Kind.CLOSE: 0.05, Kind.CUT: 0.2, Kind.PAUSE: 0.03, Kind.SCORE: 0.05, Kind.INTERIM: 0.3}


@dataclass(slots=True)
class _Job:
    kind: Kind
    steps: Steps
    deadline_s: float
    asked_s: float


@dataclass(frozen=True, slots=True)
class Senses:
    """The models of a stream: voice activity (a step model, one slot), recogniser, and what judges turns."""

    vad: StepModel
    recogniser: Recogniser
    scorer: TurnScorer | None = None


class Listener:
    """Touched by one worker at a time. Positions are absolute samples of the stream at 16 kHz."""

    def __init__(
        self, senses: Senses, config: HearingConfig, clock: Clock, idle: Callable[[], bool] = lambda: False
    ) -> None:
        self._senses = senses
        self._config = config
        self._clock = clock
        self._tape = Tape()
        self._vad_state = senses.vad.init_state(1)
        self._segmenter = Segmenter()
        self._window: Window | None = None
        self._transcript = Transcript(config.language or "en")
        self._turn = TurnView() if config.turns and senses.scorer else None
        self._expect = senses.recogniser.expect(config.keyterms)
        self._pace = Pace(senses.recogniser.interims, idle)
        self._job: _Job | None = None
        self._marker: tuple[Marker, bool] | None = None
        self._heard_to = 0
        self._listened_to = 0
        self._full_s = min(FULL_S, senses.recogniser.max_window_s - 2.0)
        self._max_s = senses.recogniser.max_window_s
        self._interims = config.interim or config.turns

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
        self._window, self._job, self._marker = None, None, None
        self._transcript = Transcript(self._config.language or "en")
        self._turn = TurnView() if self._turn else None
        self._heard_to = self._listened_to = to

    @property
    def looked_at_all(self) -> bool:
        """No whole frame waits, and no marker is being worked on."""
        return self._tape.end - self._segmenter.position < FRAME_SAMPLES and self._marker is None

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
        if not self.looked_at_all and self._marker is None and not self._blocks(job, behind):
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
            self._window = None
            self._heard_to = self._segmenter.position
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
        return job is not None and (job.kind <= Kind.CUT or (behind and job.kind < Kind.INTERIM))

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
        window, segmenter = self._window, self._segmenter
        if self._marker is not None:
            return Kind.FINISH, self._finish
        silence_s = segmenter.silence_samples / EAR_RATE_HZ
        if window is not None:
            length_s = (self._tape.end - window.start) / EAR_RATE_HZ
            frames = segmenter.silence_samples // FRAME_SAMPLES
            enough = 3 if length_s >= self._full_s else 5 if length_s >= ROOMY_S else CLOSE_SILENCE_S / 0.032
            if frames >= enough:
                return Kind.CLOSE, self._close_at_pause
            if length_s >= self._max_s - 0.5:
                return Kind.CUT, self._cut
            if frames >= FIRST_PAUSE_FRAMES and not window.complete:
                return Kind.PAUSE, self._pause
        if self._turn is not None and self._turn.due(segmenter.quiet_from, silence_s):
            return Kind.SCORE, self._score
        if window is not None and self._interims and not behind and segmenter.quiet_from is None:
            fresh_s = (self._tape.end - max(window.asked_to, window.start + PRE_ROLL_SAMPLES)) / EAR_RATE_HZ
            if self._pace.due(fresh_s):
                return Kind.INTERIM, self._interim
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
                self._open(event.at_sample, (self._segmenter.position - event.at_sample) // FRAME_SAMPLES)
        voiced = self._segmenter.speaking and self._segmenter.quiet_from is None
        if voiced and not told:
            if self._window is None:
                self._open(at, 0)
            assert self._window is not None
            self._window.voiced_frames += probability >= VOICED
            self._window.complete = False
        if self._turn is not None and voiced:
            self._turn.resume(at)
        position = self._segmenter.position
        if position - self._listened_to >= LISTENED_SAMPLES:
            self._listened_to = position
            events.append(Listened(position, self._segmenter.speaking))
        return events

    def _open(self, onset: int, voiced_frames: int) -> None:
        if self._window is None:
            self._window = Window(max(onset - PRE_ROLL_SAMPLES, self._heard_to), voiced_frames)

    def _needed_from(self) -> int:
        """Where the audio begins that may be read again."""
        from_sample = self._segmenter.position - PRE_ROLL_SAMPLES - 8 * FRAME_SAMPLES
        if self._window is not None:
            from_sample = min(from_sample, self._window.start)
        if self._turn is not None:
            from_sample = min(from_sample, self._segmenter.position - TurnView.MAX_AUDIO_SAMPLES)
        return max(0, from_sample)

    # -- jobs -------------------------------------------------------------------------------

    def _decode(
        self, window: Window, end: int, *, draft: Hypothesis | None = None, interim: bool = False
    ) -> Generator[list[Event], None, Hypothesis]:
        """Decode ``[window.start, end)``: empty lists at its quanta, then the hypothesis is returned."""
        ask = Ask(
            language=self._config.language,
            settled=window.agreement.settled,
            draft=window.draft if draft is None else draft,
            expect=self._expect,
            interim=interim,
        )
        hypothesis = Hypothesis()
        for answer in self._senses.recogniser.decode(self._tape.read(window.start, end), ask):
            if answer is not None:
                hypothesis = answer
                break
            yield []
        return hypothesis

    def _interim(self) -> Steps:
        window, end = self._window, self._tape.end
        if window is None:
            return
        window.asked_to = end
        hypothesis = yield from self._decode(window, end, interim=True)
        if window is self._window and not window.complete:
            window.hear(hypothesis, end, complete=False)
            yield [*self._pace.warnings(), *self._tell()]

    def _pause(self) -> Steps:
        window = self._window
        if window is not None:
            yield from self._hear_all(window)
            yield self._tell()

    def _hear_all(self, window: Window) -> Generator[list[Event], None, None]:
        """Decode all there is of the window, unless that has been done."""
        if window.complete:
            return
        quiet_from, end = self._segmenter.quiet_from, self._tape.end
        if quiet_from is not None:
            end = min(end, quiet_from + POST_ROLL_SAMPLES)
        voiced = window.voiced_frames
        hypothesis = yield from self._decode(window, end)
        window.hear(hypothesis, end, complete=quiet_from is not None and window.voiced_frames == voiced)

    def _close_at_pause(self) -> Steps:
        window = self._window
        if window is None:
            return
        length_s = (self._tape.end - window.start) / EAR_RATE_HZ
        yield from self._hear_all(window)
        yield self._settle(window, final=self._config.turns or length_s >= ROOMY_S)

    def _settle(self, window: Window, *, final: bool) -> list[Event]:
        """The window's words change no more; the next window begins where its audio ended."""
        words = self._transcript.settle(window, window.heard_to)
        if self._turn is not None:
            self._turn.add(words)
        self._heard_to = max(self._heard_to, window.heard_to)
        self._window = None
        if final or self._transcript.samples > MAX_SEGMENT_S * EAR_RATE_HZ:
            heard = self._transcript.final()
            return [heard] if heard else []
        return self._tell()

    def _cut(self) -> Steps:
        """End a window in running speech: where it is quiet, and where both sides keep their words."""
        window, end = self._window, self._tape.end
        if window is None:
            return
        whole = yield from self._decode(window, end)
        settled = window.agreement.settled
        least = settled[-1].end_sample if settled else 0
        best: tuple[int, Hypothesis] | None = None
        for place in cut_places(self._tape.read(window.start, end), least):
            head = yield from self._decode(window, window.start + place, draft=whole)
            if best is None or is_whole(head, whole):
                best = (place, head)
            if is_whole(head, whole):
                break
        place, head = best if best is not None else (end - window.start, whole)
        position = window.start + place
        window.hear(head, position, complete=True)
        if is_whole(head, whole):
            kept = whole.words[: len(head.words)]
            window.draft = Hypothesis(kept, head.avg_logprob, head.looped, head.silence, head.language)
        voiced_frames = round(window.voiced_frames * (end - position) / max(1, end - window.start))
        events = self._settle(window, final=True)
        ahead = tuple(word.text for word in whole.words[len(head.words) :]) if is_whole(head, whole) else ()
        self._window = Window(position, voiced_frames, heard_to=position, asked_to=end, ahead=ahead)
        yield events

    def _finish(self) -> Steps:
        marker = self._marker
        if marker is None:
            return
        window, onset = self._window, self._segmenter.onset
        if window is None and onset is not None:
            self._open(onset, FIRST_PAUSE_FRAMES)
            window = self._window
        events: list[Event] = []
        if window is not None:
            yield from self._hear_all(window)
            events.extend(self._settle(window, final=True))
        heard = self._transcript.final()
        if heard is not None:
            events.append(heard)
        yield [*events, Flushed(marker[0])]

    def _score(self) -> Steps:
        turn, scorer, segmenter = self._turn, self._senses.scorer, self._segmenter
        if turn is None or scorer is None or segmenter.quiet_from is None:
            return
        at, silence = segmenter.position, segmenter.silence_samples
        audio = self._tape.read(max(turn.start, at - TurnView.MAX_AUDIO_SAMPLES), at)
        window = self._window
        text = turn.text([word.text for word in window.words()] if window else [])
        likelihood = scorer.score(audio, text, silence / EAR_RATE_HZ, self._config.language or "en")
        turn.scored(segmenter.quiet_from, silence / EAR_RATE_HZ, likelihood)
        events: list[Event] = []
        if likelihood < FREEZE_BELOW and window is not None and window is self._window and window.complete:
            events.extend(self._settle(window, final=True))
        yield [*events, TurnScored(at, likelihood, silence, text)]

    def _tell(self) -> list[Event]:
        heard = self._transcript.interim(self._window) if self._interims else None
        return [heard] if heard else []
