"""The conversation: what the agent does about everything that happens, decided in one place and in one order."""

from collections.abc import Sequence

from antiphon.core.brain import ToolSpec
from antiphon.core.turns import TurnEagerEnded, TurnEnded, TurnResumed, TurnStarted, TurnUpdated
from antiphon.dialog import conversation_events as happens
from antiphon.dialog.conversation_actions import Action, EndConversation
from antiphon.dialog.conversation_answers import Answers
from antiphon.dialog.conversation_events import ConversationEvent, Moment
from antiphon.dialog.conversation_floor import UserTurn
from antiphon.dialog.conversation_settings import ConversationSettings


class Conversation:
    """Turns, brain, tools and voice of one conversation. Pure: no clock, no I/O; the same events give the same actions.

    Here it is decided who has the floor; :class:`Answers` holds what the agent says. Call :meth:`handle` with ``Tick``
    at :attr:`deadline_s`.
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
        self._user: UserTurn | None = None
        self._used_chars = 0  # of the open turn's transcript, already answered
        self._seen_chars = 0
        self._kept: list[str] = []  # said during a protected reply
        self._away_s: float | None = None
        self._quiet_s: float | None = None  # since when nobody has spoken
        self._prompts = 0
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
    def deadline_s(self) -> float | None:
        """When something has to be decided if nothing happens before; None: never."""
        if self.over:
            return self.desk.deadline_s
        settings, user = self.settings, self._user
        times = self.answers.deadlines_s
        if self._away_s is not None:
            times.append(self._away_s + settings.resume_window_s)
        elif user is not None:
            if settings.max_turn_s is not None:
                times.append(user.started_s + settings.max_turn_s)
            times.append(self._pause_s(user))
            if self._contested(user) and not user.has_words:
                times.append(user.started_s + settings.interruption.wordless_s)
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
            user = self._user
            self.desk.held = user is not None and user.undecided and self._contested(user)
            current = answers.current
            more = list(answers.sift(self._settle()))
            actions += more
            if not more and answers.current is current:
                break
        return actions

    def _decide(self, event: ConversationEvent) -> list[Action]:
        match event:
            case TurnStarted() | TurnUpdated() | TurnEagerEnded() | TurnResumed() | TurnEnded():
                return [] if self._away_s is not None else self._listen(event)
            case happens.Tick():
                return self._tick()
            case happens.Begun():
                self._quiet_s = self._now_s
                greeting = self.settings.phrases.greeting
                return self.answers.say(greeting, self.settings.protect_greeting) if greeting else []
            case happens.Written():
                return [] if self._away_s is not None else self._read(event.text)
            case happens.Silenced():
                return self._silence()
            case happens.DtmfPressed():
                self._digit_s = self._now_s
                self._digits += event.digit
                return self._dial() if event.digit == "#" else []
            case happens.EarFailed():
                self.answers.note("ear.failed", event.message, "stt")
                return self._end_turn(self._user) if self._user is not None else []
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
            if self._kept and self._user is None:
                text = " ".join(self._kept)
                return actions + self._commit(text)
        return actions

    def _handle_late(self, event: ConversationEvent) -> None:
        """After the end, results are still recorded."""
        if isinstance(event, happens.ToolFinished):
            self.answers.route(event)
        elif isinstance(event, happens.Tick):
            self.desk.tick(self._now_s)
        self.answers.keep_results()

    # --- the user's turns ---------------------------------------------------------------------------------------

    def _listen(self, event: TurnStarted | TurnUpdated | TurnEagerEnded | TurnResumed | TurnEnded) -> list[Action]:
        self._quiet_s = self._now_s
        match event:
            case TurnStarted():
                self._used_chars = self._seen_chars = 0
                return self._start_turn() if self._user is None else []
            case TurnResumed():
                return self.answers.drop_guess("the turn went on")
            case _:
                pass
        text = event.transcript[self._used_chars :]
        actions: list[Action] = []
        if self._user is None:
            if not text.strip():
                return []
            actions = self._start_turn()  # the rest of a turn that was too long, or a turn whose start was missed
        user = self._user
        assert user is not None
        user.text, self._seen_chars = text.strip(), len(event.transcript)
        if isinstance(event, TurnEnded):
            return actions + self._end_turn(user)
        actions += self._contest(user)
        if isinstance(event, TurnEagerEnded):
            actions += self._prepare(user)
        return actions

    def _start_turn(self) -> list[Action]:
        self.answers.turn += 1
        now_s = self._now_s
        tail = self.answers.current is None and now_s - self.answers.ended_s <= self.settings.echo_tail_s
        self._user = UserTurn(now_s, self.answers.last if tail else self.answers.current, tail)
        self.answers.note("turn.started", "over the agent" if self.answers.current else "")
        if self.answers.current is not None and not self.answers.protected:
            return self.answers.current.voice.hold()
        return []

    def _contested(self, user: UserTurn) -> bool:
        """Whether the agent has the floor, may lose it, and has not yet."""
        mine = (
            self.answers.current is not None
            and user.over is self.answers.current
            and not self.answers.current.reply.protected
        )
        return mine and not user.yielded

    def _contest(self, user: UserTurn) -> list[Action]:
        if not self._contested(user) or user.over is None:
            return []
        judgement = user.judge(self._now_s, False, self.settings.interruption)
        if judgement.meaning == "interruption":
            return self._yield(user, judgement.reason)
        if judgement.meaning != "undecided":
            user.may_pause = user.undecided = False
            return user.over.voice.go_on(self._now_s)
        return []

    def _pause_s(self, user: UserTurn) -> float | None:
        """When the agent pauses for a sound that is still undecided."""
        after_s = self.settings.pause_after_s
        if after_s is None or not user.may_pause or not self._contested(user):
            return None
        return user.started_s + after_s

    def _prepare(self, user: UserTurn) -> list[Action]:
        """The turn is probably over: make the answer, but hold it."""
        actions = self.answers.drop_guess("another end")
        if self.answers.current is not None or not user.has_words or not self.settings.speculate:
            return actions
        if user.tail and user.judge(self._now_s, True, self.settings.interruption).meaning != "interruption":
            return actions
        return actions + self.answers.guess_at(self._whole_text(user))

    def _end_turn(self, user: UserTurn) -> list[Action]:
        now_s = self._now_s
        self._user = None
        if user.over is not None or not user.has_words:
            judgement = user.judge(now_s, True, self.settings.interruption)
            if judgement.meaning != "interruption":
                self.answers.note("turn.ignored", f"{judgement.meaning}: {judgement.reason}")
                return self.answers.drop_guess("nothing was said") + self._go_on(user)
        if self.answers.protected:
            self.answers.note("turn.kept" if self.settings.keep_protected else "turn.dropped", "a protected reply")
            if self.settings.keep_protected:
                self._kept.append(user.text)
            return user.over.voice.go_on(now_s) if user.over is not None else []
        actions = [] if self.answers.current is None or user.yielded else self._yield(user, "said " + user.text)
        self.answers.note("turn.ended", user.text)
        return actions + self._commit(self._whole_text(user))

    def _go_on(self, user: UserTurn) -> list[Action]:
        """That was no turn: an answer that was stopped or held for it goes on."""
        answer = user.over
        if answer is None or user.tail:
            return []
        now_s = self._now_s
        actions = answer.voice.go_on(now_s)
        if user.yielded and self.answers.current is None:
            return self.answers.resume(answer, user.erased)
        return actions + (answer.voice.release(now_s) if self.answers.current is answer else [])

    def _yield(self, user: UserTurn, reason: str) -> list[Action]:
        """Give the floor to the user."""
        answer, user.erased, actions = self.answers.interrupt(self.settings.reply.fade_ms, reason)
        user.yielded, user.over = True, answer
        user.carried = answer.entry if user.erased else None
        return actions

    def _whole_text(self, user: UserTurn) -> str:
        before = [user.carried.text] if user.carried is not None else []
        return " ".join((*before, *self._kept, user.text))

    def _commit(self, text: str, protected: bool = False) -> list[Action]:
        self._kept.clear()
        self._prompts = 0
        return self.answers.begin(text, protected)

    def _cut_turn(self, user: UserTurn) -> list[Action]:
        """A turn without an end: answer what there is of it."""
        self.answers.note("turn.too_long", f"over {self.settings.max_turn_s} s", "turn")
        if not user.has_words or (self.answers.protected):
            user.started_s = self._now_s
            return []
        self._used_chars = self._seen_chars
        self._user = None
        actions = self.answers.drop_guess("cut off")
        actions += [] if self.answers.current is None or user.yielded else self._yield(user, "too long")
        return actions + self._commit(self._whole_text(user), protected=True)

    # --- time and the client -------------------------------------------------------------------------------------

    def _tick(self) -> list[Action]:
        now_s, settings, user = self._now_s, self.settings, self._user
        actions = self.answers.tick()
        if self._away_s is not None:
            if now_s >= self._away_s + settings.resume_window_s:
                actions += self._end("the client did not come back")
        elif user is not None:
            pause_s = self._pause_s(user)
            if pause_s is not None and now_s >= pause_s and user.over is not None:
                user.may_pause = False
                actions += user.over.voice.pause(now_s)
            if self._contested(user) and now_s >= user.started_s + settings.interruption.wordless_s:
                actions += self._contest(user)
            if settings.max_turn_s is not None and now_s >= user.started_s + settings.max_turn_s:
                actions += self._cut_turn(user)
        elif self._digits and now_s >= self._digit_s + settings.dtmf_gap_s:
            actions += self._dial()
        elif not self._digits and self._idle_s is not None and now_s >= self._idle_s:
            actions += self._prompt_idle()
        return actions

    def _dial(self) -> list[Action]:
        digits, self._digits = self._digits, ""
        return self._take(f"[keypad] {digits}", "keys were pressed", "turn.dialled", digits)

    def _read(self, text: str) -> list[Action]:
        return self._take(text.strip(), "the user wrote", "turn.written", text)

    def _take(self, text: str, how: str, kind: str, told: str) -> list[Action]:
        """A whole turn at once."""
        protected = self.answers.protected
        user = UserTurn(self._now_s, self.answers.current, text=text)
        actions = [] if protected else self.answers.drop_guess(how)
        if self.answers.current is not None and not protected:
            actions += self._yield(user, how)
        self.answers.turn += 1  # only now: what was stopped belongs to the turns before
        self.answers.note(kind, told)
        if protected:
            self._kept.append(text)
            return []
        return actions + self._commit(self._whole_text(user))

    def _silence(self) -> list[Action]:
        if self.answers.current is None or self.answers.protected:
            return []
        answer, erased, actions = self.answers.interrupt(self.settings.reply.fade_ms, "the user wants silence")
        if erased and answer.entry is not None:
            self.history.add(answer.entry)
        return actions

    def _prompt_idle(self) -> list[Action]:
        self._prompts += 1
        if self._prompts > self.settings.max_idle_prompts:
            return self._end("nobody answers")
        self.answers.note("idle", f"prompt {self._prompts}")
        return self.answers.say(self.settings.phrases.idle)

    def _leave(self) -> list[Action]:
        if self._away_s is not None:
            return []
        self._away_s = self._now_s
        self.answers.note("client.lost", "", "network")
        actions = self.answers.drop_guess("the client is gone") + list(self.desk.start_due(self._now_s, last=True))
        if self._user is not None:
            actions += self._end_turn(self._user)  # its answer waits for the client
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
