"""The answers of a conversation: the one under way, the guess at the next, and all they leave behind."""

import json
from collections.abc import Iterable, Iterator, Sequence

from antiphon.core.brain import Message, ToolSpec
from antiphon.dialog.conversation_actions import Action, Handover
from antiphon.dialog.conversation_events import (
    FromBrain,
    FromVoice,
    MarkReturned,
    MarkSent,
    Moment,
    Played,
    ToolFinished,
    Truncated,
    Underran,
)
from antiphon.dialog.conversation_settings import ConversationSettings
from antiphon.dialog.history import History, UserSaid
from antiphon.dialog.ledger import Cause, Entry, Ledger
from antiphon.dialog.reply import Reply
from antiphon.dialog.reply_answer import Answer
from antiphon.dialog.saved import SavedAnswer
from antiphon.dialog.tool_run import CallTool
from antiphon.dialog.tools import ToolDesk

_NEXT_WORD_CHARS = 8
"""The client may be ahead of its report by so much."""


class Answers:
    """Makes, begins, stops, resumes and ends answers; decides nothing about the floor.

    At most one answer is under way (``current``), and at most one guess: an answer to a turn that is probably over,
    made but held. ``at`` is the moment of the event that is being handled.
    """

    def __init__(self, conversation_id: str, tools: Sequence[ToolSpec], settings: ConversationSettings) -> None:
        self.settings = settings
        self.ledger = Ledger()
        self.history = History(settings.instructions, settings.history)
        self.desk = ToolDesk(conversation_id, tools, settings.tools)
        self.at = Moment(0.0)
        self.turn = 0
        self.current: Answer | None = None
        self.guess: Answer | None = None
        self.last: Answer | None = None
        """The answer before: its echo, and its client's last word, may still come."""
        self.ended_s = float("-inf")
        """When that was over."""
        self.handed_over = False
        self.numbers = 0
        """Of the ids that were given out."""
        self._id = conversation_id

    @property
    def protected(self) -> bool:
        return self.current is not None and self.current.reply.protected

    @property
    def said_last(self) -> str:
        """What was heard of the answer under way, its next word included, else of the one before."""
        current = self.current
        if current is not None and not current.voice.mute:
            text = current.reply.text
            return text[: text.find(" ", current.voice.heard_chars(self.at.now_s) + _NEXT_WORD_CHARS) + 1 or len(text)]
        return "" if self.last is None else self.last.reply.heard

    @property
    def deadlines_s(self) -> list[float | None]:
        return [self.desk.deadline_s, *(answer.deadline_s for answer in self._both())]

    def route(
        self, event: FromBrain | FromVoice | Played | MarkSent | MarkReturned | Underran | Truncated | ToolFinished
    ) -> list[Action]:
        """Bring an event to the answer it belongs to; those of answers that are over come to nobody."""
        match event:
            case FromBrain():
                for answer in self._both():
                    if answer.owns_request(event.request_id):
                        return answer.on_brain(event.event, self.at.now_s)
            case FromVoice():
                for answer in self._both():
                    if answer.voice.plays(event.speech_id):
                        return answer.voice.handle(event.speech_id, event.event, self.at.now_s)
            case Truncated():
                for stopped in (self.current, self.last):
                    if stopped is not None:
                        stopped.voice.truncate(event.speech_id, event.sample)
            case ToolFinished():
                if not self.desk.finish(event.call_id, event.content, event.ok):
                    self.note("tool.late", event.call_id)
            case _:
                self._played(event)
        return []

    def turn_of(self, speech_id: str) -> int:
        owners = (answer.reply.turn for answer in self._both() if answer.voice.owns(speech_id))
        return next(owners, self.turn)

    def tick(self) -> list[Action]:
        actions: list[Action] = list(self.desk.tick(self.at.now_s))
        for answer in self._both():
            actions += answer.tick(self.at.now_s)
        return actions

    def guess_at(self, text: str) -> list[Action]:
        """Make the answer to a turn that is probably over, but hold it."""
        if self.desk.writing:
            self.note("guess.none", "a write is on its way")
            return []
        self.note("guess.started", text)
        self.guess = self._new(UserSaid(text), committed=False)
        return self.guess.start(self.at.now_s)

    def drop_guess(self, reason: str) -> list[Action]:
        if self.guess is None:
            return []
        guess, self.guess = self.guess, None
        self.note("guess.wrong", reason)
        return guess.drop(self.at.now_s)

    def begin(self, text: str, protected: bool = False) -> list[Action]:
        """The turn is certain: answer it, once."""
        now_s, guess = self.at.now_s, self.guess
        if guess is not None and guess.entry is not None and _same_words(guess.entry.text, text):
            self.guess, self.current = None, guess
            guess.entry.text = text
            guess.reply.protected = protected or self.settings.protect_replies
            self._record(guess)
            self.note("guess.right", "released")
            return guess.commit(now_s) + guess.voice.release(now_s)
        actions = self.drop_guess("the words changed")
        self.current = answer = self._new(UserSaid(text), committed=True)
        answer.reply.protected = protected or self.settings.protect_replies
        self._record(answer)
        actions += answer.voice.release(now_s)
        if self.desk.writing:
            self.note("answer.held", "a write is on its way")
            answer.wait(now_s)
            return actions
        return actions + answer.start(now_s)

    def say(self, text: str, protected: bool = False) -> list[Action]:
        """The agent speaks of its own accord."""
        self.current = answer = self._new(None, committed=True)
        answer.reply.protected = protected or self.settings.protect_replies
        self._record(answer)
        return answer.voice.release(self.at.now_s) + answer.say(text, self.at.now_s)

    def settle(self, stay: bool) -> list[Action]:
        """What follows from what has happened. ``stay``: the client is away, nothing begins and nothing ends."""
        now_s = self.at.now_s
        actions: list[Action] = [*self.desk.start_due(now_s)]
        self.keep_results()
        for answer in self._both():
            actions += answer.check_tools(now_s)
        current = self.current
        if current is None or stay:
            return actions
        if current.state == "held" and not self.desk.writing:
            return actions + current.start(now_s)
        return actions + self._finish(current) if current.finished(now_s) else actions

    def keep_results(self) -> None:
        """Move what tools said into the history."""
        for call_id, content in self.desk.take_results():
            self.history.settle(call_id, content)
            run = self.desk.runs.get(call_id)
            if run is not None:
                fault: Cause | None = "tool" if run.state in ("failed", "timed_out") else None
                self.write(run.turn, "tool.ended", f"{call_id} {run.state}", fault)

    def sift(self, actions: Iterable[Action]) -> Iterator[Action]:
        """Actions on their way out. A call for a person is not executed but done."""
        for action in actions:
            if isinstance(action, CallTool) and action.call.name == self.settings.handover_tool:
                self.desk.finish(action.call.call_id, '{"status":"done"}')
                if self.current is not None:
                    reason = _reason(action.call.arguments)
                    self.note("handover", reason)
                    yield from self.current.conclude(reason, self.at.now_s)
                continue
            if isinstance(action, CallTool):
                self.note("tool.called", f"{action.call.call_id} {action.effect} {action.key}")
            yield action

    def interrupt(self, fade_ms: int, reason: str) -> tuple[Answer, bool, list[Action]]:
        """Stop the current answer. If nothing of it was heard, it and its turn leave the history (True)."""
        answer = self.current
        assert answer is not None
        actions = answer.stop(self.at.now_s, fade_ms)
        self.note("interrupted", f"{reason}; heard: {answer.reply.heard!r}")
        erased = answer.unheard
        if erased:
            self.history.remove(answer.reply)
            if answer.entry is not None:
                self.history.remove(answer.entry)
        self.current, self.last, self.ended_s = None, answer, self.at.now_s
        return answer, erased, actions

    def resume(self, answer: Answer, erased: bool) -> list[Action]:
        """The interruption was none: go on where it was heard."""
        self.note("interruption.false", "the answer goes on where it was heard")
        if erased:
            self._record(answer)
        self.current = answer
        return answer.resume(self.at.now_s) + answer.voice.release(self.at.now_s)

    def restore(self, reply: Reply, entry: UserSaid | None, saved: SavedAnswer) -> None:
        """The answer that was under way in another process; both are in the history already."""
        self.current = answer = self._new(entry, committed=True, reply=reply)
        answer.restore(saved, self.at.now_s)

    def end(self) -> list[Action]:
        """Nothing more is said or asked for; running writes go on to their end."""
        actions = self.drop_guess("the end") + list(self.desk.start_due(self.at.now_s, last=True))
        if self.current is not None:
            actions += self.current.stop(self.at.now_s, 0)
            self.current = None
        return [*actions, *self.desk.close()]

    def note(self, kind: str, reason: str = "", fault: Cause | None = None) -> None:
        self.write(self.turn, kind, reason, fault)

    def write(self, turn: int, kind: str, reason: str = "", fault: Cause | None = None) -> None:
        self.ledger.note(Entry(turn, self.at.now_s, self.at.sample, kind, reason, fault))

    def _both(self) -> list[Answer]:
        return [answer for answer in (self.current, self.guess) if answer is not None]

    def _new(self, entry: UserSaid | None, committed: bool, reply: Reply | None = None) -> Answer:
        reply = reply or Reply(self._new_id("reply"), self.turn)
        return Answer(reply, entry, self._messages, self.desk, self.settings, self._new_id, self.write, committed)

    def _record(self, answer: Answer) -> None:
        if answer.entry is not None:
            self.history.add(answer.entry)
        self.history.add(answer.reply)

    def _messages(self, answer: Answer) -> tuple[Message, ...]:
        if answer.committed or answer.entry is None:
            return self.history.messages()
        return self.history.messages((answer.entry, answer.reply))

    def _new_id(self, kind: str) -> str:
        self.numbers += 1
        return f"{self._id}-{kind}-{self.numbers}"

    def _finish(self, answer: Answer) -> list[Action]:
        actions = answer.close(self.at.now_s)
        self.current, self.last, self.ended_s = None, answer, self.at.now_s
        self.desk.tell(answer.reply.reply_id)
        self.history.trim(self.desk.is_open)
        self.write(answer.reply.turn, "answer.finished")
        failed = "the voice failed" if answer.voice.dead and self.settings.handover_on_failure else ""
        reason = answer.concluding or failed
        if not reason:
            return actions
        self.handed_over = True
        actions += self.end()
        self.keep_results()
        return [*actions, Handover(reason, self.history.messages(), tuple(self.ledger.dicts()))]

    def _played(self, event: Played | MarkSent | MarkReturned | Underran) -> None:
        if self.current is None or not self.current.voice.plays(event.speech_id):
            return
        playout = self.current.voice.playout
        match event:
            case Played():
                playout.report(event.sample)
            case MarkSent():
                playout.mark(event.name, event.sample)
            case MarkReturned():
                playout.return_mark(event.name)
            case Underran():
                self.note("playing.underrun", "", "client_playback")


def _reason(arguments: str) -> str:
    """Why a brain calls for a person, in its words."""
    try:
        said = json.loads(arguments or "{}")
    except ValueError:
        return arguments
    reason = said.get("reason") if isinstance(said, dict) else None
    return reason if isinstance(reason, str) else arguments if said else ""


def _same_words(one: str, other: str) -> bool:
    """Whether two transcripts say the same: marks, letter case and white space do not count."""
    return _plain(one) == _plain(other)


def _plain(text: str) -> list[str]:
    words = ("".join(filter(str.isalnum, word)) for word in text.casefold().split())
    return [word for word in words if word]
