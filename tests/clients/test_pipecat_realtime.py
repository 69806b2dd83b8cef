"""Pipecat's own `OpenAIRealtimeLLMService` in a real pipeline: a greeting, a spoken turn, an interruption."""

import asyncio
from pathlib import Path
from typing import Any

from tests.engine.scripted_llm import Reply, scripted_server, words

from .heard import LONG, assert_speech, raw_wave
from .required import required
from .running import Server, serving
from .spoken import WISH, chunks
from .test_openai_realtime import HEARD, speech
from .test_pipecat import Call, calling

frames = required("pipecat.frames.frames")
contexts = required("pipecat.processors.aggregators.llm_context")
events = required("pipecat.services.openai.realtime.events")
realtime = required("pipecat.services.openai.realtime.llm")

RATE_HZ = 24_000
PACE = 3.0


def service_of(server: Server) -> Any:
    heard = events.AudioInput(
        transcription=events.InputAudioTranscription(), turn_detection=events.SemanticTurnDetection()
    )
    properties = events.SessionProperties(audio=events.AudioConfiguration(input=heard))
    kind = realtime.OpenAIRealtimeLLMService
    return kind(
        api_key=server.key,
        base_url=f"{server.ws}/v1/realtime",
        settings=kind.Settings(model="gpt-realtime", session_properties=properties),
    )


async def say(call: Call, audio: bytes) -> None:
    for chunk in chunks(audio, RATE_HZ // 5):
        await call.work.queue_frame(frames.InputAudioRawFrame(chunk, RATE_HZ, 1))
        await asyncio.sleep(0.1 / PACE)


def said(call: Call) -> str:
    return "".join(frame.text for frame in call.ears.of(frames.TTSTextFrame))


async def begin(call: Call) -> None:
    """Pipecat asks for a first answer at once: the greeting."""
    await call.work.queue_frame(frames.LLMContextFrame(contexts.LLMContext([])))
    await call.ears.until(frames.TTSStoppedFrame)
    call.ears.heard.clear()


def test_a_greeting_and_a_spoken_turn(server: Server) -> None:
    async def main() -> None:
        async with calling(service_of(server)) as call:
            await begin(call)
            await say(call, speech(server, HEARD))
            await call.ears.until(frames.TTSStoppedFrame)
        assert not call.errors
        assert said(call) == "Yes, I can hear you."
        audio = b"".join(frame.audio for frame in call.ears.of(frames.TTSAudioRawFrame))
        assert_speech(raw_wave(audio, "pcm_s16le", RATE_HZ), RATE_HZ, said(call))

    asyncio.run(main())


def test_speech_over_the_answer_interrupts_it(tmp_path: Path) -> None:
    """Pipecat drops what it was playing and truncates the item; the next answer knows only what was heard."""
    story, rest = Reply(words(LONG)), Reply(words("All right."))

    async def main() -> None:
        async with scripted_server(Reply(words("Hello.")), story, rest) as llm:
            with serving(tmp_path, "--llm-url", llm.url, "--llm-model", "small") as server:
                async with calling(service_of(server)) as call:
                    await begin(call)
                    await say(call, speech(server, HEARD))
                    await call.ears.until(frames.TTSAudioRawFrame)
                    await say(call, speech(server, WISH))
                    while "All right." not in said(call):
                        await call.ears.until(frames.Frame, len(call.ears.heard) + 1)
                assert not call.errors
                roles = [message["role"] for message in llm.bodies[-1]["messages"]]
                assert roles[-3:] == ["user", "assistant", "user"]
                heard = llm.bodies[-1]["messages"][-2]["content"]
                assert len(heard) < len(LONG)
                assert LONG.startswith(heard)

    asyncio.run(main())
