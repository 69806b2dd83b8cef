"""The native agent socket as a wire for the scripted caller, by the product's own client."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

from antiphon.audio.pcm import encode
from antiphon.bench.conversation_call import CALLER_RATE_HZ, Arrived, News, Part, Question
from antiphon.bench.recording import Recording, Take
from antiphon.bench.scenario_script import instructions_for
from antiphon.bench.target.caller import SHAPE, Link, tools_of
from antiphon.bench.target.contract import finish
from antiphon.client import AgentSession, ReplyAudio, SessionOptions, SimulatedPlayer, connect
from antiphon.core.clock import Clock
from antiphon.core.errors import AntiphonError
from antiphon.core.frame import Samples
from antiphon.protocol import native_messages as wire

ANSWER_S = 60.0
"""The longest wait for all of an answer; a server sends it little faster than it is spoken."""


class NativeWire:
    """``voice`` empty: the agent's own."""

    def __init__(self, url: str, clock: Clock, *, api_key: str = "", voice: str = "") -> None:
        self._url = url
        self._clock = clock
        self._api_key = api_key
        self._voice = voice

    @asynccontextmanager
    async def open(self, part: Part, player: SimulatedPlayer) -> AsyncIterator[Link]:
        """Raises what the client raises."""
        options = SessionOptions(
            api_key=self._api_key,
            input=wire.AudioShape("pcm_s16le", CALLER_RATE_HZ),
            output=SHAPE,
            voice=self._voice,
            agent=wire.AgentSettings(
                instructions=f"{instructions_for(part.scenario)}; call: {part.number};",
                greeting=part.scenario.greeting,
            ),
            tools=tools_of(part.scenario),
        )
        async with connect(self._url, options, player=player, clock=self._clock) as session:
            yield NativeLink(session)

    async def ask(self, question: Question, index: int) -> Take:
        """Type one question and hear the answer to its end. What goes wrong is the take's error."""
        clock = self._clock
        recording = Recording(clock, index, question.text, clock.now_s())
        agent = wire.AgentSettings(instructions=question.instructions, greeting="", feed=question.feed)
        options = SessionOptions(api_key=self._api_key, output=SHAPE, voice=self._voice, agent=agent)
        try:
            async with asyncio.timeout(ANSWER_S), connect(self._url, options, clock=clock) as session:
                recording.sent()
                await session.send_text(question.text)
                async for at_s, event in session.stamped():
                    match event:
                        case ReplyAudio():
                            recording.chunk_at(at_s, event.data)
                        case wire.ReplyEnded() | wire.Clear():
                            recording.end()
                            break
                        case wire.ErrorMessage():
                            recording.fail(f"the server says: {event.message}")
                            break
                        case _:
                            pass
                else:
                    recording.fail("the session ended without an answer")
        except TimeoutError:
            recording.fail(f"not answered within {ANSWER_S:g} s")
        except (AntiphonError, OSError) as failure:
            recording.fail(f"{type(failure).__name__}: {failure}")
        return finish(recording, recording.payloads, SHAPE.sample_rate_hz)


class NativeLink:
    """A session of the product's client as the caller wants it."""

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


def ask_all(wire_: NativeWire, questions: Iterable[Question], tell: Callable[[Question, Take], None]) -> list[Take]:
    """All questions, one after the other, on an event loop of their own. ``tell`` is called after each."""

    async def all_() -> list[Take]:
        takes: list[Take] = []
        for index, question in enumerate(questions):
            takes.append(await wire_.ask(question, index))
            tell(question, takes[-1])
        return takes

    return asyncio.run(all_())
