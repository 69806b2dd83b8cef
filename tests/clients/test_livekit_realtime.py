"""LiveKit's `openai.realtime.RealtimeModel`: replies by text and by speech, a tool, an interruption with truncation."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.engine.scripted_llm import DONE, Reply, data, scripted_server, words

from .heard import LONG, assert_speech, raw_wave
from .required import required
from .running import Server, serving
from .spoken import assert_understood, chunks
from .test_openai_realtime import HEARD, speech

agents = required("livekit.agents")
plugin = required("livekit.plugins.openai")
rtc = required("livekit.rtc")
llm = agents.llm

LIMIT_S = 30.0
RATE_HZ = 24_000
PACE = 3.0


@asynccontextmanager
async def session_at(server: Server) -> AsyncIterator[Any]:
    async with asyncio.timeout(LIMIT_S), agents.utils.http_context.open() as http:
        model = plugin.realtime.RealtimeModel(api_key=server.key, base_url=server.openai, http_session=http)
        session = model.session()
        errors: list[Any] = []
        session.on("error", errors.append)
        try:
            yield session
        finally:
            await session.aclose()
            await model.aclose()
        assert not errors


async def say(session: Any, audio: bytes) -> None:
    for chunk in chunks(audio, RATE_HZ // 5):
        session.push_audio(rtc.AudioFrame(chunk, RATE_HZ, 1, len(chunk) // 2))
        await asyncio.sleep(0.1 / PACE)


async def collected(generation: Any) -> tuple[str, bytes, list[Any]]:
    """Text, audio and calls of a whole generation."""
    text, audio = "", b""
    async for message in generation.message_stream:
        text += "".join([piece async for piece in message.text_stream])
        audio += b"".join([bytes(frame.data) async for frame in message.audio_stream])
    return text, audio, [call async for call in generation.function_stream]


def generations(session: Any) -> "asyncio.Queue[Any]":
    """Those that the server began by itself."""
    found: asyncio.Queue[Any] = asyncio.Queue()
    session.on("generation_created", lambda event: None if event.user_initiated else found.put_nowait(event))
    return found


def test_a_greeting_and_a_spoken_turn(server: Server) -> None:
    async def main() -> None:
        async with session_at(server) as session:
            text, audio, _ = await collected(await session.generate_reply())
            assert text == "Hello! This is Antiphon."
            heard: list[Any] = []
            session.on("input_audio_transcription_completed", heard.append)
            begun = generations(session)
            await say(session, speech(server, HEARD))
            text, audio, _ = await collected(await begun.get())
        assert_understood(heard[-1].transcript, HEARD)
        assert text == "Yes, I can hear you."
        assert_speech(raw_wave(audio, "pcm_s16le", RATE_HZ), RATE_HZ, text)

    asyncio.run(main())


def test_a_tool_is_called_and_its_result_answered(tmp_path: Path) -> None:
    @llm.function_tool  # type: ignore[untyped-decorator]
    async def opening_hours(day: str) -> str:
        """When the shop is open."""
        return ""

    call = {"index": 0, "id": "call_1", "function": {"name": "opening_hours", "arguments": '{"day": "Sunday"}'}}
    calls = Reply([data({"tool_calls": [call]}), data({}, "tool_calls"), DONE])

    async def main() -> None:
        async with scripted_server(calls, Reply(words("We close", " at six."))) as model:
            with serving(tmp_path, "--llm-url", model.url, "--llm-model", "small") as server:
                async with session_at(server) as session:
                    await session.update_instructions("Be brief.")
                    await session.update_tools([opening_hours])
                    talk = session.chat_ctx.copy()
                    talk.add_message(role="user", content="When do you close on Sunday?")
                    await session.update_chat_ctx(talk)
                    _, _, wishes = await collected(await session.generate_reply())
                    assert [(w.name, json.loads(w.arguments)) for w in wishes] == [("opening_hours", {"day": "Sunday"})]
                    talk = session.chat_ctx.copy()
                    result = llm.FunctionCallOutput(
                        call_id=wishes[0].call_id, name="opening_hours", output="18:00", is_error=False
                    )
                    talk.items.append(result)
                    await session.update_chat_ctx(talk)
                    text, audio, _ = await collected(await session.generate_reply())
            assert text == "We close at six."
            assert audio
            roles = [message["role"] for message in model.bodies[-1]["messages"]]
            assert roles == ["system", "user", "assistant", "tool"]

    asyncio.run(main())


def test_what_was_not_heard_of_an_interrupted_answer_is_forgotten(tmp_path: Path) -> None:
    async def main() -> None:
        async with scripted_server(Reply(words(LONG)), Reply(words("All right."))) as model:
            with serving(tmp_path, "--llm-url", model.url, "--llm-model", "small") as server:
                async with session_at(server) as session:
                    reply = await session.generate_reply()
                    message = await anext(aiter(reply.message_stream))
                    await anext(aiter(message.audio_stream))
                    session.interrupt()
                    session.truncate(message_id=message.message_id, modalities=["audio"], audio_end_ms=1_000)
                    begun = generations(session)
                    await say(session, speech(server, HEARD))
                    text, _, _ = await collected(await begun.get())
            assert text == "All right."
            heard = model.bodies[-1]["messages"][-2]["content"]
            assert LONG.startswith(heard.strip())
            assert 0 < len(heard) < 60

    asyncio.run(main())
