"""OpenAI's ``POST /v1/audio/speech`` with ``response_format: pcm``: ours, and the servers that copy it."""

from antiphon.bench.target.http_audio import HttpAudio


class OpenaiSpeech(HttpAudio):
    """``url``: base of the server, with or without ``/v1``. ``pcm`` is 24 kHz s16le by OpenAI's definition; servers
    that send another rate need ``sample_rate_hz``."""

    def __init__(
        self,
        url: str,
        *,
        voice: str = "alloy",
        model: str = "tts-1",
        sample_rate_hz: int = 24_000,
        api_key: str = "",
        name: str = "openai-speech",
    ) -> None:
        base = url.rstrip("/")
        super().__init__(
            name,
            (base if base.endswith("/v1") else base + "/v1") + "/audio/speech",
            {"model": model, "voice": voice, "response_format": "pcm"},
            text_field="input",
            sample_rate_hz=sample_rate_hz,
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
        )
