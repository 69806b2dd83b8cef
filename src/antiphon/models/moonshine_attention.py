"""Where Moonshine's decoder looks while it writes a token: the key to word times.

The published decoder is one ``If`` over two branches and gives out no attention. ONNX Runtime can write the graph down
as ONNX; from that, the branch without cache is taken out to stand for itself and gives out its cross-attention. Only a
handful of protobuf fields matter for this (onnx.proto: ModelProto, GraphProto, NodeProto, AttributeProto), so they are
read and written here.

Heads were chosen by how well their peaks follow the exact word times of a synthetic voice. Source of the method: the
alignment heads of Whisper (Radford et al. 2022); here without time warping, since every token takes at least a frame.
"""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from antiphon.core.errors import ModelUnavailable
from antiphon.models.protobuf import read_fields, write_field

HEADS = ((4, 3), (3, 5), (5, 7), (5, 4), (5, 1), (3, 6), (4, 2), (4, 1))
"""(layer, head) whose attention runs along the audio."""

FRAME_SAMPLES = 384
"""Samples per encoder frame (24 ms)."""

_MODEL_GRAPH = 7
_NODE, _INITIALIZER, _INPUT, _OUTPUT = 1, 5, 11, 12
_NODE_OPERATOR, _NODE_ATTRIBUTE = 4, 5
_ATTRIBUTE_NAME, _ATTRIBUTE_GRAPH = 1, 6
_ATTENTION = "/model/decoder/layers.{}/encoder_attn/Softmax_output_0"


class AttentiveDecoder:
    """The decoder's first call with its attention. Thread-safe; ``ModelUnavailable`` where it cannot be made."""

    def __init__(self, decoder_path: Path) -> None:
        self._layers = sorted({layer for layer, _ in HEADS})
        names = [_ATTENTION.format(layer) for layer in self._layers]
        try:
            graph = branch_with_outputs(_as_onnx(decoder_path), b"else_branch", names)
            self._session = onnxruntime.InferenceSession(graph, _options(), providers=["CPUExecutionProvider"])
        except Exception as error:  # whatever ONNX Runtime or an unexpected graph raises
            raise ModelUnavailable(f"{decoder_path} gives no attention: {error}") from error
        self._names = names
        self._inputs = {entry.name for entry in self._session.get_inputs()}

    def attention(self, inputs: Mapping[str, Any]) -> NDArray[np.float32]:
        """Mean attention of the chosen heads ``[tokens, frames]`` for the decoder's ``inputs``."""
        found = self._session.run(self._names, {name: inputs[name] for name in self._inputs})
        by_layer = dict(zip(self._layers, found, strict=True))
        mean: NDArray[np.float32] = np.mean([by_layer[layer][0, head] for layer, head in HEADS], axis=0)
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


def branch_with_outputs(model: bytes, branch: bytes, outputs: Sequence[str]) -> bytes:
    """The model whose graph is ``branch`` of ``model``'s ``If``, giving out ``outputs``. Raises ``ValueError``."""
    graph = next((value for number, value, _ in read_fields(model) if number == _MODEL_GRAPH), None)
    if graph is None:
        raise ValueError("no graph")
    parts = list(read_fields(graph))
    choice = next((value for number, value, _ in parts if number == _NODE and _operator(value) == b"If"), None)
    if choice is None:
        raise ValueError("no If in the graph")
    taken = list(read_fields(_subgraph(choice, branch)))
    kept = [raw for number, value, raw in parts if number == _NODE and _operator(value) != b"If"]
    kept += [raw for number, _, raw in parts if number in (2, _INITIALIZER)]
    kept += [raw for number, value, raw in parts if number == _INPUT and b"use_cache_branch" not in value]
    kept += [raw for number, _, raw in taken if number in (_NODE, _INITIALIZER)]
    kept += [write_field(_OUTPUT, write_field(1, name.encode())) for name in outputs]
    rest = b"".join(raw for number, _, raw in read_fields(model) if number != _MODEL_GRAPH)
    return rest + write_field(_MODEL_GRAPH, b"".join(kept))


def _operator(node: bytes) -> bytes:
    return next((value for number, value, _ in read_fields(node) if number == _NODE_OPERATOR), b"")


def _subgraph(node: bytes, branch: bytes) -> bytes:
    for number, value, _ in read_fields(node):
        if number == _NODE_ATTRIBUTE:
            attribute = {number: value for number, value, _ in read_fields(value)}
            if attribute.get(_ATTRIBUTE_NAME) == branch:
                return attribute[_ATTRIBUTE_GRAPH]
    raise ValueError(f"no {branch.decode()} in the If")


def _as_onnx(path: Path) -> bytes:
    """The graph in ONNX format; ONNX Runtime writes to files only: into memory where the system has such files."""
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create("decoder")
        try:
            _write_onnx(path, f"/proc/self/fd/{handle}")
            with os.fdopen(os.dup(handle), "rb") as file:
                file.seek(0)
                return file.read()
        finally:
            os.close(handle)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "decoder.onnx"
        _write_onnx(path, str(target))
        return target.read_bytes()


def _write_onnx(path: Path, target: str) -> None:
    options = _options()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # it is optimised already
    options.optimized_model_filepath = target
    options.add_session_config_entry("session.save_model_format", "ONNX")
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # the scheduler owns the cores
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return options
