"""The recipes in docs/recipes hold a spoken conversation: a question that needs a tool, an interruption, a goodbye.

What runs here is the code of `examples/`, which the pages quote.
"""

import asyncio
import importlib.util
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.engine.scripted_llm import DONE, Reply, data, scripted_server, words

from .heard import LONG, assert_speech, raw_wave
from .required import required
from .running import Server
from .spoken import QUESTION, RATE_HZ, WISH, assert_understood, chunks, pcm
from .test_pipecat import LIMIT_S, Call, calling

frames = required("pipecat.frames.frames")
agents = required("livekit.agents")
rtc = required("livekit.rtc")
voice_io = required("livekit.agents.voice.io")
transcription = required("livekit.agents.voice.transcription")

ROOT = Path(__file__).parents[2]
OUT_HZ = 24_000
THANKS = "All right, thank you."
CALL = {"index": 0, "id": "call_1", "function": {"name": "opening_hours", "arguments": '{"day": "Sunday"}'}}


def answer(body: dict[str, Any]) -> Reply:
    """By what was said last, however often it is asked: both clients also ask on a guess."""
    last = body["messages"][-1]
    if last["role"] == "tool":
        return Reply(words("We close", " at six", " on Sunday."))
    if "Sunday" in last["content"]:
        return Reply([data({"tool_calls": [CALL]}), data({}, "tool_calls"), DONE])
    return Reply(words(LONG) if "table" in last["content"] else words("Good", "bye."))


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("client", ["pipecat", "livekit"])
def test_the_page_quotes_the_example(client: str) -> None:
    source = (ROOT / "examples" / f"{client}_agent.py").read_text()
    quoted = source.split("# [agent]\n")[1].split("# [/agent]")[0].strip()
    assert quoted in (ROOT / "docs" / "recipes" / f"{client}.md").read_text()


def assert_conversation(bodies: list[dict[str, Any]]) -> None:
    """What the model was told at the last turn: the tool and its result, and no more of the story than was heard."""
    told = bodies[-1]["messages"]
    roles = [message["role"] for message in told if message["role"] != "system"]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant", "user"]
    said = [message for message in told if message["role"] != "system"]
    assert_understood(said[0]["content"], QUESTION)
    assert json.loads(said[1]["tool_calls"][0]["function"]["arguments"]) == {"day": "Sunday"}
    assert "18:00" in str(said[2]["content"])
    assert_understood(said[4]["content"], WISH)
    assert 0 < len(said[5]["content"]) < len(LONG)
    assert_understood(said[6]["content"], THANKS)


# -- Pipecat ----------------------------------------------------------------------------------------


async def _say_to(call: Call, audio: bytes) -> None:
    for chunk in chunks(audio):
        await call.work.queue_frame(frames.InputAudioRawFrame(chunk, RATE_HZ, 1))
        await asyncio.sleep(0.1)


def test_pipecat(server: Server) -> None:
    pipeline = required("pipecat.pipeline.pipeline")

    async def main() -> None:
        async with scripted_server(choose=answer) as llm:
            inner, outer, _ = example("pipecat_agent").agent(server.http, llm.url, "small")
            async with calling(pipeline.Pipeline([*inner, *outer])) as call:
                await _say_to(call, pcm(server, QUESTION))
                await call.ears.until(frames.TTSStoppedFrame)
                await _say_to(call, pcm(server, WISH))
                await call.ears.until(frames.TTSAudioRawFrame, len(call.ears.of(frames.TTSAudioRawFrame)) + 1)
                await _say_to(call, pcm(server, THANKS))
                await call.ears.until(frames.InterruptionFrame)
                since = call.ears.heard.index(call.ears.of(frames.InterruptionFrame)[-1])
                while not any(isinstance(frame, frames.TTSStoppedFrame) for frame in call.ears.heard[since:]):
                    await call.ears.until(frames.Frame, len(call.ears.heard) + 1)
            assert not call.errors
            assert call.ears.of(frames.InterruptionFrame)
            assert_conversation(llm.bodies)

    asyncio.run(main())


# -- LiveKit ----------------------------------------------------------------------------------------


