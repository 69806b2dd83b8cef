"""Who has the floor: the user's open turn, and whether it may take it from the agent."""

from dataclasses import dataclass

from antiphon.core.turns import TurnEagerEnded, TurnEnded, TurnEvent, TurnResumed, TurnStarted
from antiphon.dialog.conversation_actions import Action
from antiphon.dialog.conversation_answers import Answers
from antiphon.dialog.conversation_settings import ConversationSettings
from antiphon.dialog.history import UserSaid
from antiphon.dialog.interruption import InterruptionSettings, Judgement, Overlap, judge
from antiphon.dialog.reply_answer import Answer

_BEFORE_CHARS = 90  # about 6 s of the agent's speech: an echo is late, and so are the recogniser's words
_AFTER_CHARS = 24  # the word that is being played, and one or two that the client may be ahead by


@dataclass(slots=True)
class UserTurn:
    """A turn as it is heard. ``over``: the answer that was under way while it was spoken, if any.

    ``yielded``: that answer has been stopped for it, ``erased``: and taken out of the history. ``tail``: the answer had
    just ended, so that only its echo is to be feared.
    """

    started_s: float
    over: Answer | None = None
    tail: bool = False
    text: str = ""
    confidence: float = 1.0
    """The recogniser's, of what it heard last."""
    yielded: bool = False
    erased: bool = False
    may_pause: bool = True
    """Whether the agent has yet to decide about pausing for it."""
    undecided: bool = True
    """Whether it may still turn out to take the floor from the answer that it is spoken over."""
    carried: UserSaid | None = None
    """The turn before, to which nothing of an answer was heard: this one goes on with it."""

    @property
    def has_words(self) -> bool:
        return any(map(str.isalnum, self.text))

    def judge(self, now_s: float, final: bool, settings: InterruptionSettings) -> Judgement:
        """What the turn so far means for the answer it is spoken over."""
        over = self.over
        agent_text = ""
        if over is not None and not over.voice.mute:
            heard = over.voice.heard_chars(now_s)
            after = 0 if over.voice.stopped or over.finished(now_s) else _AFTER_CHARS
            agent_text = over.reply.text[max(0, heard - _BEFORE_CHARS) : heard + after]
        lasted_s = round(now_s - self.started_s, 6)
        judgement = judge(Overlap(self.text, lasted_s, agent_text, final, confidence=self.confidence), settings)
        if self.tail and judgement.meaning == "backchannel":
            return Judgement("interruption", "the agent had finished")
        return judgement


