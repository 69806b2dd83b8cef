"""A spoken conversation of three turns over the Realtime socket, with each client's own machinery.

A question that is answered with a tool, a long answer that is spoken over, and an answer to that. What the model is
told at the end is what really happened.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.engine.scripted_llm import scripted_server

from .heard import LONG, assert_speech, raw_wave
from .required import required
from .running import serving
from .spoken import QUESTION, RATE_HZ, WISH, assert_understood, pcm
from .test_livekit_realtime import RATE_HZ as LIVEKIT_HZ
from .test_openai_realtime import TOOL, audio_of, connected, events_until, of, say, speech, transcript_of
from .test_pipecat import calling
from .test_recipes import THANKS, Loudspeaker, Mouth, Page, answer, assert_conversation

required("openai")
agents = required("livekit.agents")
plugin = required("livekit.plugins.openai")
transcription = required("livekit.agents.voice.transcription")
frames = required("pipecat.frames.frames")
pipeline = required("pipecat.pipeline.pipeline")
contexts = required("pipecat.processors.aggregators.llm_context")
aggregators = required("pipecat.processors.aggregators.llm_response_universal")
events = required("pipecat.services.openai.realtime.events")
realtime = required("pipecat.services.openai.realtime.llm")

LIMIT_S = 60.0
HOURS = {"opens": "09:00", "closes": "18:00"}


def test_openai(tmp_path: Path) -> None:
    async def main() -> None:
        async with scripted_server(choose=answer) as llm:
            with serving(tmp_path, "--llm-url", llm.url, "--llm-model", "small") as server:
                async with connected(server, model="gpt-realtime") as connection:
                    await connection.session.update(session={"type": "realtime", "tools": [TOOL]})
                    await say(connection, speech(server, QUESTION))
                    wish = of(await events_until(connection, "response.done"), "response.function_call_arguments.done")
                    output = {"type": "function_call_output", "call_id": wish[0].call_id, "output": json.dumps(HOURS)}
                    await connection.conversation.item.create(item=output)
                    await connection.response.create()
                    first = await events_until(connection, "response.done")
                    assert transcript_of(first) == "We close at six on Sunday."
                    assert_speech(raw_wave(audio_of(first), "pcm_s16le", 24_000), 24_000, transcript_of(first))
                    await say(connection, speech(server, WISH))
                    begun = await events_until(connection, "response.output_audio.delta")
                    await say(connection, speech(server, THANKS))
                    broken = await events_until(connection, "response.done")
                    assert broken[-1].response.status == "cancelled"
                    item = of(begun, "response.output_audio.delta")[0].item_id
                    await connection.conversation.item.truncate(item_id=item, content_index=0, audio_end_ms=1_500)
                    last = await events_until(connection, "response.done")
                    assert transcript_of(last) == "Goodbye."
                    assert audio_of(last)
            assert_conversation(llm.bodies)

    asyncio.run(main())


async def opening_hours(params: Any, day: str) -> None:
    """When the shop is open.

    Args:
        day: The day of the week.
    """
    await params.result_callback({"day": day, **HOURS})


@pytest.mark.soak  # half a minute of real time each
def test_pipecat(tmp_path: Path) -> None:
    async def main() -> None:
        async with scripted_server(choose=answer) as llm:
            with serving(tmp_path, "--llm-url", llm.url, "--llm-model", "small") as server:
                heard = events.AudioInput(
                    transcription=events.InputAudioTranscription(), turn_detection=events.SemanticTurnDetection()
                )
                kind = realtime.OpenAIRealtimeLLMService
                properties = events.SessionProperties(audio=events.AudioConfiguration(input=heard))
                service = kind(
                    api_key=server.key,
                    base_url=f"{server.ws}/v1/realtime",
                    settings=kind.Settings(model="gpt-realtime", session_properties=properties),
                )
                context = contexts.LLMContext(tools=[opening_hours])
                pair = aggregators.LLMContextAggregatorPair(context)
                async with calling(pipeline.Pipeline([pair.user(), service, pair.assistant()])) as call:

                    async def utter(sentence: str) -> None:
                        audio = pcm(server, sentence, pause_s=1.5)
                        for at in range(0, len(audio), 3200):
                            frame = frames.InputAudioRawFrame(audio[at : at + 3200], RATE_HZ, 1)
                            await call.work.queue_frame(frame)
                            await asyncio.sleep(0.1)

                    async def spoken(count: int) -> None:
                        await call.ears.until(frames.TTSStoppedFrame, count)

                    await call.work.queue_frame(frames.LLMContextFrame(context))  # Pipecat asks for a greeting
                    await spoken(1)
                    heard_out = b"".join(frame.audio for frame in call.ears.of(frames.TTSAudioRawFrame))
                    await asyncio.sleep(len(heard_out) / (2 * 24_000))  # a word that is spoken over was not heard
                    await utter(QUESTION)
                    await spoken(2)
                    sounds = len(call.ears.of(frames.TTSAudioRawFrame))
                    await utter(WISH)
                    await call.ears.until(frames.TTSAudioRawFrame, sounds + 1)
                    interrupted = len(call.ears.of(frames.InterruptionFrame))
                    await utter(THANKS)
                    await call.ears.until(frames.InterruptionFrame, interrupted + 1)
                    while llm.bodies[-1]["messages"][-1].get("content", "").strip(" .") == WISH.strip("."):
                        await call.ears.until(frames.Frame, len(call.ears.heard) + 1)
                    assert not call.errors
            greeting = next(m for m in llm.bodies[-1]["messages"] if m["role"] == "assistant")
            assert greeting["content"], llm.bodies[-1]["messages"]
            told = [m for m in llm.bodies[-1]["messages"] if m is not greeting]
            assert_conversation([{"messages": told}])

    asyncio.run(main())


@pytest.mark.soak
def test_livekit(tmp_path: Path) -> None:
    @agents.function_tool  # type: ignore[untyped-decorator]
    async def opening_hours(day: str) -> str:
        """When the shop is open."""
        return json.dumps({"day": day, **HOURS})

    async def main() -> None:
        async with scripted_server(choose=answer) as llm:
            with serving(tmp_path, "--llm-url", llm.url, "--llm-model", "small") as server:
                async with asyncio.timeout(LIMIT_S), agents.utils.http_context.open() as http:
                    model = plugin.realtime.RealtimeModel(api_key=server.key, base_url=server.openai, http_session=http)
                    session = agents.AgentSession(llm=model, vad=None, user_away_timeout=None)
                    errors: list[Any] = []
                    session.on("error", errors.append)
                    mouth, loudspeaker = Mouth(), Loudspeaker()
                    synced = transcription.TranscriptSynchronizer(
                        next_in_chain_audio=loudspeaker, next_in_chain_text=Page()
                    )
                    session.input.audio = mouth
                    session.output.audio, session.output.transcription = synced.audio_output, synced.text_output
                    await session.start(agent=agents.Agent(instructions="Be brief.", tools=[opening_hours]))
                    mouth.say(pcm(server, QUESTION))
                    await loudspeaker.until(finished=1)
                    mouth.say(pcm(server, WISH))
                    await loudspeaker.until(sounds=2)
                    await asyncio.sleep(2.0)
                    mouth.say(pcm(server, THANKS))
                    await loudspeaker.until(finished=3)
                    await session.aclose()
                    await synced.aclose()
                    await model.aclose()
                    assert not errors
            assert loudspeaker.finished == [False, True, False]
            text = "We close at six on Sunday."
            assert_speech(raw_wave(loudspeaker.sounds[0], "pcm_s16le", LIVEKIT_HZ), LIVEKIT_HZ, text)
            assert_understood(llm.bodies[-1]["messages"][-1]["content"], THANKS)
            assert_conversation(llm.bodies)
            assert LONG not in str(llm.bodies[-1])

    asyncio.run(main())
