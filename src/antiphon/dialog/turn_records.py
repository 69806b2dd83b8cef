"""Folds the log of a conversation into one :class:`TurnRecord` for each turn. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from antiphon.core.hearing import EAR_RATE_HZ, Heard, SpeechStarted, SpeechStopped
from antiphon.core.turns import TurnEnded, TurnStarted
from antiphon.dialog.arrivals import Arrivals
from antiphon.dialog.conversation_actions import Speak
from antiphon.dialog.conversation_events import Moment, ToolFinished
from antiphon.dialog.conversation_log import EarSaid, Observed
from antiphon.dialog.ledger import Entry
from antiphon.dialog.speech_record import Speeches
from antiphon.dialog.tool_run import CallTool
from antiphon.dialog.turn_record import (
    Budget,
    Outcome,
    Span,
    Speculation,
    Times,
    ToolUse,
    TurnRecord,
    cause_of,
    stages_between,
)

LoudEnd = Callable[[int, int], int | None]
"""The end of the last loud sample of the user in ``[start, stop)``, in media samples; None: not known."""

_MAX_OPEN = 8
_EDGE_SAMPLES = EAR_RATE_HZ // 4  # how far a voice detector's end of speech may be off


@dataclass(slots=True)
class _Open:
    """A turn that is not over yet."""

    turn: int
    start_sample: int = 0
    end_sample: int | None = None
    times: Times = field(default_factory=Times)
    """Up to the voice's first sound; what was sent and heard of it is known to its speeches."""
    asked: list[Span] = field(default_factory=list)
    asked_s: float | None = None
    speculation: Speculation = "none"
    guesses: int = 0
    silent: bool = True
    shown: bool = False
    user_text: str = ""
    tools: dict[str, ToolUse] = field(default_factory=dict)
    speeches: list[str] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    stopped_s: float | None = None
    ended_by: str = ""


