"""What Cartesia's clients ask for: one struct per request, and its meaning as a :class:`SpeechConfig`.

Tolerant by design: unknown keys (``duration`` among them) are ignored, null means absent, every form of voice that the
API ever had is read. What cannot be honoured is refused with a message that says what would be right.
"""

import re
from typing import Any, Final, Literal, TypeAlias, TypeVar

import msgspec

from antiphon.core.errors import InvalidInput
from antiphon.core.frame import AudioFormat
from antiphon.core.speech import SPEED_RANGE, VOLUME_RANGE, Prosody, SpeechConfig
from antiphon.protocol.cartesia_messages import SAMPLE_BYTES
from antiphon.protocol.http import TooLarge

SAMPLE_RATES_HZ = (8000, 16000, 22050, 24000, 44100, 48000)
MP3_BIT_RATES_BPS = (32_000, 64_000, 96_000, 128_000, 192_000)
MAX_BUFFER_DELAY_MS = 5000
DEFAULT_BUFFER_DELAY_S = 3.0


class OutputFormat(msgspec.Struct, frozen=True, omit_defaults=True):
    """raw and wav: ``encoding`` and ``sample_rate``; mp3: ``sample_rate`` and ``bit_rate``."""

    container: str
    encoding: str | None = None
    sample_rate: int | None = None
    bit_rate: int | None = None


class ExperimentalControls(msgspec.Struct, frozen=True, omit_defaults=True):
    """Speed and emotion as versions up to 2024-11-13 had them: -1..1 or a name; ``"anger:high"``."""

    speed: str | float | None = None
    emotion: str | list[str] | None = None


class VoiceSpecifier(msgspec.Struct, frozen=True, omit_defaults=True):
    """``id``, with or without ``mode``; embeddings are recognised only to be refused."""

    id: str | None = None
    mode: str | None = None
    embedding: Any = None
    controls: ExperimentalControls | None = msgspec.field(default=None, name="__experimental_controls")


Voice: TypeAlias = str | VoiceSpecifier

UNSAID: Final = Prosody()
"""Of a request that says nothing about it."""


class GenerationConfig(msgspec.Struct, frozen=True, omit_defaults=True):
    speed: float | None = None
    volume: float | None = None
    emotion: str | list[str] | None = None


