"""The linear recurrence h[t] = a[t] h[t-1] + b[t], over time, differentiable.

A loop in C on CPUs (``kernels.py``), a scan of logarithmic depth in plain PyTorch on GPUs and where there is no
compiler, and one triangular product in exported graphs, where a loop is slow. They agree to rounding.
"""

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


def scan_product(log_a: Tensor, b: Tensor, h0: Tensor) -> Tensor:
    """The recurrence as h[t] = sum over s <= t of exp(sum of ln a, s < i <= t) b[s]: a dozen operations for any number
    of steps, and memory of its square. No exponent is positive, so nothing overflows."""
    steps = b.shape[1]
    total = torch.cumsum(log_a, 1)
    reach = torch.exp(torch.clamp(total[:, :, None] - total[:, None], max=0.0))
    past = torch.ones(steps, steps).tril()[None, :, :, None]
    return (reach * past * b[:, None]).sum(2) + torch.exp(total) * h0[:, None]


def scan(a: Tensor, b: Tensor, h0: Tensor) -> Tensor:
    """``a``, ``b`` [rows, steps, width] and ``h0`` [rows, width], float32 -> h [rows, steps, width]."""
    if a.device.type == "cpu" and library() is not None:
        return Recur.apply(a, b, h0)  # type: ignore[no-any-return, no-untyped-call]
    return scan_log(a, b, h0)
