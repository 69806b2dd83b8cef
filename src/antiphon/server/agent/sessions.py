"""All agent sessions of this process: those that a socket holds, those that wait for their client, and those that are
over but whose tools have yet to end."""

import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from antiphon.core.clock import unix_time_s
from antiphon.core.speech import SpeechConfig
from antiphon.dialog.conversation_events import Closed
from antiphon.protocol import native_messages as wire
from antiphon.server.agent.log import AgentSessionFacts
from antiphon.server.agent.plan import plan_session
from antiphon.server.agent.session import AgentSession
from antiphon.server.agent.tools import ToolTasks, server_tools
from antiphon.server.auth import Principal
from antiphon.server.hub import Hub
from antiphon.server.session import Alarm


@dataclass(slots=True)
class _Known:
    """``tokens``: the latest, and before it the one that the client has surely had."""

    session: AgentSession
    principal: Principal
    tokens: list[str] = field(default_factory=list)


class AgentSessions:
    """Opens, finds and ends them. The number of those that wait is bounded."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._known: dict[str, _Known] = {}
        self._by_token: dict[str, _Known] = {}
        self._left: dict[str, LeftSession] = {}

    def __len__(self) -> int:
        return len(self._known)

    @property
    def waiting(self) -> int:
        """Sessions that no socket holds."""
        return len(self._left)

    def door(self, principal: Principal, traceparent: str = "") -> "AgentDoor":
        """``traceparent``: the trace that the caller's handshake named."""
        return AgentDoor(self, principal, traceparent)

    def begin(
        self, start: wire.Start, principal: Principal, now_s: float, traceparent: str = ""
    ) -> AgentSession:
        """Raises ``NotFound``, ``InvalidInput``."""
        hub = self._hub
        handover = hub.settings.agent.handover.url is not None
        plan = plan_session(hub.settings, server_tools(hub.tools, handover), start, hub.voices.default_voice.id)
        _, speech = hub.voices.resolve(SpeechConfig(voice=plan.voice, language=plan.language))
        voice = hub.voices.voice(speech.voice)
        facts = AgentSessionFacts(
            session_id=f"as_{uuid.uuid4().hex[:20]}",
            principal=principal.name,
            brain=hub.brain.name,
            voice=voice.name,
            language=plan.language,
            input_encoding=start.input.encoding,
            input_rate_hz=start.input.sample_rate_hz,
            output_encoding=start.output.encoding,
            output_rate_hz=start.output.sample_rate_hz,
            began_s=now_s,
            began_unix_s=unix_time_s(),
            traceparent=traceparent,
        )
        logs = [make(facts) for make in hub.agent_logs]
        session = AgentSession(facts, plan, logs, hub.clock, self._leave)
        session.tools = ToolTasks(hub.tools, facts.session_id, session.tool_finished, session.idle)
        self._known[session.session_id] = _Known(session, principal)
        return session

    def resume(self, token: str, principal: Principal) -> AgentSession | None:
        known = self._by_token.get(token)
        if known is None or known.session.over or known.principal.name != principal.name:
            return None
        for other in [other for other in known.tokens if other != token]:
            known.tokens.remove(other)
            del self._by_token[other]
        left = self._left.pop(known.session.session_id, None)
        if left is not None:
            left.stop()
        return known.session

    def token(self, session: AgentSession) -> str:
        known, token = self._known[session.session_id], secrets.token_urlsafe(24)
        known.tokens.append(token)
        self._by_token[token] = known
        return token

    def forget(self, session: AgentSession) -> None:
        """Nothing of it is left to do."""
        left = self._left.pop(session.session_id, None)
        if left is not None:
            left.stop()
        known = self._known.pop(session.session_id, None)
        for token in known.tokens if known is not None else ():
            del self._by_token[token]
        session.end(self._hub.clock.now_s())

    def _leave(self, session: AgentSession) -> None:
        """Nobody holds it (any more), or the last of its tools has ended."""
        if session.session_id not in self._known:
            return
        left = self._left.get(session.session_id)
        if left is None:
            left = self._left[session.session_id] = LeftSession(session, self._hub, self.forget)
            left.enter()
            self._bound()
        left.look()

    def _bound(self) -> None:
        waiting = [left for left in self._left.values() if not left.session.over]
        for left in waiting[: max(0, len(waiting) - self._hub.settings.agent.max_waiting)]:
            left.drain()


class LeftSession:
    """A session without a socket, as the lifecycle's guest: it ends when its time is over and its tools have ended."""

    def __init__(self, session: AgentSession, hub: Hub, forget: Callable[[AgentSession], None]) -> None:
        self.session = session
        self._hub = hub
        self._forget = forget
        self._alarm = Alarm(hub.clock, self.look)

    def enter(self) -> None:
        self._hub.lifecycle.enter(self)

    def stop(self) -> None:
        self._alarm.stop()
        self._hub.lifecycle.leave(self)

    def look(self) -> None:
        self.session.catch_up(self._hub.clock.now_s())
        if self.session.over and not self.session.running:
            self._forget(self.session)
        else:
            self._alarm.plan([self.session.deadline_s])

    def drain(self) -> None:
        """Its client will find another server; its writes may come to their end."""
        if not self.session.over:
            self.session.handle(Closed(), self._hub.clock.now_s())
        self.look()

    def cut(self) -> None:
        self._forget(self.session)

    def drop(self) -> None:
        self._forget(self.session)


class AgentDoor:
    """The sessions as one caller sees them."""

    def __init__(self, sessions: AgentSessions, principal: Principal, traceparent: str = "") -> None:
        self._sessions = sessions
        self._principal = principal
        self._traceparent = traceparent

    def begin(self, start: wire.Start, now_s: float) -> AgentSession:
        return self._sessions.begin(start, self._principal, now_s, self._traceparent)

    def resume(self, token: str) -> AgentSession | None:
        return self._sessions.resume(token, self._principal)

    def token(self, session: AgentSession) -> str:
        return self._sessions.token(session)
