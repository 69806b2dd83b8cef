"""The conversation: what the agent does about everything that happens, decided in one place and in one order."""

from collections.abc import Iterable, Sequence
from itertools import count

from antiphon.core.brain import Message, ToolSpec
from antiphon.core.turns import TurnEagerEnded, TurnEnded, TurnResumed, TurnStarted, TurnUpdated
from antiphon.dialog import conversation_events as happens
from antiphon.dialog.conversation_actions import Action, EndConversation, Handover
from antiphon.dialog.conversation_events import ConversationEvent, Moment
from antiphon.dialog.conversation_floor import UserTurn
from antiphon.dialog.conversation_settings import ConversationSettings
from antiphon.dialog.history import History, UserSaid
from antiphon.dialog.ledger import Cause, Entry, Ledger
from antiphon.dialog.reply import Reply
from antiphon.dialog.reply_answer import Answer
from antiphon.dialog.tools import CallTool, ToolDesk


class Conversation:
    """Turns, brain, tools and voice of one conversation. Pure: no clock, no I/O; the same events give the same actions.

    At most one answer is under way, and at most one guess: an answer to a turn that is probably over, made but held.
    Call :meth:`handle` with ``Tick`` at :attr:`deadline_s`.
    """

    def __init__(
        self, conversation_id: str, tools: Sequence[ToolSpec] = (), settings: ConversationSettings | None = None
    ) -> None:
        self.settings = settings or ConversationSettings()
        self.ledger = Ledger()
        self.history = History(self.settings.instructions, self.settings.history)
        self.desk = ToolDesk(conversation_id, tools, self.settings.tools)
        self.turn = 0
        self.over = False
        self._id = conversation_id
        self._at = Moment(0.0)
        self._numbers = count(1)
        self._answer: Answer | None = None
        self._guess: Answer | None = None
        self._last: Answer | None = None  # the answer before: its echo, and its client's last word, may still come
        self._ended_s = float("-inf")  # when it was over
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
    def deadline_s(self) -> float | None:
        """When something has to be decided if nothing happens before; None: never."""
        if self.over:
            return self.desk.deadline_s
        settings, user = self.settings, self._user
        times: list[float | None] = [self.desk.deadline_s]
        times += [answer.deadline_s for answer in (self._answer, self._guess) if answer is not None]
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
        elif self._quiet_s is not None and settings.idle_s is not None and self._answer is None:
            times.append(self._quiet_s + settings.idle_s)
        return min((at_s for at_s in times if at_s is not None), default=None)

    def handle(self, at: Moment, event: ConversationEvent) -> list[Action]:
        """Take one event; returns what to do about it, in order."""
        self._at = Moment(max(at.now_s, self._at.now_s), max(at.sample, self._at.sample))
        if self.over:
            self._late(event)
            return []
        actions = list(self._pass(self._decide(event)))
        while True:  # what one decision ends may let another begin
            before = self._answer
            more = list(self._pass(self._settle()))
            actions += more
            if self.over or (not more and self._answer is before):
                return actions

    # --- what happens -------------------------------------------------------------------------------------------

    def _decide(self, event: ConversationEvent) -> list[Action]:
        now_s = self._at.now_s
        match event:
            case TurnStarted() | TurnUpdated() | TurnEagerEnded() | TurnResumed() | TurnEnded():
                return [] if self._away_s is not None else self._listen(event)
            case happens.FromBrain():
                for answer in (self._answer, self._guess):
                    if answer is not None and answer.owns_request(event.request_id):
                        return answer.on_brain(event.event, now_s)
            case happens.FromVoice():
                for answer in (self._answer, self._guess):
                    if answer is not None and answer.voice.owns(event.speech_id):
                        return answer.voice.handle(event.speech_id, event.event, now_s)
            case happens.Played() | happens.MarkSent() | happens.MarkReturned() | happens.Underran():
                self._played(event)
            case happens.Truncated():
                for answer in (self._answer, self._last):
                    if answer is not None and answer.voice.owns(event.speech_id):
                        answer.voice.truncate(event.speech_id, event.sample)
            case happens.ToolFinished():
                self._tool_finished(event)
            case happens.Tick():
                return self._tick()
            case _:
                return self._client(event)
        return []

    def _client(self, event: ConversationEvent) -> list[Action]:
        match event:
            case happens.Begun():
                self._quiet_s = self._at.now_s
                if self.settings.phrases.greeting:
                    return self._say(self.settings.phrases.greeting, self.settings.protect_greeting)
            case happens.DtmfPressed():
                self._digit_s = self._at.now_s
                self._digits += event.digit
                return self._dial() if event.digit == "#" else []
            case happens.EarFailed():
                self._note("ear.failed", event.message, "stt")
                if self._user is not None:
                    return self._end_turn(self._user)
            case happens.ClientLost():
                return self._leave()
            case happens.ClientBack():
                return self._return()
            case happens.Closed():
                return self._end("the client closed")
            case _:
                pass
        return []

    def _listen(self, event: TurnStarted | TurnUpdated | TurnEagerEnded | TurnResumed | TurnEnded) -> list[Action]:
        self._quiet_s = self._at.now_s
        match event:
            case TurnStarted():
                self._used_chars = self._seen_chars = 0
                return self._start_turn() if self._user is None else []
            case TurnResumed():
                return self._drop_guess("the turn went on")
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
        self.turn += 1
        now_s = self._at.now_s
        tail = self._answer is None and now_s - self._ended_s <= self.settings.echo_tail_s
        self._user = UserTurn(now_s, self._last if tail else self._answer, tail)
        self._note("turn.started", "over the agent" if self._answer else "")
        if self._answer is not None and not self._answer.reply.protected:
            return self._answer.voice.hold()
        return []

    def _contested(self, user: UserTurn) -> bool:
        """Whether the agent has the floor, may lose it, and has not yet."""
        mine = self._answer is not None and user.over is self._answer and not self._answer.reply.protected
        return mine and not user.yielded

    def _contest(self, user: UserTurn) -> list[Action]:
        if not self._contested(user) or user.over is None:
            return []
        judgement = user.judge(self._at.now_s, False, self.settings.interruption)
        if judgement.meaning == "interruption":
            return self._yield(user, judgement.reason)
        if judgement.meaning != "undecided":
            user.may_pause = False
            return user.over.voice.go_on(self._at.now_s)
        return []

    def _pause_s(self, user: UserTurn) -> float | None:
        """When the agent pauses for a sound that is still undecided."""
        after_s = self.settings.pause_after_s
        if after_s is None or not user.may_pause or not self._contested(user):
            return None
        return user.started_s + after_s

    def _prepare(self, user: UserTurn) -> list[Action]:
        """The turn is probably over: make the answer, but hold it."""
        actions = self._drop_guess("another end")
        if self._answer is not None or not user.has_words or not self.settings.speculate:
            return actions
        if user.tail and user.judge(self._at.now_s, True, self.settings.interruption).meaning != "interruption":
            return actions
        if self.desk.writing:
            self._note("guess.none", "a write is on its way")
            return actions
        self._guess = guess = self._new_answer(UserSaid(self._whole_text(user)), committed=False)
        self._note("guess.started", guess.entry.text if guess.entry else "")
        return actions + guess.start(self._at.now_s)

    def _end_turn(self, user: UserTurn) -> list[Action]:
        now_s = self._at.now_s
        self._user = None
        if user.over is not None or not user.has_words:
            judgement = user.judge(now_s, True, self.settings.interruption)
            if judgement.meaning != "interruption":
                self._note("turn.ignored", f"{judgement.meaning}: {judgement.reason}")
                return self._drop_guess("nothing was said") + self._go_on(user)
        if self._answer is not None and self._answer.reply.protected:
            self._note("turn.kept" if self.settings.keep_protected else "turn.dropped", "a protected reply")
            if self.settings.keep_protected:
                self._kept.append(user.text)
            return self._answer.voice.go_on(now_s)
        actions = [] if self._answer is None or user.yielded else self._yield(user, "said " + user.text)
        self._note("turn.ended", user.text)
        return actions + self._commit(self._whole_text(user))

    def _go_on(self, user: UserTurn) -> list[Action]:
        """That was no turn: an answer that was stopped or held for it goes on."""
        answer = user.over
        if answer is None or user.tail:
            return []
        now_s = self._at.now_s
        actions = answer.voice.go_on(now_s)
        if user.yielded and self._answer is None:
            self._note("interruption.false", "the answer goes on where it was heard")
            if user.carried is not None:
                self.history.add(user.carried)
            if user.erased:
                self.history.add(answer.reply)
            self._answer = answer
            return answer.resume(now_s) + answer.voice.release(now_s)
        return actions + (answer.voice.release(now_s) if self._answer is answer else [])

    def _yield(self, user: UserTurn, reason: str) -> list[Action]:
        answer = self._answer
        assert answer is not None
        actions = answer.stop(self._at.now_s, self.settings.reply.fade_ms)
        self._note("interrupted", f"{reason}; heard: {answer.reply.heard!r}")
        user.yielded, user.over = True, answer
        if answer.unheard:
            user.erased = True
            self.history.remove(answer.reply)
            if answer.entry is not None:
                self.history.remove(answer.entry)
                user.carried = answer.entry
        self._answer, self._last, self._ended_s = None, answer, self._at.now_s
        return actions

    def _whole_text(self, user: UserTurn) -> str:
        before = [user.carried.text] if user.carried is not None else []
        return " ".join((*before, *self._kept, user.text))

    def _take_kept(self) -> str:
        text = " ".join(self._kept)
        self._kept.clear()
        return text

    def _commit(self, text: str, protected: bool = False) -> list[Action]:
        """The turn is certain: answer it, once."""
        now_s = self._at.now_s
        self._kept.clear()
        self._prompts = 0
        guess = self._guess
        if guess is not None and guess.entry is not None and _same_words(guess.entry.text, text):
            self._guess, self._answer = None, guess
            guess.entry.text = text
            self.history.add(guess.entry)
            self.history.add(guess.reply)
            self._note("guess.right", "released")
            return guess.commit(now_s) + guess.voice.release(now_s)
        actions = self._drop_guess("the words changed")
        self._answer = answer = self._new_answer(UserSaid(text), committed=True)
        answer.reply.protected = protected
        assert answer.entry is not None
        self.history.add(answer.entry)
        self.history.add(answer.reply)
        actions += answer.voice.release(now_s)
        if self.desk.writing:
            self._note("answer.held", "a write is on its way")
            answer.wait(now_s)
            return actions
        return actions + answer.start(now_s)

    def _drop_guess(self, reason: str) -> list[Action]:
        if self._guess is None:
            return []
        guess, self._guess = self._guess, None
        self._note("guess.wrong", reason)
        return guess.drop(self._at.now_s)

    # --- what follows from it -----------------------------------------------------------------------------------

    def _settle(self) -> list[Action]:
        now_s = self._at.now_s
        actions: list[Action] = []
        for call_id, content in self.desk.take_results():
            self.history.settle(call_id, content)
            run = self.desk.runs[call_id]
            fault: Cause | None = "tool" if run.state in ("failed", "timed_out") else None
            self.ledger.note(Entry(run.turn, now_s, self._at.sample, "tool.ended", f"{call_id} {run.state}", fault))
        for answer in (self._answer, self._guess):
            if answer is not None:
                actions += answer.check_tools(now_s)
        answer = self._answer
        if self._away_s is not None:
            return actions
        if answer is None:
            if self._kept and self._user is None:
                actions += self._commit(self._take_kept())
            return actions
        if answer.state == "held" and not self.desk.writing:
            return actions + answer.start(now_s)
        return [*actions, *self._finish(answer)] if answer.finished(now_s) else actions

    def _finish(self, answer: Answer) -> list[Action]:
        now_s = self._at.now_s
        actions = answer.close(now_s)
        self._answer, self._last = None, answer
        self._quiet_s = self._ended_s = now_s
        self.desk.tell(answer.reply.reply_id)
        self.history.trim(self.desk.is_open)
        self.ledger.note(Entry(answer.reply.turn, now_s, self._at.sample, "answer.finished"))
        dead = answer.voice.dead and self.settings.handover_on_failure
        if answer.concluding or dead:
            return actions + self._hand_over(answer.concluding or "the voice failed")
        return actions

    def _pass(self, actions: Iterable[Action]) -> Iterable[Action]:
        """Actions on their way out. A call for a person is not executed but done."""
        for action in actions:
            if isinstance(action, CallTool) and action.call.name == self.settings.handover_tool:
                self.desk.finish(action.call.call_id, '{"status":"done"}')
                answer = self._answer
                if answer is not None:
                    self._note("handover", action.call.arguments)
                    yield from answer.conclude(action.call.arguments, self._at.now_s)
                continue
            if isinstance(action, CallTool):
                self._note("tool.called", f"{action.call.call_id} {action.effect} {action.key}")
            yield action

    def _tick(self) -> list[Action]:
        now_s, settings, user = self._at.now_s, self.settings, self._user
        actions: list[Action] = list(self.desk.tick(now_s))
        for answer in (self._answer, self._guess):
            if answer is not None:
                actions += answer.tick(now_s)
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
        elif self._quiet_s is not None and settings.idle_s is not None and self._answer is None:
            actions += self._prompt_idle() if now_s >= self._quiet_s + settings.idle_s else []
        return actions

    def _cut_turn(self, user: UserTurn) -> list[Action]:
        """A turn without an end: answer what there is of it."""
        self._note("turn.too_long", f"over {self.settings.max_turn_s} s", "turn")
        if not user.has_words or (self._answer is not None and self._answer.reply.protected):
            user.started_s = self._at.now_s
            return []
        self._used_chars = self._seen_chars
        self._user = None
        actions = self._drop_guess("cut off")
        actions += [] if self._answer is None or user.yielded else self._yield(user, "too long")
        return actions + self._commit(self._whole_text(user), protected=True)

    def _dial(self) -> list[Action]:
        digits, self._digits = self._digits, ""
        self.turn += 1
        self._note("turn.dialled", digits)
        user = UserTurn(self._at.now_s, self._answer, text=f"[keypad] {digits}")
        return self._end_turn_of_keys(user)

    def _end_turn_of_keys(self, user: UserTurn) -> list[Action]:
        if self._answer is not None and self._answer.reply.protected:
            self._kept.append(user.text)
            return []
        actions = self._drop_guess("keys were pressed")
        actions += [] if self._answer is None else self._yield(user, "keys were pressed")
        return actions + self._commit(self._whole_text(user))

    def _prompt_idle(self) -> list[Action]:
        self._prompts += 1
        if self._prompts > self.settings.max_idle_prompts:
            return self._end("nobody answers")
        self._note("idle", f"prompt {self._prompts}")
        return self._say(self.settings.phrases.idle)

    def _say(self, text: str, protected: bool = False) -> list[Action]:
        """The agent speaks of its own accord."""
        self._answer = answer = self._new_answer(None, committed=True)
        answer.reply.protected = protected
        self.history.add(answer.reply)
        return answer.voice.release(self._at.now_s) + answer.say(text, self._at.now_s)

    def _leave(self) -> list[Action]:
        if self._away_s is not None:
            return []
        self._away_s = self._at.now_s
        self._note("client.lost", "", "network")
        actions = self._drop_guess("the client is gone")
        user, self._user = self._user, None
        if user is not None and (user.carried is not None or user.has_words):
            self.history.add(UserSaid(self._whole_text(user)))
        if self._answer is not None:
            actions += self._answer.stop(self._at.now_s, 0)
        return actions

    def _return(self) -> list[Action]:
        if self._away_s is None:
            return []
        self._away_s, self._quiet_s = None, self._at.now_s
        self._note("client.back")
        if self._answer is None:
            return []
        return self._answer.resume(self._at.now_s) + self._answer.voice.release(self._at.now_s)

    def _end(self, reason: str) -> list[Action]:
        self._note("ended", reason)
        actions = self._drop_guess("the end")
        if self._answer is not None:
            actions += self._answer.stop(self._at.now_s, 0)
            self._answer = None
        self.over = True
        return [*actions, *self.desk.close(), EndConversation(reason)]

    def _hand_over(self, reason: str) -> list[Action]:
        self.over = True
        actions: list[Action] = [*self._drop_guess("handed over"), *self.desk.close()]
        self._keep_results()
        return [*actions, Handover(reason, self.history.messages(), tuple(self.ledger.dicts()))]

    # --- small parts --------------------------------------------------------------------------------------------

    def _played(self, event: happens.Played | happens.MarkSent | happens.MarkReturned | happens.Underran) -> None:
        answer = self._answer
        if answer is None or not answer.voice.plays(event.speech_id):
            return
        playout = answer.voice.playout
        match event:
            case happens.Played():
                playout.report(event.sample)
            case happens.MarkSent():
                playout.mark(event.name, event.sample)
            case happens.MarkReturned():
                playout.return_mark(event.name)
            case happens.Underran():
                self._note("playing.underrun", "", "client_playback")

    def _tool_finished(self, event: happens.ToolFinished) -> None:
        if not self.desk.finish(event.call_id, event.content, event.ok):
            self._note("tool.late", event.call_id)

    def _late(self, event: ConversationEvent) -> None:
        """After the end, results are still recorded."""
        if isinstance(event, happens.ToolFinished):
            self._tool_finished(event)
        elif isinstance(event, happens.Tick):
            self.desk.tick(self._at.now_s)
        self._keep_results()

    def _keep_results(self) -> None:
        for call_id, content in self.desk.take_results():
            self.history.settle(call_id, content)

    def _new_answer(self, entry: UserSaid | None, committed: bool) -> Answer:
        reply = Reply(self._new_id("reply"), self.turn)
        return Answer(reply, entry, self._messages, self.desk, self.settings, self._new_id, self._write, committed)

    def _messages(self, answer: Answer) -> tuple[Message, ...]:
        if answer.committed or answer.entry is None:
            return self.history.messages()
        return self.history.messages((answer.entry, answer.reply))

    def _new_id(self, kind: str) -> str:
        return f"{self._id}-{kind}-{next(self._numbers)}"

    def _note(self, kind: str, reason: str = "", fault: Cause | None = None) -> None:
        self._write(self.turn, kind, reason, fault)

    def _write(self, turn: int, kind: str, reason: str = "", fault: Cause | None = None) -> None:
        self.ledger.note(Entry(turn, self._at.now_s, self._at.sample, kind, reason, fault))


def _same_words(one: str, other: str) -> bool:
    """Whether two transcripts say the same: marks, letter case and white space do not count."""
    return _plain(one) == _plain(other)


def _plain(text: str) -> list[str]:
    words = ("".join(filter(str.isalnum, word)) for word in text.casefold().split())
    return [word for word in words if word]
