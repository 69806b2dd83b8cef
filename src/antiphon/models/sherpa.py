"""Streaming transducers by way of sherpa-onnx (next-gen Kaldi): Zipformer, Conformer and LSTM encoders of icefall.

An optional extra. A folder holds an encoder, a decoder and a joiner in ONNX and ``tokens.txt``. A stream's memory is
the encoder's state, of fixed size, and the tokens so far; it is fed as audio comes and never goes back.

The library ends the whole process where a model lacks something, so what it needs is looked for before it is asked.
Sources: Graves 2012, "Sequence Transduction with Recurrent Neural Networks"; Yao et al. 2023, "Zipformer".
"""

import mmap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon.core.errors import EngineFailed, ModelUnavailable
from antiphon.core.frame import Samples
from antiphon.models.protobuf import read_fields

SAMPLE_RATE_HZ = 16_000
FRAME_SAMPLES = 160
"""Of a feature frame."""
STEP_FRAMES = 4
"""Feature frames to one of the encoder's: a token's time is known to 40 ms."""

_MODEL_METADATA, _KEY, _VALUE = 14, 1, 2
_ENCODERS: Mapping[str, tuple[str, ...]] = {
    "conformer": ("num_encoder_layers", "left_context", "encoder_dim", "pad_length", "cnn_module_kernel"),
    "ebranchformer": (
        "num_hidden_layers", "hidden_size", "intermediate_size", "csgu_kernel_size", "merge_conv_kernel",
        "left_context_len", "num_heads", "head_dim",
    ),
    "lstm": ("num_encoder_layers", "rnn_hidden_size", "d_model"),
    "zipformer": ("encoder_dims", "attention_dims", "num_encoder_layers", "cnn_module_kernels", "left_context_len"),
    "zipformer2": (
        "encoder_dims", "query_head_dims", "value_head_dims", "num_heads", "num_encoder_layers", "cnn_module_kernels",
        "left_context_len",
    ),
}  # fmt: skip
"""Kinds of encoder, and what their graphs must say of themselves beside ``T`` and ``decode_chunk_len``."""
_PATHS = 4
_BPE_VOCABULARY = "bpe.vocab"


@dataclass(frozen=True, slots=True)
class Piece:
    """One token: its text (a space in front where a word begins), when it was told, its natural-log probability."""

    text: str
    at_sample: int
    logprob: float


@dataclass(frozen=True, slots=True)
class Heard:
    """All that a stream has told. ``text`` is its own spelling of ``pieces`` (they differ where tokens are bytes)."""

    text: str
    pieces: tuple[Piece, ...]


class Transducer:
    """Weights only; thread-safe, one core to a call. Raises ``ModelUnavailable``, saying what is missing.

    ``takes_keyterms``: words to expect can be told, since the folder holds the vocabulary that they are cut by
    (``bpe.vocab``) or the tokens are single characters; then several paths are searched, else the best one is taken.
    """

    def __init__(self, folder: Path) -> None:
        try:
            import sherpa_onnx
        except ImportError as error:
            raise ModelUnavailable(
                "a streaming transducer needs the package sherpa-onnx: pip install 'antiphon[sherpa]'"
            ) from error
        files = {part: graph_of(folder, part) for part in ("encoder", "decoder", "joiner")}
        tokens = folder / "tokens.txt"
        if not tokens.is_file():
            raise ModelUnavailable(f"{folder} has no tokens.txt: it is no folder of a streaming transducer")
        symbols = read_symbols(tokens)
        said = metadata_of(files["encoder"])
        _require(files["encoder"], said, ("T", "decode_chunk_len", *_kind(files["encoder"], said)))
        _require(files["decoder"], metadata_of(files["decoder"]), ("vocab_size", "context_size"))
        self.chunk_samples = int(said["decode_chunk_len"]) * FRAME_SAMPLES
        """What one step of the encoder takes."""
        self.ahead_samples = (int(said["T"]) + 1) * FRAME_SAMPLES - self.chunk_samples
        """What must be there behind a step before it is taken."""
        self.upper_case = not any(char.islower() for symbol in symbols for char in symbol if not symbol.startswith("<"))
        vocabulary = folder / _BPE_VOCABULARY
        characters = sum(len(symbol) == 1 for symbol in symbols) > len(symbols) // 2
        self.takes_keyterms = vocabulary.is_file() or characters
        try:
            self._recogniser: Any = sherpa_onnx.OnlineRecognizer.from_transducer(
                tokens=str(tokens),
                **{part: str(path) for part, path in files.items()},
                num_threads=1,  # the scheduler owns the cores
                decoding_method="modified_beam_search" if self.takes_keyterms else "greedy_search",
                max_active_paths=_PATHS,
                modeling_unit="bpe" if vocabulary.is_file() else "cjkchar",
                bpe_vocab=str(vocabulary) if vocabulary.is_file() else "",
                temperature_scale=1.0,  # confidences are to be probabilities
                enable_endpoint_detection=False,
            )
        except Exception as error:  # whatever ONNX Runtime says of a graph
            raise ModelUnavailable(f"{folder} cannot be loaded: {error}") from error

    def open(self, keyterms: Sequence[str] = ()) -> "TransducerStream":
        """``keyterms`` only where :attr:`takes_keyterms`."""
        told = [plain for term in keyterms if (plain := _plain(term))] if self.takes_keyterms else []
        if self.upper_case:
            told = [term.upper() for term in told]
        stream = self._recogniser.create_stream("/".join(told)) if told else self._recogniser.create_stream()
        return TransducerStream(self._recogniser, stream, self.chunk_samples)


