"""From audio to settled text: the open window, the segment that windows add up to, and the jobs that work on them.

Every job is a generator; each ``yield`` ends one bounded quantum and gives the events that it led to. The listener
decides which job runs when. Touched by one worker at a time; positions are absolute samples of the stream at 16 kHz.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace

from antiphon.core.engine import StepModel
from antiphon.core.event import Event, Flushed, Marker
from antiphon.core.hearing import EAR_RATE_HZ, HearingConfig, TurnScored
from antiphon.engine.ear import Ask, EarWord, Hypothesis, Recogniser
from antiphon.engine.jobs import Steps
from antiphon.engine.scorer import TurnPause, TurnScorer
from antiphon.engine.stt_agree import GROWING_HOLD_SAMPLES, Agreement, Steady
from antiphon.engine.stt_cut import before, between_words, cut_places, is_whole
from antiphon.engine.stt_guard import is_speech
from antiphon.engine.stt_pace import Pace
from antiphon.engine.stt_segment import Segmenter
from antiphon.engine.stt_tape import Tape
from antiphon.engine.stt_turn import TurnView
from antiphon.engine.stt_window import Transcript, Window

PRE_ROLL_SAMPLES = 6_400
"""Audio before an onset that is decoded with it (400 ms): a soft first consonant is no voice to the detector yet, and
the recogniser hears first words better after a little room tone."""
POST_ROLL_SAMPLES = 3_200
"""Silence that is decoded behind the last word, where there is some (200 ms)."""
ROOMY_S = 7.0
"""A window of this length that ends is told as final."""
MAX_SEGMENT_S = 30.0
"""So is a segment of this length."""
FREEZE_BELOW = 0.25
"""A turn that goes on with less than this likelihood is about to end: its words are made final before that is told. Not
sooner: a window that stays open over a pause inside a sentence is heard better than two."""
SETTLE_BELOW = 0.87
"""A turn that goes on with less than this likelihood may well be over: the words before the pause are settled, so that
they can be told, but their window stays open."""

_UNCONFIRMED_FRAMES = 3


@dataclass(frozen=True, slots=True)
class Senses:
    """The models of a stream: voice activity (a step model, one slot), recogniser, and what judges turns."""

    vad: StepModel
    recogniser: Recogniser
    scorer: TurnScorer | None = None


class Dictation:
    """One stream's recognition.

    With ``config.turns`` words are settled while the speaker goes on, since a turn's text may grow before its end but
    never change. Without, nothing is settled before its window ends, and finals are a little better for it (half a
    point to one point of WER on LibriSpeech test-other, against the text of a larger recogniser).
    """

    def __init__(self, senses: Senses, config: HearingConfig, tape: Tape, segmenter: Segmenter, pace: Pace) -> None:
        self.window: Window | None = None
        self.turn = TurnView() if config.turns and senses.scorer else None
        self.heard_to = 0
        """Where the last window's audio ended; no sample is decoded for two windows."""
        self._senses = senses
        self._config = config
        self._tape = tape
        self._segmenter = segmenter
        self._pace = pace
        self._transcript = Transcript(config.language)
        self._expect = senses.recogniser.expect(config.keyterms)
        self.interims = config.interim or config.turns

    def voiced(self, at: int, *, surely: bool) -> None:
        """A frame of speech begins at sample ``at``; a window is opened if none is open."""
        if self.window is None:
            self.open(at, 0)
        if self.window is not None:
            self.window.voiced_frames += surely
            self.window.spoken_frames += 1
            self.window.complete = False
        if self.turn is not None:
            self.turn.resume(at)

    def open(self, onset: int, voiced_frames: int) -> None:
        if self.window is None:
            start = max(onset - PRE_ROLL_SAMPLES, self.heard_to)
            self.window = self._window(start, voiced_frames)

    def _window(self, start: int, voiced_frames: int) -> Window:
        recogniser = self._senses.recogniser
        # interims that come seldom are shown as they are, and so are those that only grow
        steady = Steady(2 if recogniser.interims and not recogniser.streaming else 1)
        agreement = Agreement(GROWING_HOLD_SAMPLES, times=1) if recogniser.streaming else Agreement()
        settles = self._config.turns
        return Window(start, recogniser.read(), voiced_frames, settles=settles, steady=steady, agreement=agreement)

    def reset(self, to: int) -> None:
        """Forget what is open; the stream goes on at sample ``to``."""
        self.window, self.heard_to = None, to
        self._transcript = Transcript(self._config.language)
        self.turn = TurnView() if self.turn else None

    def give_up(self, to: int) -> None:
        """The window could not be decoded: leave it out."""
        self.window, self.heard_to = None, to

    def _decode(
        self, window: Window, end: int, *, draft: Hypothesis | None = None, interim: bool = False
    ) -> Generator[list[Event], None, Hypothesis]:
        """Decode ``[window.start, end)``: empty lists at its quanta, then the hypothesis is returned."""
        ask = Ask(
            language=self._config.language,
            draft=window.draft if draft is None else draft,
            expect=self._expect,
            interim=interim,
        )
        hypothesis = Hypothesis()
        for answer in window.reading.decode(self._tape.read(window.start, end), ask):
            if answer is not None:
                hypothesis = answer
                break
            yield []
        return hypothesis

    def interim(self) -> Steps:
        window, end = self.window, self._tape.end
        if window is None:
            return
        window.asked_to = end
        hypothesis = yield from self._decode(window, end, interim=True)
        if window is self.window and not window.complete:
            window.hear(hypothesis, end, complete=False)
            yield [*self._pace.warnings(), *self._tell()]

    def pause(self) -> Steps:
        """Decode up to here in case that this is the end: here is now, not where a worker comes to it."""
        window = self.window
        if window is None:
            return iter(())
        return self._paused(window, self._hear_all(window, self._segmenter.position))

    def _paused(self, window: Window, hearing: Steps) -> Steps:
        yield from hearing
        yield self._tell()

    def _hear_all(self, window: Window, end: int) -> Steps:
        """Decode the window up to ``end`` or some way into the silence, unless all its speech is decoded already."""
        quiet_from = self._segmenter.quiet_from
        if quiet_from is not None:
            end = min(end, max(quiet_from, window.start) + POST_ROLL_SAMPLES)
        return self._heard_all(window, end, window.spoken_frames, quiet_from is not None)

    def _heard_all(self, window: Window, end: int, spoken_frames: int, quiet: bool) -> Steps:
        if not window.complete:
            hypothesis = yield from self._decode(window, end)
            complete = quiet and window.spoken_frames == spoken_frames
            window.hear(hypothesis, end, complete=complete)
            if self.turn is not None and complete and is_speech(hypothesis, window.voiced_frames):
                self.turn.closing = hypothesis.closing

    def close(self) -> Steps:
        window, position = self.window, self._segmenter.position
        if window is None:
            return
        length_s = (position - window.start) / EAR_RATE_HZ
        yield from self._hear_all(window, position)
        yield self._settle(window, final=self._config.turns or length_s >= ROOMY_S)

    def _settle(self, window: Window, *, final: bool) -> list[Event]:
        """The window's words change no more; the next window begins where its audio ended."""
        words = self._transcript.settle(window, window.heard_to)
        if self.turn is not None:
            self.turn.add(words)
        self.heard_to = max(self.heard_to, window.heard_to)
        self.window = None
        if final or self._transcript.samples > MAX_SEGMENT_S * EAR_RATE_HZ:
            heard = self._transcript.final()
            return [heard] if heard else []
        return self._tell()

    def cut(self) -> Steps:
        """End a window in running speech: where it is quiet, and where both sides keep their words."""
        window, end = self.window, self._segmenter.position
        if window is None:
            return
        whole = yield from self._decode(window, end)
        shown = len(window.shown())
        settled = window.agreement.settled
        least = settled[-1].end_sample if settled else 0
        best: tuple[int, Hypothesis] | None = None
        grows, places = self._senses.recogniser.streaming, cut_places(self._tape.read(window.start, end), least)
        for place in between_words(places, whole) if grows else places:
            if grows:  # what it heard of the beginning stands
                head = before(whole, place)
            else:
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
            window.draft = replace(head, words=kept)
        voiced_frames = round(window.voiced_frames * (end - position) / max(1, end - window.start))
        following = self._window(position, voiced_frames)
        following.heard_to, following.asked_to = position, end
        if is_whole(head, whole):
            tail = whole.words[len(head.words) :]
            following.ahead = tuple(word.text for word in tail)
            following.steady.begin(_moved(tail[: max(0, shown - len(head.words))], -place))
        events = self._settle(window, final=True)
        self.window = following
        yield [*events, *self._tell()]

    def finish(self, marker: Marker) -> Steps:
        window, onset = self.window, self._segmenter.onset
        if window is None and onset is not None:
            self.open(onset, _UNCONFIRMED_FRAMES)
            window = self.window
        events: list[Event] = []
        if window is not None:
            yield from self._hear_all(window, self._tape.end)
            events.extend(self._settle(window, final=True))
        heard = self._transcript.final()
        if heard is not None:
            events.append(heard)
        yield [*events, Flushed(marker)]

    def score(self) -> Steps:
        turn, scorer, segmenter = self.turn, self._senses.scorer, self._segmenter
        if turn is None or scorer is None or segmenter.quiet_from is None:
            return
        at, silence = segmenter.position, segmenter.silence_samples
        audio = self._tape.read(max(turn.start, at - TurnView.MAX_AUDIO_SAMPLES), at)
        window = self.window
        text = turn.text([word.text for word in window.words()] if window else [])
        language = self._config.language or (window.draft.language if window is not None else "") or "en"
        silence_s = silence / EAR_RATE_HZ
        pause = TurnPause(audio, text, silence_s, language, self._config.expected_digits, turn.closing)
        likelihood = scorer.score(pause)
        turn.scored(segmenter.quiet_from, silence_s, likelihood)
        events: list[Event] = []
        if window is not None and window is self.window and window.complete:
            if likelihood < FREEZE_BELOW:
                events.extend(self._settle(window, final=True))
            elif likelihood < SETTLE_BELOW and window.settle():
                events.extend(self._tell())
        yield [*events, TurnScored(at, likelihood, silence, text)]

    def _tell(self) -> list[Event]:
        heard = self._transcript.interim(self.window) if self.interims else None
        return [heard] if heard else []


def _moved(words: tuple[EarWord, ...], samples: int) -> tuple[EarWord, ...]:
    return tuple(
        replace(word, start_sample=max(0, word.start_sample + samples), end_sample=max(1, word.end_sample + samples))
        for word in words
    )
