"""Cartesia's server messages (WebSocket and SSE), and the writer that turns a stream's events into them.

``done`` is true only on ``done`` and ``error``: the LiveKit plugin looks at it before ``type``. ``flush_id`` is on
every chunk and timestamp of a WebSocket (as in the documents' own transcript), counting from 1; SSE has none.
"""

import itertools

import msgspec
from msgspec import UNSET, Raw, UnsetType

from antiphon.core.errors import AntiphonError
from antiphon.core.event import Audio, PhonemeTimes, Timed, WordTimes
from antiphon.core.frame import AudioFormat
from antiphon.protocol.cartesia_errors import describe
from antiphon.protocol.versions import errors_say_done

PARTIAL = 206


class _Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    context_id: str | UnsetType = UNSET


class Chunk(_Message, frozen=True, kw_only=True, tag="chunk"):
    """Audio; ``data`` is base64 on the wire. ``step_time``: milliseconds of compute that it cost."""

    status_code: int = PARTIAL
    done: bool = False
    step_time: float
    flush_id: int | UnsetType = UNSET
    data: bytes | Raw


class WordList(msgspec.Struct, frozen=True):
    """Three lists of one length; seconds from the start of the context's audio."""

    words: list[str]
    start: list[float]
    end: list[float]


class PhonemeList(msgspec.Struct, frozen=True):
    phonemes: list[str]
    start: list[float]
    end: list[float]


class Timestamps(_Message, frozen=True, kw_only=True, tag="timestamps"):
    status_code: int = PARTIAL
    done: bool = False
    flush_id: int | UnsetType = UNSET
    word_timestamps: WordList


class PhonemeTimestamps(_Message, frozen=True, kw_only=True, tag="phoneme_timestamps"):
    status_code: int = PARTIAL
    done: bool = False
    flush_id: int | UnsetType = UNSET
    phoneme_timestamps: PhonemeList


class FlushDone(_Message, frozen=True, kw_only=True, tag="flush_done"):
    status_code: int = PARTIAL
    done: bool = False
    flush_done: bool = True
    flush_id: int


class Done(_Message, frozen=True, kw_only=True, tag="done"):
    status_code: int = PARTIAL
    done: bool = True


class ErrorMessage(_Message, frozen=True, kw_only=True, tag="error"):
    """The union of what all versions carry; ``error`` is the flat text that older clients print."""

    done: bool
    status_code: int | UnsetType = UNSET
    error_code: str | UnsetType | None = UNSET
    title: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    request_id: str | UnsetType = UNSET
    doc_url: str | UnsetType | None = UNSET
    error: str | UnsetType = UNSET


ServerMessage = Chunk | Timestamps | PhonemeTimestamps | FlushDone | Done | ErrorMessage

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[ServerMessage] = msgspec.json.Decoder(ServerMessage)


def encode_server_message(message: ServerMessage) -> bytes:
    return _encoder.encode(message)


def decode_server_message(frame: bytes | str) -> ServerMessage:
    """The client's side. Raises ``msgspec.DecodeError`` for anything else (``ValidationError`` is one)."""
    return _decoder.decode(frame)


def error_message(
    error: AntiphonError, version: str, request_id: str, context_id: str | UnsetType = UNSET
) -> ErrorMessage:
    """The message for an error. ``done`` is a compromise by version, see :func:`errors_say_done`."""
    fault = describe(error)
    return ErrorMessage(
        context_id=context_id,
        done=errors_say_done(version),
        status_code=fault.status,
        error_code=fault.code,
        title=fault.title,
        message=fault.message,
        request_id=request_id,
        error=fault.text,
    )


SAMPLE_BYTES = {"pcm_f32le": 4, "pcm_s16le": 2, "pcm_mulaw": 1, "pcm_alaw": 1}
"""The encodings on Cartesia's wire."""


