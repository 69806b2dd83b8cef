"""LiveKit's own plugins: `cartesia.TTS` as a stream and whole, interrupted; `openai.TTS`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from .heard import ANSWER, LONG, SHORT, Said, assert_said, assert_speech, raw_wave, tokens
from .required import required
from .running import Server
from .tap import tapped

agents = required("livekit.agents")
plugin = required("livekit.plugins.cartesia")
openai_plugin = required("livekit.plugins.openai")
types = required("livekit.agents.types")

LIMIT_S = 30.0
RATE_HZ = 24000
ONCE = agents.APIConnectOptions(max_retry=0, timeout=10.0)
"""No second try: a fault is seen at the first."""


@asynccontextmanager
async def speaking(base_url: str, **options: Any) -> AsyncIterator[Any]:
    async with asyncio.timeout(LIMIT_S), agents.utils.http_context.open() as session:
        tts = plugin.TTS(api_key="any", base_url=base_url, http_session=session, **options)
        try:
            yield tts
        finally:
            await tts.aclose()


async def listen(stream: Any, rate_hz: int = RATE_HZ) -> Said:
    said = Said()
    async for event in stream:
        assert event.frame.sample_rate == rate_hz
        assert event.frame.num_channels == 1
        said.audio += bytes(event.frame.data)
        for word in event.frame.userdata.get(types.USERDATA_TIMED_TRANSCRIPT, []):
            said.words.append(str(word))
            said.start_s.append(word.start_time)
            said.end_s.append(word.end_time)
    return said


async def speak(tts: Any, text: str, rate_hz: int = RATE_HZ) -> tuple[Said, bool]:
    """Push tokens, hear all; and whether the pooled socket was used again."""
    async with tts.stream(conn_options=ONCE) as stream:
        for token in tokens(text):
            stream.push_text(token)
            await asyncio.sleep(0)
        stream.end_input()
        return await listen(stream, rate_hz), stream._connection_reused


def assert_aligned(said: Said, rate_hz: int, text: str) -> None:
    """LiveKit cuts its words out of the text it sent, with the white space; where that fails it only guesses."""
    assert " ".join("".join(said.words).split()) == text
    said.words = [word.strip() for word in said.words]
    assert_said(said, "pcm_s16le", rate_hz, text)


def test_stream_speaks_tokens_with_an_aligned_transcript(server: Server) -> None:
    async def main() -> None:
        async with speaking(server.http) as tts:
            assert tts.capabilities.streaming
            assert tts.capabilities.aligned_transcript
            said, _ = await speak(tts, ANSWER)
            assert_aligned(said, RATE_HZ, ANSWER)
            again, reused = await speak(tts, SHORT)
            assert reused
            assert_aligned(again, RATE_HZ, SHORT)

    asyncio.run(main())


@pytest.mark.parametrize("rate_hz", [8000, 16000, 44100])
def test_whole_texts_come_at_the_asked_rate(server: Server, rate_hz: int) -> None:
    async def main() -> None:
        async with speaking(server.http, sample_rate=rate_hz, speed=1.1, emotion="Happy", volume=0.9) as tts:
            async with tts.synthesize(ANSWER, conn_options=ONCE) as stream:
                said = await listen(stream, rate_hz)
            assert_speech(raw_wave(bytes(said.audio), "pcm_s16le", rate_hz), rate_hz, ANSWER)

    asyncio.run(main())


def test_interrupted_stream_leaves_the_next_ones_whole(server: Server) -> None:
    """LiveKit sends no cancel: it drops the socket, and takes a new one for the next answer, then that one again."""

    async def main() -> None:
        async with tapped(server.ws) as tap, speaking(tap.url.replace("ws", "http", 1)) as tts:
            stream = tts.stream(conn_options=ONCE)
            for token in tokens(LONG):
                stream.push_text(token)
            stream.end_input()
            await anext(stream)
            await stream.aclose()
            said, _ = await speak(tts, ANSWER)
            assert_aligned(said, RATE_HZ, ANSWER)
            after, reused = await speak(tts, SHORT)
            assert reused
            assert_aligned(after, RATE_HZ, SHORT)
            dropped, first, second = tap.contexts()
            assert "done" not in [message["type"] for message in tap.received(dropped)]
            for context in (first, second):
                assert [message["type"] for message in tap.received(context)][-1] == "done"

    asyncio.run(main())


def test_answers_on_one_socket_do_not_mix(server: Server) -> None:
    """Two streams at once take two sockets; one after the other they share one."""

    async def main() -> None:
        async with speaking(server.http) as tts:
            (first, _), (second, _) = await asyncio.gather(speak(tts, ANSWER), speak(tts, SHORT))
            assert_aligned(first, RATE_HZ, ANSWER)
            assert_aligned(second, RATE_HZ, SHORT)

    asyncio.run(main())


def test_unknown_voice_is_an_error_and_not_silence(server: Server) -> None:
    async def main() -> None:
        async with speaking(server.http, voice="no-such-voice") as tts:
            with pytest.raises(agents.APIError, match="no-such-voice"):
                await speak(tts, SHORT)
            with pytest.raises(agents.APIStatusError) as raised:
                async with tts.synthesize(SHORT, conn_options=ONCE) as stream:
                    await listen(stream)
            assert raised.value.status_code == 404

    asyncio.run(main())


@pytest.mark.parametrize("model", ["gpt-4o-mini-tts", "tts-1"], ids=["events", "audio"])
def test_openai_plugin_speaks(server: Server, model: str) -> None:
    async def main() -> None:
        async with asyncio.timeout(LIMIT_S):
            tts = openai_plugin.TTS(api_key="any", base_url=server.openai, model=model, voice="ash")
            async with tts.synthesize(ANSWER, conn_options=ONCE) as stream:
                said = await listen(stream)
            await tts.aclose()
            assert_speech(raw_wave(bytes(said.audio), "pcm_s16le", RATE_HZ), RATE_HZ, ANSWER)

    asyncio.run(main())
