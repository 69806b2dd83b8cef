"""A shell for the listening sockets' machines: plays the server's part with a stream that a test speaks for."""

import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from antiphon.core.clock import ManualClock
from antiphon.core.errors import AntiphonError
from antiphon.core.event import Event, Flushed, Marker
from antiphon.core.hearing import EAR_RATE_HZ, Heard, HeardWord, HearingConfig
from antiphon.core.turns import EndpointSettings, TurnEvent
from antiphon.protocol.actions import Action, Cancel, Close, CloseSocket, Configure, Flush, Key, Note, Open, Push, Send
from antiphon.protocol.cartesia_stt import SttSocket
from antiphon.protocol.cartesia_stt_socket import HearingLimits, HearingSocket
from antiphon.protocol.cartesia_stt_turns import TurnsSocket

QUERY = "model=ink-2&encoding=pcm_s16le&sample_rate=16000"


def s(seconds: float) -> int:
    return round(seconds * EAR_RATE_HZ)


def heard(text: str, start_s: float, end_s: float, *, final: bool = False, words: bool = True) -> Heard:
    """A hypothesis whose words share the time evenly."""
    tokens = text.split() if words else []
    step = (end_s - start_s) / max(1, len(tokens))
    timed = tuple(
        HeardWord(token, s(start_s + at * step), s(start_s + (at + 1) * step), 0.9) for at, token in enumerate(tokens)
    )
    return Heard(text, len(text) if final else 0, final, timed, s(start_s), s(end_s))


def final(text: str, start_s: float, end_s: float, **more: Any) -> Heard:
    return heard(text, start_s, end_s, final=True, **more)


@dataclass
class FakeEar:
    config: HearingConfig
    audio: bytes = b""
    flushes: deque[tuple[Marker, bool]] = field(default_factory=deque)
    settings: list[EndpointSettings] = field(default_factory=list)


class EarShell:
    """Does a machine's actions. ``refuse``: what opening the stream raises, ``choke``: what pushing raises."""

    def __init__(self, machine: HearingSocket, refuse: AntiphonError | None = None) -> None:
        self.clock = ManualClock()
        self.machine = machine
        self.refuse = refuse
        self.choke: AntiphonError | None = None
        self.ear: FakeEar | None = None
        self.key: Key | None = None
        self.frames: list[dict[str, Any]] = []
        self.raw: list[str] = []
        self.notes: list[str] = []
        self.closed: int | None = None

    def due(self) -> bool:
        """Whether the machine wants its tick now."""
        return self.machine.due_s is not None and self.machine.due_s <= self.clock.now_s()

    def start(self) -> list[dict[str, Any]]:
        assert self.due(), "the first tick is due at once"
        return self.do(self.machine.tick(self.clock.now_s()))

    def receive(self, frame: str | bytes) -> list[dict[str, Any]]:
        return self.do(self.machine.receive(frame, self.clock.now_s()))

    def say(self, *events: Event | TurnEvent) -> list[dict[str, Any]]:
        sent = []
        for event in events:
            sent += self.do(self.machine.deliver(self.key or 1, event, self.clock.now_s()))
        return sent

    def flushed(self) -> list[dict[str, Any]]:
        """The stream comes to its oldest flush."""
        assert self.ear is not None
        return self.say(Flushed(self.ear.flushes.popleft()[0]))

    def wait(self, seconds: float) -> list[dict[str, Any]]:
        self.clock.advance(seconds)
        return self.do(self.machine.tick(self.clock.now_s())) if self.due() else []

    def close(self, reason: AntiphonError) -> list[dict[str, Any]]:
        return self.do(self.machine.close(reason))

    def do(self, actions: list[Action]) -> list[dict[str, Any]]:
        todo, before = deque(actions), len(self.frames)
        while todo:
            action = todo.popleft()
            if isinstance(action, Send):
                if self.closed is None:
                    self.raw.append(action.frame)
                    self.frames.append(json.loads(action.frame))
            elif isinstance(action, Note):
                self.notes.append(action.message)
            elif isinstance(action, CloseSocket):
                assert self.closed is None, "a socket closes once"
                self.closed = action.code
            elif isinstance(action, Open):
                assert self.key is None, "one socket is one stream"
                self.key = action.key
                if self.refuse is not None:
                    todo.extendleft(reversed(self.machine.refused(action.key, self.refuse, self.clock.now_s())))
                else:
                    assert isinstance(action.config, HearingConfig)
                    self.ear = FakeEar(action.config)
            elif self.ear is not None and action.key == self.key:
                todo.extendleft(reversed(self._feed(self.ear, action)))
        return self.frames[before:]

    def _feed(self, ear: FakeEar, action: Action) -> list[Action]:
        if isinstance(action, Push):
            if self.choke is not None:
                return self.machine.refused(action.key, self.choke, self.clock.now_s())
            assert isinstance(action.item, bytes)
            ear.audio += action.item
        elif isinstance(action, Flush):
            ear.flushes.append((action.marker, action.last))
        elif isinstance(action, Configure):
            ear.settings.append(action.settings)
        elif isinstance(action, Cancel | Close):
            self.ear = None
        return []


def stt(query: str = QUERY, limits: HearingLimits | None = None, **more: Any) -> EarShell:
    return EarShell(SttSocket(query, limits or HearingLimits(), "req-1"), **more)


def turns(query: str = QUERY, limits: HearingLimits | None = None, **more: Any) -> EarShell:
    return EarShell(TurnsSocket(query, limits or HearingLimits(), "req-1"), **more)


def kinds(frames: list[dict[str, Any]]) -> list[str]:
    return [frame["type"] for frame in frames]
