"""Kokoro's int8 graph taken apart with the onnx package: float32 twin, cuts, statistics out, statistics in."""

import copy
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

DEC = "/decoder/decoder/"
GEN = DEC + "generator/"
ASR = "/encoder/MatMul_1_output_0"
F0 = "/encoder/Reshape_output_0"
ENERGY = "/encoder/Reshape_1_output_0"
DURATIONS = "/encoder/Clip_output_0"
LOW = DEC + "decode.3/Div_4_output_0"
SOURCE = GEN + "Concat_3_output_0"
AUDIO = "audio"
SHAPES: dict[str, list[int | str]] = {
    ASR: [1, 512, "units"],
    F0: [1, "frames"],
    ENERGY: [1, "frames"],
    LOW: [1, 512, "window"],
    SOURCE: [1, 22, "source"],
}


def load(path: Path) -> onnx.ModelProto:
    return onnx.load(str(path))


def float_decoder(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same weights, with every integer convolution of the decoder as a float one (no rounding of activations)."""
    model = copy.deepcopy(model)
    graph = model.graph
    weights = {t.name: t for t in graph.initializer}
    users: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node)
    quantised = {n.output[0]: n.input[0] for n in graph.node if n.op_type == "DynamicQuantizeLinear"}
    replaced: dict[str, onnx.NodeProto] = {}
    added = []
    for node in graph.node:
        if node.op_type != "ConvInteger" or not node.name.startswith("/decoder"):
            continue
        q, zero = (numpy_helper.to_array(weights[node.input[i]]).astype(np.int32) for i in (1, 3))
        zero = zero.reshape(-1, 1, 1) if zero.ndim else zero
        scale = _scale(node.input[1], weights)
        scale = scale.reshape(-1, 1, 1) if scale.ndim else scale
        inputs = [quantised[node.input[0]], node.name + "/float_weight"]
        added.append(numpy_helper.from_array(((q - zero) * scale).astype(np.float32), inputs[1]))
        last = users[node.output[0]][0]
        if last.op_type == "Add":
            base = next(i for i in last.input if i != node.output[0])
            inputs.append(_bias(base, graph))
            last = users[last.output[0]][0]
        assert last.op_type == "Cast", last.op_type
        last = users[last.output[0]][0]
        assert last.op_type == "Mul", last.op_type
        conv = helper.make_node("Conv", inputs, [last.output[0]], node.name + "/float")
        conv.attribute.extend(a for a in node.attribute)
        replaced[last.name] = conv
    nodes = [replaced.get(n.name, n) for n in graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    graph.initializer.extend(added)
    return model


def _scale(weight: str, weights: dict[str, onnx.TensorProto]) -> NDArray[np.float32]:
    return np.asarray(numpy_helper.to_array(weights[weight.removesuffix("_quantized") + "_scale"]))


def _bias(name: str, graph: onnx.GraphProto) -> str:
    """Name of the float bias behind ``Reshape(Cast(Floor(Div(bias, scale) + .5)))``."""
    makers = {o: n for n in graph.node for o in n.output}
    while makers[name].op_type != "Div":
        name = makers[name].input[0]
    return str(makers[name].input[0])


def norms(model: onnx.ModelProto, prefix: str = DEC) -> dict[str, dict[str, str]]:
    """Every AdaIN under ``prefix`` in graph order: its tensors x, mean, variance (with epsilon), gamma, beta, y."""
    makers = {o: n for n in model.graph.node for o in n.output}
    found: dict[str, dict[str, str]] = {}
    for node in model.graph.node:
        if node.op_type != "Add" or not node.name.startswith(prefix):
            continue
        name = node.name.rsplit("/", 1)[0]
        if not name.rsplit("/", 1)[-1].startswith(("adain", "norm")):
            continue
        product, beta = node.input
        if makers[product].op_type != "Mul" or not beta.startswith(name):
            continue
        gamma, normal = makers[product].input
        if makers[normal].op_type != "Div":
            continue
        centred, root = makers[normal].input
        x, mean = makers[centred].input
        found[name] = {
            "x": x,
            "mean": mean,
            "variance": makers[root].input[0],
            "gamma": gamma,
            "beta": beta,
            "y": node.output[0],
        }
    return found


def frozen(model: onnx.ModelProto, prefix: str = GEN) -> onnx.ModelProto:
    """AdaINs under ``prefix`` as ``BatchNormalization`` with inputs ``<name>:mean`` and ``:variance`` [channels],
    ``:gamma`` and ``:beta`` [channels]."""
    model = copy.deepcopy(model)
    makers = {o: i for i, n in enumerate(model.graph.node) for o in n.output}
    for name, t in norms(model, prefix).items():
        inputs = [t["x"], *(f"{name}:{part}" for part in ("gamma", "beta", "mean", "variance"))]
        node = helper.make_node("BatchNormalization", inputs, [t["y"]], name + "/frozen", epsilon=0.0)
        model.graph.node[makers[t["y"]]].CopyFrom(node)
    return model


def cut(model: onnx.ModelProto, inputs: Iterable[str], outputs: Iterable[str]) -> onnx.ModelProto:
    """The part that computes ``outputs`` from ``inputs`` (and the original inputs that are still needed)."""
    inputs, outputs = list(inputs), list(outputs)
    graph = model.graph
    makers = {o: i for i, n in enumerate(graph.node) for o in n.output}
    originals = {i.name: i for i in graph.input}
    weights = {t.name: t for t in graph.initializer}
    wanted, used, seen = list(outputs), set(), set()
    free: list[str] = []
    while wanted:
        name = wanted.pop()
        if name in seen or not name:
            continue
        seen.add(name)
        if name in inputs:
            continue
        if name in makers:
            if makers[name] not in used:
                used.add(makers[name])
                wanted.extend(graph.node[makers[name]].input)
        elif name not in weights and name not in originals:
            free.append(name)
    made = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, SHAPES.get(n)) for n in inputs
    ] + [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["channels"]) for n in sorted(free)]
    made += [v for n, v in originals.items() if n in seen and n not in inputs]
    result = helper.make_graph(
        [graph.node[i] for i in sorted(used)],
        "part",
        made,
        [helper.make_empty_tensor_value_info(n) for n in outputs],
        [w for n, w in weights.items() if n in seen],
    )
    out = helper.make_model(result, opset_imports=model.opset_import)
    out.ir_version = model.ir_version
    return out


def session(model: Path, profile: str | None = None) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    if profile:
        options.enable_profiling = True
        options.profile_file_prefix = profile
    return ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
