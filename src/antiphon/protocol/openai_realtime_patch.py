"""How ``session.update`` changes the session of OpenAI's Realtime socket.

An update is deep and partial: what is absent stays, an explicit null clears ``turn_detection``, ``transcription`` and
``noise_reduction``, and sets anything else to its default.
"""

from typing import Any, Final, Literal, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from antiphon.core.errors import InvalidInput
from antiphon.protocol.openai_realtime_session import (
    Format,
    InputAudio,
    MaxTokens,
    Modality,
    NoiseReduction,
    OutputAudio,
    Pcm,
    SemanticVad,
    ServerVad,
    Settings,
    ToolChoice,
    Transcription,
    TurnDetection,
    WireTool,
)

SPEED_RANGE: Final = (0.25, 1.5)
MAX_TOOLS: Final = 128


class _TranscriptionPatch(msgspec.Struct, frozen=True):
    model: str | UnsetType | None = UNSET
    language: str | UnsetType | None = UNSET
    prompt: str | UnsetType | None = UNSET


class _DetectionPatch(msgspec.Struct, frozen=True):
    type: Literal["server_vad", "semantic_vad"] | UnsetType | None = UNSET
    threshold: float | UnsetType | None = UNSET
    prefix_padding_ms: int | UnsetType | None = UNSET
    silence_duration_ms: int | UnsetType | None = UNSET
    idle_timeout_ms: int | UnsetType | None = UNSET
    eagerness: Literal["auto", "low", "medium", "high"] | UnsetType | None = UNSET
    create_response: bool | UnsetType | None = UNSET
    interrupt_response: bool | UnsetType | None = UNSET


class _InputPatch(msgspec.Struct, frozen=True):
    format: Format | UnsetType | None = UNSET
    transcription: _TranscriptionPatch | UnsetType | None = UNSET
    noise_reduction: NoiseReduction | UnsetType | None = UNSET
    turn_detection: _DetectionPatch | UnsetType | None = UNSET


class VoiceId(msgspec.Struct, frozen=True):
    id: str


class OutputPatch(msgspec.Struct, frozen=True):
    format: Format | UnsetType | None = UNSET
    voice: str | VoiceId | UnsetType | None = UNSET
    speed: float | UnsetType | None = UNSET


class _AudioPatch(msgspec.Struct, frozen=True):
    input: _InputPatch | UnsetType | None = UNSET
    output: OutputPatch | UnsetType | None = UNSET


class SessionPatch(msgspec.Struct, frozen=True):
    """``session`` of a ``session.update`` and of a client secret's request."""

    type: Literal["realtime", "transcription"] | UnsetType | None = UNSET
    model: str | UnsetType | None = UNSET
    output_modalities: list[Modality] | UnsetType | None = UNSET
    instructions: str | UnsetType | None = UNSET
    audio: _AudioPatch | UnsetType | None = UNSET
    tools: list[WireTool] | UnsetType | None = UNSET
    tool_choice: ToolChoice | UnsetType | None = UNSET
    max_output_tokens: MaxTokens | UnsetType | None = UNSET


_Value = TypeVar("_Value")
_Struct = TypeVar("_Struct", bound=msgspec.Struct)


def changed(before: Settings, patch: SessionPatch) -> Settings:
    """The session after an update. ``model`` and ``type`` do not change here. Raises ``InvalidInput``."""
    after = before
    if patch.audio is not UNSET and patch.audio is not None:
        audio = patch.audio
        if audio.input is not UNSET and audio.input is not None:
            after = msgspec.structs.replace(after, input=_changed_input(after.input, audio.input))
        if audio.output is not UNSET and audio.output is not None:
            after = msgspec.structs.replace(after, output=changed_output(after.output, audio.output))
    if after.kind == "transcription":
        return after
    tools = _pick(patch.tools, list(after.tools), [])
    return msgspec.structs.replace(
        after,
        modality=modality_of(_pick(patch.output_modalities, [after.modality], ["audio"])),
        instructions=_pick(patch.instructions, after.instructions, ""),
        tools=checked_tools(tools),
        tool_choice=_pick(patch.tool_choice, after.tool_choice, "auto"),
        max_output_tokens=checked_tokens(_pick(patch.max_output_tokens, after.max_output_tokens, "inf")),
    )


