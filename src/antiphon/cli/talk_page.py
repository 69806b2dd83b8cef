"""What `antiphon talk` shows of a conversation: who said what, how much of it was heard, and how long it took. Pure."""

from dataclasses import dataclass, field

from antiphon.client import ClientEvent, Heard, ReplyAudio, SocketLost, ToolRan
from antiphon.protocol import native_messages as wire

_SHOWN_CHARS = 300


@dataclass(slots=True)
class _Turn:
    """When its stages were reached (monotonic seconds); None: not yet."""

    asked_s: float
    typed: bool
    eager_s: float | None = None
    reply_s: float | None = None
    text_s: float | None = None
    audio_s: float | None = None


@dataclass(slots=True)
class _Reply:
    text: str = ""
    words: list[wire.Word] = field(default_factory=list)
    cleared: bool = False

    def heard(self, sample: int) -> str:
        """The words that were played to their end, where the server told their times."""
        return " ".join(word.text for word in self.words if word.end_sample <= sample)


class TalkPage:
    """Takes what happens, with its moment, and gives lines for a terminal. ``rate_hz``: of the agent's audio."""

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._replies: dict[str, _Reply] = {}
        self._turn: _Turn | None = None
        self._eager_s: float | None = None
        self._number = 0

    def typed(self, at_s: float) -> None:
        """The user wrote something; it stands on the terminal already."""
        self._turn = _Turn(at_s, typed=True)

    def lines(self, at_s: float, event: ClientEvent) -> list[str]:
        match event:
            case wire.Ready(resumed=True):
                return ["-- connected again"]
            case SocketLost():
                return [f"-- the connection was lost ({event.reason}); trying again"]
            case wire.UserEagerEnd():
                self._eager_s = at_s
            case wire.UserResumed():
                self._eager_s = None
            case wire.UserEnded():
                self._turn = _Turn(at_s, typed=False, eager_s=self._eager_s)
                self._eager_s = None
                return [f"you:   {event.transcript}"]
            case wire.ToolAsked():
                return [_cut(f"  tool {event.name} {event.arguments}")]
            case ToolRan():
                return [_cut(f"  tool {event.name} -> {event.content}")]
            case wire.HandedOver():
                return [f"-- handed over to a person: {event.reason}"]
            case wire.ErrorMessage():
                return [f"-- the server says: {event.message}"]
            case wire.Closed():
                return [f"-- the agent hung up ({event.reason})"]
            case _:
                return self._of_reply(at_s, event)
        return []

    def _of_reply(self, at_s: float, event: ClientEvent) -> list[str]:
        turn = self._turn
        match event:
            case wire.ReplyStarted():
                self._replies[event.reply_id] = _Reply()
                if turn is not None and turn.reply_s is None:
                    turn.reply_s = at_s
            case wire.ReplyText() if event.reply_id in self._replies:
                self._replies[event.reply_id].text += event.delta
                if turn is not None and turn.text_s is None:
                    turn.text_s = at_s
            case wire.ReplyWords() if event.reply_id in self._replies:
                self._replies[event.reply_id].words += event.words
            case ReplyAudio():
                if turn is not None and turn.audio_s is None:
                    turn.audio_s = at_s
            case wire.Clear() if event.reply_id in self._replies:
                self._replies[event.reply_id].cleared = True
            case Heard(over=True) if event.reply_id in self._replies:
                return self._ended(self._replies.pop(event.reply_id), event)
            case _:
                pass
        return []

    def _ended(self, reply: _Reply, heard: Heard) -> list[str]:
        text = " ".join(reply.text.split())
        seconds = heard.sample / self._rate_hz
        if not reply.cleared:
            lines = [f"agent: {text}"]
        elif heard.sample == 0:
            lines = [f"agent: {text}", "       [taken back before it was heard]"]
        else:
            known = reply.heard(heard.sample)
            told = f"heard: {known!r}" if known else f"heard: {seconds:.1f} s"
            lines = [f"agent: {text}", f"       [interrupted; {told}]"]
        if heard.underruns:
            lines.append(f"       [{heard.underruns} holes in the playback]")
        if self._turn is not None and self._turn.audio_s is not None:
            self._number += 1
            lines.append(_waterfall(self._number, self._turn))
            self._turn = None
        return lines


def _waterfall(number: int, turn: _Turn) -> str:
    begun = "written" if turn.typed else "turn end"
    stages = [("reply", turn.reply_s), ("first text", turn.text_s), ("first audio", turn.audio_s)]
    parts = [f"{name} +{1000 * (at_s - turn.asked_s):.0f} ms" for name, at_s in stages if at_s is not None]
    if turn.eager_s is not None:
        parts.insert(0, f"guessed {1000 * (turn.asked_s - turn.eager_s):.0f} ms before")
    return f"       [turn {number}, from its {begun}: {', '.join(parts)}]"


def _cut(line: str) -> str:
    return line if len(line) <= _SHOWN_CHARS else line[:_SHOWN_CHARS] + " ..."
