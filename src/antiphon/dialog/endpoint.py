"""When a turn starts, is probably over, goes on, and ends: one state machine for bare sockets and conversations alike.

Media time (samples that were listened to) decides what happened; wall-clock seconds only decide when to give up, on a
final that does not come or on audio that no longer arrives.
"""

from typing import Literal

from antiphon.core.event import Event
from antiphon.core.hearing import EAR_RATE_HZ, Heard, Listened, SpeechStarted, SpeechStopped, TurnScored
from antiphon.core.turns import (
    EndpointSettings,
    EndReason,
    TurnEagerEnded,
    TurnEnded,
    TurnEvent,
    TurnResumed,
    TurnStarted,
    TurnUpdated,
)
from antiphon.dialog.transcript import TurnTranscript
from antiphon.text.turn_openers import only_begins

FINAL_WAIT_S = 1.0
"""How long an end waits for the words of its last segment, in media or wall time, whichever is over first."""

COVER_WAIT_S = 0.3
"""How long an eager end waits for a hypothesis that reaches to the pause."""

STALL_GRACE_S = 1.0
"""Audio may come in lumps: this much is added to the timeout where the wall clock has to measure it."""

_EDGE_SAMPLES = round(0.15 * EAR_RATE_HZ)  # a recogniser and a voice detector see the end of a word this far apart


