"""The synthetic caller: speaks its lines in real time over the native socket, and hears by its own clock."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

import numpy as np

from antiphon.audio.activity import first_audible_sample, last_audible_sample
from antiphon.bench.conversation_call import CALLER_RATE_HZ, Call, Part
from antiphon.bench.conversation_caller import in_voice, room
from antiphon.bench.scenario import Scenario, Step
from antiphon.bench.target.caller import SHAPE, Caller, Link, Tell
from antiphon.bench.target.native import NativeLink
from antiphon.bench.voices import by_hibari
from antiphon.client import SessionOptions, SimulatedPlayer, connect
from antiphon.core.clock import Clock, MonotonicClock, unix_time_s
from antiphon.core.frame import Samples
from antiphon.protocol import native_messages as wire

VOICE = 1
"""The bench's caller number 1: the embedded voice, a good two semitones lower, so that two people are heard."""


@dataclass(frozen=True, slots=True)
class Held:
    """``began_unix_s``: when the recording begins, for people and for the server's records, which say it too."""

    call: Call
    began_unix_s: float


def rehearsed(script: Scenario) -> Part:
    """The caller's lines, synthesised beforehand. Raises ``ModelUnavailable``."""
    return Part(1, script, [_spoken(step) for step in script.steps], room(1))


def _spoken(step: Step) -> Samples:
    """Its pieces, and the pauses between them as long as they are meant to be: without what a voice leaves around."""
    pieces: list[Samples] = []
    for part in step.say:
        if isinstance(part, str):
            sound = in_voice(by_hibari, part, VOICE)
            begin, end = first_audible_sample(sound, CALLER_RATE_HZ), last_audible_sample(sound, CALLER_RATE_HZ)
            pieces.append(sound if begin is None or end is None else sound[begin : end + 1])
        else:
            pieces.append(np.zeros(round(part * CALLER_RATE_HZ), np.float32))
    return np.concatenate(pieces).astype(np.float32)


def hold(url: str, part: Part, tell: Tell) -> Held:
    """One call, from the greeting to the goodbye. What goes wrong on the way is the call's ``error``.

    ``tell`` gets moments in seconds since the call began.
    """
    clock = MonotonicClock()
    desk = _Desk(url, clock)
    caller = Caller(desk, clock, lambda at_s, event: tell(at_s - desk.begin_s, event))
    call = asyncio.run(caller.hold(part))
    return Held(call, unix_time_s() - (clock.now_s() - call.recording.begin_s))


class _Desk:
    """The native socket, to an agent whose greeting, instructions and tools are the server's own."""

    def __init__(self, url: str, clock: Clock) -> None:
        self._url = url
        self._clock = clock
        self.begin_s = clock.now_s()

    @contextlib.asynccontextmanager
    async def open(self, part: Part, player: SimulatedPlayer) -> AsyncIterator[Link]:
        options = SessionOptions(input=wire.AudioShape("pcm_s16le", CALLER_RATE_HZ), output=SHAPE)
        async with connect(self._url, options, player=player, clock=self._clock) as session:
            self.begin_s = self._clock.now_s()
            yield NativeLink(session)
