"""OpenAI's ``/v1/audio/transcriptions``: the form, every format of the answer, and the streamed one.

Fields that mean nothing to the ears served here (``prompt``, ``temperature``, ``chunking_strategy``, known speakers)
are accepted and have no effect. Who speaks is not told apart, so ``diarized_json`` is refused rather than faked.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from antiphon.core.errors import AntiphonError, EngineFailed, InvalidInput
from antiphon.core.event import Event, Failed, Flushed
from antiphon.core.hearing import Heard, HeardWord, HearingConfig
from antiphon.protocol.cartesia_stt_query import read_keyterms, read_language, read_model
from antiphon.protocol.heard_languages import language_code
from antiphon.protocol.http import EVENT_STREAM, JSON, TEXT, NotSupported, Reply, sse_frame
from antiphon.protocol.openai_http import SpeechFailed, error_detail
from antiphon.protocol.openai_transcription_verbose import DurationUsage, verbose_reply
from antiphon.protocol.subtitles import cues_of, srt, vtt
from antiphon.protocol.transcription import (
    FormFields,
    Transcript,
    TranscriptDraft,
    TranscriptionRequest,
    UploadedFile,
    log_probability,
    spaced_words,
)

FORMATS = ("json", "text", "srt", "verbose_json", "vtt")
AUDIO_TOKENS_PER_S = 10
"""OpenAI counts a token for each 100 ms of audio."""

TRANSCRIPTION_MODELS = ("whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe", "gpt-transcribe")
"""Names that clients have as defaults; all mean the default ear."""

VTT = "text/vtt; charset=utf-8"


class TranscriptionForm(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """``multipart/form-data`` of ``POST /v1/audio/transcriptions``. Lists may be named with or without ``[]``."""

    file: UploadedFile
    model: str = ""
    language: str | None = None
    languages: list[str] = []
    keywords: list[str] = []
    prompt: str | None = None
    response_format: Literal["json", "text", "srt", "verbose_json", "vtt"] = "json"
    temperature: float | None = None
    timestamp_granularities: list[Literal["word", "segment"]] = []
    include: list[Literal["logprobs"]] = []
    chunking_strategy: Any = None
    stream: bool = False


@dataclass(frozen=True, slots=True)
class TranscriptionOrder:
    """``sse``: the answer is events, as the text comes; else one body in ``format``."""

    request: TranscriptionRequest
    format: str = "json"
    sse: bool = False
    segments: bool = True
    logprobs: bool = False


def read_transcription_request(fields: Iterable[tuple[str, str]]) -> TranscriptionOrder:
    """``fields``: the form's text fields. Raises ``InvalidInput`` naming the field."""
    form = FormFields(fields)
    model = read_model(form.one("model"))
    asked = form.one("response_format") or "json"
    if asked == "diarized_json":
        raise InvalidInput(
            "response_format: speakers are not told apart here, so diarized_json is not offered; "
            "verbose_json has segments and words with their times",
            "response_format",
        )
    if asked not in FORMATS:
        raise InvalidInput(
            f"response_format: must be one of {', '.join(FORMATS)}, not {asked[:40]!r}", "response_format"
        )
    sse = _flag(form, "stream") and model != "whisper-1"  # documented as ignoring it
    if sse and asked not in ("json", "text"):
        raise InvalidInput(f"stream: is not possible with response_format {asked}; use json", "stream")
    granularities = form.choices("timestamp_granularities", ("word", "segment"))
    config = HearingConfig(
        model=model,
        language=_language(form),
        keyterms=read_keyterms(form.all("keywords")),
        interim=sse,
    )
    return TranscriptionOrder(
        TranscriptionRequest(config, words="word" in granularities),
        format=asked,
        sse=sse,
        segments=not granularities or "segment" in granularities,
        logprobs="logprobs" in form.choices("include", ("logprobs",)),
    )


def translations_refusal() -> NotSupported:
    """The answer to ``POST /v1/audio/translations``."""
    return NotSupported(
        "this server transcribes speech in its own language and does not translate it; "
        "POST /v1/audio/transcriptions gives the text"
    )


def _flag(form: FormFields, name: str) -> bool:
    value = (form.one(name) or "false").lower()
    if value not in ("true", "false", "1", "0"):
        raise InvalidInput(f"{name}: must be true or false, not {value[:40]!r}", name)
    return value in ("true", "1")


def _language(form: FormFields) -> str:
    """ "" (find out) without a hint, and with several."""
    hints = form.all("language") or form.all("languages")
    return read_language(language_code(hints[-1]), "") if len(hints) == 1 else ""


class Logprob(msgspec.Struct, frozen=True):
    """Tokens are words here, with their joining whitespace."""

    token: str
    bytes: list[int]
    logprob: float


class LanguageCode(msgspec.Struct, frozen=True):
    code: str


class TokenUsage(msgspec.Struct, frozen=True, tag_field="type", tag="tokens"):
    input_tokens: int
    output_tokens: int
    total_tokens: int


