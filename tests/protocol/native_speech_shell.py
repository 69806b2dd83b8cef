"""A shell for the native speech socket's machine: plays the server's part with streams that do what a test tells them.

As in the server, a frame leaves only when all that was done at once has been done, and a cancel drops those of its key.
"""

import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from antiphon.core.clock import ManualClock
from antiphon.core.errors import AntiphonError
from antiphon.core.event import Audio, Event, Flushed, Marker
from antiphon.core.speech import Prosody, SpeechConfig
from antiphon.protocol.actions import Action, Cancel, Close, Flush, Key, Open, Push, Save, Send, SendBytes
from antiphon.protocol.native_speech import NativeSpeechSocket, SpeechLimits
from antiphon.protocol.native_speech_snapshot import SpeechSeal

RATE_HZ = 24_000


class WallClock:
    def __init__(self) -> None:
        self.unix_s = 1_800_000_000.0

    def __call__(self) -> float:
        return self.unix_s


def seal_of(wall: WallClock, key: bytes = b"fleet", *, shared: bool = True) -> SpeechSeal:
    return SpeechSeal(key, shared, 300.0, 1 << 20, wall)


def audio(samples: int = 480) -> Audio:
    return Audio(b"\1\0" * samples, 0, samples, RATE_HZ)


@dataclass
class FakeStream:
    config: SpeechConfig
    snapshot: bytes = b""
    pushed: list[str | Prosody] = field(default_factory=list)
    flushes: list[tuple[Marker, bool]] = field(default_factory=list)
    saves: int = 0

    @property
    def text(self) -> str:
        return "".join(item for item in self.pushed if isinstance(item, str))


class Shell:
    """``refuse``: what opening raises, ``choke``: pushing, ``unsavable``: saving."""

    def __init__(
        self, seal: SpeechSeal | None = None, owner: str = "ada", limits: SpeechLimits | None = None
    ) -> None:
        self.clock = ManualClock()
        self.machine = NativeSpeechSocket(limits or SpeechLimits(), seal or seal_of(WallClock()), owner)
        self.streams: dict[Key, FakeStream] = {}
        self.opened: list[Key] = []
        self.gone: list[Key] = []
        self.refuse: AntiphonError | None = None
        self.choke: AntiphonError | None = None
        self.unsavable: AntiphonError | None = None

    def put(self, kind: str, **fields: Any) -> list[dict[str, Any]]:
        """A message of the client; what came back at once, binary frames as ``{"type": "<first byte>", "data"}``."""
        return self.raw(json.dumps({"type": kind, **fields}))

    def raw(self, frame: str | bytes) -> list[dict[str, Any]]:
        return self.do(self.machine.receive(frame, self.clock.now_s()))

    def say(self, event: Event, key: Key | None = None) -> list[dict[str, Any]]:
        """The stream opened last (or ``key``) says something."""
        return self.do(self.machine.deliver(self.opened[-1] if key is None else key, event, self.clock.now_s()))

    def flushed(self) -> list[dict[str, Any]]:
        """The stream opened last comes to its oldest flush."""
        return self.say(Flushed(self.stream.flushes.pop(0)[0]))

    def wait(self, seconds: float) -> list[dict[str, Any]]:
        self.clock.advance(seconds)
        return self.do(self.machine.tick(self.clock.now_s()))

    @property
    def stream(self) -> FakeStream:
        return self.streams[self.opened[-1]]

    def do(self, actions: list[Action]) -> list[dict[str, Any]]:
        waiting: list[Send | SendBytes] = []
        todo = deque(actions)
        while todo:
            action = todo.popleft()
            if isinstance(action, Send | SendBytes):
                assert action.key is None or action.key not in self.gone, "a frame of a stream that is gone"
                waiting.append(action)
            elif isinstance(action, Cancel):
                waiting = [send for send in waiting if send.key != action.key]
            error = self._act(action)
            if error is not None:
                key = getattr(action, "key", 0)
                todo.extendleft(reversed(self.machine.refused(key, error, self.clock.now_s())))
        return [_read(send) for send in waiting]

    def _act(self, action: Action) -> AntiphonError | None:
        now = self.clock.now_s()
        match action:
            case Open():
                assert action.key not in self.opened, "keys are never used twice"
                self.opened.append(action.key)
                if self.refuse is not None:
                    return self.refuse
                assert isinstance(action.config, SpeechConfig)
                self.streams[action.key] = FakeStream(action.config, action.snapshot)
            case Push() if action.key in self.streams:
                if self.choke is not None:
                    return self.choke
                assert not isinstance(action.item, bytes)
                self.streams[action.key].pushed.append(action.item)
            case Flush() if action.key in self.streams:
                self.streams[action.key].flushes.append((action.marker, action.last))
            case Save() if action.key in self.streams:
                if self.unsavable is not None:
                    return self.unsavable
                self.streams[action.key].saves += 1
            case Cancel() | Close():
                self.streams.pop(action.key, None)
                self.gone.append(action.key)
            case _:
                assert now >= 0
        return None


def _read(send: Send | SendBytes) -> dict[str, Any]:
    if isinstance(send, Send):
        return dict(json.loads(send.frame))
    return {"type": f"{send.frame[0]:#04x}", "data": send.frame[1:]}


def kinds(frames: list[dict[str, Any]]) -> list[str]:
    return [frame["type"] for frame in frames]
