"""Where Moonshine's decoder looks while it writes a token: the key to word times.

The published decoder is one ``If`` over two branches (with and without cache) and gives out no attention. ONNX Runtime
can write the graph down as ONNX; there both branches get more outputs. Only a handful of protobuf fields matter for
this (onnx.proto: ModelProto, GraphProto, NodeProto, AttributeProto), and what is added to a message stands at its end.

Heads were chosen by how well their peaks follow the exact word times of a synthetic voice. Source of the method: the
alignment heads of Whisper (Radford et al. 2022); here without time warping, since every token takes at least a frame.
"""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from antiphon.core.errors import ModelUnavailable
from antiphon.models.protobuf import read_fields, varint, write_field
from antiphon.models.session import Sessions, quiet_options

HEADS = ((4, 3), (3, 5), (5, 7), (5, 4), (5, 1), (3, 6), (4, 2), (4, 1))
"""(layer, head) whose attention runs along the audio."""

FRAME_SAMPLES = 384
"""Samples per encoder frame (24 ms)."""

_ATTENTION = "/model/decoder/layers.{}/encoder_attn/Softmax_output_0"
ATTENTION = tuple(_ATTENTION.format(layer) for layer in sorted({layer for layer, _ in HEADS}))
"""Outputs that :func:`attentive_decoder` adds, float32 [1, heads, tokens, frames]."""

_MODEL_GRAPH = 7
_GRAPH_NODE, _GRAPH_NAME, _GRAPH_OUTPUT = 1, 2, 12
_NODE_OUTPUT, _NODE_OPERATOR, _NODE_ATTRIBUTE = 2, 4, 5
_ATTRIBUTE_GRAPH = 6
_VALUE_NAME = 1


def attentive_decoder(
    path: Path, name: str = "graph", sessions: Sessions | None = None
) -> onnxruntime.InferenceSession:
    """The decoder as it is, with :data:`ATTENTION` among its outputs. ``ModelUnavailable`` where it cannot be made."""
    try:
        graph = with_branch_outputs(_as_onnx(path), ATTENTION)
        return (sessions or Sessions()).open(name, graph, _options())
    except Exception as error:  # whatever ONNX Runtime or an unexpected graph raises
        raise ModelUnavailable(f"{path} gives no attention: {error}") from error


def mean_attention(outputs: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float32]:
    """Of the chosen heads, ``[tokens, frames]``."""
    mean: NDArray[np.float32] = np.mean([outputs[_ATTENTION.format(layer)][0, head] for layer, head in HEADS], axis=0)
    return mean


def token_frames(attention: NDArray[np.float32]) -> list[tuple[int, int]]:
    """The most attended monotonic path: ``[start, end)`` frames of each token, one after another.

    ``attention`` [tokens, frames] with at least as many frames as tokens.
    """
    tokens, frames = attention.shape
    sums = np.concatenate((np.zeros((tokens, 1)), np.cumsum(attention, axis=1, dtype=np.float64)), axis=1)
    best = np.where(np.arange(frames + 1) == 0, 0.0, -np.inf)
    begins = np.zeros((tokens, frames + 1), np.int64)
    places = np.arange(frames + 1)
    for token in range(tokens):
        gain = best - sums[token]
        top = np.maximum.accumulate(gain)
        # where the running maximum was last renewed is where this token begins if it ends here
        start = np.maximum.accumulate(np.where(gain == top, places, 0))
        ended = np.full(frames + 1, -np.inf)
        ended[1:] = sums[token, 1:] + top[:-1]
        begins[token, 1:] = start[:-1]
        best = ended
    spans, end = [], frames
    for token in range(tokens - 1, -1, -1):
        begin = int(begins[token, end])
        spans.append((begin, end))
        end = begin
    return spans[::-1]


def with_branch_outputs(model: bytes, outputs: Sequence[str]) -> bytes:
    """``model``, whose graph holds an ``If``, with more of what both its branches compute. Raises ``ValueError``."""
    names = [name.encode() for name in outputs]
    values = b"".join(write_field(_GRAPH_OUTPUT, write_field(_VALUE_NAME, name)) for name in names)
    # the writer leaves branches without a name, which the reader wants
    named = write_field(_GRAPH_NAME, b"branch") + values
    given_out = b"".join(write_field(_NODE_OUTPUT, name) for name in names)
    whole: list[memoryview | bytes] = []
    changed = 0
    for number, graph, raw in read_fields(memoryview(model)):
        if number != _MODEL_GRAPH:
            whole.append(raw)
            continue
        parts: list[memoryview | bytes] = []
        for kind, node, raw_node in read_fields(graph):
            if kind == _GRAPH_NODE and _operator(node) == b"If":
                changed += 1
                parts += _field(_GRAPH_NODE, [*_with_branches(node, named), given_out])
            else:
                parts.append(raw_node)
        whole += _field(_MODEL_GRAPH, [*parts, values])
    if not changed:
        raise ValueError("no If in the graph")
    return b"".join(whole)


def _with_branches(node: memoryview, more: bytes) -> list[memoryview | bytes]:
    """The fields of an ``If`` with ``more`` at the end of each branch."""
    fields: list[memoryview | bytes] = []
    for number, attribute, raw in read_fields(node):
        if number != _NODE_ATTRIBUTE:
            fields.append(raw)
            continue
        parts: list[memoryview | bytes] = []
        for kind, branch, raw_part in read_fields(attribute):
            parts += _field(_ATTRIBUTE_GRAPH, [branch, more]) if kind == _ATTRIBUTE_GRAPH else [raw_part]
        fields += _field(_NODE_ATTRIBUTE, parts)
    return fields


def _field(number: int, parts: list[memoryview | bytes]) -> list[memoryview | bytes]:
    """A length-delimited field of ``parts``, which are large: they are joined once, at the end."""
    return [varint(number << 3 | 2) + varint(sum(map(len, parts))), *parts]


def _operator(node: memoryview) -> bytes:
    return next((bytes(value) for number, value, _ in read_fields(node) if number == _NODE_OPERATOR), b"")


def _as_onnx(path: Path) -> bytes:
    """The graph in ONNX format; ONNX Runtime writes to files only: into memory where the system has such files."""
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("decoder"), "rb") as file:
            _write_onnx(path, f"/proc/self/fd/{file.fileno()}")
            return file.read()
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "decoder.onnx"
        _write_onnx(path, str(target))
        return target.read_bytes()


def _write_onnx(path: Path, target: str) -> None:
    options = _options()
    options.optimized_model_filepath = target
    options.add_session_config_entry("session.save_model_format", "ONNX")
    options.add_session_config_entry("session.disable_prepacking", "1")  # it is never run
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _options() -> onnxruntime.SessionOptions:
    options = quiet_options()
    # it is optimised already
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options
