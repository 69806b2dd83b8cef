"""``response_format: verbose_json`` of OpenAI's transcriptions: Whisper's segments, and words with their times."""

import zlib

import msgspec
from msgspec import UNSET, UnsetType

from antiphon.protocol.cartesia_stt_messages import SttWord, seconds, stt_words
from antiphon.protocol.heard_languages import language_name
from antiphon.protocol.transcription import Segment, Transcript, log_probability


class DurationUsage(msgspec.Struct, frozen=True, tag_field="type", tag="duration"):
    seconds: float


class SegmentBody(msgspec.Struct, frozen=True, kw_only=True):
    """Whisper's segment. The ears here have no token ids and no temperature."""

    id: int
    seek: int
    start: float
    end: float
    text: str
    tokens: list[int] = []
    temperature: float = 0.0
    avg_logprob: float
    compression_ratio: float
    no_speech_prob: float = 0.0


class VerboseReply(msgspec.Struct, frozen=True, kw_only=True):
    """``response_format: verbose_json``."""

    task: str = "transcribe"
    language: str
    duration: float
    text: str
    segments: list[SegmentBody] | UnsetType = UNSET
    words: list[SttWord] | UnsetType = UNSET
    usage: DurationUsage


def verbose_reply(transcript: Transcript, language: str, *, segments: bool, words: bool) -> VerboseReply:
    """``language``: that was asked for, where the ear names none. ``segments``, ``words``: whether they are wanted."""
    return VerboseReply(
        language=language_name(transcript.language or language),
        duration=round(transcript.duration_s, 3),
        text=transcript.text,
        segments=[_segment(*numbered) for numbered in enumerate(transcript.segments)] if segments else UNSET,
        words=stt_words(transcript.words) if words else UNSET,
        usage=DurationUsage(round(transcript.duration_s, 3)),
    )


def _segment(number: int, segment: Segment) -> SegmentBody:
    confidences = [word.confidence for word in segment.words] or [segment.confidence]
    text = segment.text.encode()
    return SegmentBody(
        id=number,
        seek=0,
        start=seconds(segment.start_sample),
        end=seconds(segment.end_sample),
        text=segment.text,
        avg_logprob=round(sum(map(log_probability, confidences)) / len(confidences), 6),
        compression_ratio=round(len(text) / len(zlib.compress(text)), 6),
    )
