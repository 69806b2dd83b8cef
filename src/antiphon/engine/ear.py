"""What a recogniser is to the streaming ear: something that reads one bounded window of audio while it grows.

There are two kinds behind one interface. One decodes the whole window again and again (:class:`Windowed`); its
hypotheses change while the speaker goes on, and what is settled is what successive ones agree on. The other is a
stream: a state of fixed size for each window, fed with what is new, whose hypotheses only grow.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

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
class Closing:
    """What a recogniser would write after the last word: how sure it is that the sentence ends there.

    Natural logarithms of the odds of a closing mark against a ``comma``, and against another ``word``. (That it does
    write a closing mark tells nothing: it closes almost whatever it hears.)
    """

    comma: float
    word: float


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What a window seems to say.

    ``avg_logprob``: mean natural-log probability of what was *chosen* (0.0 if nothing was); ``looped``: the decoder
    repeated itself and was stopped; ``silence``: the recogniser's own belief that nobody speaks, if it has one;
    ``closing``: what it would write next, if it tells.
    """

    words: tuple[EarWord, ...] = ()
    avg_logprob: float = 0.0
    looped: bool = False
    silence: float = 0.0
    language: str = ""
    closing: Closing | None = None


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


class Reading(Protocol):
    """One window under recognition, from its first sample to its last. One worker at a time touches it."""

    def decode(self, samples: Samples, ask: Ask) -> Iterator[Hypothesis | None]:
        """Decode the window so far, 16 kHz ``samples`` [n]: ``None`` after each quantum, the hypothesis last.

        A stream takes of ``samples`` what is new to it. What it has heard stands, though it be asked about less.
        Unless ``ask.interim`` the last word is there without later sound. Raises ``EngineFailed``.
        """
        ...


class Recogniser(Protocol):
    """Weights only, thread-safe; what is remembered of a window is in its :class:`Reading`.

    ``languages`` holds base codes; ``interims``: decoding is cheap enough to be repeated while the speaker
    goes on; ``streaming``: hypotheses of a growing window only grow; ``quantum_bound_s``: the longest time between two
    ``yield`` of :meth:`Reading.decode` on an idle core; ``max_window_s``: longest window that is decoded well.
    """

    name: str
    languages: tuple[str, ...]
    interims: bool
    streaming: bool
    quantum_bound_s: float
    max_window_s: float

    def read(self) -> Reading:
        """A window begins."""
        ...

    def expect(self, keyterms: Sequence[str]) -> Any:
        """Prepare words to listen for; None if it cannot be told."""
        ...

    def warm_up(self) -> None: ...


class Windowed:
    """A recogniser without a state: it is the reading of every window."""

    streaming = False

    def read(self) -> Self:
        return self
