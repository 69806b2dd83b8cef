"""Cartesia's ``POST /tts/sse``: base64 in JSON in server-sent events over HTTP."""

from antiphon.bench.recording import Recording, Take
from antiphon.bench.target.cartesia_ws import VERSION
from antiphon.bench.target.contract import finish, whole_samples
from antiphon.bench.target.http_audio import HttpAudio
from antiphon.protocol.cartesia_messages import Chunk, ErrorMessage, decode_server_message


class CartesiaSse(HttpAudio):
    """``url``: base of the server, without a path. An event counts as arrived with the piece of body that ends it."""

    def __init__(
        self,
        url: str,
        *,
        voice: str = "default",
        model: str = "sonic-3",
        language: str = "en",
        sample_rate_hz: int = 24_000,
        api_key: str = "",
        name: str = "cartesia-sse",
    ) -> None:
        super().__init__(
            name,
            url.rstrip("/") + "/tts/sse",
            {
                "model_id": model,
                "voice": {"mode": "id", "id": voice},
                "language": language,
                "output_format": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": sample_rate_hz},
            },
            text_field="transcript",
            sample_rate_hz=sample_rate_hz,
            headers={"Cartesia-Version": VERSION} | ({"X-API-Key": api_key} if api_key else {}),
            language_field="language",
        )

    def take(self, recording: Recording) -> Take:
        rest, audio, error, status = b"", [], recording.error, recording.status
        for payload in recording.payloads:
            events = (rest + payload).split(b"\n\n")
            rest = events.pop()
            pcm = b""
            for event in events:
                for line in event.splitlines():
                    if not line.startswith(b"data:"):
                        continue
                    message = decode_server_message(line.removeprefix(b"data:").strip())
                    if isinstance(message, Chunk):
                        pcm += message.data
                    elif isinstance(message, ErrorMessage) and not error:
                        error = str(message.message or message.error or "error without a text")
                        status = message.status_code if isinstance(message.status_code, int) else 0
            audio.append(pcm)
        recording.error, recording.status = error, status
        return finish(recording, whole_samples(audio), self.sample_rate_hz)
