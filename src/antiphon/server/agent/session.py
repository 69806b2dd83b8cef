"""One conversation with one client, over as many sockets as it takes. Pure but for the tools that it starts."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from antiphon.core.brain import ToolCall
from antiphon.core.clock import Clock
from antiphon.dialog.conversation import Conversation
from antiphon.dialog.conversation_actions import Action, EndConversation, Handover
from antiphon.dialog.conversation_events import (
    ClientLost,
    ConversationEvent,
    Moment,
    Tick,
    ToolFinished,
)
from antiphon.dialog.conversation_log import Observed
from antiphon.dialog.tool_run import CallTool, CancelTool
from antiphon.server.agent.log import AgentLog, AgentSessionFacts
from antiphon.server.agent.plan import AgentPlan
from antiphon.server.agent.saved import SavedSession
from antiphon.server.agent.speech import AgentSpeech, SpeechLevel
from antiphon.server.agent.tools import ToolRunner

_MAX_NEWS = 1024
_MAX_SPEECHES = 16
_UNSAVED_IDS = 10_000
"""More than a process that died can have given out since it last saved the session."""
_WORTH_KEEPING = frozenset(
    ("turn.ended", "turn.written", "turn.dialled", "turn.too_long", "guess.right", "interrupted", "tool.called",
     "tool.ended", "answer.finished", "client.lost", "client.back")
)  # fmt: skip
"""Decisions after which what was saved before is not true any more."""


class Holder(Protocol):
    """The machine of the socket that a session is held by."""

    def prod(self) -> None:
        """There is news."""
        ...

    def evict(self) -> None:
        """Another socket takes over."""
        ...


class AgentSession:
    """What outlives a socket: the conversation, the tools that run for it, the tokens that open it again.

    ``left``: called whenever nobody holds it any more, or nothing of it runs any more.
    """

    def __init__(
        self,
        facts: AgentSessionFacts,
        plan: AgentPlan,
        logs: Sequence[AgentLog],
        clock: Clock,
        left: Callable[["AgentSession"], None],
    ) -> None:
        self.facts = facts
        self.plan = plan
        self.conversation = Conversation(facts.session_id, plan.specs, plan.conversation)
        self.tools: ToolRunner | None = None
        self.level = SpeechLevel()
        self.speeches: dict[str, AgentSpeech] = {}
        """The latest, by id, of all sockets: reports about them may still come."""
        self.media_samples = 0
        """Of the user's audio, over all sockets (16 kHz)."""
        self.open_calls: dict[str, ToolCall] = {}
        """Calls of the client's own tools without a result."""
        self.reason = ""
        """Why it is over."""
        self.keep: Callable[[], None] | None = None
        """Puts it away for another process; None: it does not outlive this one."""
        self.keep_always = False
        """Whether that is done at every turn, not only when this process leaves."""
        self._logs = logs
        self._clock = clock
        self._left = left
        self._holder: Holder | None = None
        self._news: deque[ConversationEvent] = deque(maxlen=_MAX_NEWS)
        self._ended = False

    @property
    def session_id(self) -> str:
        return self.facts.session_id

    @property
    def over(self) -> bool:
        return bool(self.reason)

    @property
    def held(self) -> bool:
        return self._holder is not None

    @property
    def running(self) -> bool:
        """Whether tools are still on their way."""
        return self.tools is not None and self.tools.running

    @property
    def deadline_s(self) -> float | None:
        return self.conversation.deadline_s

    def hold(self, holder: Holder, now_s: float) -> None:
        """A socket is there. One that was there before is shown out."""
        if self._holder is not None:
            evicted, self._holder = self._holder, None
            evicted.evict()
            self.handle(ClientLost(), now_s)
        self._holder = holder

    def let_go(self, holder: Holder, now_s: float) -> None:
        """The socket is gone; if nobody else has taken over, the session waits (or, if it is over, only its tools)."""
        if self._holder is not holder:
            return
        self._holder = None
        self.handle(ClientLost(), now_s)
        self.catch_up(now_s)
        self._left(self)

    def remember(self, speech: AgentSpeech) -> None:
        self.speeches[speech.speech_id] = speech
        if len(self.speeches) > _MAX_SPEECHES:
            del self.speeches[next(iter(self.speeches))]

    def news(self, event: ConversationEvent) -> None:
        """Something happened outside of any socket."""
        self._news.append(event)
        if self._holder is not None:
            self._holder.prod()
        else:
            self.catch_up(self._clock.now_s())

    def catch_up(self, now_s: float) -> list[Action]:
        """Take the news, and the time if it is due."""
        out: list[Action] = []
        while self._news:
            out += self.handle(self._news.popleft(), now_s)
        deadline_s = self.conversation.deadline_s
        if deadline_s is not None and deadline_s <= now_s:
            out += self.handle(Tick(), now_s)
        return out

    def handle(self, event: ConversationEvent, now_s: float) -> list[Action]:
        """The conversation's answer, as far as a socket has to do it: the server's own tools are started here."""
        moment = self._moment(now_s)
        self._observe(moment, event)
        actions = self.conversation.handle(moment, event)
        fresh = self.conversation.ledger.take_fresh()
        for entry in fresh:
            self._observe(moment, entry)
        if isinstance(event, ToolFinished):
            self.open_calls.pop(event.call_id, None)
        out: list[Action] = []
        for action in actions:
            self._observe(moment, action)
            if not self._done_here(action):
                out.append(action)
        if self.keep_always and self.keep is not None and any(entry.kind in _WORTH_KEEPING for entry in fresh):
            self.keep()
        return out

    def restore(self, saved: SavedSession, now_s: float, elapsed_s: float) -> None:
        """Go on with what another process saved so long ago; this session is new. It waits for its client."""
        self.media_samples = saved.media_samples
        self.open_calls = {call.call_id: call for call in saved.open_calls}
        self.conversation.restore(saved.conversation, now_s, elapsed_s, lambda run: run.call.call_id in self.open_calls)
        if saved.running:
            self.conversation.answers.numbers += _UNSAVED_IDS

    def observe(self, entry: Observed, now_s: float) -> None:
        self._observe(self._moment(now_s), entry)

    def user_audio(self, data: bytes, encoding: str, rate_hz: int, samples: int, now_s: float) -> None:
        """``samples``: how much that is at 16 kHz."""
        moment = self._moment(now_s)
        for log in self._logs:
            log.user_audio(moment, data, encoding, rate_hz)
        self.media_samples += samples

    def agent_audio(self, speech_id: str, start_sample: int, data: bytes, now_s: float) -> None:
        moment = self._moment(now_s)
        for log in self._logs:
            log.agent_audio(moment, speech_id, start_sample, data)

    def tool_finished(self, call_id: str, content: str, ok: bool) -> None:
        self.news(ToolFinished(call_id, content, ok))

    def idle(self) -> None:
        """No tool runs any more."""
        if self._holder is None:
            self._left(self)

    def break_off(self, reason: str) -> None:
        """It cannot go on, and cannot be resumed."""
        self.reason = self.reason or reason
        self.conversation.over = True

    def end(self, now_s: float) -> None:
        """Nothing of it is left: the logs are closed."""
        if not self._ended:
            self._ended = True
            moment = self._moment(now_s)
            for log in self._logs:
                log.end(moment, self.reason or "dropped")

    def _done_here(self, action: Action) -> bool:
        match action:
            case CallTool():
                call = action.call
                if call.name in self.plan.client_tools:
                    self.open_calls[call.call_id] = call
                    return False
                if self.tools is not None:
                    self.tools.start(action, self.conversation.desk.runs[call.call_id].turn)
                return True
            case CancelTool():
                if self.open_calls.pop(action.call_id, None) is not None:
                    return False
                if self.tools is not None:
                    self.tools.cancel(action.call_id)
                return True
            case Handover():
                self.reason = self.reason or "handover"
                if self.tools is not None:
                    self.tools.hand_over(self.session_id, action)
                return False
            case EndConversation():
                self.reason = self.reason or action.reason
                return False
            case _:
                return False

    def _moment(self, now_s: float) -> Moment:
        return Moment(now_s, self.media_samples)

    def _observe(self, moment: Moment, entry: Observed) -> None:
        for log in self._logs:
            log.observe(moment, entry)
