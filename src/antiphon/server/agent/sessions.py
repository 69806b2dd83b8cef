"""All agent sessions of this process: those that a socket holds, those that wait for their client, and those that are
over but whose tools have yet to end."""

import asyncio
import logging
import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from antiphon.core.clock import unix_time_s
from antiphon.core.errors import AntiphonError, AtCapacity
from antiphon.core.speech import SpeechConfig
from antiphon.protocol import native_messages as wire
from antiphon.server.agent.keeping import SessionKeeper
from antiphon.server.agent.left import LeftSession
from antiphon.server.agent.log import AgentSessionFacts
from antiphon.server.agent.plan import plan_session
from antiphon.server.agent.saved import VERSION, SavedSession, decode_session, encode_session
from antiphon.server.agent.session import AgentSession
from antiphon.server.agent.tools import ToolTasks, server_tools
from antiphon.server.auth import Principal
from antiphon.server.hub import Hub

log = logging.getLogger("antiphon")


@dataclass(slots=True)
class _Known:
    """``tokens``: the latest, and before it the one that the client has surely had."""

    session: AgentSession
    principal: Principal
    start: wire.Start
    kept: bool = False
    tokens: list[str] = field(default_factory=list)


class AgentSessions:
    """Opens, finds and ends them. The number of those that wait is bounded."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._known: dict[str, _Known] = {}
        self._by_token: dict[str, _Known] = {}
        self._left: dict[str, LeftSession] = {}
        self._sought: dict[str, asyncio.Task[AtCapacity | None]] = {}

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
        self,
        start: wire.Start,
        principal: Principal,
        now_s: float,
        traceparent: str = "",
        session_id: str = "",
    ) -> AgentSession:
        """``session_id``: of one that an earlier process began. Raises ``NotFound``, ``InvalidInput``."""
        hub = self._hub
        handover = hub.settings.agent.handover.url is not None
        plan = plan_session(hub.settings, server_tools(hub.tools, handover), start, hub.voices.default_voice.id)
        _, speech = hub.voices.resolve(SpeechConfig(voice=plan.voice, language=plan.language))
        voice = hub.voices.voice(speech.voice)
        facts = AgentSessionFacts(
            session_id=session_id or f"as_{uuid.uuid4().hex[:20]}",
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
        self._known[session.session_id] = known = _Known(session, principal, start)
        if hub.keeper is not None:
            session.keep, session.keep_always = lambda: self._keep(known, running=True), hub.keeper.always
        return session

    async def find(self, token: str, principal: Principal, traceparent: str = "") -> None:
        """Look among the sessions of earlier processes; what is found waits for its client here, like any other.

        Whoever else presents the token meanwhile waits for the result. Raises ``AtCapacity`` where another server has
        yet to let go of it.
        """
        while (asked := self._sought.get(token)) is not None:
            await asyncio.wait((asked,))
        keeper = self._hub.keeper
        if keeper is None or token in self._by_token:
            return
        # A task, since what was taken must be put somewhere, even if the client has gone.
        seeking = self._restored(keeper, token, principal, traceparent)
        task = self._sought[token] = asyncio.create_task(seeking)
        task.add_done_callback(lambda _: self._sought.pop(token))
        if (refusal := await asyncio.shield(task)) is not None:
            raise refusal

    def resume(self, token: str, principal: Principal) -> AgentSession | None:
        """One that this process has, or has found."""
        known = self._by_token.get(token)
        if known is None:
            return None
        if known.session.over or known.principal.name != principal.name:
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
        if session.keep_always and session.keep is not None:
            session.keep()
        return token

    def put_away(self, session: AgentSession, done: Callable[[], None]) -> None:
        """For another process; ``done`` is called on the keeper's thread."""
        self._keep(self._known[session.session_id], running=False, done=done)

    def forget(self, session: AgentSession, *, kept: bool = False) -> None:
        """Nothing of it is left to do. ``kept``: here; another process may go on with it."""
        left = self._left.pop(session.session_id, None)
        if left is not None:
            left.stop()
        known = self._known.pop(session.session_id, None)
        for token in known.tokens if known is not None else ():
            del self._by_token[token]
        if known is not None and known.kept and not kept and self._hub.keeper is not None:
            self._hub.keeper.drop(session.session_id)
        session.end(self._hub.clock.now_s())

    def _leave(self, session: AgentSession) -> None:
        """Nobody holds it (any more), or the last of its tools has ended."""
        if session.session_id not in self._known:
            return
        left = self._left.get(session.session_id)
        if left is None:
            left = self._wait(session)
            self._bound()
        left.look()

    def _wait(self, session: AgentSession) -> LeftSession:
        left = self._left[session.session_id] = LeftSession(session, self._hub, self)
        left.enter()
        return left

    def _bound(self) -> None:
        waiting = [left for left in self._left.values() if not left.session.over]
        for left in waiting[: max(0, len(waiting) - self._hub.settings.agent.max_waiting)]:
            left.give_up()

    def _keep(self, known: _Known, *, running: bool, done: Callable[[], None] | None = None) -> None:
        keeper, session = self._hub.keeper, known.session
        if keeper is None or session.over:
            return
        known.kept = True
        saved = SavedSession(
            VERSION,
            session.session_id,
            known.principal.name,
            msgspec.structs.replace(known.start, resume=None, heard=None),
            session.media_samples,
            list(session.open_calls.values()),
            running,
            unix_time_s(),
            session.conversation.save(),
        )
        keeper.keep(session.session_id, known.tokens, encode_session(saved), running=running, done=done)

    async def _restored(
        self, keeper: SessionKeeper, token: str, principal: Principal, traceparent: str
    ) -> AtCapacity | None:
        """A session of an earlier process waits here, if there is one; or why it cannot be had yet."""
        found: SavedSession | None = None

        def accept(data: bytes) -> bool:
            nonlocal found
            found = decode_session(data)
            return found is not None and found.principal == principal.name

        try:
            data = await asyncio.to_thread(keeper.take, token, accept)
        except AtCapacity as error:
            return error
        if data is None or found is None:
            return None
        now_s = self._hub.clock.now_s()
        try:
            session = self.begin(found.start, principal, now_s, traceparent, found.session_id)
        except AntiphonError as error:
            log.warning("a session of an earlier process cannot go on: %s", error)
            return None
        session.restore(found, now_s, max(0.0, unix_time_s() - found.unix_s))
        known = self._known[session.session_id]
        known.tokens.append(token)
        self._by_token[token] = known
        self._wait(session).look()
        return None


class AgentDoor:
    """The sessions as one caller sees them."""

    def __init__(self, sessions: AgentSessions, principal: Principal, traceparent: str = "") -> None:
        self._sessions = sessions
        self._principal = principal
        self._traceparent = traceparent
        self._refusal: AtCapacity | None = None

    def begin(self, start: wire.Start, now_s: float) -> AgentSession:
        return self._sessions.begin(start, self._principal, now_s, self._traceparent)

    async def find(self, token: str) -> None:
        try:
            await self._sessions.find(token, self._principal, self._traceparent)
        except AtCapacity as error:
            self._refusal = error

    def resume(self, token: str) -> AgentSession | None:
        if self._refusal is not None:
            raise self._refusal
        return self._sessions.resume(token, self._principal)

    def token(self, session: AgentSession) -> str:
        return self._sessions.token(session)
