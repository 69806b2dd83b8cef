"""A shell for the TTS socket's machine: plays the server's part with streams that say what a test tells them to."""

import itertools
import json
from dataclasses import dataclass, field
from typing import Any

from antiphon.core.clock import ManualClock
from antiphon.core.errors import AntiphonError
from antiphon.core.event import Audio, Event, Flushed, Marker, Timed, WordTimes
from antiphon.core.speech import Prosody, SpeechConfig
from antiphon.protocol.actions import Action, Cancel, Close, Flush, Key, Note, Open, Push, Send
from antiphon.protocol.cartesia_tts import SocketLimits, TtsSocket
from antiphon.protocol.versions import NEWEST

RATE_HZ = 24_000
SECOND = b"\1\0" * RATE_HZ

BASE: dict[str, Any] = {
    "model_id": "sonic-3",
    "voice": {"mode": "id", "id": "v"},
    "output_format": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": RATE_HZ},
    "language": "en",
}


def audio(samples: int = 480, start: int = 0, compute_s: float = 0.0) -> Audio:
    return Audio(b"\1\0" * samples, start, samples, RATE_HZ, compute_s)


def words(*timed: tuple[str, int, int], normalized: tuple[tuple[str, int, int], ...] = ()) -> WordTimes:
    return WordTimes(
        tuple(Timed(*word) for word in timed), tuple(Timed(*word) for word in normalized or timed), RATE_HZ
    )


@dataclass
class FakeStream:
    config: SpeechConfig
    pushed: list[str | Prosody] = field(default_factory=list)
    flushes: list[tuple[Marker, bool]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(item for item in self.pushed if isinstance(item, str))


class Shell:
    """Does the machine's actions. ``refuse``: what opening a stream raises, ``choke``: what pushing raises."""

    def __init__(self, version: str = NEWEST, limits: SocketLimits | None = None) -> None:
        ids = itertools.count(1)
        self.clock = ManualClock()
        self.socket = TtsSocket(version, limits or SocketLimits(), lambda: f"id-{next(ids)}")
        self.streams: dict[Key, FakeStream] = {}
        self.gone: list[Key] = []
        self.notes: list[str] = []
        self.frames: list[dict[str, Any]] = []
        self.opened: list[Key] = []
        self.refuse: AntiphonError | None = None
        self.choke: AntiphonError | None = None

    def send(self, context_id: str | None = "c", transcript: str | None = None, **fields: Any) -> list[dict[str, Any]]:
        """A generation request of the client, with all that must be in it; returns what came back at once."""
        message = {**BASE, **fields}
        if context_id is not None:
            message["context_id"] = context_id
        if transcript is not None:
            message["transcript"] = transcript
        return self.raw(json.dumps(message))

    def push(self, transcript: str, context_id: str = "c", **fields: Any) -> list[dict[str, Any]]:
        return self.send(context_id, transcript, **{"continue": True, **fields})

    def end(self, context_id: str = "c", transcript: str = "", **fields: Any) -> list[dict[str, Any]]:
        return self.send(context_id, transcript, **{"continue": False, **fields})

    def cancel(self, context_id: str = "c") -> list[dict[str, Any]]:
        return self.raw(json.dumps({"context_id": context_id, "cancel": True}))

    def raw(self, frame: str | bytes) -> list[dict[str, Any]]:
        return self.do(self.socket.receive(frame, self.clock.now_s()))

    def say(self, event: Event, key: Key | None = None) -> list[dict[str, Any]]:
        """The stream opened last (or ``key``) says something."""
        return self.do(self.socket.deliver(self.opened[-1] if key is None else key, event, self.clock.now_s()))

    def flushed(self, key: Key | None = None) -> list[dict[str, Any]]:
        """The stream comes to its oldest flush."""
        key = self.opened[-1] if key is None else key
        return self.say(Flushed(self.streams[key].flushes.pop(0)[0]), key)

    def wait(self, seconds: float) -> list[dict[str, Any]]:
        self.clock.advance(seconds)
        return self.do(self.socket.tick(self.clock.now_s()))

    def close(self, reason: str) -> list[dict[str, Any]]:
        return self.do(self.socket.close(reason))

    @property
    def stream(self) -> FakeStream:
        return self.streams[self.opened[-1]]

    def do(self, actions: list[Action]) -> list[dict[str, Any]]:
        sent: list[dict[str, Any]] = []
        for action in actions:
            if isinstance(action, Send):
                assert action.key is None or action.key not in self.gone, "a frame of a stream that is gone"
                sent.append(json.loads(action.frame))
            elif isinstance(action, Note):
                self.notes.append(action.message)
            elif isinstance(action, Open):
                sent += self._open(action)
            elif isinstance(action, Push) and action.key in self.streams:
                if self.choke is not None:
                    sent += self._refused(action.key, self.choke)
                else:
                    self.streams[action.key].pushed.append(action.item)
            elif isinstance(action, Flush) and action.key in self.streams:
                self.streams[action.key].flushes.append((action.marker, action.last))
            elif isinstance(action, Cancel | Close):
                self.streams.pop(action.key, None)
                self.gone.append(action.key)
        self.frames += sent
        return sent

    def _open(self, action: Open) -> list[dict[str, Any]]:
        assert action.key not in self.opened, "keys are never used twice"
        self.opened.append(action.key)
        if self.refuse is not None:
            return self._refused(action.key, self.refuse)
        self.streams[action.key] = FakeStream(action.config)
        return []

    def _refused(self, key: Key, error: AntiphonError) -> list[dict[str, Any]]:
        already = len(self.frames)
        self.do(self.socket.refused(key, error, self.clock.now_s()))
        sent = self.frames[already:]
        del self.frames[already:]
        return sent


def kinds(frames: list[dict[str, Any]]) -> list[str]:
    return [frame["type"] for frame in frames]
