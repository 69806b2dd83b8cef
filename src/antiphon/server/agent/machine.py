"""The machine of one agent socket: the wire on one side, a conversation on the other. Pure; time is passed in.

What the client says becomes events of the conversation; what that decides becomes streams, questions and messages.
The session, and with it the conversation, outlives the socket.
"""

from collections.abc import Callable, Sequence
from itertools import count

from antiphon.core.brain import BrainDone, BrainEvent, BrainFailed, TextDelta, ToolCall
from antiphon.core.errors import AntiphonError, EngineFailed
from antiphon.core.event import Event, Failed, Flushed
from antiphon.core.hearing import Listened
from antiphon.core.turns import TurnEvent, TurnStarted
from antiphon.dialog import conversation_actions as wishes
from antiphon.dialog import conversation_events as happens
from antiphon.dialog.conversation_log import EarSaid
from antiphon.dialog.tool_run import CallTool, CancelTool
from antiphon.protocol import native_messages as wire
from antiphon.protocol.actions import AgentAction, Ask, Cancel, Key, Note
from antiphon.protocol.native import NativeLimits, NativeSocket, Tell, ToConversation
from antiphon.server.agent.door import Door, token_in
from antiphon.server.agent.hearing import AgentHearing
from antiphon.server.agent.session import AgentSession
from antiphon.server.agent.voices import AgentVoices
from antiphon.server.lifecycle import Unready
from antiphon.text.turn_openers import asks_yes_or_no


