"""A Realtime socket with its record, in virtual time: a user who speaks in real time, a brain and a voice as told."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from antiphon.core.brain import BrainDone, TextDelta
from antiphon.core.event import Audio, Flushed, Timed, WordTimes
from antiphon.core.hearing import EAR_RATE_HZ, Heard, SpeechStarted, SpeechStopped
from antiphon.core.turns import TurnEnded, TurnStarted
from antiphon.dialog.turn_record import TurnRecord
from antiphon.protocol.openai_realtime_session import Settings
from antiphon.server.agent import REALTIME_ROUTE, AgentLog, AgentSessionFacts
from antiphon.server.realtime import RecordedSocket
from antiphon.server.records.turns import MakeSink, TurnsOnly, records_for

from ...protocol.openai_realtime_shell import Shell

RATE_HZ = 24_000
STEP_S = 0.02
LEAD_S = 0.05
"""The voice begins with so much silence."""


def tone(seconds: float) -> bytes:
    time = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    return (8_000 * np.sin(2 * np.pi * 220 * time)).astype(np.int16).tobytes()


@dataclass
class World(Shell):
    """Seconds of the user's audio are the session's; ``sinks`` beside the list of ``turns``."""

    sinks: Sequence[MakeSink] = ()
    turns: list[TurnRecord] = field(default_factory=list)
    facts: list[AgentSessionFacts] = field(default_factory=list)
    heard_s: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        make = records_for([lambda facts: TurnsOnly(self.turns.append), *self.sinks])

        def begin(settings: Settings, now_s: float) -> list[AgentLog]:
            self.facts.append(
                AgentSessionFacts(
                    settings.id, "alice", "scripted", "Vee", "en", "pcm_s16le", RATE_HZ, "pcm_s16le", RATE_HZ,
                    now_s, 1_764_590_400.0, route=REALTIME_ROUTE,
                )
            )  # fmt: skip
            return [make(self.facts[-1])]

        self.plain = self.socket
        self.socket: Any = RecordedSocket(self.plain, begin)
        self.tick()

    @property
    def settings(self) -> Settings:
        return self.plain.settings

    # The user

    def audio(self, seconds: float, loud: bool = False) -> None:
        """Time passes, and audio comes in."""
        for _ in range(round(seconds / STEP_S)):
            self.wait(STEP_S)
            data = tone(STEP_S) if loud else bytes(2 * round(STEP_S * RATE_HZ))
            self.send("input_audio_buffer.append", audio=base64.b64encode(data).decode())
            self.heard_s += STEP_S

    def begins(self, before_s: float = 0.2) -> None:
        """The user begins to speak, and the ear notices."""
        self.audio(0.2, loud=True)
        at = round((self.heard_s - before_s) * EAR_RATE_HZ)
        self.give(self.ear, SpeechStarted(at), TurnStarted(at))

    def pauses(self, text: str, seconds: float = 0.8, known_s: float = 0.2) -> float:
        """They speak on, and stop; returns when."""
        self.audio(seconds, loud=True)
        stopped_s, at = self.now_s, round(self.heard_s * EAR_RATE_HZ)
        self.audio(known_s)
        self.give(self.ear, SpeechStopped(at), Heard(text, len(text), True))
        return stopped_s

    def ends(self, text: str, after_s: float = 0.3) -> None:
        self.audio(after_s)
        self.give(self.ear, TurnEnded(text, round(self.heard_s * EAR_RATE_HZ), "model"))

    def says(self, text: str) -> float:
        """A whole turn: a second of speech, 0.2 s until its words are known, 0.3 s until it is over. Returns when the
        speech ended."""
        if not self.opened:
            self.audio(0.3)
        self.begins()
        stopped_s = self.pauses(text)
        self.ends(text)
        return stopped_s

    # The agent

    def thinks(self, text: str, after_s: float = 0.4) -> None:
        self.wait(after_s)
        self.give(self.brain, TextDelta(text))

    def voices(self, text: str, seconds: float = 1.0, after_s: float = 0.25, start_s: float = 0.0) -> None:
        """Audio for the text: silence, then sound."""
        self.wait(after_s)
        words, samples = text.split(), round(seconds * RATE_HZ)
        start, size = round(start_s * RATE_HZ), samples // max(1, len(words))
        times = tuple(Timed(w, start + n * size, start + (n + 1) * size) for n, w in enumerate(words))
        lead = round(LEAD_S * RATE_HZ)
        data = bytes(2 * lead) + tone(seconds)[2 * lead :]
        self.give(self.voice, WordTimes(times, times, RATE_HZ), Audio(data, start, samples, RATE_HZ))

    def done(self, reason: str = "stop") -> None:
        self.give(self.brain, BrainDone(reason))
        for flush in [f for f in self.flushes if f.marker == "end" and f.key not in self.gone]:
            self.give(flush.key, Flushed("end"))

    def answers(self, text: str = "It comes tomorrow.", seconds: float = 1.0) -> None:
        self.thinks(text)
        self.voices(text, seconds)
        self.done()

    # Time

    def wait(self, seconds: float) -> None:
        """Time passes, and the socket is told when it wants to be."""
        end_s = self.now_s + seconds
        while (due_s := self.socket.due_s) is not None and due_s <= end_s:
            self.now_s = max(self.now_s, due_s)
            self.tick()
            assert (again_s := self.socket.due_s) is None or again_s > due_s
        self.now_s = end_s

    def leaves(self, lost: bool = False) -> list[TurnRecord]:
        self.socket.gone(self.now_s, lost)
        return self.turns

    @property
    def item(self) -> str:
        """Of the message that is said now."""
        added = [f for f in self.frames if f["type"] == "response.output_item.added" and f["item"]["type"] == "message"]
        return str(added[-1]["item"]["id"])


def checked(record: TurnRecord) -> TurnRecord:
    """Stages without gaps, from the end of speech to the first sound, that sum to the silence."""
    stages, times = record.stages, record.times
    assert all(one.end_s == other.begin_s for one, other in pairwise(stages))
    if record.outcome in ("answered", "interrupted") and stages:
        assert (stages[0].begin_s, stages[-1].end_s) == (times.speech_end_s, times.heard_s)
    assert sum(stage.seconds for stage in stages) == pytest.approx(record.silence_s or 0.0)
    return record


def spent(record: TurnRecord) -> dict[str, float]:
    """Seconds of each stage that took any."""
    out: dict[str, float] = {}
    for stage in record.stages:
        out[stage.name] = out.get(stage.name, 0.0) + stage.seconds
    return {name: pytest.approx(seconds, abs=1e-6) for name, seconds in out.items() if seconds > 1e-9}