class MessageWriter:
    """Writes one context's events as JSON messages.

    Audio is cut at sample boundaries into even pieces of at most ``chunk_s``, so that a client can start early and no
    frame comes near the 1 MiB that WebSocket libraries accept by default. Cuts are at every third sample, if that fits:
    base64 can be cut there too, and need not be made anew. Times are those of the stream: cumulative
    over the context. ``normalized`` picks the words as spoken instead of as written.
    """

    def __init__(
        self,
        context_id: str | UnsetType,
        audio: AudioFormat,
        *,
        words: bool,
        phonemes: bool,
        normalized: bool,
        flush_ids: bool,
        chunk_s: float = 0.2,
    ) -> None:
        self.flush_id: int | UnsetType = 1 if flush_ids else UNSET
        self._context_id = context_id
        self._sample_bytes = SAMPLE_BYTES[audio.encoding]
        self._chunk_bytes = max(1, int(chunk_s * audio.sample_rate_hz)) * self._sample_bytes
        self._words = words
        self._phonemes = phonemes
        self._normalized = normalized

    def write(self, event: Audio | WordTimes | PhonemeTimes) -> list[bytes]:
        """Messages for one event, in order; none for what was not asked for or holds nothing."""
        if isinstance(event, Audio):
            data, ready = event.data, event.as_json
            step_ms = round(event.compute_s * 1e6) / 1000
            if 0 < len(data) <= self._chunk_bytes:
                return [self._chunk(Raw(ready) if ready else data, step_ms)]
            return self._cut(data, ready, step_ms)
        if isinstance(event, WordTimes):
            return self._word_times(event)
        return self._phoneme_times(event)

    def _cut(self, data: bytes, ready: bytes, step_ms: float) -> list[bytes]:
        pieces = itertools.pairwise(self._cuts(len(data)))
        return [self._chunk(_piece(data, ready, start, end), step_ms if start == 0 else 0.0) for start, end in pieces]

    def _cuts(self, size: int) -> list[int]:
        """Where to cut ``size`` bytes. Even pieces: a last crumb of a millisecond would be all overhead."""
        count = -(-size // self._chunk_bytes)
        for step in (3 * self._sample_bytes, self._sample_bytes):
            cuts = [-(-size // step) * piece // count * step for piece in range(count)] + [size]
            if all(end - start <= self._chunk_bytes for start, end in itertools.pairwise(cuts)):
                break
        return cuts

    def _chunk(self, data: bytes | Raw, step_ms: float) -> bytes:
        return _encoder.encode(Chunk(context_id=self._context_id, step_time=step_ms, flush_id=self.flush_id, data=data))

    def _word_times(self, event: WordTimes) -> list[bytes]:
        timed = event.normalized if self._normalized else event.words
        if not self._words or not timed:
            return []
        words = WordList([word.text for word in timed], *_seconds(timed, event.sample_rate_hz))
        return [_encoder.encode(Timestamps(context_id=self._context_id, flush_id=self.flush_id, word_timestamps=words))]

    def _phoneme_times(self, event: PhonemeTimes) -> list[bytes]:
        timed = event.phonemes
        if not self._phonemes or not timed:
            return []
        phonemes = PhonemeList([phoneme.text for phoneme in timed], *_seconds(timed, event.sample_rate_hz))
        message = PhonemeTimestamps(context_id=self._context_id, flush_id=self.flush_id, phoneme_timestamps=phonemes)
        return [_encoder.encode(message)]

    def flush_done(self, flush_id: int) -> bytes:
        """All audio of this flush has been written; what follows belongs to the next."""
        self.flush_id = flush_id + 1
        return _encoder.encode(FlushDone(context_id=self._context_id, flush_id=flush_id))

    def done(self) -> bytes:
        return _encoder.encode(Done(context_id=self._context_id))


def _piece(data: bytes, ready: bytes, start: int, end: int) -> bytes | Raw:
    """``data[start:end]``, of ``ready`` if it is there and can be cut so."""
    if not ready or start % 3 or (end % 3 and end != len(data)):
        return data[start:end]
    quote, stop = ready[:1], len(ready) - 1 if end == len(data) else end // 3 * 4 + 1
    return Raw(quote + ready[start // 3 * 4 + 1 : stop] + quote)


def _seconds(timed: tuple[Timed, ...], rate_hz: int) -> tuple[list[float], list[float]]:
    starts = [round(item.start_sample / rate_hz, 4) for item in timed]
    ends = [round(item.end_sample / rate_hz, 4) for item in timed]
    return starts, ends
