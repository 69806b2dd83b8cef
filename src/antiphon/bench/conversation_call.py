"""A conversation as it was played: what was said, what was heard, what happened when. Values only."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from antiphon.bench.conversation_director import Said
from antiphon.bench.conversation_recording import TwoChannels
from antiphon.bench.scenario import Scenario
from antiphon.client.events import Heard, Message, SocketLost, ToolRan
from antiphon.client.playback import Piece
from antiphon.core.frame import Samples

CALLER_RATE_HZ = 16_000


@dataclass(frozen=True, slots=True)
class Arrived:
    """Audio that came in: samples ``[start_sample, start_sample + samples)`` of a reply."""

    reply_id: str
    start_sample: int
    samples: int


News: TypeAlias = Message | Heard | SocketLost | ToolRan | Arrived


@dataclass(frozen=True, slots=True)
class Line:
    """A step as it was put into the microphone's track: ``[start_s, end_s)`` is the clip's place in the recording
    (seconds from its begin); speech lies within. None: it was not said."""

    index: int
    start_s: float | None
    end_s: float | None
    said: Said


@dataclass(frozen=True, slots=True)
class Thought:
    """A request to the model, on the client's clock. ``first_s``: its first token left (None: cancelled before)."""

    call: int
    heard: str
    asked_s: float
    first_s: float | None
    asked_tool: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """``recording``: both channels. ``pieces``: the agent's audio with its places in time. ``events``: (monotonic
    seconds, what), in order. ``behind_s``: how late the worst piece of microphone was sent, the client's fault."""

    number: int
    scenario: Scenario
    recording: TwoChannels
    lines: tuple[Line, ...]
    events: tuple[tuple[float, News], ...]
    pieces: tuple[Piece, ...] = ()
    thoughts: tuple[Thought, ...] = ()
    behind_s: float = 0.0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """What one caller is to play: ``clips[i]`` is step ``i`` at 16 kHz, ``floor``: the quiet of the caller's room,
    which repeats."""

    number: int
    scenario: Scenario
    clips: Sequence[Samples] = field(repr=False)
    floor: Samples = field(repr=False)


@dataclass(frozen=True, slots=True)
class Question:
    """A typed question: what is asked, and in what pieces the answer's text goes to the voice."""

    text: str
    instructions: str
    feed: Literal["tokens", "sentences", "reply"]
