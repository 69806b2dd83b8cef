"""What a recogniser is to the streaming ear: something that decodes one bounded window of audio, again and again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from antiphon.core.frame import Samples


@dataclass(frozen=True, slots=True)
class EarWord:
    """A word, punctuation included, at ``[start_sample, end_sample)`` of the decoded window.

    ``tokens`` are the recogniser's own (empty if it has none that it could be given back). ``confidence`` in [0, 1].
    """

    text: str
    start_sample: int = 0
    end_sample: int = 0
    confidence: float = 1.0
    tokens: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What a window seems to say.

    ``avg_logprob``: mean natural-log probability of what was *chosen* (0.0 if nothing was); ``looped``: the decoder
    repeated itself and was stopped; ``silence``: the recogniser's own belief that nobody speaks, if it has one.
    """

    words: tuple[EarWord, ...] = ()
    avg_logprob: float = 0.0
    looped: bool = False
    silence: float = 0.0
    language: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """How to decode a window.

    ``draft``: an earlier hypothesis, to be quicker by; it does not change the answer. ``expect``: what
    :meth:`Recogniser.expect` made of the stream's keyterms. ``interim``: it is one of many; word times may be rough.
    """

    language: str = "en"
    draft: Hypothesis = field(default_factory=Hypothesis)
    expect: Any = None
    interim: bool = False


class Recogniser(Protocol):
    """Weights only: thread-safe, no state between calls.

    ``languages`` holds base codes; ``interims``: decoding is cheap enough to be repeated while the speaker
    goes on; ``quantum_bound_s``: the longest time between two ``yield`` of :meth:`decode` on an idle core;
    ``max_window_s``: longest window that is decoded well.
    """

    name: str
    languages: tuple[str, ...]
    interims: bool
    quantum_bound_s: float
    max_window_s: float

    def decode(self, samples: Samples, ask: Ask) -> Iterator[Hypothesis | None]:
        """Decode 16 kHz ``samples`` [n]: ``None`` after each quantum, the hypothesis last. Raises ``EngineFailed``."""
        ...

    def expect(self, keyterms: Sequence[str]) -> Any:
        """Prepare words to listen for; None if it cannot be told."""
        ...

    def warm_up(self) -> None: ...
