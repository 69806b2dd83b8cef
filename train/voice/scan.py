"""The linear recurrence h[t] = a[t] h[t-1] + b[t], over time, differentiable.

A loop in C on CPUs (``kernels.py``), a scan of logarithmic depth in plain PyTorch on GPUs and where there is no
compiler, and a loop in exported graphs. They agree to rounding.
"""

from typing import Any

import onnx
import torch
from onnx import TensorProto, helper
from torch import Tensor

from train.voice.kernels import Recur, library

DOMAIN = "antiphon"


def scan_log(a: Tensor, b: Tensor, h0: Tensor) -> Tensor:
    """The recurrence in log2(T) passes (Hillis and Steele): any device. Shapes as :func:`scan`."""
    b = torch.cat((b[:, :1] + a[:, :1] * h0[:, None], b[:, 1:]), dim=1)
    reach = 1
    while reach < a.shape[1]:
        far_a, far_b = a[:, :-reach], b[:, :-reach]
        b = torch.cat((b[:, :reach], b[:, reach:] + a[:, reach:] * far_b), dim=1)
        a = torch.cat((a[:, :reach], a[:, reach:] * far_a), dim=1)
        reach *= 2
    return b


class ScanNode(torch.autograd.Function):
    """Stands for the recurrence while a graph is exported; :func:`with_loops` puts a loop over time there."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, h0: Tensor) -> Tensor:
        return scan_log(a, b, h0)

    @staticmethod
    def symbolic(graph: Any, a: Any, b: Any, h0: Any) -> Any:
        return graph.op(f"{DOMAIN}::Recurrence", a, b, h0).setType(b.type())


def with_loops(model: onnx.ModelProto) -> onnx.ModelProto:
    """``model`` with an ONNX ``Scan`` in every place that :class:`ScanNode` left: h[t] = a[t] h[t-1] + b[t] is
    computed and rounded step by step, so that any cut of time into calls gives the same numbers, to the last bit."""
    names = ("h", "a", "b", "h1", "out")
    sizes = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names}
    body = helper.make_graph(
        [
            helper.make_node("Mul", ["a", "h"], ["ah"]),
            helper.make_node("Add", ["ah", "b"], ["h1"]),
            helper.make_node("Identity", ["h1"], ["out"]),
        ],
        "recurrence",
        [sizes["h"], sizes["a"], sizes["b"]],
        [sizes["h1"], sizes["out"]],
    )
    for node in model.graph.node:
        if node.domain == DOMAIN:
            a, b, h0 = node.input
            loop = helper.make_node(
                "Scan",
                [h0, a, b],
                [f"{node.output[0]}_last", node.output[0]],
                num_scan_inputs=2,
                scan_input_axes=[1, 1],
                scan_output_axes=[1],
                body=body,
            )
            node.CopyFrom(loop)
    imports = [one for one in model.opset_import if one.domain != DOMAIN]
    del model.opset_import[:]
    model.opset_import.extend(imports)
    return model


def scan(a: Tensor, b: Tensor, h0: Tensor) -> Tensor:
    """``a``, ``b`` [rows, steps, width] and ``h0`` [rows, width], float32 -> h [rows, steps, width]."""
    if a.device.type == "cpu" and library() is not None:
        return Recur.apply(a, b, h0)  # type: ignore[no-any-return, no-untyped-call]
    return scan_log(a, b, h0)
