"""Messages of the native speech socket, both ways. The document is ``docs/speech.md``.

As on the agent socket (:mod:`antiphon.protocol.native_messages`) every message is a JSON object with a ``type``, and
unknown keys are ignored. Positions are samples of the stream in its own output rate, counted from its beginning,
wherever that was: a stream that is resumed goes on counting.
"""

from typing import Final, Literal, TypeAlias

import msgspec

from antiphon.core.errors import InvalidInput
from antiphon.core.speech import SPEED_RANGE, VOLUME_RANGE
from antiphon.protocol.http import decode_json, shown
from antiphon.protocol.native_messages import AudioShape, ErrorMessage, Word

VERSION: Final = 1
MAX_TEXT_CHARS: Final = 50_000

_MAX_NAME_CHARS = 512
_MAX_ID_CHARS = 64
_MAX_DELAY_MS = 5_000
_LEADS_MS = (100, 60_000)
_MAX_SEED = 1 << 53


class ClientMessage(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    pass


class Start(ClientMessage, frozen=True, kw_only=True, tag="start"):
    """A stream of speech begins. What is empty or null is the server's own choice. Who knows the ``text`` already, or
    all of it (``end``), can say so here and needs no further message.

    ``lead_ms``: make no audio further ahead of a listener who hears it as it comes; null: as fast as can be.
    """

    version: int = VERSION
    voice: str = ""
    model: str = ""
    language: str = ""
    output: AudioShape = AudioShape()
    speed: float = 1.0
    volume: float = 1.0
    emotion: str | None = None
    normalize: bool = True
    words: bool = True
    phonemes: bool = False
    max_buffer_delay_ms: int | None = None
    lead_ms: int | None = None
    seed: int = 0
    text: str = ""
    end: bool = False

    def check(self) -> None:
        """Raises ``InvalidInput``."""
        if self.version != VERSION:
            raise InvalidInput(f"version: this server speaks version {VERSION}, not {self.version}", "version")
        self.output.check("output")
        for name in ("voice", "model", "language", "emotion"):
            if len(getattr(self, name) or "") > _MAX_NAME_CHARS:
                raise InvalidInput(f"{name}: at most {_MAX_NAME_CHARS} characters", name)
        _check_text(self.text)
        _check_prosody(self.speed, self.volume)
        _check_range("max_buffer_delay_ms", self.max_buffer_delay_ms, (0, _MAX_DELAY_MS))
        _check_range("lead_ms", self.lead_ms, _LEADS_MS)
        _check_range("seed", self.seed, (0, _MAX_SEED))


class Text(ClientMessage, frozen=True, kw_only=True, tag="text"):
    """A delta, joined verbatim with what came before: spaces count."""

    text: str


class ChangeProsody(ClientMessage, frozen=True, kw_only=True, tag="prosody"):
    """For text from here on; what is null stays as it is."""

    speed: float | None = None
    volume: float | None = None
    emotion: str | None = None


class Flush(ClientMessage, frozen=True, kw_only=True, tag="flush"):
    """Speak all that came before; ``flushed`` with this ``id`` follows its audio."""

    id: str = ""


class End(ClientMessage, frozen=True, kw_only=True, tag="end"):
    """No text comes after; ``done`` follows the last audio."""


class Cancel(ClientMessage, frozen=True, kw_only=True, tag="cancel"):
    """Drop the stream: nothing of it follows but ``done``."""


class Save(ClientMessage, frozen=True, kw_only=True, tag="save"):
    """Stop between two steps, and give the rest of the stream as bytes that any server of the fleet can go on with."""


AnyClientMessage: TypeAlias = Start | Text | ChangeProsody | Flush | End | Cancel | Save


class ServerMessage(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    pass


class Ready(ServerMessage, frozen=True, kw_only=True, tag="ready"):
    """The stream has its place. ``sample``: of the next audio, 0 unless it was ``resumed``. ``ended``: whether its text
    is complete."""

    version: int = VERSION
    output: AudioShape
    sample: int = 0
    resumed: bool = False
    ended: bool = False


class Words(ServerMessage, frozen=True, kw_only=True, tag="words"):
    """No later than the audio they describe."""

    words: list[Word]


class Phonemes(ServerMessage, frozen=True, kw_only=True, tag="phonemes"):
    phonemes: list[Word]


class Flushed(ServerMessage, frozen=True, kw_only=True, tag="flushed"):
    """All that came before the ``flush`` has been spoken; it ends at ``sample``."""

    id: str
    sample: int


class Snapshot(ServerMessage, frozen=True, kw_only=True, tag="snapshot"):
    """The stream has stopped: its audio up to ``sample`` was sent, the rest is in the binary frame that follows, of
    ``size_bytes`` behind 0x02. It can be resumed for so long."""

    sample: int
    size_bytes: int
    expires_in_ms: int


class WarningMessage(ServerMessage, frozen=True, kw_only=True, tag="warning"):
    """Something was accepted, but cannot be done as asked."""

    message: str


class Done(ServerMessage, frozen=True, kw_only=True, tag="done"):
    """The stream is over, and had so many ``samples``; another one may start on this socket."""

    samples: int
    reason: Literal["completed", "cancelled", "saved", "failed"]


class Leaving(ServerMessage, frozen=True, kw_only=True, tag="leaving"):
    """The server wants to stop: the stream may be spoken to its end, or saved and resumed elsewhere."""


AnyServerMessage: TypeAlias = (
    Ready | Words | Phonemes | Flushed | Snapshot | WarningMessage | Done | Leaving | ErrorMessage
)

_messages: "msgspec.json.Decoder[AnyClientMessage]" = msgspec.json.Decoder(AnyClientMessage)


def decode_message(frame: str | bytes) -> AnyClientMessage:
    """Raises ``InvalidInput``."""
    message = decode_json(frame, _messages)
    match message:
        case Start():
            message.check()
        case Text():
            _check_text(message.text)
        case ChangeProsody():
            _check_prosody(message.speed, message.volume)
            if len(message.emotion or "") > _MAX_NAME_CHARS:
                raise InvalidInput(f"emotion: at most {_MAX_NAME_CHARS} characters", "emotion")
        case Flush() if len(message.id) > _MAX_ID_CHARS:
            raise InvalidInput(f"id: at most {_MAX_ID_CHARS} characters, not {shown(message.id, 80)!r}", "id")
        case _:
            pass
    return message


def _check_text(text: str) -> None:
    if len(text) > MAX_TEXT_CHARS:
        raise InvalidInput(f"text: at most {MAX_TEXT_CHARS} characters", "text")


def _check_prosody(speed: float | None, volume: float | None) -> None:
    _check_range("speed", speed, SPEED_RANGE)
    _check_range("volume", volume, VOLUME_RANGE)


def _check_range(name: str, value: float | None, bounds: tuple[float, float]) -> None:
    low, high = bounds
    if value is not None and not low <= value <= high:
        raise InvalidInput(f"{name}: from {low:g} to {high:g}", name)
