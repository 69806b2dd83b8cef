"""Engines that say what a test tells them to, and a real uvicorn on a loopback port in the test's own loop."""

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect

from antiphon.core.brain import Brain
from antiphon.core.errors import AntiphonError, InvalidInput, NotFound
from antiphon.core.event import Audio, Event, Flushed, Marker
from antiphon.core.hearing import HearingConfig
from antiphon.core.speech import SpeechConfig, VoiceInfo
from antiphon.engine.fake import FakeEar, FakeEarStream
from antiphon.server.agent import SessionKeeper
from antiphon.server.agent.tools import NO_TOOLS, ToolSource
from antiphon.server.app import App, create_app
from antiphon.server.binding import bind, config
from antiphon.server.journal import Entry
from antiphon.server.run import _Server
from antiphon.settings import Settings

RATE_HZ = 24_000
VOICE = VoiceInfo("v", "Vee", "scripted", "en", ("en-US",), "neutral", "A script.", "test", "Apache-2.0", "test")
ORDER: dict[str, Any] = {
    "model_id": "sonic-3",
    "voice": {"mode": "id", "id": "v"},
    "output_format": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": RATE_HZ},
    "language": "en",
}


def audio(data: bytes = b"\1\0" * 480) -> Audio:
    return Audio(data, 0, len(data) // 2, RATE_HZ, 0.001)


class ScriptedStream:
    """Holds what was pushed; says what :meth:`say` was given. ``answers``: it speaks each text and flush by itself."""

    def __init__(self, engine: "ScriptedEngine", config: SpeechConfig, wake: Callable[[], None]) -> None:
        self.config = config
        self.pushed: list[Any] = []
        self.flushes: list[tuple[Marker, bool]] = []
        self.closed = False
        self.taken = 0
        self.due_s: float | None = None
        self.ticks = 0
        self._engine = engine
        self._wake = wake
        self._box: deque[Event] = deque()

    @property
    def waiting(self) -> int:
        return len(self._box)

    def say(self, *events: Event) -> None:
        was_empty = not self._box
        self._box.extend(events)
        if was_empty and events:
            self._wake()

    def end(self) -> None:
        self.say(Flushed(self.flushes[-1][0]))

    def push(self, item: Any) -> None:
        if self._engine.choke is not None:
            raise self._engine.choke
        self.pushed.append(item)
        if self._engine.answers and isinstance(item, str):
            self.say(audio(item.encode().ljust(960, b"\0")[:960]))

    def flush(self, marker: Marker, *, last: bool = False) -> None:
        self.flushes.append((marker, last))
        if self._engine.answers:
            self.say(Flushed(marker))

    def pull(self, limit: int | None = None) -> list[Event]:
        taken = [self._box.popleft() for _ in range(min(len(self._box), limit or len(self._box)))]
        self.taken += len(taken)
        return taken

    def tick(self, now_s: float) -> float | None:
        self.ticks += 1
        return self.due_s

    def cancel(self) -> None:
        self._box.clear()

    def close(self) -> None:
        self._box.clear()
        self.closed = True


class ScriptedEngine:
    """The registry and the engine in one."""

    name = "scripted"
    default_voice = VOICE

    def __init__(self, *, answers: bool = False, hears: Sequence[str] = ()) -> None:
        self.answers = answers
        self.ear = FakeEar(*hears)
        self.streams: list[ScriptedStream] = []
        self.refuse: BaseException | None = None
        self.choke: AntiphonError | None = None
        self.warmed = 0

    @property
    def open(self) -> "list[ScriptedStream | FakeEarStream]":
        return [stream for stream in (*self.streams, *self.ear.streams) if not stream.closed]

    def voices(self) -> tuple[VoiceInfo, ...]:
        return (VOICE,)

    def voice(self, name: str) -> VoiceInfo:
        if name not in ("v", "Vee", "alloy"):
            raise NotFound(f"voice {name!r} is not known", "voice")
        return VOICE

    def resolve(self, config: SpeechConfig) -> "tuple[ScriptedEngine, SpeechConfig]":
        if config.language not in ("", "en"):
            raise InvalidInput(f"no voice here speaks {config.language!r}", "language")
        return self, replace(config, voice=self.voice(config.voice).id)

    def open_stream(self, config: SpeechConfig, wake: Callable[[], None]) -> ScriptedStream:
        if self.refuse is not None:
            raise self.refuse
        self.streams.append(ScriptedStream(self, config, wake))
        return self.streams[-1]

    def ears(self) -> tuple[str, ...]:
        return (self.ear.name,)

    def listener(self, config: HearingConfig) -> tuple[FakeEar, HearingConfig]:
        if self.refuse is not None:
            raise self.refuse
        return self.ear, config

    def warm_up(self) -> None:
        self.warmed += 1

    def close(self) -> None:
        pass


def settings(**sections: dict[str, Any]) -> Settings:
    sections["server"] = {"port": 0, **sections.get("server", {})}
    # Whatever this user keeps at home is no part of a test.
    sections["tts"] = {"dictionaries": "/nonexistent/dictionaries.db", **sections.get("tts", {})}
    return Settings(**sections)  # type: ignore[arg-type]


class Diary:
    """A fold of the journal that tests can wait on."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._grown = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()

    def fold(self, entry: Entry) -> None:
        self.entries.append(entry)
        task = asyncio.get_running_loop().create_task(self._tell())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def of(self, kind: type) -> list[Any]:
        return [entry for entry in self.entries if isinstance(entry, kind)]

    async def until(self, kind: type, count: int = 1) -> list[Any]:
        async with asyncio.timeout(5), self._grown:
            await self._grown.wait_for(lambda: len(self.of(kind)) >= count)
        return self.of(kind)

    async def _tell(self) -> None:
        async with self._grown:
            self._grown.notify_all()


@dataclass
class Served:
    app: App
    engine: ScriptedEngine
    diary: Diary
    port: int
    server: Any

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def socket(self, query: str = "", path: str = "/tts/websocket", **options: Any) -> connect:
        return connect(f"ws://127.0.0.1:{self.port}{path}{query}", proxy=None, **options)

    def client(self, **options: Any) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self.url, trust_env=False, timeout=5, **options)


def make_app(
    engine: ScriptedEngine,
    given: Settings | None = None,
    *,
    ready: bool = True,
    brain: Brain | None = None,
    tools: ToolSource = NO_TOOLS,
    keeper: SessionKeeper | None = None,
) -> tuple[App, Diary]:
    diary = Diary()
    app = create_app(given or settings(), engine, brain=brain, tools=tools, folds=[diary.fold], keeper=keeper)
    if ready:
        app.hub.lifecycle.ready()
    return app, diary


@contextlib.asynccontextmanager
async def serving(
    engine: ScriptedEngine,
    given: Settings | None = None,
    *,
    ready: bool = True,
    brain: Brain | None = None,
    tools: ToolSource = NO_TOOLS,
    keeper: SessionKeeper | None = None,
) -> AsyncIterator[Served]:
    given = given or settings()
    app, diary = make_app(engine, given, ready=ready, brain=brain, tools=tools, keeper=keeper)
    sock = bind(given.server)
    sock.listen()
    server = _Server(config(given, app))
    task = asyncio.get_running_loop().create_task(server.serve([sock]))
    try:
        yield Served(app, engine, diary, sock.getsockname()[1], server)
    finally:
        server.should_exit = True
        await task


@contextlib.asynccontextmanager
async def in_process(
    engine: ScriptedEngine, given: Settings | None = None, *, ready: bool = True
) -> AsyncIterator[tuple[httpx.AsyncClient, App, Diary]]:
    app, diary = make_app(engine, given, ready=ready)
    transport = httpx.ASGITransport(app, raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url="http://antiphon.test") as client:
        yield client, app, diary


def run(test: Awaitable[None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(20):
            await test

    asyncio.run(bounded())


async def until(condition: Callable[[], Any]) -> None:
    """Let the loop turn until ``condition`` holds."""
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0)


async def send(socket: ClientConnection, context_id: str | None, transcript: str, **fields: Any) -> None:
    named = {} if context_id is None else {"context_id": context_id}
    await socket.send(json.dumps({**ORDER, **named, "transcript": transcript, **fields}))


async def cancel(socket: ClientConnection, context_id: str) -> None:
    await socket.send(json.dumps({"context_id": context_id, "cancel": True}))


async def receive(socket: ClientConnection) -> dict[str, Any]:
    async with asyncio.timeout(5):
        return dict(json.loads(await socket.recv()))


async def receive_until(socket: ClientConnection, kind: str) -> list[dict[str, Any]]:
    messages = [await receive(socket)]
    while messages[-1]["type"] != kind:
        messages.append(await receive(socket))
    return messages
