"""LiveKit's `cartesia.STT` on both of its paths: turns (ink-2) and finalize (ink-whisper); and `openai.STT`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

from .required import required
from .running import Server
from .spoken import QUESTION, RATE_HZ, WISH, assert_understood, chunks, pcm

agents = required("livekit.agents")
plugin = required("livekit.plugins.cartesia")
openai_plugin = required("livekit.plugins.openai")
rtc = required("livekit.rtc")

LIMIT_S = 30.0
PACE = 3.0
ONCE = agents.APIConnectOptions(max_retry=0, timeout=10.0)
Kind = agents.stt.SpeechEventType


def frames(speech: bytes) -> list[Any]:
    return [rtc.AudioFrame(chunk, RATE_HZ, 1, len(chunk) // 2) for chunk in chunks(speech)]


@asynccontextmanager
async def listening(base_url: str, **options: Any) -> AsyncIterator[Any]:
    async with asyncio.timeout(LIMIT_S), agents.utils.http_context.open() as session:
        stt = plugin.STT(api_key="any", base_url=base_url, http_session=session, **options)
        try:
            yield stt
        finally:
            await stt.aclose()


async def heard(stt: Any, *utterances: bytes) -> list[Any]:
    """All events; each utterance is followed by a flush."""
    async with stt.stream(conn_options=ONCE) as stream:

        async def speak() -> None:
            for utterance in utterances:
                for frame in frames(utterance):
                    stream.push_frame(frame)
                    await asyncio.sleep(0.1 / PACE)
                stream.flush()
            stream.end_input()

        speaking = asyncio.create_task(speak())
        events = [event async for event in stream]
        await speaking
    return events


def of(events: list[Any], kind: Any) -> list[Any]:
    return [event.alternatives[0] for event in events if event.type == kind]


def test_turns(server: Server) -> None:
    async def main() -> None:
        async with listening(server.http, keyterm=["Sunday"]) as stt:
            events = await heard(stt, pcm(server, QUESTION, WISH))
        finals = [final.text for final in of(events, Kind.FINAL_TRANSCRIPT)]
        assert len(finals) == 2
        assert_understood(finals[0], QUESTION)
        assert_understood(finals[1], WISH)
        assert of(events, Kind.INTERIM_TRANSCRIPT)
        kinds = [event.type for event in events]
        assert kinds.count(Kind.START_OF_SPEECH) == kinds.count(Kind.END_OF_SPEECH) == 2
        assert kinds.index(Kind.START_OF_SPEECH) < kinds.index(Kind.INTERIM_TRANSCRIPT)

    asyncio.run(main())


def test_finalize(server: Server) -> None:
    """Words come with their times, in seconds of the stream."""

    async def main() -> None:
        async with listening(server.http, model="ink-whisper", language="en") as stt:
            events = await heard(stt, pcm(server, QUESTION, pause_s=0.3), pcm(server, WISH, pause_s=0.3))
        finals = [final for final in of(events, Kind.FINAL_TRANSCRIPT) if final.text]
        assert_understood("".join(final.text for final in finals), QUESTION, WISH)
        words = [word for final in finals for word in final.words or ()]
        assert_understood(" ".join(words), QUESTION, WISH)
        seconds = len(pcm(server, QUESTION, pause_s=0.3) + pcm(server, WISH, pause_s=0.3)) / 2 / RATE_HZ
        assert all(earlier.start_time <= later.start_time for earlier, later in pairwise(words))
        assert words[-1].end_time <= seconds + 0.2

    asyncio.run(main())


def test_openai_plugin_recognises(server: Server) -> None:
    async def main() -> None:
        async with asyncio.timeout(LIMIT_S):
            stt = openai_plugin.STT(api_key="any", base_url=server.openai, model="gpt-4o-mini-transcribe")
            event = await stt.recognize(frames(pcm(server, WISH)), conn_options=ONCE)
            await stt.aclose()
        assert_understood(event.alternatives[0].text, WISH)

    asyncio.run(main())
