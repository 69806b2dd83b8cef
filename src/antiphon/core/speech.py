"""What a caller asks of a voice, independent of the protocol that it arrived by."""

from dataclasses import dataclass, field

from antiphon.core.event import Timed
from antiphon.core.frame import AudioFormat, Samples

SPEED_RANGE = (0.25, 4.0)
VOLUME_RANGE = (0.0, 2.0)


@dataclass(frozen=True, slots=True)
class Pronunciation:
    """Say ``said`` wherever ``text`` is written: other words, or phonemes (``<<k|ɑ|ɹ>>``).

    ``case_sensitive``: only as written here; a text in small letters also matches with a capital where a sentence
    begins. Else any capitals match.
    """

    text: str
    said: str
    case_sensitive: bool = False


@dataclass(frozen=True, slots=True)
class SpeechConfig:
    """Settings of one stream of speech.

    ``language`` "" means the voice's own. ``speed`` 1.0 is the voice's own pace; ``volume`` 1.0 its own loudness
    (linear gain). ``max_buffer_delay_s`` is how long text may wait for more text before it is spoken; 0 speaks each
    push as its own utterance. ``lead_s`` (None: no cap) bounds how far ahead of the listener audio is made. ``seed``
    fixes the noise component of the voice.
    """

    voice: str
    model: str = ""
    language: str = "en"
    format: AudioFormat = field(default_factory=AudioFormat)
    speed: float = 1.0
    volume: float = 1.0
    emotion: str | None = None
    normalize: bool = True
    max_buffer_delay_s: float = 3.0
    words: bool = False
    phonemes: bool = False
    lead_s: float | None = None
    seed: int = 0
    owner: str = ""
    """Whom admission counts this stream for (an API key's name)."""
    dictionary: str = ""
    """Id of a pronunciation dictionary, for whoever keeps those to look up: engines only see what is in it."""
    pronunciations: tuple[Pronunciation, ...] = ()
    as_json: bool = False
    """The audio goes into JSON: who makes it may encode it for that too, and spare the loop that all share."""


@dataclass(frozen=True, slots=True)
class VoiceInfo:
    """One voice, as ``GET /voices`` and ``antiphon voices`` list it."""

    id: str
    name: str
    engine: str
    language: str
    locales: tuple[str, ...]
    gender: str
    description: str
    quality: str
    licence: str
    source: str
    created_at: str = "2026-01-01T00:00:00Z"
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MissingVoice:
    """A voice that is known and cannot speak here; ``needs`` says what must be pulled or installed."""

    info: VoiceInfo
    needs: str


@dataclass(frozen=True, slots=True)
class Prosody:
    """Speed, volume and emotion that apply to text pushed from here on (Cartesia: ``generation_config`` per push)."""

    speed: float | None = None
    volume: float | None = None
    emotion: str | None = None


@dataclass(frozen=True, slots=True)
class Rendered:
    """One quantum of a voice's work: samples at the voice's rate, and the times that became known with them.

    Times are absolute in the stream (``at_sample`` of the call included) and never precede audio already rendered.
    ``words`` are as the user wrote them, ``normalized`` as they were spoken; ``phonemes`` are IPA without stress marks.
    """

    samples: Samples
    words: tuple[Timed, ...] = ()
    normalized: tuple[Timed, ...] = ()
    phonemes: tuple[Timed, ...] = ()