class TranscriptionReply(msgspec.Struct, frozen=True, kw_only=True):
    """``response_format: json``."""

    text: str
    languages: list[LanguageCode] | UnsetType = UNSET
    logprobs: list[Logprob] | UnsetType = UNSET
    usage: DurationUsage


_encoder = msgspec.json.Encoder()


def reply_type(order: TranscriptionOrder) -> str:
    """Media type of the answer, streamed or not."""
    if order.sse:
        return EVENT_STREAM
    return {"text": TEXT, "srt": TEXT, "vtt": VTT}.get(order.format, JSON)


def transcription_reply(order: TranscriptionOrder, transcript: Transcript) -> Reply:
    """The whole answer, where it is not streamed."""
    return Reply(200, reply_type(order), _body(order, transcript))


def _body(order: TranscriptionOrder, transcript: Transcript) -> bytes:
    match order.format:
        case "text":
            return f"{transcript.text}\n".encode()
        case "srt":
            return srt(cues_of(transcript.words)).encode()
        case "vtt":
            return vtt(cues_of(transcript.words)).encode()
        case "verbose_json":
            language, words = order.request.config.language, order.request.words
            return _encoder.encode(verbose_reply(transcript, language, segments=order.segments, words=words))
        case _:
            return _encoder.encode(_plain(order, transcript))


def _plain(order: TranscriptionOrder, transcript: Transcript) -> TranscriptionReply:
    return TranscriptionReply(
        text=transcript.text,
        languages=[LanguageCode(transcript.language)] if transcript.language else UNSET,
        logprobs=_logprobs(transcript.words) if order.logprobs else UNSET,
        usage=DurationUsage(round(transcript.duration_s, 3)),
    )


def _logprobs(words: Iterable[HeardWord]) -> list[Logprob]:
    return [Logprob(word.text, list(word.text.encode()), log_probability(word.confidence)) for word in words]


class TextDelta(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="transcript.text.delta"):
    """Text that will not be revised; deltas concatenated are the text of ``transcript.text.done``."""

    delta: str
    logprobs: list[Logprob] | UnsetType = UNSET


class TextDone(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="transcript.text.done"):
    text: str
    languages: list[LanguageCode] | UnsetType = UNSET
    logprobs: list[Logprob] | UnsetType = UNSET
    usage: TokenUsage


TranscriptionEvent = TextDelta | TextDone | SpeechFailed

_events: msgspec.json.Decoder[TranscriptionEvent] = msgspec.json.Decoder(TranscriptionEvent)


def decode_transcription_event(data: bytes | str) -> TranscriptionEvent:
    """The client's side: the JSON after ``data: ``."""
    return _events.decode(data)


class SseTranscription:
    """Writes one order's stream as server-sent events: settled text at once, all of it at the end.

    Log probabilities come with finals only, since those of an interim may still change.
    """

    def __init__(self, order: TranscriptionOrder) -> None:
        self._order = order
        self._draft = TranscriptDraft()
        self._told = 0
        """Characters of the open segment that have gone out."""
        self._text: list[str] = []
        self._held = ""
        """Whitespace that goes out before the next text, if any comes: the text neither begins nor ends with it."""
        self._logprobs: list[Logprob] = []
        self.ended = False

    def deliver(self, event: Event) -> list[bytes]:
        """Frames for an event. ``Flushed`` ends the response."""
        if self.ended:
            return []
        self._draft.add(event)
        if isinstance(event, Heard):
            return self._heard(event)
        if isinstance(event, Flushed):
            return self.finish()
        if isinstance(event, Failed):
            return self.fail(EngineFailed(event.message))
        return []

    def finish(self, duration_s: float | None = None) -> list[bytes]:
        """The recording is over; ``duration_s`` as the server measured it."""
        if self.ended:
            return []
        self.ended = True
        transcript = self._draft.finish(duration_s)
        text = "".join(self._text)
        heard, said = math.ceil(transcript.duration_s * AUDIO_TOKENS_PER_S), math.ceil(len(text) / 4)
        done = TextDone(
            text=text,
            languages=[LanguageCode(transcript.language)] if transcript.language else UNSET,
            logprobs=self._logprobs if self._order.logprobs else UNSET,
            usage=TokenUsage(heard, said, heard + said),
        )
        return [_frame(done)]

    def fail(self, error: AntiphonError) -> list[bytes]:
        """The response has begun, so its status is spent: say it in an event."""
        if self.ended:
            return []
        self.ended = True
        return [_frame(SpeechFailed(error_detail(error)))]

    def _heard(self, event: Heard) -> list[bytes]:
        settled = len(event.text) if event.final else event.stable_chars
        news = event.text[self._told : settled]
        self._told = 0 if event.final else max(self._told, settled)
        logprobs = _logprobs(spaced_words(event)) if event.final and self._order.logprobs else []
        self._logprobs += logprobs
        text = self._held + news
        if not self._text:
            text = text.lstrip()
        delta = text.rstrip()
        self._held = text[len(delta) :]
        if not delta:
            return []
        self._text.append(delta)
        return [_frame(TextDelta(delta=delta, logprobs=logprobs or UNSET))]


def _frame(event: TranscriptionEvent) -> bytes:
    return sse_frame(_encoder.encode(event))