class Floor:
    """Who has the floor: the user's open turn, and the answer that it may be spoken over.

    The conversation passes on what concerns turns, :meth:`tick` at :attr:`deadlines_s`, and :meth:`settle` where no
    answer is under way.
    """

    def __init__(self, answers: Answers, settings: ConversationSettings) -> None:
        self._answers = answers
        self._settings = settings
        self.user: UserTurn | None = None
        self.prompts = 0
        """How often the user was asked for a word since the last."""
        self._used_chars = 0  # of the open turn's transcript, already answered
        self._seen_chars = 0
        self.kept: list[str] = []
        """Said during a protected reply."""

    @property
    def deadlines_s(self) -> list[float | None]:
        """Of an open turn."""
        settings, user = self._settings, self.user
        if user is None:
            return []
        times = [self._pause_s(user)]
        if settings.max_turn_s is not None:
            times.append(user.started_s + settings.max_turn_s)
        if self._contested(user) and not user.has_words:
            times.append(user.started_s + settings.interruption.wordless_s)
        return times

    @property
    def undecided(self) -> bool:
        """Whether the open turn may still take the floor from the answer that it is spoken over."""
        return self.user is not None and self.user.undecided and self._contested(self.user)

    @property
    def pending(self) -> list[str]:
        """What was said and has no answer yet: kept, or of the open turn if that has the floor."""
        user = self.user
        if user is None or (user.over is not None and not user.yielded):
            return list(self.kept)
        before = [user.carried.text] if user.carried is not None else []
        return [*before, *self.kept, *([user.text] if user.has_words else [])]

    def listen(self, event: TurnEvent) -> list[Action]:
        match event:
            case TurnStarted():
                self._used_chars = self._seen_chars = 0
                return self._start_turn() if self.user is None else []
            case TurnResumed():
                return self._answers.drop_guess("the turn went on")
            case _:
                pass
        text = event.transcript[self._used_chars :]
        actions: list[Action] = []
        if self.user is None:
            if not text.strip():
                return []
            actions = self._start_turn()  # the rest of a turn that was too long, or a turn whose start was missed
        user = self.user
        assert user is not None
        user.text, self._seen_chars = text.strip(), len(event.transcript)
        user.confidence = event.confidence
        if isinstance(event, TurnEnded):
            return actions + self._end_turn(user)
        actions += self._contest(user)
        if isinstance(event, TurnEagerEnded):
            actions += self._prepare(user)
        return actions

    def take(self, text: str, how: str, kind: str, told: str) -> list[Action]:
        """A whole turn at once."""
        protected = self._answers.protected
        user = UserTurn(self._now_s, self._answers.current, text=text)
        actions = [] if protected else self._answers.drop_guess(how)
        if self._answers.current is not None and not protected:
            actions += self._yield(user, how)
        self._answers.turn += 1  # only now: what was stopped belongs to the turns before
        self._answers.note(kind, told)
        if protected:
            self.kept.append(text)
            return []
        return actions + self._commit(self._whole_text(user))

    def silence(self) -> list[Action]:
        """The user takes the floor without a word."""
        if self._answers.current is None or self._answers.protected:
            return []
        answer, erased, actions = self._answers.interrupt(self._settings.reply.fade_ms, "the user wants silence")
        if erased and answer.entry is not None:
            self._answers.history.add(answer.entry)
        return actions

    def tick(self) -> list[Action]:
        """What is due in an open turn."""
        now_s, settings, user = self._now_s, self._settings, self.user
        actions: list[Action] = []
        if user is None:
            return actions
        pause_s = self._pause_s(user)
        if pause_s is not None and now_s >= pause_s and user.over is not None:
            user.may_pause = False
            actions += user.over.voice.pause(now_s)
        if self._contested(user) and now_s >= user.started_s + settings.interruption.wordless_s:
            actions += self._contest(user)
        if settings.max_turn_s is not None and now_s >= user.started_s + settings.max_turn_s:
            actions += self._cut_turn(user)
        return actions

    def end_turn(self) -> list[Action]:
        """Nothing more of it comes."""
        return [] if self.user is None else self._end_turn(self.user)

    def settle(self) -> list[Action]:
        """What was said during a protected reply is answered once nobody speaks."""
        return self._commit(" ".join(self.kept)) if self.kept and self.user is None else []

    def _start_turn(self) -> list[Action]:
        self._answers.turn += 1
        now_s = self._now_s
        tail = self._answers.current is None and now_s - self._answers.ended_s <= self._settings.echo_tail_s
        self.user = UserTurn(now_s, self._answers.last if tail else self._answers.current, tail)
        self._answers.note("turn.started", "over the agent" if self._answers.current else "")
        if self._answers.current is not None and not self._answers.protected:
            return self._answers.current.voice.hold()
        return []

    def _contested(self, user: UserTurn) -> bool:
        """Whether the agent has the floor, may lose it, and has not yet."""
        mine = (
            self._answers.current is not None
            and user.over is self._answers.current
            and not self._answers.current.reply.protected
        )
        return mine and not user.yielded

    def _contest(self, user: UserTurn) -> list[Action]:
        if not self._contested(user) or user.over is None:
            return []
        judgement = user.judge(self._now_s, False, self._settings.interruption)
        if judgement.meaning == "interruption":
            return self._yield(user, judgement.reason)
        if judgement.meaning != "undecided":
            user.may_pause = user.undecided = False
            return user.over.voice.go_on(self._now_s)
        return []

    def _pause_s(self, user: UserTurn) -> float | None:
        """When the agent pauses for a sound that is still undecided."""
        after_s = self._settings.pause_after_s
        if after_s is None or not user.may_pause or not self._contested(user):
            return None
        return user.started_s + after_s

    def _prepare(self, user: UserTurn) -> list[Action]:
        """The turn is probably over: make the answer, but hold it."""
        actions = self._answers.drop_guess("another end")
        if self._answers.current is not None or not user.has_words or not self._settings.speculate:
            return actions
        if user.tail and user.judge(self._now_s, True, self._settings.interruption).meaning != "interruption":
            return actions
        return actions + self._answers.guess_at(self._whole_text(user))

    def _end_turn(self, user: UserTurn) -> list[Action]:
        now_s = self._now_s
        self.user = None
        if user.over is not None or not user.has_words:
            judgement = user.judge(now_s, True, self._settings.interruption)
            if judgement.meaning != "interruption":
                self._answers.note("turn.ignored", f"{judgement.meaning}: {judgement.reason}")
                return self._answers.drop_guess("nothing was said") + self._go_on(user)
        if self._answers.protected:
            self._answers.note("turn.kept" if self._settings.keep_protected else "turn.dropped", "a protected reply")
            if self._settings.keep_protected:
                self.kept.append(user.text)
            return user.over.voice.go_on(now_s) if user.over is not None else []
        actions = [] if self._answers.current is None or user.yielded else self._yield(user, "said " + user.text)
        self._answers.note("turn.ended", user.text)
        return actions + self._commit(self._whole_text(user))

    def _go_on(self, user: UserTurn) -> list[Action]:
        """That was no turn: an answer that was stopped or held for it goes on."""
        answer = user.over
        if answer is None or user.tail:
            return []
        now_s = self._now_s
        actions = answer.voice.go_on(now_s)
        if user.yielded and self._answers.current is None:
            return self._answers.resume(answer, user.erased)
        return actions + (answer.voice.release(now_s) if self._answers.current is answer else [])

    def _yield(self, user: UserTurn, reason: str) -> list[Action]:
        """Give the floor to the user."""
        answer, user.erased, actions = self._answers.interrupt(self._settings.reply.fade_ms, reason)
        user.yielded, user.over = True, answer
        user.carried = answer.entry if user.erased else None
        return actions

    def _whole_text(self, user: UserTurn) -> str:
        before = [user.carried.text] if user.carried is not None else []
        return " ".join((*before, *self.kept, user.text))

    def _commit(self, text: str, protected: bool = False) -> list[Action]:
        self.kept.clear()
        self.prompts = 0
        return self._answers.begin(text, protected)

    def _cut_turn(self, user: UserTurn) -> list[Action]:
        """A turn without an end: answer what there is of it."""
        self._answers.note("turn.too_long", f"over {self._settings.max_turn_s} s", "turn")
        if not user.has_words or self._answers.protected:
            user.started_s = self._now_s
            return []
        self._used_chars = self._seen_chars
        self.user = None
        actions = self._answers.drop_guess("cut off")
        actions += [] if self._answers.current is None or user.yielded else self._yield(user, "too long")
        return actions + self._commit(self._whole_text(user), protected=True)

    @property
    def _now_s(self) -> float:
        return self._answers.at.now_s
