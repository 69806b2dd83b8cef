"""Cartesia's ``POST /tts/bytes`` with raw PCM."""

from antiphon.bench.target.cartesia_ws import VERSION
from antiphon.bench.target.http_audio import HttpAudio


class CartesiaBytes(HttpAudio):
    """``url``: base of the server, without a path. ``name`` empty: the wire's own."""

    wire = "bytes"

    def __init__(
        self,
        url: str,
        *,
        voice: str = "default",
        model: str = "sonic-3",
        language: str = "en",
        sample_rate_hz: int = 24_000,
        api_key: str = "",
        name: str = "",
    ) -> None:
        super().__init__(
            name or f"cartesia-{self.wire}",
            f"{url.rstrip('/')}/tts/{self.wire}",
            {
                "model_id": model,
                "voice": {"mode": "id", "id": voice},
                "language": language,
                "output_format": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": sample_rate_hz},
            },
            text_field="transcript",
            sample_rate_hz=sample_rate_hz,
            language_field="language",
            headers={"Cartesia-Version": VERSION} | ({"X-API-Key": api_key} if api_key else {}),
        )
