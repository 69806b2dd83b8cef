"""The session object of OpenAI's Realtime socket: the settings in effect, and what is shown of them.

The echo has only keys that every known client accepts, and
only settings that are in effect: ``tracing``, ``prompt``, ``truncation``, ``reasoning`` and ``include`` are accepted
and not echoed as if they did something.
"""

from typing import Any, Final, Literal, TypeAlias

import msgspec

from antiphon.core.frame import AudioFormat
from antiphon.core.turns import EndpointSettings

REALTIME_MODELS: Final = ("gpt-realtime",)
"""Names that clients have as defaults; what answers is the server's own choice."""

Modality: TypeAlias = Literal["audio", "text"]
MaxTokens: TypeAlias = int | Literal["inf"]


class Pcm(msgspec.Struct, frozen=True, tag_field="type", tag="audio/pcm"):
    """16-bit little-endian mono samples."""

    rate: Literal[24000] = 24000


class MuLaw(msgspec.Struct, frozen=True, tag_field="type", tag="audio/pcmu"):
    pass


class ALaw(msgspec.Struct, frozen=True, tag_field="type", tag="audio/pcma"):
    pass


Format: TypeAlias = Pcm | MuLaw | ALaw


def audio_format(wire: Format) -> AudioFormat:
    """Bytes as they stand in ``audio`` and ``delta``."""
    match wire:
        case MuLaw():
            return AudioFormat(encoding="pcm_mulaw", sample_rate_hz=8000)
        case ALaw():
            return AudioFormat(encoding="pcm_alaw", sample_rate_hz=8000)
        case _:
            return AudioFormat(encoding="pcm_s16le", sample_rate_hz=24_000)


def bytes_per_ms(wire: Format) -> int:
    return 48 if isinstance(wire, Pcm) else 8


class Transcription(msgspec.Struct, frozen=True, omit_defaults=True):
    """Nothing but these three keys: a strict client refuses any other."""

    model: str = ""
    language: str = ""
    prompt: str = ""


class NoiseReduction(msgspec.Struct, frozen=True):
    type: Literal["near_field", "far_field"]


class ServerVad(msgspec.Struct, frozen=True, tag_field="type", tag="server_vad"):
    threshold: float = 0.5
    prefix_padding_ms: int = 300
    silence_duration_ms: int = 500
    create_response: bool = True
    interrupt_response: bool = True
    idle_timeout_ms: int | None = None


class SemanticVad(msgspec.Struct, frozen=True, tag_field="type", tag="semantic_vad"):
    eagerness: Literal["auto", "low", "medium", "high"] = "auto"
    create_response: bool = True
    interrupt_response: bool = True


TurnDetection: TypeAlias = ServerVad | SemanticVad

_EAGERNESS = {
    "low": EndpointSettings(eager_end=0.3, end=0.1, end_timeout_s=8.0),
    "medium": EndpointSettings(eager_end=0.4, end=0.2, end_timeout_s=4.0),
    "auto": EndpointSettings(eager_end=0.4, end=0.2, end_timeout_s=4.0),
    "high": EndpointSettings(eager_end=0.5, end=0.35, end_timeout_s=2.0),
}


def endpoint_settings(detection: TurnDetection) -> EndpointSettings:
    """How turns are decided.

    ``semantic_vad`` goes by the likelihood, eagerness being the longest pause within a turn. ``server_vad`` goes by
    silence: ``silence_duration_ms`` is the longest pause, and a turn ends sooner only where it is almost certain
    (likelihood below 0.05). Pauses are brought within the range of :class:`EndpointSettings`, 0.64 to 11.2 s.
    """
    if isinstance(detection, SemanticVad):
        return _EAGERNESS[detection.eagerness]
    silence_s = min(max(detection.silence_duration_ms / 1000, 0.64), 11.2)
    start = min(max(detection.threshold + 0.3, 0.5), 0.9)
    return EndpointSettings(start=start, eager_end=0.3, end=0.05, end_timeout_s=silence_s)


class WireTool(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="function"):
    """A function as the client declared it."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


class ToolByName(msgspec.Struct, frozen=True, tag_field="type", tag="function"):
    name: str


ToolChoice: TypeAlias = Literal["auto", "none", "required"] | ToolByName


class InputAudio(msgspec.Struct, frozen=True):
    format: Format = Pcm()
    transcription: Transcription | None = None
    noise_reduction: NoiseReduction | None = None
    turn_detection: TurnDetection | None = ServerVad()


class OutputAudio(msgspec.Struct, frozen=True):
    format: Format = Pcm()
    voice: str = "alloy"
    speed: float = 1.0


class Audio(msgspec.Struct, frozen=True):
    input: InputAudio
    output: OutputAudio


class AudioIn(msgspec.Struct, frozen=True):
    input: InputAudio


class RealtimeSession(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="realtime"):
    """A speech-to-speech session, as ``session.created`` and ``session.updated`` show it."""

    object: str = "realtime.session"
    id: str
    model: str
    expires_at: int
    output_modalities: list[Modality]
    instructions: str
    audio: Audio
    tools: list[WireTool]
    tool_choice: ToolChoice
    max_output_tokens: MaxTokens
    tracing: None = None
    truncation: str = "auto"
    prompt: None = None
    include: None = None


class TranscriptionSession(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="transcription"):
    """A session that only listens."""

    object: str = "realtime.transcription_session"
    id: str
    expires_at: int
    audio: AudioIn
    include: None = None


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The session in effect."""

    kind: Literal["realtime", "transcription"] = "realtime"
    id: str = ""
    model: str = "gpt-realtime"
    expires_at: int = 0
    modality: Modality = "audio"
    instructions: str = ""
    input: InputAudio = InputAudio()
    output: OutputAudio = OutputAudio()
    tools: tuple[WireTool, ...] = ()
    tool_choice: ToolChoice = "auto"
    max_output_tokens: MaxTokens = "inf"

    def echo(self) -> RealtimeSession | TranscriptionSession:
        if self.kind == "transcription":
            return TranscriptionSession(id=self.id, expires_at=self.expires_at, audio=AudioIn(self.input))
        return RealtimeSession(
            id=self.id,
            model=self.model,
            expires_at=self.expires_at,
            output_modalities=[self.modality],
            instructions=self.instructions,
            audio=Audio(self.input, self.output),
            tools=list(self.tools),
            tool_choice=self.tool_choice,
            max_output_tokens=self.max_output_tokens,
        )