class Endpoint:
    """Turns out of what an ear hears. Pure: no clock, no I/O; ``now_s`` is monotonic seconds.

    ``IDLE -start-> SPEAKING -update*-> SPEAKING -eager_end-> EAGER -(resume-> SPEAKING | end-> IDLE)`` and
    ``SPEAKING -end-> IDLE``. The transcript is append-only within a turn, and the turns' transcripts concatenated are
    all that was heard. A turn without words is never ended eagerly, and ends with an empty transcript.
    """

    def __init__(self, settings: EndpointSettings | None = None, now_s: float = 0.0) -> None:
        self.settings = settings or EndpointSettings()
        self._state: Literal["idle", "speaking", "eager", "closed"] = "idle"
        self._transcript = TurnTranscript()
        self._out: list[TurnEvent] = []
        self._now_s = now_s
        self._alive_s = now_s  # when anything was last heard of the ear
        self._media = 0
        self._spoke_at = 0  # where the latest speech began
        self._stopped_at: int | None = None  # where the pause began; None during speech
        self._likelihood: float | None = None  # the latest of this pause
        self._heard_to = 0  # how far hypotheses and finals reach
        self._final_to = 0
        self._confidence = 1.0  # of the segment that was heard last
        self._ending: tuple[int, float] | None = None  # media and wall time of the decision to end
        self._doubting_at: int | None = None  # media time of the decision to end eagerly
        self._ended_at = -1
        self._ended_with_words = False

    @property
    def in_turn(self) -> bool:
        return self._state in ("speaking", "eager")

    @property
    def awaits_final(self) -> bool:
        """The turn is over but for the final of its last segment: whoever can hasten that (flush) should."""
        return self._ending is not None

    @property
    def deadline_s(self) -> float | None:
        """When :meth:`tick` has something to decide if nothing comes before; None: never."""
        if not self.in_turn:
            return None
        stalled = self._alive_s + self.settings.end_timeout_s - self._silence_s + STALL_GRACE_S
        return stalled if self._ending is None else min(stalled, self._ending[1] + FINAL_WAIT_S)

    def configure(self, settings: EndpointSettings) -> None:
        """Change the thresholds; they hold from the next event on."""
        self.settings = settings

    def handle(self, event: Event, now_s: float) -> list[TurnEvent]:
        """Take one event of the ear (others are ignored) and say what follows from it."""
        if self._state == "closed":
            return []
        self._now_s = self._alive_s = max(self._now_s, now_s)
        match event:
            case SpeechStarted():
                self._speak(event.at_sample)
            case SpeechStopped():
                self._advance(event.at_sample)
                if self._stopped_at is None:
                    self._stopped_at = event.at_sample
            case TurnScored():
                self._judge(event)
            case Heard():
                self._hear(event)
            case Listened():
                self._advance(event.at_sample)
            case _:
                return []
        self._decide()
        return self._take()

    def tick(self, now_s: float) -> list[TurnEvent]:
        """Give up on what does not come. Call at :attr:`deadline_s`."""
        self._now_s = max(self._now_s, now_s)
        deadline_s = self.deadline_s
        if deadline_s is not None and self._now_s >= deadline_s:
            self._end("model" if self._finished else "timeout")
        return self._take()

    def close(self) -> list[TurnEvent]:
        """The stream is over (flush it first): ends an open turn with all that was heard. Idempotent."""
        if self._state == "idle":
            self._transcript.drop_marks()
            if self._transcript.waiting:
                self._start(self._media)
        if self.in_turn:
            self._end("closed")
        self._state = "closed"
        return self._take()

    @property
    def _silence_s(self) -> float:
        return 0.0 if self._stopped_at is None else max(0, self._media - self._stopped_at) / EAR_RATE_HZ

    @property
    def _wordless(self) -> bool:
        return not (self._transcript.text.strip() or self._transcript.waiting or self._transcript.open)

    @property
    def _finished(self) -> bool:
        """Judged to be over. Only silence can make it so."""
        return self._likelihood is not None and self._likelihood < self.settings.end and not self._only_begun

    @property
    def _only_begun(self) -> bool:
        """The words alone would be an answer, but nothing was asked that they answer."""
        opener_s = self.settings.opener_s
        return opener_s is not None and self._silence_s < opener_s and only_begins(self._transcript.whole)

    def _advance(self, at_sample: int) -> None:
        self._media = max(self._media, at_sample)

    def _speak(self, at_sample: int) -> None:
        """There is speech: whatever was decided about the pause before it is void."""
        self._advance(at_sample)
        self._spoke_at = at_sample
        self._stopped_at = self._likelihood = self._ending = self._doubting_at = None
        if self._state == "idle":
            self._start(at_sample)
        elif self._state == "eager":
            self._resume()

    def _judge(self, scored: TurnScored) -> None:
        self._advance(scored.at_sample)
        if scored.silence_samples <= 0:  # an ear that judges during speech as well
            if scored.likelihood > self.settings.start and self._state != "speaking":
                self._speak(scored.at_sample)
            return
        if not self.in_turn or self._stopped_at is None or scored.at_sample <= self._spoke_at:
            return  # the judgement of a pause that is over
        self._likelihood = scored.likelihood
        if self._state == "eager" and scored.likelihood > self.settings.start:
            self._resume()

    def _hear(self, heard: Heard) -> None:
        self._transcript.hear(heard)
        self._confidence = heard.confidence
        self._heard_to = max(self._heard_to, heard.end_sample)
        if heard.final:
            self._final_to = max(self._final_to, heard.end_sample)
        if self._state == "idle":
            late = heard.end_sample <= self._ended_at
            self._transcript.drop_marks()
            # Words that missed their turn: no second turn, hence no second answer, but the next turn begins with them.
            if not self._transcript.waiting or (late and self._ended_with_words):
                return
            self._start(heard.start_sample)
            if self._stopped_at is None and heard.final:
                self._stopped_at = heard.end_sample  # the detector knows of no speech, so it will report no pause
        elif self._state == "speaking":
            self._update()
        elif self._transcript.waiting and not self._finished:
            self._resume()  # the eager end said too little: say it again with all the words
            self._update()

    def _decide(self) -> None:
        if not self.in_turn or self._stopped_at is None:
            return
        wordless_s = self.settings.wordless_s
        if wordless_s is not None and self._wordless and self._silence_s >= wordless_s:
            self._end("timeout")  # words that come late get a turn of their own
            return
        overdue = self._silence_s >= self.settings.end_timeout_s
        if overdue or self._finished:
            if self._ending is None:
                self._ending = (self._media, self._now_s)
            since, since_s = self._ending
            waited_s = max((self._media - since) / EAR_RATE_HZ, self._now_s - since_s)
            if (self._reaches(self._final_to) and not self._transcript.open) or waited_s >= FINAL_WAIT_S:
                self._end("model" if self._finished else "timeout")
                return
        else:
            self._ending = None
        if self._likelihood is None or self._likelihood >= self.settings.eager_end:
            self._doubting_at = None
        elif self._state == "speaking":
            if self._doubting_at is None:
                self._doubting_at = self._media
            waited_s = (self._media - self._doubting_at) / EAR_RATE_HZ
            if self._reaches(self._heard_to) or waited_s >= COVER_WAIT_S:
                self._transcript.grow(everything=True)
                if self._transcript.text.strip():
                    self._state = "eager"
                    self._out.append(TurnEagerEnded(self._transcript.text, self._media, self._confidence))

    def _reaches(self, sample: int) -> bool:
        return self._stopped_at is not None and sample >= self._stopped_at - _EDGE_SAMPLES

    def _start(self, at_sample: int) -> None:
        self._state = "speaking"
        self._likelihood = self._ending = self._doubting_at = None
        self._out.append(TurnStarted(at_sample))
        self._update()

    def _update(self) -> None:
        if self._transcript.grow():
            self._out.append(TurnUpdated(self._transcript.text, self._media, self._confidence))

    def _resume(self) -> None:
        self._state = "speaking"
        self._doubting_at = None
        self._out.append(TurnResumed(self._media))

    def _end(self, reason: EndReason) -> None:
        self._transcript.grow(everything=True)
        text = self._transcript.finish()
        self._out.append(TurnEnded(text, self._media, reason, self._confidence))
        self._state = "idle"
        self._likelihood = self._ending = self._doubting_at = None
        self._ended_at, self._ended_with_words = self._media, bool(text.strip())

    def _take(self) -> list[TurnEvent]:
        out, self._out = self._out, []
        return out
