"""An agent socket in virtual time: the machine and a session with a real voice engine behind a fake voice, a scripted
brain, ear and tools, and a client that plays what it gets and says how far it is.

The shell is done here as :class:`antiphon.server.session.SpeechSocket` does it, but for the waiting.
"""

import json
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from antiphon.client.playback import SimulatedPlayer
from antiphon.core.brain import BrainDone, BrainEvent, BrainFailed, BrainRequest, ToolSpec
from antiphon.core.errors import AntiphonError, AtCapacity
from antiphon.core.event import Event, Failed
from antiphon.core.hearing import HearingConfig, Listened
from antiphon.core.speech import SpeechConfig
from antiphon.core.turns import EndpointSettings
from antiphon.dialog.conversation_actions import Handover
from antiphon.dialog.conversation_events import Moment
from antiphon.dialog.conversation_log import Observed
from antiphon.dialog.tool_run import CallTool
from antiphon.engine.fake import FAKE_VOICE, FakeScript, FakeVoice, VirtualLoop
from antiphon.engine.tts import TtsEngine, TtsStream
from antiphon.protocol import native_messages as wire
from antiphon.protocol.actions import (
    AgentAction,
    Ask,
    Cancel,
    Close,
    CloseSocket,
    Configure,
    Flush,
    Key,
    Open,
    Push,
    Send,
    SendBytes,
)
from antiphon.protocol.native import NativeLimits
from antiphon.server.agent.log import AgentSessionFacts
from antiphon.server.agent.machine import AgentMachine
from antiphon.server.agent.plan import ServerTools, plan_session
from antiphon.server.agent.session import AgentSession
from antiphon.settings import Settings

from ...dialog.talking import hesitates, says

SPECS = (
    ToolSpec("look_up", "Looks up an order"),
    ToolSpec("book", "Books an appointment", effect="write"),
)
REPORT_S = 0.05


class Diary:
    """A log that keeps everything."""

    def __init__(self) -> None:
        self.entries: list[tuple[Moment, Observed]] = []
        self.heard_bytes = 0
        self.said: dict[str, bytearray] = {}
        self.ended: list[str] = []

    def observe(self, moment: Moment, entry: Observed) -> None:
        assert not self.ended, "after the end"
        self.entries.append((moment, entry))

    def user_audio(self, moment: Moment, data: bytes, encoding: str, rate_hz: int) -> None:
        self.heard_bytes += len(data)

    def agent_audio(self, moment: Moment, speech_id: str, start_sample: int, data: bytes) -> None:
        said = self.said.setdefault(speech_id, bytearray())
        assert len(said) == 2 * start_sample
        said += data

    def end(self, moment: Moment, reason: str) -> None:
        self.ended.append(reason)

    def of(self, kind: type) -> list[Any]:
        return [entry for _, entry in self.entries if isinstance(entry, kind)]


class Tools:
    """Results come ``delays`` seconds after the call; what was begun is in ``started``."""

    def __init__(self, world: "AgentWorld") -> None:
        self._world = world
        self.started: list[CallTool] = []
        self.returned: dict[str, str] = {}
        self.handovers: list[Handover] = []
        self.results: dict[str, tuple[float, str, bool]] = {}
        self._open: set[str] = set()

    @property
    def running(self) -> bool:
        return bool(self._open)

    def start(self, call: CallTool, turn: int) -> None:
        self.started.append(call)
        call_id = call.call.call_id
        delay_s, content, ok = self.results.get(call.call.name, (0.3, '{"ok":true}', True))
        self._open.add(call_id)

        def finish() -> None:
            if call_id in self._open:
                self._open.discard(call_id)
                self.returned[call_id] = content
                self._world.session.tool_finished(call_id, content, ok)

        if delay_s != float("inf"):
            self._world.after(delay_s, finish)

    def cancel(self, call_id: str) -> None:
        self._open.discard(call_id)

    def hand_over(self, session_id: str, handover: Handover) -> None:
        self.handovers.append(handover)


@dataclass
class Client:
    """One socket as its client sees it."""

    machine: AgentMachine
    lines: dict[Key, Any] = field(default_factory=dict)
    questions: set[Key] = field(default_factory=set)
    ear: Key | None = None
    closed_with: int | None = None
    messages: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    last_heard: dict[str, Any] | None = None


