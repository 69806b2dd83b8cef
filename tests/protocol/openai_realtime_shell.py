"""A shell for the Realtime machine that plays the server's part; every frame is checked by the clients' own models."""

import base64
import itertools
import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from openai.types.realtime import RealtimeServerEvent
from pydantic import TypeAdapter

from antiphon.core.brain import BrainDone, BrainEvent, BrainRequest, TextDelta
from antiphon.core.event import Audio, Event, Flushed, Timed, WordTimes
from antiphon.core.hearing import Heard, HearingConfig
from antiphon.core.speech import SpeechConfig
from antiphon.core.turns import EndpointSettings, TurnEnded, TurnEvent, TurnStarted
from antiphon.protocol.actions import (
    AgentAction,
    Ask,
    Cancel,
    Close,
    CloseSocket,
    Configure,
    Flush,
    Key,
    Note,
    Open,
    Push,
    Send,
)  # fmt: skip
from antiphon.protocol.openai_realtime import RealtimeLimits, RealtimeSocket
from antiphon.protocol.openai_realtime_session import Settings

events = pytest.importorskip("pipecat.services.openai.realtime.events")
SERVER_EVENT: TypeAdapter[Any] = TypeAdapter(RealtimeServerEvent)


def check_frame(frame: bytes) -> dict[str, Any]:
    """Raises where the openai SDK or pipecat would not understand it."""
    message: dict[str, Any] = json.loads(frame)
    SERVER_EVENT.validate_python(message, strict=True)
    spoken_by_pipecat = message.get("session", {}).get("type") != "transcription"
    spoken_by_pipecat &= not isinstance(message.get("session", {}).get("tool_choice"), dict)
    if spoken_by_pipecat:
        events.parse_server_event(frame)
    return message


@dataclass
class Shell:
    kind: str = "realtime"
    limits: RealtimeLimits = field(default_factory=RealtimeLimits)
    now_s: float = 100.0
    frames: list[dict[str, Any]] = field(default_factory=list)
    asked: dict[Key, BrainRequest] = field(default_factory=dict)
    opened: dict[Key, SpeechConfig | HearingConfig] = field(default_factory=dict)
    pushed: dict[Key, list[Any]] = field(default_factory=dict)
    flushes: list[Flush] = field(default_factory=list)
    configured: list[EndpointSettings] = field(default_factory=list)
    gone: list[Key] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    closed: int | None = None

    def __post_init__(self) -> None:
        ids = itertools.count(1)
        settings = Settings(kind=self.kind, id="sess_1", expires_at=1_900_000_000)  # type: ignore[arg-type]
        self.socket = RealtimeSocket(settings, self.limits, lambda: f"{next(ids)}")

    def do(self, actions: list[AgentAction]) -> list[dict[str, Any]]:
        sent: list[dict[str, Any]] = []
        for action in actions:
            match action:
                case Send():
                    sent.append(check_frame(action.frame))
                case Open():
                    assert action.key not in self.opened
                    self.opened[action.key] = action.config
                    self.pushed[action.key] = []
                case Push():
                    self.pushed[action.key].append(action.item)
                case Flush():
                    self.flushes.append(action)
                case Configure():
                    self.configured.append(action.settings)
                case Ask():
                    assert action.key not in self.asked
                    self.asked[action.key] = action.request
                case Cancel() | Close():
                    self.gone.append(action.key)
                case CloseSocket():
                    self.closed = action.code
                case Note():
                    self.notes.append(action.message)
        self.frames += sent
        return sent

    def send(self, kind: str, **fields: Any) -> list[dict[str, Any]]:
        return self.do(self.socket.receive(json.dumps({"type": kind, **fields}), self.now_s))

    def raw(self, frame: str | bytes) -> list[dict[str, Any]]:
        return self.do(self.socket.receive(frame, self.now_s))

    def tick(self, after_s: float = 0.0) -> list[dict[str, Any]]:
        self.now_s += after_s
        return self.do(self.socket.tick(self.now_s))

    def give(self, key: Key, *news: Event | TurnEvent | BrainEvent) -> list[dict[str, Any]]:
        return [f for event in news for f in self.do(self.socket.deliver(key, event, self.now_s))]

    def append(self, seconds: float = 0.5, rate: int = 48_000) -> None:
        self.send("input_audio_buffer.append", audio=base64.b64encode(bytes(int(rate * seconds))).decode())

    @property
    def settings(self) -> Settings:
        return self.socket.settings

    @property
    def ear(self) -> Key:
        return max(k for k, config in self.opened.items() if isinstance(config, HearingConfig))

    @property
    def voice(self) -> Key:
        return max(k for k, config in self.opened.items() if isinstance(config, SpeechConfig))

    @property
    def brain(self) -> Key:
        return max(self.asked)

    def turn(self, text: str, start: int = 1600, end: int = 16_000) -> list[dict[str, Any]]:
        self.append()
        return self.give(self.ear, TurnStarted(start), TurnEnded(text, end, "model"))

    def heard(self, text: str) -> list[dict[str, Any]]:
        """Words, then the answer to the last flush of the ear."""
        flush = next(f for f in reversed(self.flushes) if isinstance(self.opened[f.key], HearingConfig))
        return self.give(flush.key, Heard(text, len(text), True), Flushed(flush.marker))

    def say(self, text: str, ms: int = 400) -> list[dict[str, Any]]:
        """The brain's words, and audio and word times for them."""
        sent = self.give(self.brain, TextDelta(text))
        size = 24 * ms // max(1, len(text.split()))
        words = tuple(Timed(w, n * size, (n + 1) * size) for n, w in enumerate(text.split()))
        return sent + self.give(self.voice, WordTimes(words, words, 24_000), Audio(bytes(48 * ms), 0, 24 * ms, 24_000))

    def finish(self, reason: str = "stop") -> list[dict[str, Any]]:
        sent = self.give(self.brain, BrainDone(reason, 12, 5))
        ends = [f for f in self.flushes if f.marker == "end" and f.key not in self.gone]
        return sent + [f for end in ends for f in self.give(end.key, Flushed("end"))]


def kinds(frames: list[dict[str, Any]]) -> list[str]:
    return [frame["type"] for frame in frames]


def only(frames: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    (found,) = [frame for frame in frames if frame["type"] == kind]
    return found
