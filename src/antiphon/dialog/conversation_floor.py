"""The user's open turn, and whether it may take the floor from the agent."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from antiphon.dialog.history import UserSaid
from antiphon.dialog.interruption import InterruptionSettings, Judgement, Overlap, judge

if TYPE_CHECKING:
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
    over: "Answer | None" = None
    tail: bool = False
    text: str = ""
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
        judgement = judge(Overlap(self.text, round(now_s - self.started_s, 6), agent_text, final), settings)
        if self.tail and judgement.meaning == "backchannel":
            return Judgement("interruption", "the agent had finished")
        return judgement
