"""The conversation: what the agent does about everything that happens, decided in one place and in one order."""

from collections.abc import Callable, Sequence

from antiphon.core.brain import ToolSpec
from antiphon.core.turns import TurnEagerEnded, TurnEnded, TurnResumed, TurnStarted, TurnUpdated
from antiphon.dialog import conversation_events as happens
from antiphon.dialog.conversation_actions import Action, EndConversation
from antiphon.dialog.conversation_answers import Answers
from antiphon.dialog.conversation_events import ConversationEvent, Moment
from antiphon.dialog.conversation_floor import Floor
from antiphon.dialog.conversation_settings import ConversationSettings
from antiphon.dialog.saved import RESTARTED, SavedConversation
from antiphon.dialog.saving import restore, save
from antiphon.dialog.tool_run import ToolRun


class Conversation:
    """Turns, brain, tools and voice of one conversation. Pure: no clock, no I/O; the same events give the same actions.

    Here all that happens comes in; :class:`Floor` decides who speaks, :class:`Answers` holds what the agent says. Call
    :meth:`handle` with ``Tick`` at :attr:`deadline_s`.
    """

    def __init__(
        self, conversation_id: str, tools: Sequence[ToolSpec] = (), settings: ConversationSettings | None = None
    ) -> None:
        self.settings = settings or ConversationSettings()
        self.answers = Answers(conversation_id, tools, self.settings)
        self.ledger = self.answers.ledger
        self.history = self.answers.history
        self.desk = self.answers.desk
        self.over = False
        self._floor = Floor(self.answers, self.settings)
        self._away_s: float | None = None
        self._quiet_s: float | None = None  # since when nobody has spoken
        self._digits = ""
        self._digit_s = 0.0

    @property
    def busy(self) -> bool:
        """Whether an answer, or a guess at one, is under way."""
        return self.answers.current is not None or self.answers.guess is not None

    @property
    def owes(self) -> bool:
        """Whether some of the answer under way has yet to be made."""
        current = self.answers.current
        return current is not None and (current.state != "done" or current.voice.owes)

    def turn_of(self, speech_id: str) -> int:
        """The turn that a speech under way answers."""
        return self.answers.turn_of(speech_id)

    @property
    def said_last(self) -> str:
        """What the user has just heard of the agent, or is hearing."""
        return self.answers.said_last

    @property
    def deadline_s(self) -> float | None:
        """When something has to be decided if nothing happens before; None: never."""
        if self.over:
            return self.desk.deadline_s
        settings = self.settings
        times = self.answers.deadlines_s
        if self._away_s is not None:
            times.append(self._away_s + settings.resume_window_s)
        elif self._floor.user is not None:
            times += self._floor.deadlines_s
        elif self._digits:
            times.append(self._digit_s + settings.dtmf_gap_s)
        else:
            times.append(self._idle_s)
        return min((at_s for at_s in times if at_s is not None), default=None)

    def handle(self, at: Moment, event: ConversationEvent) -> list[Action]:
        """Take one event; returns what to do about it, in order."""
        answers = self.answers
        before = answers.at
        answers.at = Moment(max(at.now_s, before.now_s), max(at.sample, before.sample))
        if self.over:
            self._handle_late(event)
            return []
        actions = list(answers.sift(self._decide(event)))
        while not self.over:  # what one decision ends may let another begin
            self.desk.held = self._floor.undecided
            current = answers.current
            more = list(answers.sift(self._settle()))
            actions += more
            if not more and answers.current is current:
                break
        return actions

    def save(self) -> SavedConversation:
        """What another process needs to go on with it, as if the client were lost now. Nothing is changed."""
        return save(self.answers, self._floor.pending, self._floor.prompts, self._digits)

    def restore(
        self, saved: SavedConversation, now_s: float, elapsed_s: float, goes_on: Callable[[ToolRun], bool]
    ) -> None:
        """Go on with what another process saved, ``elapsed_s`` ago; this conversation is new. Its client is away:
        ``ClientBack`` is to follow. ``goes_on``: whether a call of a tool that was running still is."""
        self.answers.at = Moment(now_s, saved.sample)
        restore(self.answers, saved, now_s, elapsed_s, goes_on)
        self._floor.kept[:], self._floor.prompts = saved.kept, saved.prompts
        self._digits, self._digit_s = saved.digits, now_s
        self._away_s = now_s
        self.answers.note("restored", RESTARTED)

    def _decide(self, event: ConversationEvent) -> list[Action]:
        match event:
            case TurnStarted() | TurnUpdated() | TurnEagerEnded() | TurnResumed() | TurnEnded():
                if self._away_s is not None:
                    return []
                self._quiet_s = self._now_s
                return self._floor.listen(event)
            case happens.Tick():
                return self._tick()
            case happens.Begun():
                self._quiet_s = self._now_s
                greeting = self.settings.phrases.greeting
                return self.answers.say(greeting, self.settings.protect_greeting) if greeting else []
            case happens.Written():
                return [] if self._away_s is not None else self._read(event.text)
            case happens.Silenced():
                return self._floor.silence()
            case happens.DtmfPressed():
                self._digit_s = self._now_s
                self._digits += event.digit
                return self._dial() if event.digit == "#" else []
            case happens.EarFailed():
                self.answers.note("ear.failed", event.message, "stt")
                return self._floor.end_turn()
            case happens.ClientLost():
                return self._leave()
            case happens.ClientBack():
                return self._return()
            case happens.Closed():
                return self._end("the client closed")
            case _:
                return self.answers.route(event)

    def _settle(self) -> list[Action]:
        current = self.answers.current
        actions = self.answers.settle(stay=self._away_s is not None)
        if self.answers.handed_over:
            self.over = True
        elif self.answers.current is None and self._away_s is None:
            if current is not None:
                self._quiet_s = self._now_s
            return actions + self._floor.settle()
        return actions

    def _handle_late(self, event: ConversationEvent) -> None:
        """After the end, results are still recorded."""
        if isinstance(event, happens.ToolFinished):
            self.answers.route(event)
        elif isinstance(event, happens.Tick):
            self.desk.tick(self._now_s)
        self.answers.keep_results()

    # --- time and the client -------------------------------------------------------------------------------------

    def _tick(self) -> list[Action]:
        now_s, settings = self._now_s, self.settings
        actions = self.answers.tick()
        if self._away_s is not None:
            if now_s >= self._away_s + settings.resume_window_s:
                actions += self._end("the client did not come back")
        elif self._floor.user is not None:
            actions += self._floor.tick()
        elif self._digits and now_s >= self._digit_s + settings.dtmf_gap_s:
            actions += self._dial()
        elif not self._digits and self._idle_s is not None and now_s >= self._idle_s:
            actions += self._prompt_idle()
        return actions

    def _dial(self) -> list[Action]:
        digits, self._digits = self._digits, ""
        return self._floor.take(f"[keypad] {digits}", "keys were pressed", "turn.dialled", digits)

    def _read(self, text: str) -> list[Action]:
        return self._floor.take(text.strip(), "the user wrote", "turn.written", text)

    def _prompt_idle(self) -> list[Action]:
        self._floor.prompts += 1
        if self._floor.prompts > self.settings.max_idle_prompts:
            return self._end("nobody answers")
        self.answers.note("idle", f"prompt {self._floor.prompts}")
        return self.answers.say(self.settings.phrases.idle)

    def _leave(self) -> list[Action]:
        if self._away_s is not None:
            return []
        self._away_s = self._now_s
        self.answers.note("client.lost", "", "network")
        actions = self.answers.drop_guess("the client is gone") + list(self.desk.start_due(self._now_s, last=True))
        actions += self._floor.end_turn()  # its answer waits for the client
        if self.answers.current is not None:
            actions += self.answers.current.stop(self._now_s, 0)
        return actions

    def _return(self) -> list[Action]:
        if self._away_s is None:
            return []
        self._away_s, self._quiet_s = None, self._now_s
        self.answers.note("client.back")
        if self.answers.current is None:
            return []
        return self.answers.current.resume(self._now_s) + self.answers.current.voice.release(self._now_s)

    def _end(self, reason: str) -> list[Action]:
        self.answers.note("ended", reason)
        self.over = True
        return [*self.answers.end(), EndConversation(reason)]

    @property
    def _now_s(self) -> float:
        return self.answers.at.now_s

    @property
    def _idle_s(self) -> float | None:
        """When the silence of both has been long enough to ask."""
        if self._quiet_s is None or self.settings.idle_s is None or self.answers.current is not None:
            return None
        return self._quiet_s + self.settings.idle_s