class AgentMachine:
    """See :class:`antiphon.server.machine.AgentMachine` for what the shell calls; :meth:`connect` comes first, then
    :meth:`meet`."""

    def __init__(self, door: Door, limits: NativeLimits) -> None:
        self._door = door
        self._native = NativeSocket(limits)
        self._session: AgentSession | None = None
        self._fresh = False  # the session has begun on this socket
        self._keys = count(1)
        self._hearing: AgentHearing | None = None
        self._voices: AgentVoices | None = None
        self._requests: dict[str, Key] = {}
        self._questions: dict[Key, str] = {}
        self._draining = False
        self._now_s = 0.0
        self._prod: Callable[[], None] = lambda: None
        self._drop: Callable[[], None] = lambda: None

    # From the session and its route

    def connect(self, prod: Callable[[], None], drop: Callable[[], None]) -> None:
        """``prod`` has the shell call :meth:`tick`; ``drop`` ends the socket at once."""
        self._prod, self._drop = prod, drop

    async def meet(self, frame: str | bytes) -> None:
        """The first frame is about to be received: what it takes to find the session that it asks for."""
        token = token_in(frame)
        if token is not None:
            await self._door.find(token)

    def prod(self) -> None:
        self._prod()

    def evict(self) -> None:
        self._session = None
        self._drop()

    def gone(self, now_s: float) -> None:
        """The socket is gone."""
        session, self._session = self._session, None
        if session is not None:
            session.let_go(self, now_s)

    # From the shell

    @property
    def due_s(self) -> float | None:
        dues = [self._native.due_s]
        if self._session is not None:
            dues.append(self._session.deadline_s)
        if self._hearing is not None:
            dues.append(self._hearing.due_s)
        return min((due for due in dues if due is not None), default=None)

    def receive(self, frame: str | bytes, now_s: float) -> list[AgentAction]:
        self._now_s = now_s
        out: list[AgentAction] = []
        for action in self._native.receive(frame, now_s):
            if isinstance(action, Tell):
                out += self._told(action.news)
            else:
                out.append(action)
        return out + self._leave()

    def deliver(self, key: Key, event: Event | TurnEvent | BrainEvent, now_s: float) -> list[AgentAction]:
        self._now_s = now_s
        session, hearing, voices = self._session, self._hearing, self._voices
        if session is None or voices is None:
            return []
        match event:
            case TextDelta() | ToolCall() | BrainDone() | BrainFailed():
                out = self._think(key, event)
            case _ if hearing is not None and key == hearing.key:
                out = self._hear(session, hearing, event)
            case _ if (speech := voices.get(key)) is not None and not isinstance(event, TurnEvent):
                out = self._handle(happens.FromVoice(speech.speech_id, event))
                out += voices.deliver(speech, event)
            case _:
                return []
        return out + self._leave()

    def refused(self, key: Key, error: AntiphonError, now_s: float) -> list[AgentAction]:
        self._now_s = now_s
        if self._hearing is not None and key == self._hearing.key:
            return self._end_by(error)
        speech = None if self._voices is None else self._voices.get(key)
        if speech is None:
            return [Note(f"refused: {error}", key)]
        failed = Failed(str(error), fatal=True)
        return [*self._native.fail(error, fatal=False), *self._handle(happens.FromVoice(speech.speech_id, failed))]

    def tick(self, now_s: float) -> list[AgentAction]:
        self._now_s = now_s
        out: list[AgentAction] = list(self._native.tick(now_s))
        session, hearing = self._session, self._hearing
        if session is None:
            return out
        if hearing is not None and hearing.mute(now_s):
            out += self._replace_ear(hearing, "it says nothing", replay=True)
        return out + self._do(session.catch_up(now_s)) + self._leave()

    def drain(self, now_s: float) -> list[AgentAction]:
        """An answer under way is spoken to its end; nothing more is listened to."""
        self._now_s, self._draining = now_s, True
        hearing, self._hearing = self._hearing, None
        if self._session is not None and self._session.keep is not None:
            self._session.keep()  # whoever it comes back to shall know that there is something to wait for
        return [*([] if hearing is None else [Cancel(hearing.key)]), *self._leave()]

    def close(self, reason: AntiphonError) -> list[AgentAction]:
        """The socket has to end: the server is leaving, or something is broken."""
        leaving = isinstance(reason, Unready)
        if self._session is not None and not (leaving and self._session.keep is not None):
            self._session.break_off("restart" if leaving else "the server failed")
        if leaving and self._native.started is not None:
            return list(self._native.restart())
        return list(self._native.fail(reason, fatal=True))

    # The client's news

    def _told(self, news: ToConversation | bytes) -> list[AgentAction]:
        if isinstance(news, wire.Start):
            return self._begin(news)
        match news:
            case bytes():
                return self._listen(news)
            case wire.Say():
                return self._handle(happens.Written(news.text))
            case wire.Interrupt():
                return self._handle(happens.Silenced())
            case wire.ToolResult():
                return self._handle(happens.ToolFinished(news.call_id, news.content, news.ok))
            case wire.Played():
                return self._played(news)
            case wire.Dtmf():
                return [action for digit in news.digits for action in self._handle(happens.DtmfPressed(digit))]
            case wire.Close():
                return self._handle(happens.Closed())

    def _begin(self, start: wire.Start) -> list[AgentAction]:
        try:
            session = None if start.resume is None else self._door.resume(start.resume)
            self._fresh = session is None
            session = session or self._door.begin(start, self._now_s)
        except AntiphonError as error:
            return list(self._native.fail(error, fatal=True))
        self._session = session
        session.hold(self, self._now_s)  # before anything else may fail: what nobody holds, nobody ends
        try:
            self._voices = AgentVoices(session, start, self._native, self._keys, lambda: self._now_s)
        except AntiphonError as error:
            return self._end_by(error)
        self._hearing = AgentHearing(next(self._keys), start.input, session.plan, session.media_samples)
        # First of all the ear: where it is refused, nothing that follows leaves.
        out = self._hearing.open()
        token = self._door.token(session)
        out += self._native.ready(session.session_id, token, resumed=not self._fresh)
        if self._fresh:
            return out + self._handle(happens.Begun())
        for call in list(session.open_calls.values()):
            out += self._native.call_tool(call.call_id, call.name, call.arguments)
        if start.heard is not None:
            last = wire.Played(reply_id=start.heard.reply_id, sample=start.heard.sample)
            out += self._played(last, stopped=True)  # it ended with the socket
        return out + self._handle(happens.ClientBack())

    def _listen(self, data: bytes) -> list[AgentAction]:
        session, hearing, voices = self._session, self._hearing, self._voices
        if session is None or hearing is None or voices is None:
            return []
        data = voices.heard(data)
        actions, samples = hearing.push(data, self._now_s)
        session.user_audio(data, hearing.shape.encoding, hearing.shape.sample_rate_hz, samples, self._now_s)
        return actions

    def _played(self, report: wire.Played, stopped: bool = False) -> list[AgentAction]:
        speech = self._session.speeches.get(report.reply_id) if self._session is not None else None
        if speech is None:
            return []
        fresh = speech.played(report.sample, report.underruns)
        sample = speech.voice_sample(report.sample)
        if speech.stopped or stopped:
            return self._handle(happens.Truncated(speech.speech_id, sample))
        out = self._handle(happens.Underran(speech.speech_id)) if fresh else []
        return out + self._handle(happens.Played(speech.speech_id, sample))

    # The streams' news

    def _think(self, key: Key, event: BrainEvent) -> list[AgentAction]:
        request_id = self._questions.get(key)
        if request_id is None:
            return []
        if isinstance(event, BrainDone | BrainFailed):
            del self._questions[key]
            self._requests.pop(request_id, None)
        return self._handle(happens.FromBrain(request_id, event))

    def _hear(self, session: AgentSession, hearing: AgentHearing, event: Event | TurnEvent) -> list[AgentAction]:
        hearing.heard(event, self._now_s)
        if isinstance(event, TurnEvent):
            told: list[AgentAction] = [*self._native.turn(hearing.in_socket(event))]
            if isinstance(event, TurnStarted):
                told += hearing.expect(asks_yes_or_no(session.conversation.said_last))
            return [*told, *self._handle(hearing.in_conversation(event))]
        if not isinstance(event, Listened | Flushed):
            session.observe(EarSaid(event, hearing.offset_samples), self._now_s)
        return self._replace_ear(hearing, event.message) if isinstance(event, Failed) else []

    def _replace_ear(self, hearing: AgentHearing, why: str, replay: bool = False) -> list[AgentAction]:
        opened = hearing.reopen(next(self._keys), self._now_s, replay=replay)
        if opened is None:
            return self._end_by(EngineFailed(f"the recogniser fails again and again: {why}"))
        return opened + self._handle(happens.EarFailed(why))

    # The conversation's wishes

    def _handle(self, event: happens.ConversationEvent) -> list[AgentAction]:
        return [] if self._session is None else self._do(self._session.handle(event, self._now_s))

    def _do(self, actions: Sequence[wishes.Action]) -> list[AgentAction]:
        return [action for wish in actions for action in self._act(wish)]

    def _act(self, wish: wishes.Action) -> Sequence[AgentAction]:
        match wish:
            case wishes.StartBrain():
                key = self._requests[wish.request_id] = next(self._keys)
                self._questions[key] = wish.request_id
                return [Ask(key, wish.request)]
            case wishes.CancelBrain():
                asked = self._requests.pop(wish.request_id, None)
                return [] if asked is None or self._questions.pop(asked, None) is None else [Cancel(asked)]
            case wishes.Speak():
                return [] if self._voices is None else self._voices.speak(wish)
            case CallTool():
                return self._native.call_tool(wish.call.call_id, wish.call.name, wish.call.arguments)
            case CancelTool():
                return self._native.cancel_tool(wish.call_id)
            case wishes.Handover():
                return [*self._native.hand_over(wish.reason), *self._native.close("handover")]
            case wishes.EndConversation():
                return self._native.close(wish.reason)
            case _:
                return [] if self._voices is None else self._voices.steer(wish)

    # Inside

    def _leave(self) -> list[AgentAction]:
        """A leaving server goes once nothing is owed to the client."""
        session = self._session
        speaking = self._voices is not None and self._voices.busy
        if not self._draining or (session is not None and (session.conversation.owes or speaking)):
            return []
        return list(self._native.drain(self._now_s))

    def _end_by(self, error: AntiphonError) -> list[AgentAction]:
        """The socket cannot go on. A session that has begun may be resumed by another one."""
        if self._session is not None and self._fresh and not self._session.media_samples:
            self._session.break_off("refused")
        return list(self._native.fail(error, fatal=True))