class Mouth(voice_io.AudioInput):  # type: ignore[misc, name-defined]
    """A microphone that never stops: what is said, and silence between."""

    def __init__(self) -> None:
        super().__init__(label="mouth")
        self._said: asyncio.Queue[bytes] = asyncio.Queue()

    def say(self, audio: bytes) -> None:
        for chunk in chunks(audio):
            self._said.put_nowait(chunk)

    async def __anext__(self) -> Any:
        await asyncio.sleep(0.1)
        chunk = bytes(3200) if self._said.empty() else self._said.get_nowait()
        return rtc.AudioFrame(chunk, RATE_HZ, 1, len(chunk) // 2)


class Loudspeaker(voice_io.AudioOutput):  # type: ignore[misc, name-defined]
    """Plays in real time; a cleared buffer is silent at once."""

    def __init__(self) -> None:
        capabilities = voice_io.AudioOutputCapabilities(pause=False)
        super().__init__(label="loudspeaker", capabilities=capabilities, sample_rate=OUT_HZ)
        self.sounds: list[bytes] = []
        """One entry for each reply."""
        self.finished: list[bool] = []
        """Whether it was interrupted."""
        self.news = asyncio.Event()
        self._began_s: float | None = None
        self._ending: asyncio.Task[None] | None = None

    async def capture_frame(self, frame: Any) -> None:
        await super().capture_frame(frame)
        if self._began_s is None:
            self._began_s = time.monotonic()
            self.sounds.append(b"")
            self.on_playback_started(created_at=time.time())
        self.sounds[-1] += bytes(frame.data)
        self.news.set()

    def flush(self) -> None:
        super().flush()
        if self._began_s is not None:
            self._ending = asyncio.create_task(self._play_out(self._began_s, len(self.sounds[-1]) / 2 / OUT_HZ))

    async def _play_out(self, began_s: float, length_s: float) -> None:
        await asyncio.sleep(max(0.0, began_s + length_s - time.monotonic()))
        self._over(length_s, interrupted=False)

    def clear_buffer(self) -> None:
        if self._began_s is None:
            return
        if self._ending is not None:
            self._ending.cancel()
        self._over(min(time.monotonic() - self._began_s, len(self.sounds[-1]) / 2 / OUT_HZ), interrupted=True)

    def _over(self, position_s: float, *, interrupted: bool) -> None:
        self._began_s = self._ending = None
        self.finished.append(interrupted)
        self.on_playback_finished(playback_position=position_s, interrupted=interrupted)
        self.news.set()

    async def until(self, *, sounds: int = 0, finished: int = 0) -> None:
        while len(self.sounds) < sounds or len(self.finished) < finished:
            self.news.clear()
            await self.news.wait()


class Page(voice_io.TextOutput):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__(label="page", next_in_chain=None)

    async def capture_text(self, text: str) -> None:
        pass

    def flush(self) -> None:
        pass


@asynccontextmanager
async def talking(server: Server, llm_url: str) -> AsyncIterator[tuple[Mouth, Loudspeaker]]:
    module = example("livekit_agent")
    async with asyncio.timeout(2 * LIMIT_S), agents.utils.http_context.open():
        session = module.session(server.http, llm_url, "small", user_away_timeout=None)
        errors: list[Any] = []
        session.on("error", errors.append)
        mouth, loudspeaker = Mouth(), Loudspeaker()
        # In a room LiveKit shows the words as they are played, and so knows which of them were heard.
        synced = transcription.TranscriptSynchronizer(next_in_chain_audio=loudspeaker, next_in_chain_text=Page())
        session.input.audio = mouth
        session.output.audio, session.output.transcription = synced.audio_output, synced.text_output
        await session.start(agent=module.agent())
        try:
            yield mouth, loudspeaker
        finally:
            await session.aclose()
            await synced.aclose()
        assert not errors


def test_livekit(server: Server) -> None:
    async def main() -> None:
        async with scripted_server(choose=answer) as llm:
            async with talking(server, llm.url) as (mouth, loudspeaker):
                mouth.say(pcm(server, QUESTION))
                await loudspeaker.until(finished=1)
                mouth.say(pcm(server, WISH))
                await loudspeaker.until(sounds=2)
                await asyncio.sleep(2.0)
                mouth.say(pcm(server, THANKS))
                await loudspeaker.until(finished=3)
            assert loudspeaker.finished == [False, True, False]
            assert_speech(raw_wave(loudspeaker.sounds[0], "pcm_s16le", OUT_HZ), OUT_HZ, "We close at six on Sunday.")
            assert_conversation(llm.bodies)

    asyncio.run(main())
