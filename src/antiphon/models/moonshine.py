"""Moonshine (tiny): an English recogniser for whole utterances, on ONNX Runtime.

An encoder turns 16 kHz samples into frames (about 41.6 a second); a decoder reads them and writes one token after
another. All that a decode remembers is in the value :class:`Decoding`, so a caller may keep it, go on from it, or begin
with tokens that are settled already. Source: Jeffries et al. 2024, "Moonshine: Speech Recognition for Live
Transcription and Voice Commands" (arXiv 2410.15608); inputs and outputs are those of the published ONNX graphs.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from antiphon.core.errors import EngineFailed, InvalidInput, ModelUnavailable
from antiphon.core.frame import Samples
from antiphon.models.moonshine_attention import ATTENTION, attentive_decoder, mean_attention
from antiphon.models.moonshine_loops import loop_period, without_loop
from antiphon.models.moonshine_words import detokenize, read_vocabulary
from antiphon.models.session import Sessions, load_session

_log = logging.getLogger(__name__)
_DECODER = "moonshine decoder"

SAMPLE_RATE_HZ = 16_000

MAX_PIECE_SAMPLES = 12 * SAMPLE_RATE_HZ
"""Longer audio is cut into pieces: on longer ones the model skips words."""

MIN_SAMPLES = SAMPLE_RATE_HZ // 2
"""Shorter audio is padded with silence: bare, a short "No." is heard as "No, no, no"; below 0.064 s the graph fails."""

_SILENCE_PEAK = 1e-4  # -80 dBFS: no speech is in there, but the model would hear "You"
_QUIET_WINDOW_SAMPLES = SAMPLE_RATE_HZ // 10
_MIN_TAIL_SAMPLES = SAMPLE_RATE_HZ
_TOKENS_PER_SECOND = 6.5
_START, _END = 1, 2
_LEAST = 1e-9  # probability
_MARKS, _CLOSING_MARKS = b".?!,;:-", (b".", b"?", b"!")


Bias: TypeAlias = Callable[[Sequence[int], NDArray[np.float32]], NDArray[np.float32]]
"""Given the tokens so far and the logits [32768] of the next, logits to choose by. Probabilities stay the model's."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """An utterance as the decoder reads it: ``hidden`` float32 [1, frames, 288], ``mask`` int64 [1, samples]."""

    hidden: NDArray[np.float32]
    mask: NDArray[np.int64]

    @property
    def max_tokens(self) -> int:
        """More than anybody says in this time; ends a decode that has lost its way."""
        return max(6, int(self.mask.shape[1] / SAMPLE_RATE_HZ * _TOKENS_PER_SECOND) + 2)


