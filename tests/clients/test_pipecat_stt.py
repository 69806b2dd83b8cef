"""Pipecat's own Cartesia listeners in a real pipeline: finalized by its VAD, and by our turns."""

import asyncio
from typing import Any

from .required import required
from .running import Server
from .spoken import QUESTION, RATE_HZ, WISH, assert_understood, chunks, pcm
from .test_pipecat import Call, calling

frames = required("pipecat.frames.frames")
finalizing = required("pipecat.services.cartesia.stt")
turning = required("pipecat.services.cartesia.turns.stt")
openai_stt = required("pipecat.services.openai.stt")

PACE = 3.0


async def say(call: Call, speech: bytes) -> None:
    for chunk in chunks(speech):
        await call.work.queue_frame(frames.InputAudioRawFrame(chunk, RATE_HZ, 1))
        await asyncio.sleep(0.1 / PACE)


def texts(call: Call) -> list[str]:
    return [frame.text for frame in call.ears.of(frames.TranscriptionFrame)]


def test_finalize(server: Server) -> None:
    async def main() -> None:
        service = finalizing.CartesiaSTTService(api_key="any", base_url=server.ws, sample_rate=RATE_HZ)
        async with calling(service) as call:
            for number, sentence in enumerate((QUESTION, WISH), 1):
                await call.work.queue_frame(frames.VADUserStartedSpeakingFrame())
                await say(call, pcm(server, sentence, pause_s=0.2))
                await call.work.queue_frame(frames.VADUserStoppedSpeakingFrame())
                await call.ears.until(frames.TranscriptionFrame, number)
            await call.work.queue_frame(frames.VADUserStoppedSpeakingFrame())  # nothing new: no answer is owed
        assert not call.errors
        assert len(texts(call)) == 2
        for text, sentence in zip(texts(call), (QUESTION, WISH), strict=True):
            assert_understood(text, sentence)
        assert call.ears.of(frames.InterimTranscriptionFrame)

    asyncio.run(main())


def test_turns(server: Server) -> None:
    async def main() -> None:
        told: list[tuple[str, str]] = []
        service = turning.CartesiaTurnsSTTService(
            api_key="any", url=f"{server.ws}/stt/turns/websocket", sample_rate=RATE_HZ
        )
        for name in ("on_turn_start", "on_turn_update", "on_turn_eager_end", "on_turn_resume", "on_turn_end"):

            async def note(_: Any, *said: Any, name: str = name) -> None:
                told.append((name, str(said[0]) if said else ""))

            service.add_event_handler(name, note)
        async with calling(service) as call:
            await say(call, pcm(server, QUESTION, WISH))
            await call.ears.until(frames.TranscriptionFrame, 2)
        assert not call.errors
        assert len(texts(call)) == 2
        for text, sentence in zip(texts(call), (QUESTION, WISH), strict=True):
            assert_understood(text, sentence)
        names = [name for name, _ in told]
        assert names.count("on_turn_start") == names.count("on_turn_end") == 2
        assert names[0] == "on_turn_start"
        assert "on_turn_update" in names
        assert names[-1] == "on_turn_end"

    asyncio.run(main())


def test_a_turn_whose_audio_stops_is_ended_all_the_same(server: Server) -> None:
    """Pipecat's watchdog sends silence where the caller's audio dries up inside a turn."""

    async def main() -> None:
        service = turning.CartesiaTurnsSTTService(
            api_key="any", url=f"{server.ws}/stt/turns/websocket", sample_rate=RATE_HZ
        )
        async with calling(service) as call:
            await say(call, pcm(server, QUESTION, pause_s=0.0))
            await call.ears.until(frames.TranscriptionFrame)
        assert not call.errors
        assert_understood(texts(call)[0], QUESTION)

    asyncio.run(main())
