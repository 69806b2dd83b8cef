"""Messages of Cartesia's two listening sockets, both ways.

Optional keys are absent, never null: the LiveKit plugin iterates ``words`` and adds ``duration`` unasked.
"""

from collections.abc import Iterable

import msgspec
from msgspec import UNSET, UnsetType

from antiphon.core.errors import AntiphonError
from antiphon.core.hearing import EAR_RATE_HZ, HeardWord
from antiphon.protocol.cartesia_errors import describe


class _Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    request_id: str


class SttWord(msgspec.Struct, frozen=True):
    """One word with its seconds from the start of the audio."""

    word: str
    start: float
    end: float


class SttTranscript(_Message, frozen=True, kw_only=True, tag="transcript"):
    """What was heard since the last final; finals concatenated verbatim are the whole text.

    ``duration``, in finals only: seconds of audio since the last final that had one, so that their sum is the position
    in the audio (clients add them up).
    """

    text: str
    is_final: bool
    duration: float | UnsetType = UNSET
    language: str | UnsetType = UNSET
    words: list[SttWord] | UnsetType = UNSET


class SttFlushDone(_Message, frozen=True, kw_only=True, tag="flush_done"):
    """All that came before a ``finalize`` has been answered."""


class SttDone(_Message, frozen=True, kw_only=True, tag="done"):
    """The answer to ``close``; the server closes the socket next."""


class SttWarning(_Message, frozen=True, kw_only=True, tag="warning"):
    """The audio or a setting was taken but is not what it should be. An addition of this server: clients skip it."""

    message: str


class SttError(_Message, frozen=True, kw_only=True, tag="error"):
    """``code`` repeats ``status_code`` and ``error`` the text, for clients of older versions."""

    status_code: int
    code: int
    error_code: str
    title: str
    message: str
    error: str


class TurnsConnected(_Message, frozen=True, kw_only=True, tag="connected"):
    """The first message of a turns socket."""


class TurnStart(_Message, frozen=True, kw_only=True, tag="turn.start"):
    """The user began to speak."""


class TurnUpdate(_Message, frozen=True, kw_only=True, tag="turn.update"):
    """``transcript`` is the whole turn so far; it only grows."""

    transcript: str


class TurnEagerEnd(_Message, frozen=True, kw_only=True, tag="turn.eager_end"):
    """Probably finished; ``turn.resume`` or ``turn.end`` follows."""

    transcript: str


class TurnResume(_Message, frozen=True, kw_only=True, tag="turn.resume"):
    """The user speaks on after ``turn.eager_end``."""


class TurnEnd(_Message, frozen=True, kw_only=True, tag="turn.end"):
    """The turn is over; ``transcript`` is all of it."""

    transcript: str


SttMessage = SttTranscript | SttFlushDone | SttDone | SttWarning | SttError
TurnsMessage = TurnsConnected | TurnStart | TurnUpdate | TurnEagerEnd | TurnResume | TurnEnd | SttWarning | SttError

_encoder = msgspec.json.Encoder()
_stt: msgspec.json.Decoder[SttMessage] = msgspec.json.Decoder(SttMessage)
_turns: msgspec.json.Decoder[TurnsMessage] = msgspec.json.Decoder(TurnsMessage)


def encode_message(message: SttMessage | TurnsMessage) -> bytes:
    return _encoder.encode(message)


def decode_stt_message(frame: bytes | str) -> SttMessage:
    """The client's side of ``/stt/websocket``. Raises ``msgspec.DecodeError``."""
    return _stt.decode(frame)


def decode_turns_message(frame: bytes | str) -> TurnsMessage:
    """The client's side of ``/stt/turns/websocket``. Raises ``msgspec.DecodeError``."""
    return _turns.decode(frame)


def stt_error(error: AntiphonError, request_id: str) -> SttError:
    """The message for an error. A status is always there: LiveKit takes its absence for 500 and reconnects for ever."""
    fault = describe(error)
    return SttError(
        request_id=request_id,
        status_code=fault.status,
        code=fault.status,
        error_code=fault.code,
        title=fault.title,
        message=fault.message,
        error=fault.text,
    )


def stt_words(words: Iterable[HeardWord]) -> list[SttWord]:
    """Words without their joining whitespace."""
    return [SttWord(word.text.strip(), seconds(word.start_sample), seconds(word.end_sample)) for word in words]


def seconds(samples: int) -> float:
    return round(samples / EAR_RATE_HZ, 3)


class CloseCommand(msgspec.Struct, frozen=True, tag_field="type", tag="close"):
    """Hear out what is buffered, then close."""


class TurnConfig(msgspec.Struct, frozen=True, omit_defaults=True):
    """Thresholds of the likelihood that the user is still in their turn; absent or null leaves one as it is."""

    start_threshold: float | None = None
    eager_end_threshold: float | None = None
    end_threshold: float | None = None
    end_timeout_ms: float | None = None


class ConfigCommand(msgspec.Struct, frozen=True, tag_field="type", tag="config", omit_defaults=True):
    """Change turn detection from here on."""

    turn: TurnConfig | None = None
