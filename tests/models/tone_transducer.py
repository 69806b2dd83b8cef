"""A streaming transducer made by hand, with metadata as icefall's exporter writes it: it hears tones as words.

Its encoder has the shape of icefall's LSTM one: feature frames and two states in, frames and new states out. A
detector for each tone's band says whether it sounds; a token is told where it begins to, by the state before.
Written in the wire format of ONNX (onnx.proto), so that no exporter is needed.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from antiphon.core.frame import Samples
from antiphon.models.protobuf import varint, write_field

RATE_HZ = 16_000
TONES = {"▁LOW": 500.0, "▁MID": 1000.0, "▁HIGH": 2000.0, "ER": 3500.0}
"""Token -> Hz."""
SYMBOLS = ("<blk>", "<sos/eos>", "<unk>", *TONES)
TOKENS = len(SYMBOLS)
CHUNK, AHEAD = 8, 4
"""Feature frames (10 ms) that a step takes, and that it looks further."""
_BINS = 80
_FLOAT, _INT64 = 1, 7


def tone(token: str, seconds: float = 0.2) -> Samples:
    at = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    return (0.5 * np.sin(2 * np.pi * TONES[token] * at)).astype(np.float32)


def spoken(text: str, gap_s: float = 0.1) -> Samples:
    """Tones of the words of ``text`` (LOW, MID, HIGH and each with ER behind it), a gap after each."""
    gap = np.zeros(round(gap_s * RATE_HZ), np.float32)
    pieces = [gap]
    for word in text.split():
        stem = word.removesuffix("ER")
        pieces.append(tone(f"▁{stem}"))
        if stem != word:
            pieces.append(tone("ER"))
        pieces.append(gap)
    return np.concatenate(pieces)


def write_transducer(folder: Path, symbols: Sequence[str] = SYMBOLS, **said: str) -> Path:
    """Encoder, decoder, joiner and ``tokens.txt`` in ``folder``; ``said`` changes what the encoder says of itself."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokens.txt").write_text("".join(f"{symbol} {n}\n" for n, symbol in enumerate(symbols)), "utf-8")
    metadata = {
        "model_type": "lstm", "num_encoder_layers": "1", "T": str(CHUNK + AHEAD), "decode_chunk_len": str(CHUNK),
        "rnn_hidden_size": "1", "d_model": str(TOKENS),
    }  # fmt: skip
    (folder / "encoder-epoch-1-avg-1.onnx").write_bytes(_encoder({**metadata, **said}))
    (folder / "decoder-epoch-1-avg-1.onnx").write_bytes(_decoder())
    (folder / "joiner-epoch-1-avg-1.onnx").write_bytes(_joiner())
    return folder


def _encoder(metadata: Mapping[str, str]) -> bytes:
    """x [N, T, 80], h [1, N, tokens], c [1, N, 1] -> encoder_out [N, T / 4, tokens], next_h, next_c."""
    steps = CHUNK // 4
    nodes = [
        _node("Slice", ["x", "zero", "chunk", "one"], ["now"]),
        _node("Reshape", ["now", "by_four"], ["grouped"]),
        _node("ReduceMean", ["grouped"], ["means"], axes=[2], keepdims=0),
        _node("MatMul", ["means", "detectors"], ["levels"]),
        _node("Add", ["levels", "threshold"], ["above"]),
        _node("Clip", ["above", "nothing", "all"], ["sounds"]),
        _node("Transpose", ["h"], ["before"], perm=[1, 0, 2]),
        _node("Concat", ["before", "sounds"], ["both"], axis=1),
        _node("Slice", ["both", "zero", "last", "one"], ["earlier"]),
        _node("Sub", ["sounds", "earlier"], ["begins"]),
        _node("Mul", ["begins", "strong"], ["encoder_out"]),
        _node("Slice", ["both", "last", "end", "one"], ["latest"]),
        _node("Transpose", ["latest"], ["next_h"], perm=[1, 0, 2]),
        _node("Identity", ["c"], ["next_c"]),
    ]
    bands = np.zeros((_BINS, TOKENS), np.float32)
    for number, hertz in enumerate(TONES.values()):
        bands[_bin(hertz), TOKENS - len(TONES) + number] = 50.0
    constants = {
        "zero": _ints(0), "one": _ints(1), "axis_1": _ints(1), "chunk": _ints(CHUNK), "last": _ints(steps),
        "end": _ints(steps + 1),
        "by_four": np.array([0, steps, 4, _BINS], np.int64),
        "detectors": bands, "threshold": np.full(TOKENS, -150.0, np.float32),
        "nothing": np.array(0.0, np.float32), "all": np.array(1.0, np.float32), "strong": np.array(20.0, np.float32),
    }  # fmt: skip
    inputs = {"x": ("N", CHUNK + AHEAD, _BINS), "h": (1, "N", TOKENS), "c": (1, "N", 1)}
    outputs = {"encoder_out": ("N", steps, TOKENS), "next_h": (1, "N", TOKENS), "next_c": (1, "N", 1)}
    return _model(nodes, constants, inputs, outputs, metadata)


