"""Pipecat's own Cartesia services in a real pipeline: by sentence, by token, over HTTP, interrupted."""

import asyncio
import base64
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from .heard import ANSWER, LONG, SHORT, Said, assert_said, assert_speech, raw_wave, tokens
from .required import required
from .running import Server
from .tap import tapped

frames = required("pipecat.frames.frames")
processor = required("pipecat.processors.frame_processor")
services = required("pipecat.services.cartesia.tts")
tts_service = required("pipecat.services.tts_service")
pipeline = required("pipecat.pipeline.pipeline")
worker = required("pipecat.pipeline.worker")
runner = required("pipecat.workers.runner")
cartesia = required("cartesia")

LIMIT_S = 30.0
RATE_HZ = 24000
SENTENCE = tts_service.TextAggregationMode.SENTENCE
TOKEN = tts_service.TextAggregationMode.TOKEN


@pytest.fixture(scope="module")
def voice(server: Server) -> str:
    with cartesia.Cartesia(api_key=server.key, base_url=server.http) as client:
        return str(client.voices.list(limit=1).data[0].id)


class Ears(processor.FrameProcessor):  # type: ignore[misc, name-defined]
    """The end of the pipeline: keeps what comes, and says when something in particular has come."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Any] = []
        self._news = asyncio.Event()

    async def process_frame(self, frame: Any, direction: Any) -> None:
        await super().process_frame(frame, direction)
        self.heard.append(frame)
        self._news.set()
        await self.push_frame(frame, direction)

    async def until(self, kind: type, count: int = 1) -> None:
        while len(self.of(kind)) < count:
            self._news.clear()
            await self._news.wait()

    def of(self, kind: type) -> list[Any]:
        return [frame for frame in self.heard if isinstance(frame, kind)]


@dataclass
class Call:
    """A running pipeline: text in, frames out. ``errors`` come from anywhere in it."""

    work: Any
    ears: Ears
    errors: list[Any] = field(default_factory=list)
    failed: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, text: str, *, whole: bool = True) -> None:
        """As a language model answers. ``whole``: the answer also ends."""
        await self.work.queue_frame(frames.LLMFullResponseStartFrame())
        for token in tokens(text):
            await self.work.queue_frame(frames.LLMTextFrame(token))
        if whole:
            await self.work.queue_frame(frames.LLMFullResponseEndFrame())

    def said(self, since: int = 0) -> Said:
        """The audio and words of the frames from index ``since`` on; times in seconds from the first audio."""
        said = Said()
        for frame in self.ears.heard[since:]:
            if isinstance(frame, frames.TTSAudioRawFrame):
                assert frame.sample_rate == RATE_HZ
                assert frame.num_channels == 1
                said.audio += frame.audio
            elif isinstance(frame, frames.TTSTextFrame):
                said.words.append(frame.text)
                said.start_s.append((frame.pts or 0) / 1e9)
        return said


@asynccontextmanager
async def calling(service: Any) -> AsyncIterator[Call]:
    """A pipeline of this one service, started and (in the end) ended."""
    ears = Ears()
    work = worker.PipelineWorker(
        pipeline.Pipeline([service, ears]),
        params=worker.PipelineParams(audio_out_sample_rate=RATE_HZ),
        cancel_on_idle_timeout=False,
        enable_rtvi=False,
    )
    call = Call(work, ears)
    started = asyncio.Event()

    @work.event_handler("on_pipeline_started")  # type: ignore[untyped-decorator]
    async def _started(*_: Any) -> None:
        started.set()

    @work.event_handler("on_pipeline_error")  # type: ignore[untyped-decorator]
    async def _failed(_: Any, frame: Any) -> None:
        call.errors.append(frame.error)
        call.failed.set()

    house = runner.WorkerRunner(handle_sigint=False)
    await house.add_workers(work)
    running = asyncio.create_task(house.run())
    try:
        async with asyncio.timeout(LIMIT_S):
            await started.wait()
            yield call
            await work.queue_frame(frames.EndFrame())
            await running
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def socket_service(url: str, voice: str, mode: Any) -> Any:
    return services.CartesiaTTSService(
        api_key="any",
        url=f"{url}/tts/websocket",
        text_aggregation_mode=mode,
        settings=services.CartesiaTTSService.Settings(voice=voice),
    )


def wire_said(tap: Any, context: str) -> Said:
    said = Said()
    for message in tap.received(context):
        said.types.append(message["type"])
        if message["type"] == "chunk":
            said.audio += base64.b64decode(message["data"])
        elif message["type"] == "timestamps":
            times = message["word_timestamps"]
            said.add_words(times["words"], times["start"], times["end"])
    return said


@pytest.mark.parametrize("mode", [SENTENCE, TOKEN], ids=["sentence", "token"])
def test_answer_is_spoken_with_its_words(server: Server, voice: str, mode: Any) -> None:
    async def main() -> None:
        async with tapped(server.ws) as tap:
            async with calling(socket_service(tap.url, voice, mode)) as call:
                await call.answer(ANSWER)
                await call.ears.until(frames.TTSStoppedFrame)
            assert not call.errors
            said = call.said()
            assert_speech(raw_wave(bytes(said.audio), "pcm_s16le", RATE_HZ), RATE_HZ, ANSWER)
            # One frame a word; Pipecat makes up for words it was not told of, but not one by one and not with times.
            assert said.words == ANSWER.split()
            assert all(later > earlier for earlier, later in zip(said.start_s, said.start_s[1:], strict=False))
            assert len(call.ears.of(frames.TTSStartedFrame)) == len(call.ears.of(frames.TTSStoppedFrame)) == 1
            (context,) = tap.contexts()
            on_the_wire = wire_said(tap, context)
            assert_said(on_the_wire, "pcm_s16le", RATE_HZ, ANSWER)
            assert on_the_wire.types[-1] == "done"
            assert on_the_wire.audio == said.audio

    asyncio.run(main())


@pytest.mark.parametrize("mode", [SENTENCE, TOKEN], ids=["sentence", "token"])
def test_interruption_silences_the_old_answer_and_the_next_is_heard(server: Server, voice: str, mode: Any) -> None:
    async def main() -> None:
        async with tapped(server.ws) as tap:
            async with calling(socket_service(tap.url, voice, mode)) as call:
                await call.answer(LONG, whole=False)
                await call.ears.until(frames.TTSAudioRawFrame, 3)
                await call.work.queue_frame(frames.InterruptionFrame())
                await call.ears.until(frames.InterruptionFrame)
                since = call.ears.heard.index(call.ears.of(frames.InterruptionFrame)[0])
                await call.answer(SHORT)
                await call.ears.until(frames.TTSStoppedFrame)
                await call.answer(ANSWER)
                await call.ears.until(frames.TTSStoppedFrame, 2)
            assert not call.errors
            assert call.said(since).words == [*SHORT.split(), *ANSWER.split()]
            interrupted, following, last = tap.contexts()
            tap.assert_silent_after_cancel(interrupted, following)
            assert_said(wire_said(tap, following), "pcm_s16le", RATE_HZ, SHORT)
            assert_said(wire_said(tap, last), "pcm_s16le", RATE_HZ, ANSWER)
            assert tap.sockets == 1

    asyncio.run(main())


def test_http_service_speaks_sentence_by_sentence(server: Server, voice: str) -> None:
    async def main() -> None:
        service = services.CartesiaHttpTTSService(
            api_key="any",
            base_url=server.http,
            settings=services.CartesiaHttpTTSService.Settings(
                voice=voice, generation_config=services.GenerationConfig(speed=1.0, volume=1.0)
            ),
        )
        async with calling(service) as call:
            await call.answer(ANSWER)
            await call.ears.until(frames.TTSStoppedFrame)
        assert not call.errors
        said = call.said()
        assert_speech(raw_wave(bytes(said.audio), "pcm_s16le", RATE_HZ), RATE_HZ, ANSWER)
        assert len(said.words) == 3
        assert " ".join(said.words).split() == ANSWER.split()

    asyncio.run(main())


@pytest.mark.parametrize(
    "make",
    [
        lambda server: socket_service(server.ws, "no-such-voice", SENTENCE),
        lambda server: services.CartesiaHttpTTSService(
            api_key="any",
            base_url=server.http,
            settings=services.CartesiaHttpTTSService.Settings(voice="no-such-voice"),
        ),
    ],
    ids=["socket", "http"],
)
def test_unknown_voice_is_reported_and_not_silence(server: Server, make: Callable[[Server], Any]) -> None:
    async def main() -> None:
        async with calling(make(server)) as call:
            await call.answer(SHORT)
            await call.failed.wait()
        assert "no-such-voice" in call.errors[0]

    asyncio.run(main())
