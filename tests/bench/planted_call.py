"""Conversations in which every delay is known, for they were never spoken: tones in two channels, made-up stamps."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from antiphon.audio.pcm import encode
from antiphon.bench.conversation_call import CALLER_RATE_HZ, Arrived, Call, Line, News, Thought
from antiphon.bench.conversation_recording import two_channels
from antiphon.bench.scenario import Scenario
from antiphon.client.playback import Piece
from antiphon.core.frame import Samples
from antiphon.protocol import native_messages as wire

BEGIN_S = 1000.0
SHAPE = wire.AudioShape()
RATE_HZ = SHAPE.sample_rate_hz


def tone(seconds: float, rate_hz: int, silent_s: float = 0.0) -> Samples:
    """Silence, then a tone that is loud from its first window to its last."""
    time_s = np.arange(round(seconds * rate_hz)) / rate_hz
    sound = 0.3 * np.sin(2 * np.pi * 500 * time_s)
    return np.concatenate((np.zeros(round(silent_s * rate_hz)), sound)).astype(np.float32)


@dataclass
class Planted:
    """Builds a :class:`Call`. All moments are seconds of the recording."""

    scenario: Scenario
    length_s: float = 20.0
    lines: list[Line] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    events: list[tuple[float, News]] = field(default_factory=list)
    thoughts: list[Thought] = field(default_factory=list)
    said: list[tuple[float, Samples]] = field(default_factory=list)

    def line(self, start_s: float, spoken_s: float, silent_s: float = 0.0, tail_s: float = 0.1) -> None:
        """The next step: audible from ``start_s + silent_s`` for ``spoken_s``."""
        sound = tone(spoken_s, CALLER_RATE_HZ, silent_s)
        sound = np.concatenate((sound, np.zeros(round(tail_s * CALLER_RATE_HZ), np.float32)))
        end_s = start_s + len(sound) / CALLER_RATE_HZ
        self.lines.append(Line(len(self.lines), start_s, end_s, "said"))
        self.said.append((start_s, sound))

    def missed(self) -> None:
        self.lines.append(Line(len(self.lines), None, None, "missed"))

    def reply(
        self, reply_id: str, start_s: float, spoken_s: float, silent_s: float = 0.0, *, text: str = "",
        late_s: float = 0.0,
    ) -> None:  # fmt: skip
        """Plays from ``start_s`` on; arrived as it plays, in frames of 100 ms, ``late_s`` before it."""
        self.note(start_s - late_s, wire.ReplyStarted(reply_id=reply_id))
        if text:
            self.note(start_s - late_s, wire.ReplyText(reply_id=reply_id, delta=text))
        self.sound(reply_id, start_s, tone(spoken_s, RATE_HZ, silent_s), late_s=late_s)

    def sound(self, reply_id: str, start_s: float, sound: Samples, first: int = 0, late_s: float = 0.0) -> None:
        data = bytearray(encode(sound, "pcm_s16le"))
        self.pieces.append(Piece(reply_id, BEGIN_S + start_s, BEGIN_S + start_s, first, len(sound), data=data))
        step = RATE_HZ // 10
        for at in range(0, len(sound), step):
            count = min(step, len(sound) - at)
            self.note(start_s - late_s + at / RATE_HZ, Arrived(reply_id, first + at, count))

    def note(self, at_s: float, event: News) -> None:
        self.events.append((BEGIN_S + at_s, event))

    def turn_ends(self, at_s: float, transcript: str) -> None:
        self.note(at_s, wire.UserEnded(transcript=transcript, at_sample=round(at_s * CALLER_RATE_HZ)))

    def thinks(self, asked_s: float, first_s: float | None, *, tool: bool = False) -> None:
        first = None if first_s is None else BEGIN_S + first_s
        self.thoughts.append(Thought(1, "", BEGIN_S + asked_s, first, tool))

    def call(self) -> Call:
        caller = np.zeros(round(self.length_s * CALLER_RATE_HZ), np.float32)
        for start_s, sound in self.said:
            at = round(start_s * CALLER_RATE_HZ)
            caller[at : at + len(sound)] += sound
        pieces: Sequence[Piece] = sorted(self.pieces, key=lambda piece: piece.start_s)
        return Call(
            number=1,
            scenario=self.scenario,
            recording=two_channels(caller, CALLER_RATE_HZ, pieces, SHAPE, BEGIN_S),
            lines=tuple(self.lines),
            events=tuple(sorted(self.events, key=lambda pair: pair[0])),
            pieces=tuple(pieces),
            thoughts=tuple(self.thoughts),
        )