class SpeechFields(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The optional fields that every way of asking for speech has."""

    language: str | None = None
    locale: str | None = None
    normalization: str | None = None
    generation_config: GenerationConfig | None = None
    pronunciation_dict_id: str | None = None
    speed: Literal["slow", "normal", "fast"] | None = None


class BytesRequest(SpeechFields, frozen=True, kw_only=True, omit_defaults=True):
    """``POST /tts/bytes``."""

    model_id: str
    transcript: str
    voice: Voice
    output_format: OutputFormat
    save: bool | None = None


class TimedFields(SpeechFields, frozen=True, kw_only=True, omit_defaults=True):
    context_id: str | None = None
    add_timestamps: bool | None = None
    add_phoneme_timestamps: bool | None = None
    use_normalized_timestamps: bool | None = None


class SseRequest(TimedFields, frozen=True, kw_only=True, omit_defaults=True):
    """``POST /tts/sse``."""

    model_id: str
    transcript: str
    voice: Voice
    output_format: OutputFormat


class GenerationRequest(TimedFields, frozen=True, kw_only=True, omit_defaults=True):
    """A message on ``/tts/websocket``. The first of a context needs model, voice, format and transcript; later ones may
    leave them out."""

    model_id: str | None = None
    transcript: str | None = None
    voice: Voice | None = None
    output_format: OutputFormat | None = None
    continue_: bool | None = msgspec.field(default=None, name="continue")
    flush: bool | None = None
    max_buffer_delay_ms: int | None = None


class CancelRequest(msgspec.Struct, frozen=True):
    """Stop a context at once. Nothing more is said about it."""

    context_id: str
    cancel: bool = True


def encode_request(request: BytesRequest | SseRequest | GenerationRequest | CancelRequest) -> bytes:
    """The client's side of the same structs."""
    return msgspec.json.encode(request)


def voice_id(voice: Voice) -> str:
    """The id in any of the forms of a voice. Raises ``InvalidInput`` for embeddings and for none at all."""
    if isinstance(voice, str):
        found: str | None = voice
    elif voice.embedding is not None or voice.mode == "embedding":
        raise InvalidInput('voice: embeddings are not accepted; give {"mode": "id", "id": "..."}', "voice")
    else:
        found = voice.id
    if not found or not found.strip():
        raise InvalidInput('voice: an id is required, as a string or as {"mode": "id", "id": "..."}', "voice")
    return found.strip()


def audio_format(asked: OutputFormat, *, raw_only: bool) -> AudioFormat:
    """Checks a format against what the API documents. Raises ``InvalidInput`` naming the choices."""
    if raw_only and asked.container != "raw":
        raise InvalidInput(
            f'output_format.container: only "raw" can be streamed here, not {_shown(asked.container)}; '
            "POST /tts/bytes makes wav and mp3",
            "output_format.container",
        )
    if asked.container not in ("raw", "wav", "mp3"):
        raise InvalidInput(
            f"output_format.container: must be raw, wav or mp3, not {_shown(asked.container)}",
            "output_format.container",
        )
    rate_hz = _one_of(asked.sample_rate, SAMPLE_RATES_HZ, "output_format.sample_rate")
    if asked.container == "mp3":
        bit_rate_bps = _one_of(asked.bit_rate, MP3_BIT_RATES_BPS, "output_format.bit_rate")
        return AudioFormat("mp3", "pcm_s16le", rate_hz, bit_rate_bps)
    encoding = _one_of(asked.encoding, tuple(SAMPLE_BYTES), "output_format.encoding")
    return AudioFormat(asked.container, encoding, rate_hz)


def language_of(fields: SpeechFields) -> str:
    """The language tag asked for; "" when none was: the voice's own. Raises ``InvalidInput``."""
    if fields.language is not None and fields.locale is not None:
        raise InvalidInput("locale: give either language or locale, not both", "locale")
    param, tag = ("locale", fields.locale) if fields.locale is not None else ("language", fields.language)
    if not tag:
        return ""
    if not _LANGUAGE_TAG.fullmatch(tag):
        raise InvalidInput(f"{param}: {_shown(tag)} is not a language tag such as en or en-GB", param)
    return tag


def prosody_of(fields: SpeechFields, voice: Voice | None) -> Prosody:
    """What the request says about speed, volume and emotion; None where it says nothing.

    ``generation_config`` goes before ``speed``, and that before the legacy controls of the voice.
    """
    controls = voice.controls if isinstance(voice, VoiceSpecifier) else None
    if fields.generation_config is None and fields.speed is None and controls is None:
        return UNSAID
    config, controls = fields.generation_config or GenerationConfig(), controls or ExperimentalControls()
    speed = config.speed
    if speed is None and fields.speed is not None:
        speed = _NAMED_SPEEDS[fields.speed]
    if speed is None:
        speed = _legacy_speed(controls.speed)
    return Prosody(
        speed=_within(speed, SPEED_RANGE, "generation_config.speed"),
        volume=_within(config.volume, VOLUME_RANGE, "generation_config.volume"),
        emotion=_emotion(config.emotion) or _emotion(controls.emotion),
    )


def buffer_delay_s(asked_ms: int | None, default_s: float) -> float:
    if asked_ms is None:
        return default_s
    if not 0 <= asked_ms <= MAX_BUFFER_DELAY_MS:
        raise InvalidInput(
            f"max_buffer_delay_ms: must be between 0 and {MAX_BUFFER_DELAY_MS}, not {asked_ms}", "max_buffer_delay_ms"
        )
    return asked_ms / 1000.0


def speech_config(
    fields: SpeechFields,
    *,
    model: str,
    voice: Voice,
    output: OutputFormat,
    raw_only: bool,
    max_buffer_delay_s: float = DEFAULT_BUFFER_DELAY_S,
) -> SpeechConfig:
    """The settings of a stream of speech. Voice and model are as the client named them. ``raw_only``: the audio is
    streamed, in messages of JSON.

    Raises ``InvalidInput`` for what does not fit. Whether there is such a pronunciation dictionary is found out later.
    """
    prosody = prosody_of(fields, voice)
    timed = fields if isinstance(fields, TimedFields) else TimedFields()
    return SpeechConfig(
        voice=voice_id(voice),
        model=model,
        language=language_of(fields),
        format=audio_format(output, raw_only=raw_only),
        speed=1.0 if prosody.speed is None else prosody.speed,
        volume=1.0 if prosody.volume is None else prosody.volume,
        emotion=prosody.emotion,
        normalize=(fields.normalization or "auto").lower() != "off",
        max_buffer_delay_s=max_buffer_delay_s,
        words=bool(timed.add_timestamps),
        phonemes=bool(timed.add_phoneme_timestamps),
        dictionary=fields.pronunciation_dict_id or "",
        as_json=raw_only,
    )


def check_text(text: str, max_chars: int) -> str:
    if len(text) > max_chars:
        raise TooLarge(f"transcript: {len(text)} characters; at most {max_chars} are allowed at once", "transcript")
    return text


_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
_NAMED_SPEEDS = {"slowest": 0.6, "slow": 0.8, "normal": 1.0, "fast": 1.25, "fastest": 1.5}
_LEGACY_EMOTIONS = {
    "anger": "angry",
    "positivity": "happy",
    "surprise": "surprised",
    "sadness": "sad",
    "curiosity": "curious",
}


def _legacy_speed(asked: str | float | None) -> float | None:
    if asked is None:
        return None
    param = "voice.__experimental_controls.speed"
    if isinstance(asked, str):
        if asked not in _NAMED_SPEEDS:
            raise InvalidInput(f"{param}: must be one of {', '.join(_NAMED_SPEEDS)}, or -1 to 1", param)
        return _NAMED_SPEEDS[asked]
    offset = _within(asked, (-1.0, 1.0), param) or 0.0
    return 1.0 + offset * (0.5 if offset > 0 else 0.4)


def _emotion(asked: str | list[str] | None) -> str | None:
    first = asked if isinstance(asked, str) else next(iter(asked or ()), "")
    name = first.partition(":")[0].strip().lower()
    return _LEGACY_EMOTIONS.get(name, name) or None


def _within(value: float | None, bounds: tuple[float, float], param: str) -> float | None:
    if value is not None and not bounds[0] <= value <= bounds[1]:
        raise InvalidInput(f"{param}: must be between {bounds[0]:g} and {bounds[1]:g}, not {value:g}", param)
    return value


Choice = TypeVar("Choice", str, int)


def _one_of(value: Choice | None, choices: tuple[Choice, ...], param: str) -> Choice:
    if value is not None and value in choices:
        return value
    listed = ", ".join(str(choice) for choice in choices)
    if value is None:
        raise InvalidInput(f"{param}: this field is required; one of {listed}", param)
    raise InvalidInput(f"{param}: must be one of {listed}, not {_shown(value)}", param)


def _shown(value: str | int) -> str:
    """For a message: quoted, and cut if the client sent a novel."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
