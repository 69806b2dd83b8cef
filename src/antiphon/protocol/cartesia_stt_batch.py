"""Cartesia's ``POST /stt``, and ``POST /audio/transcriptions`` at the root: one recording in, its text out.

The second is OpenAI's form with Cartesia's answer; ``prompt``, ``temperature`` and ``response_format`` are documented
as having no effect there.
"""

from collections.abc import Iterable
from dataclasses import replace

import msgspec
from msgspec import UNSET, UnsetType

from antiphon.core.errors import InvalidInput
from antiphon.core.hearing import HearingConfig
from antiphon.protocol.cartesia_stt_messages import SttWord, stt_words
from antiphon.protocol.cartesia_stt_query import read_encoding, read_keyterms, read_language, read_model, shown
from antiphon.protocol.heard_languages import language_code
from antiphon.protocol.transcription import FormFields, Transcript, TranscriptionRequest, UploadedFile


class SttForm(msgspec.Struct, frozen=True, omit_defaults=True):
    """``multipart/form-data`` of ``POST /stt``."""

    file: UploadedFile
    model: str = ""
    language: str = "en"
    timestamp_granularities: list[str] = []


class SttReply(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="transcript"):
    """``words`` only if they were asked for."""

    request_id: str
    text: str
    is_final: bool = True
    duration: float
    language: str | UnsetType = UNSET
    words: list[SttWord] | UnsetType = UNSET


def read_stt_request(fields: Iterable[tuple[str, str]], query: Iterable[tuple[str, str]]) -> TranscriptionRequest:
    """``fields``: the form's text fields. ``query``: ``encoding`` and ``sample_rate`` of raw samples; without an
    encoding the file says what it holds.

    Raises ``InvalidInput`` naming the field.
    """
    form, url = FormFields(fields), FormFields(query)
    rate = url.one("sample_rate") or form.one("sample_rate")
    if rate is not None and not rate.isdecimal():
        raise InvalidInput(f"sample_rate: must be a whole number, not {shown(rate)}", "sample_rate")
    encoding, rate_hz = read_encoding(
        url.one("encoding") or form.one("encoding"), int(rate[:9]) if rate is not None else None
    )
    if encoding is not None and rate_hz is None:
        raise InvalidInput("sample_rate: raw samples need it beside their encoding", "sample_rate")
    config = HearingConfig(
        model=read_model(form.one("model") or url.one("model")),
        language=read_language(language_code(form.one("language") or url.one("language") or "en"), "en"),
        keyterms=read_keyterms(form.all("keyterm") + url.all("keyterm")),
        interim=False,
    )
    words = "word" in form.choices("timestamp_granularities", ("word", "segment"))
    if encoding is None or rate_hz is None:
        return TranscriptionRequest(config, words=words)
    raw = replace(config, encoding=encoding, sample_rate_hz=rate_hz)
    return TranscriptionRequest(raw, raw=True, words=words)


def stt_reply(request: TranscriptionRequest, transcript: Transcript, request_id: str) -> SttReply:
    """The body of the answer."""
    return SttReply(
        request_id=request_id,
        text=transcript.text,
        duration=round(transcript.duration_s, 3),
        language=transcript.language or request.config.language or UNSET,
        words=stt_words(transcript.words) if request.words else UNSET,
    )
