"""What became of each speech: what it says, when it was first heard, and what of it was heard. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from antiphon.core.event import Audio, Flushed, WordTimes
from antiphon.dialog.conversation_actions import (
    CancelSpeech,
    ContinueSpeech,
    FlushSpeech,
    HoldSpeech,
    PauseSpeech,
    ReleaseSpeech,
    Speak,
)
from antiphon.dialog.conversation_events import FromVoice, MarkReturned, MarkSent, Played, Truncated
from antiphon.dialog.conversation_log import AudibleLeft, AudioLeft, Observed, PlayedTo, SpeechOpened
from antiphon.dialog.playout import Playout

_MAX_SPEECHES = 64


@dataclass(slots=True)
class _Speech:
    playout: Playout
    flushes: dict[int, int] = field(default_factory=dict)
    wire_hz: int = 0
    left_s: float | None = None  # when its first audio was given to the socket
    audible: int | None = None  # sample at the wire's rate
    audible_s: float | None = None
    heard_s: float | None = None  # by reports
    released_s: float | None = None
    cancelled_s: float | None = None
    stopped: int | None = None  # the client's own word for where, at the voice's rate


class Speeches:
    """Follows every speech by :class:`Playout`, and when its first audible sample was sent and heard."""

    def __init__(self, playout_delay_s: float = 0.0) -> None:
        self._delay_s = playout_delay_s
        self._all: dict[str, _Speech] = {}

    def observe(self, now_s: float, entry: Observed) -> None:
        if isinstance(entry, Speak):
            self._write(entry, now_s)
            return
        speech = self._all.get(getattr(entry, "speech_id", ""))
        if speech is None:
            return
        playout = speech.playout
        match entry:
            case SpeechOpened():
                speech.wire_hz = entry.rate_hz
            case AudioLeft():
                speech.left_s = now_s if speech.left_s is None else speech.left_s
            case AudibleLeft():
                if speech.audible is None:
                    speech.audible, speech.audible_s = entry.sample, now_s
            case PlayedTo():
                self._report(speech, entry.sample, now_s)
            case FromVoice():
                self._voice(speech, entry, now_s)
            case FlushSpeech():
                speech.flushes[entry.marker] = len(playout.text)
            case HoldSpeech():
                playout.released = False
            case ReleaseSpeech():
                playout.release(now_s)
                speech.released_s = now_s
            case PauseSpeech():
                playout.pause(now_s)
            case ContinueSpeech():
                playout.go_on(now_s)
            case Played():
                playout.report(entry.sample)
            case MarkSent():
                playout.mark(entry.name, entry.sample)
            case MarkReturned():
                playout.return_mark(entry.name)
            case Truncated():
                playout.truncate(entry.sample)
                speech.stopped = entry.sample
            case CancelSpeech():
                playout.clear(now_s)
                speech.cancelled_s = now_s

    def first_heard(self, speech_ids: Iterable[str], now_s: float) -> tuple[float | None, float | None, bool]:
        """Of these speeches: when the first audible sample was sent, when it was heard, and whether a clock says so."""
        for speech_id in speech_ids:
            speech = self._all.get(speech_id)
            if speech is None or speech.audible_s is None or speech.audible is None:
                continue
            if speech.heard_s is not None:
                return speech.audible_s, max(speech.audible_s, speech.heard_s), False
            by_clock_s = self._by_clock(speech)
            over_s = now_s if speech.cancelled_s is None else speech.cancelled_s
            if by_clock_s is not None and by_clock_s <= over_s and not speech.playout.reports:
                return speech.audible_s, by_clock_s, True
            if speech.cancelled_s is None:
                return speech.audible_s, None, False
        return None, None, False

    def texts(self, speech_ids: Iterable[str], now_s: float) -> tuple[str, str]:
        """What was given to the voice, and what was heard. Of speeches that replaced each other, each counts from the
        last heard word of the one before."""
        heard = whole = ""
        for speech_id in speech_ids:
            speech = self._all.get(speech_id)
            if speech is None:
                continue
            whole = _joined(heard, speech.playout.text)
            heard = _joined(heard, speech.playout.heard_text(now_s))
        return whole.strip(), heard.strip()

    def forget(self, speech_ids: Iterable[str]) -> None:
        for speech_id in speech_ids:
            self._all.pop(speech_id, None)

    def _write(self, action: Speak, now_s: float) -> None:
        speech = self._all.get(action.speech_id)
        if speech is None:
            while len(self._all) >= _MAX_SPEECHES:
                del self._all[next(iter(self._all))]
            speech = self._all[action.speech_id] = _Speech(Playout(self._delay_s))
        speech.playout.write(action.text)
        if not action.held:
            speech.playout.release(now_s)

    @staticmethod
    def _voice(speech: _Speech, entry: FromVoice, now_s: float) -> None:
        match entry.event:
            case Audio() as audio:
                speech.playout.make(audio.start_sample + audio.samples, audio.sample_rate_hz, now_s)
            case WordTimes() as words:
                speech.playout.time(words.words)
            case Flushed(marker=int() as marker):
                chars = speech.flushes.pop(marker, None)
                if chars is not None:
                    speech.playout.agree(chars)

    @staticmethod
    def _report(speech: _Speech, sample: int, now_s: float) -> None:
        """Reports come late, never early: the earliest moment that one of them implies is the truest."""
        if speech.audible is None or not speech.wire_hz or sample <= speech.audible:
            return
        implied_s = now_s - (sample - speech.audible) / speech.wire_hz
        speech.heard_s = implied_s if speech.heard_s is None else min(speech.heard_s, implied_s)

    def _by_clock(self, speech: _Speech) -> float | None:
        """None: not heard, or not yet."""
        playout = speech.playout
        if speech.left_s is None or speech.audible is None or speech.audible_s is None or not playout.released:
            return None
        if speech.stopped is not None and speech.stopped * speech.wire_hz <= speech.audible * playout.rate_hz:
            return None
        begun_s = speech.left_s if speech.released_s is None else max(speech.left_s, speech.released_s)
        ahead_s = speech.audible / speech.wire_hz if speech.wire_hz else 0.0
        return max(speech.audible_s, begun_s + ahead_s) + self._delay_s


def _joined(one: str, other: str) -> str:
    apart = " " if one and other and not one[-1].isspace() and not other[0].isspace() else ""
    return one + apart + other
