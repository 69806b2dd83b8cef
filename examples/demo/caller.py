"""The synthetic caller: speaks its lines in real time over the native socket, and hears by its own clock."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace

import numpy as np

from antiphon.audio.activity import first_audible_sample, last_audible_sample
from antiphon.audio.pcm import encode
from antiphon.bench.conversation_call import CALLER_RATE_HZ, Arrived, Call, Line, News, Part
from antiphon.bench.conversation_caller import in_voice, room
from antiphon.bench.conversation_director import Director, Heard
from antiphon.bench.conversation_recording import two_channels
from antiphon.bench.scenario import Scenario, Step
from antiphon.bench.target.caller import FRAME_S, SHAPE, CallLog, Microphone
from antiphon.bench.voices import by_hibari
from antiphon.client import AgentSession, ReplyAudio, SessionOptions, SimulatedPlayer, connect
from antiphon.core.clock import Clock, MonotonicClock
from antiphon.core.errors import AntiphonError
from antiphon.core.frame import Samples
from antiphon.protocol import native_messages as wire

VOICE = 1
"""The bench's caller number 1: the embedded voice, a good two semitones lower, so that two people are heard."""
MOST_S = 150.0

Tell = Callable[[float, News | str], None]
"""Told of what happens, with its moment in seconds since the call began; a text is a line that the caller begins."""


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
    """One call, from the greeting to the goodbye. What goes wrong on the way is the call's ``error``."""
    return asyncio.run(_hold(url, part, tell))


class _Log(CallLog):
    """Tells of everything; and while the agent only pauses, to hear who wants the floor, the caller waits."""

    def __init__(self, clock: Clock, tell: Tell) -> None:
        super().__init__(clock)
        self.begin_s = clock.now_s()
        self._tell = tell
        self._paused = False

    def note(self, at_s: float, event: News) -> None:
        super().note(at_s, event)
        if isinstance(event, wire.ReplyPaused):
            self._paused = True
        elif isinstance(event, wire.ReplyContinued | wire.Clear):
            self._paused = False
        self._tell(at_s - self.begin_s, event)

    def heard(self, now_s: float, player: SimulatedPlayer) -> Heard:
        heard = super().heard(now_s, player)
        return replace(heard, quiet_since_s=None) if self._paused else heard


class _Link:
    """The session as the bench's caller wants it."""

    def __init__(self, session: AgentSession) -> None:
        self._session = session

    async def send(self, samples: Samples) -> None:
        await self._session.send_audio(encode(samples, "pcm_s16le"))

    async def news(self) -> AsyncIterator[tuple[float, News]]:
        async for at_s, event in self._session.stamped():
            if isinstance(event, ReplyAudio):
                yield at_s, Arrived(event.reply_id, event.start_sample, event.samples)
            else:
                yield at_s, event


async def _hold(url: str, part: Part, tell: Tell) -> Held:
    clock = MonotonicClock()
    log = _Log(clock, tell)
    player = SimulatedPlayer(clock, SHAPE, keep=True)
    options = SessionOptions(input=wire.AudioShape("pcm_s16le", CALLER_RATE_HZ), output=SHAPE)
    microphone = Microphone(part.floor)
    director = Director(part.scenario, clock.now_s())
    error, began_unix_s = "", time.time()
    try:
        async with asyncio.timeout(MOST_S), connect(url, options, player=player, clock=clock) as session:
            log.begin_s, began_unix_s = clock.now_s(), time.time()
            director = Director(part.scenario, log.begin_s)
            link = _Link(session)
            listening = asyncio.create_task(log.follow(link))
            await _speak(link, part, director, microphone, log, player, tell)
        await listening
    except TimeoutError:
        error = f"the call was not over within {MOST_S:g} s"
    except (AntiphonError, OSError) as failure:
        error = str(failure)
    pieces = tuple(replace(piece) for piece in player.pieces)
    places = [microphone.places.get(index, (None, None)) for index in range(len(part.scenario.steps))]
    call = Call(
        number=part.number,
        scenario=part.scenario,
        recording=two_channels(microphone.track, CALLER_RATE_HZ, pieces, SHAPE, log.begin_s),
        lines=tuple(Line(index, start_s, end_s, director.said[index]) for index, (start_s, end_s) in enumerate(places)),
        events=tuple(log.events),
        pieces=pieces,
        behind_s=microphone.behind_s,
        error=error,
    )
    return Held(call, began_unix_s)


async def _speak(
    link: _Link,
    part: Part,
    director: Director,
    microphone: Microphone,
    log: _Log,
    player: SimulatedPlayer,
    tell: Tell,
) -> None:
    clock = MonotonicClock()
    while True:
        # against the beginning, not the frame before: late wake-ups must not add up
        due_s = log.begin_s + microphone.spoken_s + FRAME_S
        if (delay_s := due_s - clock.now_s()) > 0:
            await asyncio.sleep(delay_s)
        now_s = clock.now_s()
        microphone.behind_s = max(microphone.behind_s, now_s - due_s)
        heard = log.heard(now_s, player)
        if director.is_over(now_s, heard) or log.over:
            return
        index = director.next_line(now_s, heard)
        if index is not None:
            step = part.scenario.steps[index]
            director.spoken(index, log.begin_s + microphone.begin(index, part.clips[index]))
            if step.kind != "backchannel":
                log.asked(now_s)
            tell(now_s - log.begin_s, step.text)
        await link.send(microphone.frame())
