"""OpenAI's ``POST /v1/audio/transcriptions``: ours, and the servers that copy it (Speaches, whisper servers).

The wire takes whole files, so its caller records until the true end of speech, then sends; the clock of the final runs
from there, the upload included.
"""

import asyncio

import httpx
import msgspec

from antiphon.audio.pcm import encode
from antiphon.audio.wav import header
from antiphon.bench.clip import Clip
from antiphon.bench.hearing import FINALIZE
from antiphon.bench.recording import Recording
from antiphon.bench.target.contract import Links
from antiphon.bench.target.http_audio import Trace
from antiphon.bench.target.inproc_ear import transcript
from antiphon.core.clock import MonotonicClock


class _Answer(msgspec.Struct):
    text: str


class OpenaiTranscription:
    """``url``: base of the server, with or without ``/v1``. ``speed``: times real time at which clips pass."""

    def __init__(
        self,
        url: str,
        *,
        model: str = "whisper-1",
        language: str = "en",
        api_key: str = "",
        name: str = "openai-transcription",
        speed: float = 1.0,
    ) -> None:
        base = url.rstrip("/")
        self.name = name
        self.links = Links()
        self._url = (base if base.endswith("/v1") else base + "/v1") + "/audio/transcriptions"
        self._fields = {"model": model, "language": language, "response_format": "json"}
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._speed = speed
        self._client: httpx.AsyncClient | None = None

    async def open(self, streams: int) -> None:
        if self._client is None:
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=120.0)
            self._client = httpx.AsyncClient(limits=limits, timeout=None, headers=self._headers, trust_env=False)
            trace = {"trace": Trace(self.links, MonotonicClock())}
            await self._client.get(str(httpx.URL(self._url).join("/")), extensions=trace)

    async def speak(self, line: Clip, recording: Recording) -> None:
        if self._client is None:
            raise RuntimeError("open the target first")
        recording.sent()
        clip = line.until_true_end()
        file = header("pcm_s16le", clip.rate_hz, len(clip.samples)) + encode(clip.samples, "pcm_s16le")
        await asyncio.sleep(clip.audio_s / self._speed)
        recording.mark(FINALIZE)
        answer = await self._client.post(self._url, data=self._fields, files={"file": ("speech.wav", file)})
        if answer.status_code != 200:
            recording.fail(f"{answer.status_code}: {answer.text[:200]}", answer.status_code)
            return
        recording.chunk(transcript(msgspec.json.decode(answer.content, type=_Answer).text))
        recording.end()

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None
