"""Cartesia's ``POST /tts/sse``: base64 in JSON in server-sent events over HTTP."""

from antiphon.bench.recording import Recording, Take
from antiphon.bench.target.cartesia_bytes import CartesiaBytes
from antiphon.bench.target.contract import finish, whole_samples
from antiphon.protocol.cartesia_messages import Chunk, ErrorMessage, decode_server_message


class CartesiaSse(CartesiaBytes):
    """The same request; an event counts as arrived with the piece of body that ends it."""

    wire = "sse"

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