class TurnRecords:
    """``observe`` takes the log in its order and returns the records of turns that are over by that.

    A turn is over when its answer was finished, or when a later turn is certain (until then an interruption may turn
    out to be none, and the client may still say where it stopped). ``loud_end`` sharpens the end of speech.
    """

    def __init__(
        self, budget: Budget | None = None, playout_delay_s: float = 0.0, loud_end: LoudEnd | None = None
    ) -> None:
        self._budget = budget or Budget()
        self._loud_end = loud_end
        self._speeches = Speeches(playout_delay_s)
        self._open: dict[int, _Open] = {}
        self._calls: dict[str, int] = {}  # call id -> turn
        self._unvoiced: list[int] = []  # turns whose speech is about to be opened
        self._arrivals = Arrivals()
        self._stopped: int | None = None  # where the user's latest pause began
        self._final_s: float | None = None  # when the words last changed
        self._words: list[str] = []  # of the segment that is not final yet
        self._text = ""
        self._start = 0

    def audio(self, at: Moment, samples: int) -> None:
        """A piece of the user's audio came in; it begins at ``at.sample``, ``samples`` at the ear's rate."""
        self._arrivals.note(at.sample + samples, at.now_s)

    def observe(self, at: Moment, entry: Observed) -> list[TurnRecord]:
        self._arrivals.note(at.sample, at.now_s)
        self._speeches.observe(at.now_s, entry)
        match entry:
            case Entry():
                return self._decided(entry)
            case EarSaid():
                self._listen(at, entry)
            case TurnStarted():
                self._start, self._text, self._final_s = entry.at_sample, "", None
            case TurnEnded():
                self._text = entry.transcript
            case Speak():
                self._speak(entry)
            case CallTool():
                self._call(entry, at.now_s)
            case ToolFinished():
                self._tool_said(entry)
        return []

    def end(self, at: Moment) -> list[TurnRecord]:
        """The conversation is over."""
        return [self._close(turn, at.now_s) for turn in sorted(self._open)]

    # --- what is told -------------------------------------------------------------------------------------------

    def _listen(self, at: Moment, said: EarSaid) -> None:
        match said.event:
            case SpeechStarted():
                self._stopped = None
            case SpeechStopped():
                self._stopped = said.event.at_sample + said.offset_samples
            case Heard():
                words = _words(said.event.text)
                if words != self._words:
                    self._final_s = at.now_s
                self._words = [] if said.event.final else words

    def _speak(self, action: Speak) -> None:
        if self._unvoiced and all(action.speech_id not in each.speeches for each in self._open.values()):
            opened = self._open.get(self._unvoiced.pop(0))
            if opened is not None:
                opened.speeches.append(action.speech_id)

    def _call(self, action: CallTool, now_s: float) -> None:
        call = action.call
        opened = self._open.get(self._calls.get(call.call_id, -1))
        if opened is not None:
            opened.tools[call.call_id] = ToolUse(
                call.call_id, call.name, action.effect, call.arguments, "running", now_s, None, ""
            )

    def _tool_said(self, event: ToolFinished) -> None:
        opened = self._open.get(self._calls.get(event.call_id, -1))
        if opened is not None and (use := opened.tools.get(event.call_id)) is not None:
            opened.tools[event.call_id] = replace(use, content=event.content)

    def _decided(self, entry: Entry) -> list[TurnRecord]:
        out: list[TurnRecord] = []
        if entry.kind == "interruption.false":  # told by a turn that was none, and is closed
            for other in self._open.values():
                other.stopped_s = None
        opened = self._open.get(entry.turn)
        if opened is None:
            if entry.kind not in ("turn.started", "turn.dialled", "turn.written"):
                return out  # the agent speaks of its own accord, or it is late
            if len(self._open) >= _MAX_OPEN:
                out.append(self._close(min(self._open), entry.at_s))
            opened = self._open[entry.turn] = _Open(entry.turn, self._start)
        opened.entries.append(entry)
        now_s = entry.at_s
        match entry.kind:
            case "turn.ended" | "turn.too_long" | "turn.dialled" | "turn.written" | "turn.kept":
                if entry.kind != "turn.kept":  # said over an answer that goes on
                    out += [self._close(turn, now_s) for turn in sorted(self._open) if turn < entry.turn]
                self._end_turn(opened, entry)
            case "turn.ignored" | "turn.dropped":
                opened.ended_by = entry.reason or entry.kind
                out.append(self._close(entry.turn, now_s))
            case "guess.started":
                opened.guesses += 1
            case "guess.right":
                opened.speculation = "right"
            case "guess.wrong":
                opened.speculation = "wrong"
                opened.times = replace(opened.times, llm_first_s=None, unit_s=None, tts_first_s=None)
                opened.asked_s = None
                opened.asked.clear()
                self._speeches.forget(opened.speeches)
                opened.speeches.clear()
            case "brain.asked":
                opened.asked_s = now_s
            case "brain.first" | "brain.failed":
                if opened.asked_s is not None:
                    opened.asked.append(Span(opened.asked_s, now_s))
                    opened.asked_s = None
                if entry.kind == "brain.first" and opened.times.llm_first_s is None:
                    opened.times = replace(opened.times, llm_first_s=now_s)
            case "voice.text":
                if opened.times.unit_s is None:
                    opened.times = replace(opened.times, unit_s=now_s)
                self._unvoiced = [*self._unvoiced[-3:], entry.turn]
            case "voice.first":
                if opened.times.tts_first_s is None:
                    opened.times = replace(opened.times, tts_first_s=now_s)
            case "tool.called":
                self._calls[entry.reason.split(" ", 1)[0]] = entry.turn
            case "tool.ended":
                self._tool_ended(opened, entry)
            case "interrupted":
                self._interrupt(entry)
            case "answer.shown":  # as text, which nobody hears
                opened.silent, opened.shown = False, True
            case "answer.finished":
                opened.ended_by = entry.kind
                out.append(self._close(entry.turn, now_s))
        return out

    def _end_turn(self, opened: _Open, entry: Entry) -> None:
        now_s = entry.at_s
        opened.times, opened.user_text = replace(opened.times, turn_end_s=now_s), entry.reason
        if entry.kind == "turn.ended":
            opened.times = replace(opened.times, final_s=self._final_s)
            opened.end_sample = self._speech_end(opened.start_sample)
            if opened.end_sample is not None:
                said_s = self._arrivals.came_s(opened.end_sample, now_s)
                opened.times = replace(opened.times, speech_end_s=min(said_s, now_s))
        elif entry.kind in ("turn.dialled", "turn.written"):
            opened.times = replace(opened.times, speech_end_s=now_s)
        elif entry.kind == "turn.kept":
            opened.silent, opened.user_text = False, self._text
        else:
            opened.user_text = self._text

    @staticmethod
    def _tool_ended(opened: _Open, entry: Entry) -> None:
        call_id, _, state = entry.reason.rpartition(" ")
        use = opened.tools.get(call_id)
        if use is not None:
            opened.tools[call_id] = replace(use, state=state, ended_s=entry.at_s)

    def _interrupt(self, entry: Entry) -> None:
        """The answer that was cut off is that of the latest turn that had ended."""
        ended = [opened for opened in self._open.values() if opened.times.turn_end_s is not None]
        if ended:
            latest = max(ended, key=lambda opened: opened.turn)
            latest.stopped_s, latest.ended_by = entry.at_s, entry.reason

    # --- where the user stopped ----------------------------------------------------------------

    def _speech_end(self, start: int) -> int | None:
        if self._stopped is None:
            return None
        loud = self._loud_end(start, self._stopped + _EDGE_SAMPLES) if self._loud_end is not None else None
        near = loud is not None and abs(loud - self._stopped) <= 2 * _EDGE_SAMPLES
        return loud if near else self._stopped

    # --- the end of a record --------------------------------------------------------------------------------------

    def _close(self, turn: int, now_s: float) -> TurnRecord:
        opened = self._open.pop(turn)
        self._calls = {call_id: of for call_id, of in self._calls.items() if of != turn}
        sent_s, heard_s, clock = self._speeches.first_heard(opened.speeches, now_s)
        reply_text, heard_text = self._speeches.texts(opened.speeches, now_s)
        self._speeches.forget(opened.speeches)
        outcome: Outcome
        if opened.times.turn_end_s is None:
            outcome = "unanswered" if not opened.ended_by else "ignored"
        elif opened.stopped_s is not None:
            outcome = "interrupted" if heard_text or heard_s is not None else "taken_back"
        else:
            outcome = "answered" if heard_s is not None or opened.shown else "unanswered"
        times = replace(opened.times, sent_s=sent_s, heard_s=heard_s)
        if not opened.silent:
            times = replace(times, speech_end_s=None)
        end_s = now_s if opened.stopped_s is None else opened.stopped_s
        if opened.asked_s is not None:
            opened.asked.append(Span(opened.asked_s, end_s))
        ran = [Span(use.began_s, end_s if use.ended_s is None else use.ended_s) for use in opened.tools.values()]
        waited = outcome in ("taken_back", "unanswered") and times.turn_end_s is not None
        stages = stages_between(times, opened.asked, ran, end_s if waited else None)
        return TurnRecord(
            turn,
            outcome,
            times,
            stages,
            cause_of(opened.entries, stages, outcome, self._budget, ran),
            opened.speculation,
            opened.guesses,
            tuple(opened.tools.values()),
            opened.user_text,
            reply_text,
            heard_text,
            opened.ended_by,
            (opened.start_sample, opened.start_sample if opened.end_sample is None else opened.end_sample),
            tuple(opened.speeches),
            clock,
            tuple(opened.entries),
        )


def _words(text: str) -> list[str]:
    """What was said, without marks and capitals: these change when a final only confirms."""
    words = ("".join(filter(str.isalnum, word)) for word in text.casefold().split())
    return [word for word in words if word]
