"""Cuts hibari's one ONNX graph in two, so that speech can be decoded in windows.

The graph is a text side with attention over the whole phrase (phonemes -> durations, F0 and frame features) and a
purely convolutional decoder (frame features -> spectrum) whose outputs see a third of a second to each side. Cut at
the features between them, the first half second of a long sentence costs a fraction of the sentence, and no call is
ever long.

Only the wire format of protocol buffers is needed for that (fields of ``onnx.proto``), not the onnx package.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from antiphon.core.errors import ModelUnavailable
from antiphon.models.protobuf import read_fields, varint, write_field

DURATIONS = "/Round_output_0"
FEATURES = "/Concat_43_output_0"
SPECTRA = "/head/Add_output_0"

FRAMES_PER_DURATION = 2
"""A duration counts 25 ms, a frame lasts 12.5 ms."""

BINS = 601
HALO_FRAMES = 15
"""Frames decoded on each side of a window and dropped. Nine convolutions of width 7 could see 27, but from 15 on a
window differs from the whole no more than two whole readings do (0.045 nepers: the rounding of its int8 scales)."""

_FLOAT = 1
_GRAPH, _NODE, _INITIALIZER, _INPUT, _OUTPUT, _VALUE_INFO = 7, 1, 5, 11, 12, 13
_NODE_INPUT, _NODE_OUTPUT, _TENSOR_NAME = 1, 2, 8


def _value_info(name: str, dims: tuple[int | str, ...] | None) -> bytes:
    """ValueInfoProto of a float tensor; ``dims`` None leaves the shape to inference."""
    tensor = bytes([1 << 3, _FLOAT])
    if dims is not None:
        shape = b""
        for dim in dims:
            shape += write_field(1, write_field(2, dim.encode()) if isinstance(dim, str) else _dim_value(dim))
        tensor += write_field(2, shape)
    return write_field(1, name.encode()) + write_field(2, write_field(1, tensor))


def _dim_value(value: int) -> bytes:
    return bytes([1 << 3]) + varint(value)


def subgraph(model: bytes, inputs: dict[str, tuple[int | str, ...]], outputs: Iterable[str]) -> bytes:
    """The part of an ONNX model that computes ``outputs``, with the float tensors ``inputs`` fed from outside.

    Original inputs that are still needed are kept. Raises ``ModelUnavailable`` if a tensor does not exist.
    """
    head = bytearray()
    graph = memoryview(b"")
    for number, payload, whole in read_fields(memoryview(model)):
        if number == _GRAPH:
            graph = payload
        else:
            head += whole
    producers: dict[str, int] = {}
    nodes: list[tuple[list[str], memoryview]] = []
    kept_inputs: dict[str, memoryview] = {}
    weights: dict[str, memoryview] = {}
    rest = bytearray()
    for number, payload, whole in read_fields(graph):
        if number == _NODE:
            takes = []
            for field, value, _ in read_fields(payload):
                if field == _NODE_INPUT:
                    takes.append(bytes(value).decode())
                elif field == _NODE_OUTPUT:
                    producers[bytes(value).decode()] = len(nodes)
            nodes.append((takes, whole))
        elif number == _INITIALIZER:
            weights[_name(payload, _TENSOR_NAME)] = whole
        elif number == _INPUT:
            kept_inputs[_name(payload, 1)] = whole
        elif number not in (_OUTPUT, _VALUE_INFO):
            rest += whole
    outputs = tuple(outputs)
    wanted, used, seen = list(outputs), set[int](), set[str]()
    while wanted:
        name = wanted.pop()
        if name in seen or not name:
            continue
        seen.add(name)
        if name in inputs:
            continue
        if name in producers:
            if producers[name] not in used:
                used.add(producers[name])
                wanted.extend(nodes[producers[name]][0])
        elif name not in weights and name not in kept_inputs:
            raise ModelUnavailable(f"hibari's graph has no tensor {name!r}: is this another version?")
    body = bytearray(rest)
    for index in sorted(used):
        body += nodes[index][1]
    for source in (weights, kept_inputs):
        for name, whole in source.items():
            if name in seen and name not in inputs:
                body += whole
    for name, dims in inputs.items():
        body += write_field(_INPUT, _value_info(name, dims))
    for name in outputs:
        body += write_field(_OUTPUT, _value_info(name, None))
    return bytes(head) + write_field(_GRAPH, bytes(body))


def _name(message: memoryview, number: int) -> str:
    return next((bytes(value).decode() for field, value, _ in read_fields(message) if field == number), "")


@dataclass(frozen=True, slots=True)
class Plan:
    """What the text side says of one phrase. ``durations`` [tokens] in frames (12.5 ms), ``features`` [1, 130, frames],
    ``f0`` [frames] in Hz (below 40: unvoiced). ``picks`` [frames], where it is given, are the frames of the features
    that are spoken: some are left out in fast speech."""

    durations: NDArray[np.int64]
    features: NDArray[np.float32]
    f0: NDArray[np.float32]
    picks: NDArray[np.int64] | None = None

    @property
    def frames(self) -> int:
        return len(self.f0)


class HibariGraph:
    """The two halves of the graph as ONNX Runtime sessions (one thread each; ``run`` is thread-safe)."""

    def __init__(self, path: Path) -> None:
        try:
            model = path.read_bytes()
        except OSError as error:
            raise ModelUnavailable(f"hibari's graph cannot be read: {error}") from error
        try:
            text = subgraph(model, {}, (DURATIONS, FEATURES, "f0"))
            decoder = subgraph(model, {FEATURES: (1, 130, "frames")}, (SPECTRA,))
        except (ValueError, IndexError) as error:
            raise ModelUnavailable(f"hibari's graph is damaged: {error}") from error
        self._text = _session(text)
        self._decoder = _session(decoder)

    def plan(self, ids: list[int], speed: float) -> Plan:
        """Durations, features and F0 for token ids (with the 0 at both ends)."""
        feeds = {"ids": np.asarray([ids], np.int64), "speed": np.asarray([speed], np.float32)}
        durations, features, f0 = self._text.run((DURATIONS, FEATURES, "f0"), feeds)
        # The graph gives every token at least one unit, whatever its rounded prediction.
        counts = np.maximum(durations.reshape(-1), 1.0).astype(np.int64) * FRAMES_PER_DURATION
        return Plan(counts, features, f0[0])

    def decode(self, plan: Plan, start: int, stop: int) -> NDArray[np.float32]:
        """Spectral parameters ``[stop - start, 5 * 601]`` of frames [start, stop): log magnitude and phase of the
        harmonic branch, log magnitude of the noise, log magnitude and phase of the free branch."""
        if plan.picks is not None:
            picks = plan.picks[start:stop]
            every = replace(plan, picks=None)
            decoded = self.decode(every, int(picks[0]), int(picks[-1]) + 1)
            picked: NDArray[np.float32] = decoded[picks - picks[0]]
            return picked
        frames = plan.features.shape[2]
        left, right = max(0, start - HALO_FRAMES), min(frames, stop + HALO_FRAMES)
        window = np.ascontiguousarray(plan.features[:, :, left:right])
        (out,) = self._decoder.run((SPECTRA,), {FEATURES: window})
        spectra: NDArray[np.float32] = out[0, start - left : stop - left]
        return spectra


def _session(model: bytes) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Plans of memory are kept per shape, and no two phrases have the same one: no faster, and never freed.
    options.enable_mem_pattern = False
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
