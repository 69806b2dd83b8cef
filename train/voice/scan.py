"""The linear recurrence h[t] = a[t] h[t-1] + b[t], over time, differentiable.

A loop in C on CPUs (``kernels.py``), a scan of logarithmic depth in plain PyTorch on GPUs and where there is no
compiler, and a placeholder while a graph is exported. They agree to rounding.
"""

from typing import Any

import torch
from torch import Tensor

from train.voice.kernels import Recur, library


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


class _ExportedScan(torch.autograd.Function):
    """Stands for the recurrence in an exported graph, until ``export.py`` puts ONNX's own loop in its place."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, h0: Tensor) -> Tensor:
        return scan_log(a, b, h0)

    @staticmethod
    def symbolic(g: Any, a: Any, b: Any, h0: Any) -> Any:
        out = g.op("antiphon::Recurrence", a, b, h0)
        out.setType(a.type())
        return out


def scan(a: Tensor, b: Tensor, h0: Tensor) -> Tensor:
    """``a``, ``b`` [rows, steps, width] and ``h0`` [rows, width], float32 -> h [rows, steps, width]."""
    if torch.onnx.is_in_onnx_export():
        return _ExportedScan.apply(a, b, h0)  # type: ignore[no-any-return, no-untyped-call]
    if a.device.type == "cpu" and library() is not None:
        return Recur.apply(a, b, h0)  # type: ignore[no-any-return, no-untyped-call]
    return scan_log(a, b, h0)