class AgentWorld:
    """``brain`` answers a request with events, a token each 20 ms after the first 100."""

    def __init__(
        self,
        brain: Callable[[BrainRequest], list[BrainEvent]],
        agent: dict[str, Any] | None = None,
        specs: tuple[ToolSpec, ...] = SPECS,
        *,
        reports: bool = True,
        targets: dict[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.loop = VirtualLoop()
        self.clock = self.loop.clock
        self.settings = Settings(agent={"greeting": "", "speculate": True, **(agent or {})})  # type: ignore[arg-type]
        self.voice = FakeVoice(FakeScript(char_s=0.06))
        self.engine = TtsEngine(self.voice, self.loop.scheduler, 8)
        self.brain = brain
        self.tools = Tools(self)
        self.diary = Diary()
        self.reports = reports
        self.server_tools = ServerTools(specs, targets or {})
        self.player = SimulatedPlayer(self.clock, wire.AudioShape(), keep=True)
        self.clients: list[Client] = []
        self.refuse_ear: AntiphonError | None = None
        self.brain_fault: Callable[[int, int], str] = lambda request, index: ""
        self.words: dict[str, list[wire.Word]] = {}
        self.replies: list[str] = []
        self.configured: list[EndpointSettings] = []
        self.left = 0
        self.deaf = False
        self._asked = 0
        self._sessions: dict[str, AgentSession] = {}
        self._tokens = 0
        self._playing: str | None = None
        self._reporting = False

    # A door of sessions

    @property
    def session(self) -> AgentSession:
        return next(iter(self._sessions.values()))

    def begin(self, start: wire.Start, now_s: float) -> AgentSession:
        plan = plan_session(self.settings, self.server_tools, start, FAKE_VOICE.id)
        facts = AgentSessionFacts(
            "s", "", "scripted", "fake", "en", start.input.encoding, start.input.sample_rate_hz,
            start.output.encoding, start.output.sample_rate_hz, now_s, 0.0,
        )  # fmt: skip
        self.diary = Diary()
        session = AgentSession(facts, plan, [self.diary], self.clock, self._leave)
        session.tools = self.tools
        self._sessions = {"": session}
        return session

    async def find(self, token: str) -> None:
        """All sessions are here."""

    def resume(self, token: str) -> AgentSession | None:
        session = self._sessions.get("")
        return session if session is not None and token.startswith("t") and not session.over else None

    def token(self, session: AgentSession) -> str:
        self._tokens += 1
        return f"t{self._tokens}"

    def _leave(self, session: AgentSession) -> None:
        self.left += 1
        self._watch(session)

    def _watch(self, session: AgentSession) -> None:
        """What the sessions' own timer does for a session without a socket."""
        if session.held:
            return
        session.catch_up(self.now_s)
        if session.over and not session.running:
            session.end(self.now_s)
        elif session.deadline_s is not None:
            self.loop.at(max(session.deadline_s, self.now_s) + 1e-6, lambda: self._watch(session))

    # The client

    @property
    def now_s(self) -> float:
        return self.clock.now_s()

    @property
    def client(self) -> Client:
        return self.clients[-1]

    def connect(self, **start: Any) -> Client:
        client = Client(AgentMachine(self, NativeLimits()))
        self.clients.append(client)

        def drop() -> None:
            self.lose(client)

        client.machine.connect(lambda: self._do(client, client.machine.tick(self.now_s)), drop)
        self.send("start", **start)
        self._hear()
        return client

    def send(self, kind: str, **fields: Any) -> None:
        self.frame(json.dumps({"type": kind, **fields}))

    def frame(self, frame: str | bytes) -> None:
        client = self.client
        self._do(client, client.machine.receive(frame, self.now_s))

    def lose(self, client: Client | None = None) -> None:
        """The socket breaks; the player stops."""
        client = client or self.client
        if client.closed_with is not None:
            return
        client.closed_with = 1006
        if self._playing is not None:
            position = self.player.position(self._playing)
            client.last_heard = {"reply_id": self._playing, "sample": position.sample}
            self.player.clear(self._playing, 0)
            self._playing = None
        for line in client.lines.values():
            line.close()
        client.lines.clear()
        client.questions.clear()
        client.machine.gone(self.now_s)

    def come_back(self, token: str | None = None, **start: Any) -> Client:
        ready = [message for client in self.clients for _, message in client.messages if message["type"] == "ready"]
        heard = self.client.last_heard
        return self.connect(resume=token or ready[-1]["resume_token"], heard=heard, **start)

    def _hear(self) -> None:
        """The microphone: 100 ms of silence each 100 ms, for as long as the socket lives."""
        client = self.client

        def piece() -> None:
            nonlocal heard
            if client.closed_with is None:
                self._do(client, client.machine.receive(b"\1" + bytes(3_200), self.now_s))
                heard += 1_600
                if client.ear is not None and not self.deaf:
                    self._do(client, client.machine.deliver(client.ear, Listened(heard, False), self.now_s))
                self.after(0.1, piece)

        heard = 0

        piece()

    # The user, by what the ear makes of him

    def at(self, at_s: float, call: Callable[[], None]) -> None:
        self.loop.at(at_s, call)

    def after(self, seconds: float, call: Callable[[], None]) -> None:
        self.loop.at(self.now_s + seconds, call)

    def ear(self, at_s: float, event: object) -> None:
        def say() -> None:
            client = self.client
            if client.ear is not None and client.closed_with is None:
                self._do(client, client.machine.deliver(client.ear, event, self.now_s))  # type: ignore[arg-type]

        self.at(at_s, say)

    def says(self, at_s: float, text: str, eager: bool = True, pace_s: float = 0.3, end_s: float = 0.4) -> float:
        return says(self.ear, at_s, text, eager, pace_s, end_s)

    def hesitates(self, at_s: float, first: str, rest: str, pause_s: float = 1.0) -> float:
        return hesitates(self.ear, at_s, first, rest, pause_s)

    def run(self, until_s: float) -> "AgentWorld":
        self.loop.run(until_s)
        self.clock.advance_to(until_s)
        return self

    # The shell

    def _do(self, client: Client, actions: Iterable[AgentAction]) -> None:
        todo = deque(actions)
        while todo:
            todo.extendleft(reversed(list(self._act(client, todo.popleft()))))
        self._plan(client)

    def _act(self, client: Client, action: AgentAction) -> Iterable[AgentAction]:
        if client.closed_with is not None:
            return ()
        match action:
            case Send():
                self._receive(client, json.loads(action.frame))
            case SendBytes():
                assert action.frame[0] == 1
                self._play(action.frame[1:])
            case CloseSocket():
                for line in client.lines.values():
                    line.close()
                client.lines.clear()
                client.closed_with = action.code
                self.after(0.0, lambda: client.machine.gone(self.now_s))
            case Open(config=HearingConfig()):
                if self.refuse_ear is not None:
                    return client.machine.refused(action.key, self.refuse_ear, self.now_s)
                client.ear = action.key
            case Open(config=SpeechConfig()):
                try:
                    self._open(client, action)
                except AntiphonError as error:
                    return client.machine.refused(action.key, error, self.now_s)
            case Push() | Flush():
                line = client.lines.get(action.key)
                if isinstance(action, Push) and line is not None:
                    line.push(action.item)
                elif isinstance(action, Flush) and line is not None:
                    line.flush(action.marker, last=action.last)
                self._tick_line(client, action.key)
            case Ask():
                client.questions.add(action.key)
                self._think(client, action)
            case Cancel() | Close():
                client.questions.discard(action.key)
                line = client.lines.pop(action.key, None)
                if line is not None:
                    line.close()
            case Configure():
                assert action.key == client.ear
                self.configured.append(action.settings)
        return ()

    def _open(self, client: Client, action: Open) -> None:
        key = action.key
        queued = False

        def pull() -> None:
            nonlocal queued
            queued = False
            stream = client.lines.get(key)
            while stream is not None and (events := stream.pull(1)):
                self._do(client, client.machine.deliver(key, events[0], self.now_s))
                stream = client.lines.get(key)

        def wake() -> None:
            nonlocal queued
            if not queued:
                queued = True
                self.after(0.0, pull)

        assert isinstance(action.config, SpeechConfig)
        client.lines[key] = self.engine.open_stream(action.config, wake)

    def _tick_line(self, client: Client, key: Key) -> None:
        line = client.lines.get(key)
        due_s = line.tick(self.now_s) if isinstance(line, TtsStream) else None
        if due_s is not None:
            self.loop.at(max(due_s, self.now_s), lambda: self._tick_line(client, key))

    def break_voice(self, key: Key | None = None) -> None:
        """The stream that speaks now reports that it is dead."""
        client = self.client
        for mine in list(client.lines) if key is None else [key]:
            self._do(client, client.machine.deliver(mine, Failed("gone"), self.now_s))

    def hear(self, event: Event) -> None:
        """An event of the ear itself."""
        assert self.client.ear is not None
        self._do(self.client, self.client.machine.deliver(self.client.ear, event, self.now_s))

    def _think(self, client: Client, action: Ask) -> None:
        at_s, request = self.now_s + 0.1, self._asked
        self._asked += 1

        def say(event: BrainEvent) -> Callable[[], None]:
            def give() -> None:
                if action.key in client.questions:
                    if isinstance(event, BrainDone | BrainFailed):
                        client.questions.discard(action.key)
                    self._do(client, client.machine.deliver(action.key, event, self.now_s))

            return give

        for index, event in enumerate(self.brain(action.request)):
            fault = self.brain_fault(request, index)
            if fault == "mute":
                return
            self.loop.at(at_s, say(BrainFailed(fault) if fault else event))
            if fault:
                return
            at_s += 0.02

    def _plan(self, client: Client) -> None:
        due_s = client.machine.due_s
        if due_s is None or client.closed_with is not None:
            return

        def ring() -> None:
            now_due_s = client.machine.due_s
            if client.closed_with is None and now_due_s is not None and now_due_s <= self.now_s:
                self._do(client, client.machine.tick(self.now_s))

        self.loop.at(max(due_s, self.now_s), ring)

    # What the client does with it

    def _receive(self, client: Client, message: dict[str, Any]) -> None:
        client.messages.append((self.now_s, message))
        reply_id = message.get("reply_id", "")
        match message["type"]:
            case "reply.start":
                assert reply_id not in self.replies, "a reply that begins twice"
                self.replies.append(reply_id)
                self._playing = reply_id
            case "reply.words":
                assert reply_id == self._playing
                self.words.setdefault(reply_id, []).extend(wire.Word(**word) for word in message["words"])
            case "reply.text" | "reply.mark":
                assert reply_id == self._playing
            case "reply.end":
                assert reply_id == self._playing
                self.player.end(reply_id)
            case "reply.pause":
                self.player.pause(reply_id, 0)
            case "reply.continue":
                self.player.go_on(reply_id)
            case "clear":
                self.player.clear(reply_id, 0)
                self._report_now(reply_id)
                if reply_id == self._playing:
                    self._playing = None
            case _:
                pass

    def _play(self, data: bytes) -> None:
        assert self._playing is not None, "audio without a reply"
        self.player.push(self._playing, data)
        if not self._reporting and self.reports:
            self._reporting = True
            self.after(REPORT_S, self._report)

    def _report(self) -> None:
        self._reporting = False
        if self._playing is None or self.client.closed_with is not None:
            return
        position = self._report_now(self._playing)
        if not position.over:
            self._reporting = True
            self.after(REPORT_S, self._report)

    def _report_now(self, reply_id: str) -> Any:
        position = self.player.position(reply_id)
        if self.reports and self.client.closed_with is None:
            report = {"reply_id": reply_id, "sample": position.sample, "underruns": position.underruns}
            self.after(0.0, lambda: self.send("played", **report))
        return position

    # What came of it

    def kinds(self) -> list[str]:
        return [message["type"] for client in self.clients for _, message in client.messages]

    def messages(self, kind: str) -> list[dict[str, Any]]:
        return [m for client in self.clients for _, m in client.messages if m["type"] == kind]

    def times(self, kind: str) -> list[float]:
        return [at_s for client in self.clients for at_s, m in client.messages if m["type"] == kind]

    @property
    def heard(self) -> str:
        """What really sounded to its end, in order."""
        words: list[str] = []
        for reply_id in self.replies:
            played = self.player.position(reply_id).sample
            words += [word.text for word in self.words.get(reply_id, []) if word.end_sample <= played]
        return " ".join(words)

    @property
    def history(self) -> list[str]:
        return [f"{m.role}: {m.content}" for m in self.session.conversation.history.messages() if m.role != "system"]

    def full(self) -> None:
        self.refuse_ear = AtCapacity("no place")
