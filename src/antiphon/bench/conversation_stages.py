"""Where the silence between two speakers went: stages of one turn, on the client's clock. Pure.

A stage ends at its moment, or where the stage before it ended if that was later (an answer that was prepared on a guess
is ready before the turn is over). So the stages add up to the silence, and a stage of 0 was free.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from antiphon.audio.activity import first_audible_sample
from antiphon.audio.pcm import decode
from antiphon.bench.conversation_call import Arrived, Call, Thought
from antiphon.client.events import ToolRan
from antiphon.client.playback import Piece
from antiphon.core.frame import Samples
from antiphon.protocol import native_messages as wire

STAGES = ("final", "turn end", "model", "tool", "model again", "first byte", "audible", "heard")
"""``final``: end of speech -> the words of the turn's transcript stand. ``turn end``: -> the turn is over. ``model``:
-> its first token, of text or of a call. ``tool``: -> the result. ``model again``: -> first token after the result.
``first byte``: -> first audio here. ``audible``: -> the frame with the first audible sample here. ``heard``: -> it
plays."""


@dataclass(frozen=True, slots=True)
class Stages:
    """``seconds``: name -> how long, in order. ``heard_s``: when the first audible sample played, by the stamps
    (seconds of the recording). ``missing``: stages whose moment is not known; their time is in the next one."""

    seconds: dict[str, float]
    heard_s: float
    missing: tuple[str, ...] = ()

    @property
    def total_s(self) -> float:
        return sum(self.seconds.values())


def stages_of(call: Call, end_s: float, onset_s: float, level_dbfs: float) -> Stages | None:
    """The way from the caller's last audible sample (``end_s``) to the agent's first (``onset_s``; both seconds of the
    recording). None where no reply sounds at the onset."""
    begin_s, rate_hz = call.recording.begin_s, call.recording.rate_hz
    piece = _at(call.pieces, begin_s + onset_s, rate_hz)
    if piece is None:
        return None
    reply_id = piece.reply_id
    arrivals = [
        (at_s, event) for at_s, event in call.events if isinstance(event, Arrived) and event.reply_id == reply_id
    ]
    sound = _reply_sound(call.pieces, reply_id)
    skipped = piece.first_sample if piece.start_s > begin_s + end_s and piece.first_sample else 0
    found = first_audible_sample(sound[skipped:], rate_hz, level_dbfs)
    if found is None or not arrivals:
        return None
    sample = skipped + found
    of = next((one for one in call.pieces if _holds(one, reply_id, sample)), None)
    holding = next((at_s for at_s, event in arrivals if sample < event.start_sample + event.samples), None)
    if of is None or holding is None:
        return None
    heard_s = of.start_s + (sample - of.first_sample) / rate_hz
    first_byte_s = arrivals[0][0]
    moments = _moments(call, begin_s + end_s, first_byte_s)
    moments |= {"first byte": first_byte_s, "audible": holding, "heard": heard_s}
    seconds: dict[str, float] = {}
    at_s = begin_s + end_s
    for name in STAGES:
        moment = moments.get(name)
        if moment is None:
            continue
        seconds[name] = max(0.0, moment - at_s)
        at_s = max(at_s, moment)
    expected = [name for name in ("final", "turn end", "model") if name not in moments]
    return Stages(seconds, heard_s - begin_s, tuple(expected))


def plain_words(text: str) -> list[str]:
    """Words without marks and capitals."""
    return re.findall(r"[\w']+", text.casefold())


def _moments(call: Call, end_s: float, first_byte_s: float) -> dict[str, float | None]:
    ends = [(at_s, event) for at_s, event in call.events if isinstance(event, wire.UserEnded) and at_s <= first_byte_s]
    begun = _turn_began(call, end_s)
    ends = [(at_s, event) for at_s, event in ends if at_s >= begun]
    moments: dict[str, float | None] = {}
    if ends:
        turn_end_s, ended = ends[-1]
        moments["turn end"] = turn_end_s
        moments["final"] = _words_stood(call, plain_words(ended.transcript), begun, turn_end_s)
    thoughts = [one for one in call.thoughts if one.first_s is not None and begun <= one.first_s <= first_byte_s]
    if thoughts:
        moments |= _thinking(call, thoughts)
    return moments


def _turn_began(call: Call, end_s: float) -> float:
    """When the caller began the line that ends at ``end_s``."""
    begin_s = call.recording.begin_s
    starts = [begin_s + line.start_s for line in call.lines if line.start_s is not None]
    return max((at_s for at_s in starts if at_s < end_s), default=begin_s)


def _words_stood(call: Call, words: list[str], since_s: float, turn_end_s: float) -> float:
    """When the transcript last changed to these words."""
    stood: float | None = None
    for at_s, event in call.events:
        if not since_s <= at_s <= turn_end_s:
            continue
        if isinstance(event, wire.UserUpdate | wire.UserEagerEnd | wire.UserEnded):
            if plain_words(event.transcript) != words:
                stood = None
            elif stood is None:
                stood = at_s
    return turn_end_s if stood is None else stood


def _thinking(call: Call, thoughts: Sequence[Thought]) -> dict[str, float | None]:
    """The model's last first token before the audio; and the way there, where a tool came between."""
    last = thoughts[-1]
    ran = [at_s for at_s, event in call.events if isinstance(event, ToolRan) and at_s <= last.asked_s]
    asked = [one for one in thoughts if one.asked_tool and one.first_s is not None]
    if ran and asked and asked[-1].asked_s < ran[-1]:
        return {"model": asked[-1].first_s, "tool": ran[-1], "model again": last.first_s}
    return {"model": last.first_s}


def _at(pieces: Sequence[Piece], at_s: float, rate_hz: int) -> Piece | None:
    """What sounds then; 10 ms of grace, since windows are as long."""
    for piece in pieces:
        if piece.start_s - 0.011 <= at_s < piece.start_s + piece.samples / rate_hz:
            return piece
    return None


def _holds(piece: Piece, reply_id: str, sample: int) -> bool:
    return piece.reply_id == reply_id and piece.first_sample <= sample < piece.first_sample + piece.samples


def _reply_sound(pieces: Sequence[Piece], reply_id: str) -> Samples:
    """What was played of a reply, at its own places."""
    own = [piece for piece in pieces if piece.reply_id == reply_id]
    sound = np.zeros(max(piece.first_sample + piece.samples for piece in own), np.float32)
    for piece in own:
        part = decode(bytes(piece.data), "pcm_s16le")
        sound[piece.first_sample : piece.first_sample + len(part)] = part
    return sound