def _decoder() -> bytes:
    """y [N, 2] -> decoder_out [N, tokens]: after any token the same."""
    nodes = [
        _node("Gather", ["y", "newest"], ["token"], axis=1),
        _node("Gather", ["table", "token"], ["decoder_out"], axis=0),
    ]
    constants = {"newest": np.array(1, np.int64), "table": np.zeros((TOKENS, TOKENS), np.float32)}
    metadata = {"vocab_size": str(TOKENS), "context_size": "2"}
    return _model(nodes, constants, {"y": ("N", 2)}, {"decoder_out": ("N", TOKENS)}, metadata, _INT64)


def _joiner() -> bytes:
    """encoder_out and decoder_out [N, tokens] -> logit [N, tokens]: nothing is told unless a tone begins."""
    nodes = [
        _node("Add", ["encoder_out", "decoder_out"], ["joined"]),
        _node("Add", ["joined", "bias"], ["logit"]),
    ]
    bias = np.zeros(TOKENS, np.float32)
    bias[0] = 10.0
    wide = {"encoder_out": ("N", TOKENS), "decoder_out": ("N", TOKENS)}
    return _model(nodes, {"bias": bias}, wide, {"logit": ("N", TOKENS)}, {"joiner_dim": str(TOKENS)})


def _bin(hertz: float) -> int:
    """The mel band of Kaldi's features (20 to 7,600 Hz) whose middle is nearest."""

    def mel(f: float) -> float:
        return 1127.0 * math.log(1.0 + f / 700.0)

    low, high = mel(20.0), mel(7_600.0)
    return round((mel(hertz) - low) / ((high - low) / (_BINS + 1))) - 1


def _ints(*values: int) -> NDArray[np.int64]:
    return np.array(values, np.int64)


Shape = Sequence[int | str]


def _model(
    nodes: Sequence[bytes],
    constants: Mapping[str, NDArray[np.generic]],
    inputs: Mapping[str, Shape],
    outputs: Mapping[str, Shape],
    metadata: Mapping[str, str],
    input_type: int = _FLOAT,
) -> bytes:
    graph = b"".join(write_field(1, node) for node in nodes) + write_field(2, b"tones")
    graph += b"".join(write_field(5, _tensor(name, value)) for name, value in constants.items())
    graph += b"".join(write_field(11, _value(name, shape, input_type)) for name, shape in inputs.items())
    graph += b"".join(write_field(12, _value(name, shape, _FLOAT)) for name, shape in outputs.items())
    model = _number(1, 8) + write_field(7, graph) + write_field(8, write_field(1, b"") + _number(2, 13))
    for key, value in metadata.items():
        model += write_field(14, write_field(1, key.encode()) + write_field(2, value.encode()))
    return model


def _node(kind: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: int | Sequence[int]) -> bytes:
    if kind == "Slice":  # data, starts, ends, axes, steps
        data, start, end, step = inputs
        inputs = [data, start, end, "axis_1", step]
    node = b"".join(write_field(1, name.encode()) for name in inputs)
    node += b"".join(write_field(2, name.encode()) for name in outputs) + write_field(4, kind.encode())
    for name, value in attributes.items():
        if isinstance(value, int):
            body = _number(3, value) + _number(20, 2)
        else:
            body = b"".join(_number(8, entry) for entry in value) + _number(20, 7)
        node += write_field(5, write_field(1, name.encode()) + body)
    return node


def _tensor(name: str, value: NDArray[np.generic]) -> bytes:
    kind = _FLOAT if value.dtype == np.float32 else _INT64
    dims = b"".join(_number(1, size) for size in value.shape)
    return dims + _number(2, kind) + write_field(8, name.encode()) + write_field(9, value.tobytes())


def _value(name: str, shape: Shape, kind: int) -> bytes:
    dims = b"".join(
        write_field(1, write_field(2, size.encode()) if isinstance(size, str) else _number(1, size)) for size in shape
    )
    return write_field(1, name.encode()) + write_field(2, write_field(1, _number(1, kind) + write_field(2, dims)))


def _number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)
