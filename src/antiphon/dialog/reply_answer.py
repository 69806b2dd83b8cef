"""One answer: a reply together with the brain that writes it, the tools it asks for, and the voice that says it."""

from collections.abc import Callable
from typing import Literal, TypeAlias, cast

from antiphon.core.brain import BrainDone, BrainEvent, BrainFailed, BrainRequest, Message, TextDelta, ToolCall
from antiphon.dialog.conversation_actions import Action, CancelBrain, StartBrain
from antiphon.dialog.conversation_settings import ConversationSettings
from antiphon.dialog.history import UserSaid
from antiphon.dialog.reply import Reply
from antiphon.dialog.reply_feed import Repeats
from antiphon.dialog.reply_voice import Note, ReplyVoice
from antiphon.dialog.saved import SavedAnswer
from antiphon.dialog.tools import ToolDesk

CONTINUE = (
    "Your last message broke off where it ends. Go on with the very next word. Do not repeat anything of it, and do "
    "not mention the break."
)

_SOON_S = 0.5

State: TypeAlias = Literal["held", "asking", "tools", "done"]


class Answer:
    """Held until nothing forbids it, then asks the brain, waits for tools, asks again, until all is written and said.

    ``entry`` is the user's turn it answers; None: the agent speaks of its own accord. ``prompt`` gives the messages.
    """

    def __init__(
        self,
        reply: Reply,
        entry: UserSaid | None,
        prompt: Callable[["Answer"], tuple[Message, ...]],
        desk: ToolDesk,
        settings: ConversationSettings,
        new_id: Callable[[str], str],
        note: Note,
        committed: bool,
    ) -> None:
        self.reply = reply
        self.entry = entry
        self.committed = committed
        self.voice = ReplyVoice(reply, settings.reply, new_id, note)
        self.state: State = "held"
        self.concluding = ""
        """Why the agent hands over after this reply."""
        self.settings = settings.reply
        self._phrases = settings.phrases
        self._prompt = prompt
        self._desk = desk
        self._new_id = new_id
        self._note = note
        self._request_id = ""
        self._alive_s = 0.0  # when the brain was asked or last said something
        self._first = True  # nothing has come from the brain in this round
        self._round_chars = 0  # where the round's text begins
        self._asked = False  # for a tool, in this round
        self._rounds = 0
        self._failures = 0
        self._repeats = Repeats("")
        self._waits_s: float | None = None
        self._certain_s: float | None = None  # since when the turn is
        self._fillers = 0

    @property
    def unheard(self) -> bool:
        """Whether it may be taken back as if it had never been: nothing was heard of it, and it did nothing."""
        return not self.reply.heard_chars and not self._desk.touched(self.reply.reply_id)

    def finished(self, now_s: float) -> bool:
        if self.voice.dead:
            return True
        return self.state == "done" and self.voice.settled(now_s)

    def owns_request(self, request_id: str) -> bool:
        return bool(request_id) and request_id == self._request_id

    def wait(self, now_s: float) -> None:
        """Begin later: something else has to end first."""
        self._waits_s = now_s

    def start(self, now_s: float) -> list[Action]:
        if self.committed and self._certain_s is None:
            self._certain_s = now_s
        return self._ask(now_s)

    def say(self, text: str, now_s: float) -> list[Action]:
        """A reply without a brain."""
        self.state = "done"
        return [*self.voice.write(text, now_s), *self.voice.finish(now_s)]

    def commit(self, now_s: float) -> list[Action]:
        """The turn is certain."""
        self.committed, self._certain_s = True, now_s
        return list(self._desk.commit(self.reply.reply_id, now_s))

    def stop(self, now_s: float, fade_ms: int) -> list[Action]:
        """The user takes the floor. What was not heard is not said; :meth:`resume` goes on there."""
        actions = [*self._cancel_brain(), *self.voice.stop(now_s, fade_ms), *self._desk.interrupt(self.reply.reply_id)]
        if self.reply.calls and (self.reply.heard_chars or 0) > self.reply.calls[-1][0]:
            self._desk.tell(self.reply.reply_id)
        return actions

    def resume(self, now_s: float) -> list[Action]:
        """The interruption was none."""
        actions = self.voice.resume(now_s)
        if self.state == "asking" and self._asked:
            self.state = "tools"
        if self.state == "asking":
            return actions + self._go_on(now_s)
        return actions + self.check_tools(now_s)

    def save(self, reply: int, entry: int | None, now_s: float) -> SavedAnswer:
        """As it would be if it were stopped now. ``reply``, ``entry``: their places in the history."""
        return SavedAnswer(
            reply,
            entry,
            self.state,
            self.voice.heard_chars(now_s),
            self.voice.final,
            self.concluding,
            self._asked,
            self._round_chars,
            self._rounds,
            self._failures,
            self._fillers,
        )

    def restore(self, saved: SavedAnswer, now_s: float) -> None:
        """It was stopped in another process: :meth:`resume` goes on with it."""
        self.state = cast(State, saved.state)
        self.concluding, self._asked, self._round_chars = saved.concluding, saved.asked, saved.round_chars
        self._rounds, self._failures, self._fillers = saved.rounds, saved.failures, saved.fillers
        self._certain_s = now_s
        self._waits_s = now_s if saved.state in ("held", "tools") else None
        self.voice.restore(saved.heard, saved.final)

    def drop(self, now_s: float) -> list[Action]:
        """It was a guess, and wrong."""
        return [*self._cancel_brain(), *self.voice.stop(now_s, 0), *self._desk.discard(self.reply.reply_id)]

    def close(self, now_s: float) -> list[Action]:
        """Over: the reply is what was heard of it."""
        actions = self._cancel_brain()
        if self.voice.stopped:
            return actions
        whole = self.state == "done" and self.voice.settled(now_s) and not self.voice.partly
        self.reply.heard_chars = None if whole else self.voice.heard_chars(now_s)
        return actions

    def conclude(self, reason: str, now_s: float) -> list[Action]:
        """Say what is written (or that someone takes over), and then no more."""
        self.concluding = reason or "asked for"
        self.reply.protected = True
        actions = self._cancel_brain() + self.voice.go_on(now_s)
        self.state = "done"
        if not self.reply.text.strip():
            actions += self._write(self._phrases.handover, now_s)
        return actions + self.voice.finish(now_s) + self.voice.release(now_s)

    def on_brain(self, event: BrainEvent, now_s: float) -> list[Action]:
        self._alive_s = now_s
        if self._first and not isinstance(event, BrainFailed):
            self._first = False
            self._note(self.reply.turn, "brain.first")
        match event:
            case TextDelta():
                return self._write(self._repeats.feed(event.text), now_s)
            case ToolCall():
                return self._call(event, now_s)
            case BrainDone():
                return self._complete(now_s)
            case BrainFailed():
                return self._fail(event.message, event.retryable, now_s)

    def check_tools(self, now_s: float) -> list[Action]:
        """Ask again once all results are there."""
        if self.state != "tools" or self.voice.stopped or self._desk.waits(self.reply.reply_id):
            return []
        if self._rounds >= self.settings.max_rounds:
            self._note(self.reply.turn, "brain.rounds", f"{self._rounds} rounds without an end", "llm")
            return self._apologise(now_s)
        return self._ask(now_s)

    @property
    def deadline_s(self) -> float | None:
        times = [self.voice.deadline_s, self._brain_deadline_s, self._filler_s]
        return min((at_s for at_s in times if at_s is not None), default=None)

    def tick(self, now_s: float) -> list[Action]:
        actions = self.voice.tick(now_s)
        if self._brain_deadline_s is not None and now_s >= self._brain_deadline_s:
            waited_s = now_s - self._alive_s
            actions += self._cancel_brain()
            actions += self._fail(f"silent for {waited_s:.1f} s", True, now_s)
        filler_s = self._filler_s
        if filler_s is not None and now_s >= filler_s:
            again_s = self.settings.filler_every_s
            if self.voice.quiet(now_s):
                self._fillers += 1
                self._note(self.reply.turn, "filler", f"{self._fillers}")
                own, _ = self._desk.filler(self.reply.reply_id)
                actions += self._write(own or self._phrases.filler, now_s) + self.voice.flush(now_s)
                self.reply.say_before_calls(self._round_chars)
                if self.state == "held":
                    self.reply.preface = len(self.reply.text)
            else:
                again_s = _SOON_S  # the agent is still saying something
            self._waits_s = now_s - self._filler_after_s + again_s
        return actions

    @property
    def _brain_deadline_s(self) -> float | None:
        if not self._request_id:
            return None
        return self._alive_s + (self.settings.brain_first_s if self._first else self.settings.brain_gap_s)

    @property
    def _filler_s(self) -> float | None:
        waits = self.state in ("held", "tools") and self.committed and self.voice.released and not self.voice.stopped
        if not waits or self._waits_s is None or self._fillers >= self.settings.max_fillers or self.voice.dead:
            return None
        return self._waits_s + self._filler_after_s

    @property
    def _filler_after_s(self) -> float:
        _, own_s = self._desk.filler(self.reply.reply_id)
        return self.settings.filler_after_s if own_s is None else own_s

    def _ask(self, now_s: float, more: tuple[Message, ...] = ()) -> list[Action]:
        self.state, self._asked = "asking", False
        self._request_id = self._new_id("request")
        self._alive_s, self._first, self._waits_s = now_s, True, None
        self._rounds += 1
        self._round_chars, self._repeats = len(self.reply.text), Repeats("")
        self._note(self.reply.turn, "brain.asked", "" if self.committed else "on a guess")
        request = BrainRequest(self._prompt(self) + more, tuple(self._desk.specs.values()))
        return [StartBrain(self._request_id, request, not self.committed)]

    def _cancel_brain(self) -> list[Action]:
        if not self._request_id:
            return []
        request_id, self._request_id = self._request_id, ""
        return [CancelBrain(request_id)]

    def _write(self, text: str, now_s: float) -> list[Action]:
        if not text:
            return []
        written = self.reply.text
        apart = len(written) == self._round_chars or self.state != "asking"
        if apart and written and not written[-1].isspace() and not text[0].isspace():
            text = " " + text
        return self.voice.write(text, now_s)

    def _call(self, call: ToolCall, now_s: float) -> list[Action]:
        self._asked = True
        turn, owner = self.reply.turn, self.reply.reply_id
        call, actions = self._desk.ask(call, turn, owner, self.committed, now_s, self._certain_s)
        self.reply.calls.append((len(self.reply.text), call))
        held = "" if actions else ", not run now"
        self._note(self.reply.turn, "tool.asked", f"{call.name} {call.arguments} as {call.call_id}{held}")
        return [*self.voice.flush(now_s), *actions]

    def _complete(self, now_s: float) -> list[Action]:
        self._request_id = ""
        self._repeats.finish()
        if self._asked:
            self.state, self._waits_s = "tools", now_s
            return self.voice.flush(now_s) + self.check_tools(now_s)
        if not self.reply.text.strip():
            return self._fail("said nothing", True, now_s)
        self.state = "done"
        return self.voice.finish(now_s)

    def _fail(self, message: str, retryable: bool, now_s: float) -> list[Action]:
        self._request_id = ""
        self._note(self.reply.turn, "brain.failed", message, "llm")
        self._failures += 1
        if not retryable or self._failures > self.settings.brain_retries:
            return self._apologise(now_s)
        if self._asked:  # what it asked for goes on; the next round has the results
            self.state, self._waits_s = "tools", now_s
            return self.voice.flush(now_s) + self.check_tools(now_s)
        return self._go_on(now_s)

    def _go_on(self, now_s: float) -> list[Action]:
        """Ask anew for what the round has not yet said."""
        begin = self._round_chars
        said = self.reply.text[begin:]
        more = (Message("system", CONTINUE),) if said.strip() else ()
        actions = self._ask(now_s, more)
        self._repeats = Repeats(said)
        self._round_chars = begin
        return actions

    def _apologise(self, now_s: float) -> list[Action]:
        self._note(self.reply.turn, "apology")
        self.state = "done"
        return self._write(self._phrases.apology, now_s) + self.voice.finish(now_s)