def changed_output(before: OutputAudio, patch: OutputPatch) -> OutputAudio:
    """Raises ``InvalidInput``."""
    asked = patch.voice.id if isinstance(patch.voice, VoiceId) else patch.voice
    speed = _pick(patch.speed, before.speed, 1.0)
    _check_range("session.audio.output.speed", speed, *SPEED_RANGE)
    return OutputAudio(
        format=_pick(patch.format, before.format, Pcm()),
        voice=_pick(asked, before.voice, before.voice),
        speed=speed,
    )


def modality_of(modalities: list[Modality]) -> Modality:
    """One of the two; whoever asks for both gets audio, which comes with its transcript."""
    return "audio" if "audio" in modalities or not modalities else "text"


def checked_tools(tools: list[WireTool]) -> tuple[WireTool, ...]:
    """Raises ``InvalidInput``."""
    if len(tools) > MAX_TOOLS:
        raise InvalidInput(f"tools: at most {MAX_TOOLS}, not {len(tools)}", "session.tools")
    return tuple(tools)


def checked_tokens(tokens: MaxTokens) -> MaxTokens:
    """Raises ``InvalidInput``."""
    if tokens != "inf":
        _check_range("max_output_tokens", tokens, 1, 1 << 20)
    return tokens


def _changed_input(before: InputAudio, patch: _InputPatch) -> InputAudio:
    return InputAudio(
        format=_pick(patch.format, before.format, Pcm()),
        transcription=_changed_transcription(before.transcription, patch.transcription),
        noise_reduction=_pick(patch.noise_reduction, before.noise_reduction, None),
        turn_detection=_changed_detection(before.turn_detection, patch.turn_detection),
    )


def _changed_transcription(
    before: Transcription | None, patch: _TranscriptionPatch | UnsetType | None
) -> Transcription | None:
    if isinstance(patch, UnsetType):
        return before
    return None if patch is None else _merged(before or Transcription(), patch)


def _changed_detection(
    before: TurnDetection | None, patch: _DetectionPatch | UnsetType | None
) -> TurnDetection | None:
    if isinstance(patch, UnsetType):
        return before
    if patch is None:
        return None
    kind = patch.type or ("semantic_vad" if isinstance(before, SemanticVad) else "server_vad")
    if kind == "semantic_vad":
        return _merged(before if isinstance(before, SemanticVad) else SemanticVad(), patch)
    vad = _merged(before if isinstance(before, ServerVad) else ServerVad(), patch)
    path = "session.audio.input.turn_detection"
    _check_range(f"{path}.threshold", vad.threshold, 0.0, 1.0)
    _check_range(f"{path}.prefix_padding_ms", vad.prefix_padding_ms, 0, 10_000)
    _check_range(f"{path}.silence_duration_ms", vad.silence_duration_ms, 0, 60_000)
    if vad.idle_timeout_ms is not None:
        _check_range(f"{path}.idle_timeout_ms", vad.idle_timeout_ms, 1_000, 600_000)
    return vad


def _merged(before: _Struct, patch: msgspec.Struct) -> _Struct:
    """The fields of ``patch`` that ``before`` has; null means the default."""
    news: dict[str, Any] = {}
    for field in msgspec.structs.fields(before):
        value = getattr(patch, field.name, UNSET)
        if value is not UNSET:
            news[field.name] = field.default if value is None else value
    return msgspec.structs.replace(before, **news)


def _pick(asked: "_Value | UnsetType | None", before: "_Value", default: "_Value") -> "_Value":
    if isinstance(asked, UnsetType):
        return before
    return default if asked is None else asked


def _check_range(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise InvalidInput(f"{name} must be from {low} to {high}, not {value}", name)