@dataclass(frozen=True, slots=True)
class Decoding:
    """A decode so far.

    ``tokens`` [n] were chosen (or given); ``logprobs`` are their natural-log probabilities, and the end token's once
    ``ended``. ``cache`` maps the decoder's state inputs to float32 [1, 8, length, 36]; it lacks the last token.
    ``attention``: float32 [frames] for each choice that was made, where the decoder looked (see
    ``moonshine_attention``); empty if the graph does not tell. ``last``: logits [32768] of the place after the last
    token that is no mark.
    """

    tokens: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    ended: bool = False
    cache: Mapping[str, NDArray[np.float32]] = field(default_factory=dict, repr=False)
    attention: tuple[NDArray[np.float32], ...] = field(default=(), repr=False)
    last: NDArray[np.float32] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was heard.

    ``avg_logprob``: mean natural-log probability of the tokens (ends included), 0.0 if the model was not asked at all.
    ``looped``: the model repeated itself and was stopped; the repetitions are taken out.
    """

    text: str
    tokens: tuple[int, ...] = ()
    avg_logprob: float = 0.0
    looped: bool = False


class Moonshine:
    """The recogniser. Holds weights only; every method is thread-safe and uses one core.

    Raises ``ModelUnavailable`` if the files cannot be loaded.
    """

    def __init__(
        self, encoder_path: Path, decoder_path: Path, tokenizer_path: Path, sessions: Sessions | None = None
    ) -> None:
        self._encoder = load_session(encoder_path, "moonshine encoder", sessions)
        self._decoder = _decoder(decoder_path, sessions)
        try:
            self._vocabulary = read_vocabulary(tokenizer_path.read_bytes())
        except (OSError, IndexError) as error:
            raise ModelUnavailable(f"{tokenizer_path} cannot be read: {error}") from error
        marks = {at: mark for at, mark in enumerate(self._vocabulary) if mark and not mark.strip(_MARKS)}
        self._marks = frozenset(marks)
        self._closing = [at for at, mark in marks.items() if mark.startswith(_CLOSING_MARKS)]
        self._commas = [at for at in marks if at not in self._closing]
        names = [output.name for output in self._decoder.get_outputs()]
        self._attends = set(ATTENTION) <= set(names)
        # present.N.decoder.key is given back as past_key_values.N.decoder.key
        self._output_names = [name.replace("present", "past_key_values") for name in names]
        self._state_names = [name for name in self._output_names if name.startswith("past_key_values")]
        past = {entry.name: entry.shape for entry in self._decoder.get_inputs() if entry.name in self._state_names}
        self._empty_cache = {
            name: np.zeros((1, heads, 0, width), np.float32) for name, (_, heads, _, width) in past.items()
        }

    def transcribe(self, samples: Samples) -> Transcript:
        """Recognise 16 kHz mono ``samples`` [n] of any length. Raises ``InvalidInput`` or ``EngineFailed``."""
        if samples.ndim != 1:
            raise InvalidInput(f"mono samples of shape [n] are wanted, not {samples.shape}", "samples")
        if not np.isfinite(samples).all():
            raise InvalidInput("samples must be finite numbers", "samples")
        pieces = [samples[start:end] for start, end in pieces_of(samples)]
        decodings = [self._greedy(self.encode(piece)) for piece in pieces if np.abs(piece).max() >= _SILENCE_PEAK]
        cut = [without_loop(decoding.tokens) for decoding in decodings]
        logprobs = [logprob for decoding in decodings for logprob in decoding.logprobs]
        return Transcript(
            text=" ".join(filter(None, map(self.text, cut))),
            tokens=tuple(token for tokens in cut for token in tokens),
            avg_logprob=float(np.mean(logprobs)) if logprobs else 0.0,
            looped=any(len(kept) < len(decoding.tokens) for kept, decoding in zip(cut, decodings, strict=True)),
        )

    def encode(self, samples: Samples) -> Encoded:
        """Encode at most ``MAX_PIECE_SAMPLES`` samples [n]; shorter than ``MIN_SAMPLES`` is padded with silence."""
        padding = max(0, MIN_SAMPLES - len(samples))
        before = padding // 3  # some of it in front: the model hears first consonants better after a little silence
        values = np.pad(samples.astype(np.float32, copy=False), (before, padding - before))[np.newaxis]
        mask = np.ones(values.shape, np.int64)
        (hidden,) = _run(self._encoder, {"input_values": values, "attention_mask": mask})
        return Encoded(hidden, mask)

    def begin(
        self, encoded: Encoded, prefix: Sequence[int] = (), draft: Sequence[int] = (), bias: Bias | None = None
    ) -> Decoding:
        """Read the utterance and choose the first token after ``prefix``, tokens that are settled already.

        ``draft`` is a guess of what follows: the tokens of it that the model would choose too are taken in this one
        call, which costs a fifth of choosing them one by one, and gives what that would give.
        """
        given = (*prefix, *draft)
        logits, state, looked = self._decode(encoded, (_START, *given), self._empty_cache, use_cache=False)
        agreed = len(prefix)
        while agreed < len(given) and _choice(given[:agreed], logits[agreed], bias) == given[agreed]:
            agreed += 1
        cache = state
        if agreed < len(given):
            cache = {name: value[:, :, : agreed + 1] if ".decoder." in name else value for name, value in state.items()}
        taken = given[:agreed]
        last = agreed
        while last and given[last - 1] in self._marks:
            last -= 1
        begun = Decoding(
            taken, _logprobs_of(logits[:agreed], taken), False, cache, tuple(looked[: agreed + 1]),
            logits[last].copy(),
        )  # fmt: skip
        return _choose(begun, logits[agreed], bias)

    def step(self, encoded: Encoded, decoding: Decoding, bias: Bias | None = None) -> Decoding:
        """Choose one more token. ``decoding`` must not have ended."""
        logits, state, looked = self._decode(encoded, decoding.tokens[-1:], decoding.cache, use_cache=True)
        # the keys and values of the utterance come from the first step only: with the cache on, the graph gives none
        cache = {name: value if ".decoder." in name else decoding.cache[name] for name, value in state.items()}
        last = decoding.last if decoding.tokens[-1] in self._marks else logits[-1]
        attention = (*decoding.attention, *looked)
        return _choose(replace(decoding, cache=cache, attention=attention, last=last), logits[-1], bias)

    def after(self, decoding: Decoding) -> tuple[float, float, float]:
        """What the decoder made of the place after the last word: natural-log probabilities of a closing mark, of a
        comma or its like, and of another word. An end without a mark is the rest."""
        if decoding.last is None:
            raise ValueError("nothing is decoded yet")
        p = np.exp(decoding.last - decoding.last.max(), dtype=np.float64)
        p /= p.sum()
        closing, comma, end = p[self._closing].sum(), p[self._commas].sum(), p[_END]
        closing, comma, word = np.log(np.maximum((closing, comma, 1.0 - closing - comma - end), _LEAST)).tolist()
        return closing, comma, word

    def text(self, tokens: Sequence[int]) -> str:
        """The words of ``tokens``, without space at the ends. Markers such as ``<s>`` are left out."""
        return detokenize([self._vocabulary[token] for token in tokens])

    @property
    def vocabulary(self) -> tuple[bytes, ...]:
        """Token strings by id; a word begins with U+2581 in UTF-8."""
        return self._vocabulary

    def warm_up(self) -> None:
        """One real inference."""
        self._greedy(self.encode(np.zeros(SAMPLE_RATE_HZ, np.float32)))

    def _greedy(self, encoded: Encoded) -> Decoding:
        decoding = self.begin(encoded)
        while not decoding.ended and len(decoding.tokens) < encoded.max_tokens and not loop_period(decoding.tokens):
            decoding = self.step(encoded, decoding)
        return decoding

    def _decode(
        self, encoded: Encoded, tokens: Sequence[int], cache: Mapping[str, NDArray[np.float32]], *, use_cache: bool
    ) -> tuple[NDArray[np.float32], dict[str, NDArray[np.float32]], NDArray[np.float32]]:
        """Logits [tokens, 32768], the new state, and where each token looked [tokens or 0, frames]."""
        inputs = {
            "encoder_hidden_states": encoded.hidden,
            # the mask of the *samples*: the graph shortens it itself
            "encoder_attention_mask": encoded.mask,
            "input_ids": np.array([tokens], np.int64),
            "use_cache_branch": np.array([use_cache]),
            **cache,
        }
        found = dict(zip(self._output_names, _run(self._decoder, inputs), strict=True))
        looked = mean_attention(found) if self._attends else np.zeros((0, 0), np.float32)
        return found["logits"][0], {name: found[name] for name in self._state_names}, looked


def pieces_of(samples: Samples, max_samples: int = MAX_PIECE_SAMPLES) -> list[tuple[int, int]]:
    """Cut samples [n] into ``[start, end)`` of at most ``max_samples``, each cut in the quietest 0.1 s near its end."""
    pieces, start = [], 0
    while (left := len(samples) - start) > max_samples:
        low = start + max_samples // 2
        high = start + min(max_samples, max(left - _MIN_TAIL_SAMPLES, max_samples // 2 + _QUIET_WINDOW_SAMPLES))
        end = low + _quietest(samples[low:high])
        pieces.append((start, end))
        start = end
    if left:
        pieces.append((start, len(samples)))
    return pieces


def _quietest(samples: Samples) -> int:
    """Middle of the 0.1 s with the least energy, in samples from the start."""
    window = min(_QUIET_WINDOW_SAMPLES, len(samples))
    energy = np.concatenate([[0.0], np.cumsum(np.square(samples, dtype=np.float64))])
    return int(np.argmin(energy[window:] - energy[:-window])) + window // 2


def _choice(tokens: Sequence[int], logits: NDArray[np.float32], bias: Bias | None) -> int:
    return int((logits if bias is None else bias(tokens, logits)).argmax())


def _choose(decoding: Decoding, logits: NDArray[np.float32], bias: Bias | None = None) -> Decoding:
    token = _choice(decoding.tokens, logits, bias)
    logprobs = (*decoding.logprobs, *_logprobs_of(logits[np.newaxis], [token]))
    if token == _END:
        return replace(decoding, logprobs=logprobs, ended=True)
    return replace(decoding, tokens=(*decoding.tokens, token), logprobs=logprobs)


def _logprobs_of(logits: NDArray[np.float32], tokens: Sequence[int]) -> tuple[float, ...]:
    """Natural-log probability of each token [n] under logits [n, 32768]."""
    highest = logits.max(axis=1)
    norm = np.log(np.exp(logits - highest[:, np.newaxis]).sum(axis=1)) + highest
    return tuple(float(row[token] - total) for row, token, total in zip(logits, tokens, norm, strict=True))


def _decoder(path: Path, sessions: Sessions | None) -> onnxruntime.InferenceSession:
    """With its attention, if that can be had."""
    if path.is_file():
        try:
            return attentive_decoder(path, _DECODER, sessions)
        except ModelUnavailable as error:
            _log.warning("word times will be less exact: %s", error)
    return load_session(path, _DECODER, sessions)


def _run(session: onnxruntime.InferenceSession, inputs: dict[str, Any]) -> list[Any]:
    try:
        return list(session.run(None, inputs))
    except Exception as error:
        raise EngineFailed(f"moonshine: {error}") from error
