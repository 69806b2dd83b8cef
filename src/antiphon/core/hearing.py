"""What a caller asks of an ear, and what the ear says back, independent of the protocol.

Positions are integer samples at :data:`EAR_RATE_HZ` from the start of the stream, whatever rate the caller sends.
"""

from dataclasses import dataclass

EAR_RATE_HZ = 16_000


@dataclass(frozen=True, slots=True)
class HearingConfig:
    """Settings of one stream of listening.

    ``encoding`` and ``sample_rate_hz`` describe the bytes that are pushed. ``language`` "" means: find out.
    ``keyterms`` are words to expect. ``turns``: score the end of turn at pauses (:class:`TurnScored`).
    """

    model: str = ""
    language: str = "en"
    encoding: str = "pcm_s16le"
    sample_rate_hz: int = EAR_RATE_HZ
    keyterms: tuple[str, ...] = ()
    interim: bool = True
    turns: bool = False
    expected_digits: tuple[int, ...] = ()
    """Lengths of the numbers that may be dictated: one that has come so far is whole, and nobody waits for more."""
    owner: str = ""
    """Whom admission counts this stream for (an API key's name)."""


@dataclass(frozen=True, slots=True)
class HeardWord:
    """One word with its place ``[start_sample, end_sample)`` and the recogniser's confidence in [0, 1]."""

    text: str
    start_sample: int
    end_sample: int
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Heard:
    """What was understood of the segment since the last final.

    ``text`` is the whole segment so far, joining whitespace included: finals concatenated verbatim are the transcript.
    Its first ``stable_chars`` characters never change again (the committed prefix is append-only, also across a final).
    A final says all there is about ``[start_sample, end_sample)`` and begins a new segment.
    """

    text: str
    stable_chars: int
    final: bool
    words: tuple[HeardWord, ...] = ()
    start_sample: int = 0
    end_sample: int = 0
    language: str = "en"
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """The voice activity detector is sure that someone speaks; ``at_sample`` is where it began."""

    at_sample: int


@dataclass(frozen=True, slots=True)
class SpeechStopped:
    """A pause began at ``at_sample`` (the last speech sample), known some time later."""

    at_sample: int


@dataclass(frozen=True, slots=True)
class TurnScored:
    """How likely the speaker is *still in their turn* (1: surely; 0: surely finished), judged at ``at_sample``.

    ``silence_samples`` is the length of the pause so far. ``text`` is what the judgement was based on.
    """

    at_sample: int
    likelihood: float
    silence_samples: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Listened:
    """Audio up to ``at_sample`` has been looked at: media time, for whoever must give up on silence."""

    at_sample: int
    speech: bool
