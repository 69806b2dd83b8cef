"""Cuts a part out of an ONNX graph. Whole-utterance voices are cut in two this way: text side and decoder.

Only the wire format of protocol buffers is needed for that (fields of ``onnx.proto``), not the onnx package.
"""

from collections.abc import Iterable

from antiphon.core.errors import ModelUnavailable
from antiphon.models.protobuf import read_fields, varint, write_field

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


def subgraph(
    model: bytes, inputs: dict[str, tuple[int | str, ...]], outputs: Iterable[str], whose: str = "the model"
) -> bytes:
    """The part of an ONNX model that computes ``outputs``, with the float tensors ``inputs`` fed from outside.

    Original inputs that are still needed are kept. ``whose``: the model, in errors. Raises ``ModelUnavailable`` if a
    tensor does not exist.
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
            raise ModelUnavailable(f"{whose}'s graph has no tensor {name!r}: is this another version?")
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