class TransducerStream:
    """One stream; no two threads at a time. Positions are samples of what it was fed."""

    def __init__(self, recogniser: Any, stream: Any, chunk_samples: int) -> None:
        self._recogniser = recogniser
        self._stream = stream
        self._chunk_samples = chunk_samples
        self.fed = 0
        self.taken = 0
        """Samples that steps have taken: what was said before is told as far as it ever will be, but for the delay
        that the model has learnt."""

    def feed(self, samples: Samples) -> None:
        """16 kHz ``samples`` [n], the next ones."""
        self._stream.accept_waveform(SAMPLE_RATE_HZ, samples)
        self.fed += len(samples)

    def step(self) -> bool:
        """Take one chunk of what was fed; False if too little is there. Raises ``EngineFailed``."""
        if not self._recogniser.is_ready(self._stream):
            return False
        try:
            self._recogniser.decode_stream(self._stream)
        except Exception as error:
            raise EngineFailed(f"sherpa-onnx: {error}") from error
        self.taken += self._chunk_samples
        return True

    def heard(self) -> Heard:
        """All that was told since the stream was opened."""
        found = self._recogniser.get_result_all(self._stream)
        at = [round(time_s * SAMPLE_RATE_HZ) for time_s in found.timestamps]
        logprobs = found.ys_probs if len(found.ys_probs) == len(found.tokens) else [0.0] * len(found.tokens)
        return Heard(found.text.strip(), tuple(map(Piece, found.tokens, at, logprobs)))


def graph_of(folder: Path, part: str) -> Path:
    """The ``part`` (encoder, decoder, joiner) of a model in ``folder``. Raises ``ModelUnavailable``.

    Of several the int8 one, but for the decoder, which is small and loses by it.
    """
    found = sorted(folder.glob(f"{part}*.onnx")) or sorted(folder.glob(f"*{part}*.onnx"))
    if not found:
        raise ModelUnavailable(
            f"{folder} is no folder of a streaming transducer: it has no {part}*.onnx (wanted: encoder, decoder, "
            "joiner and tokens.txt)"
        )
    int8 = [path for path in found if ".int8." in path.name]
    other = [path for path in found if ".int8." not in path.name]
    chosen = (other or int8) if part == "decoder" else (int8 or other)
    if len(chosen) > 1:
        raise ModelUnavailable(f"{folder} holds several models: {', '.join(path.name for path in chosen)}; keep one")
    return chosen[0]


def read_symbols(tokens: Path) -> list[str]:
    """Symbols of a ``tokens.txt`` (symbol and id on a line, or an id alone: a space). ``ModelUnavailable``."""
    symbols = []
    for number, line in enumerate(tokens.read_text("utf-8", "replace").splitlines(), 1):
        match line.split():
            case [symbol, token] if token.isdecimal():
                symbols.append(symbol)
            case [token] if token.isdecimal():
                symbols.append(" ")
            case []:
                continue
            case _:
                raise ModelUnavailable(f"{tokens}, line {number}: a symbol and its number were expected: {line!r}")
    if not symbols:
        raise ModelUnavailable(f"{tokens} is empty")
    return symbols


def metadata_of(graph: Path) -> dict[str, str]:
    """What an ONNX file says of itself (``metadata_props``). Raises ``ModelUnavailable`` if it is none."""
    try:
        with (
            graph.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
            memoryview(data) as view,
        ):
            entries = [bytes(value) for number, value, _ in read_fields(view) if number == _MODEL_METADATA]
    except (OSError, ValueError, IndexError) as error:
        raise ModelUnavailable(f"{graph} is no ONNX file: {error}") from error
    said = [{number: value.decode("utf-8", "replace") for number, value, _ in read_fields(entry)} for entry in entries]
    return {entry[_KEY]: entry.get(_VALUE, "") for entry in said if _KEY in entry}


def _kind(graph: Path, said: Mapping[str, str]) -> tuple[str, ...]:
    kind = said.get("model_type", "")
    if kind not in _ENCODERS:
        raise ModelUnavailable(
            f"{graph} says that it is {kind!r}, which is no streaming transducer that is known here; "
            f"known are {', '.join(_ENCODERS)}"
        )
    return _ENCODERS[kind]


def _require(graph: Path, said: Mapping[str, str], keys: Sequence[str]) -> None:
    missing = [key for key in keys if not all(part.strip().isdecimal() for part in said.get(key, "").split(","))]
    if missing:
        raise ModelUnavailable(f"{graph} does not say its {', '.join(missing)}; export it again with icefall")


def _plain(term: str) -> str:
    """A keyterm without what has a meaning in the library's own notation (scores, separators)."""
    return " ".join(word.lstrip(":#@") for word in term.replace("/", " ").split() if word.lstrip(":#@"))
