"""The linear recurrence h[t] = a[t] h[t-1] + b[t], over time, differentiable.

Two implementations of one function: twenty lines of C (compiled once with the machine's ``cc``, for CPUs), and a scan
of logarithmic depth in plain PyTorch (for GPUs, and where there is no compiler). They agree to rounding.
"""

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

_SOURCE = """
void forward(const float *a, const float *b, const float *h0, float *h, long rows, long steps, long width) {
  for (long r = 0; r < rows; r++) {
    const float *before = h0 + r * width;
    for (long t = 0; t < steps; t++) {
      long at = (r * steps + t) * width;
      for (long k = 0; k < width; k++) h[at + k] = a[at + k] * before[k] + b[at + k];
      before = h + at;
    }
  }
}
void backward(const float *a, const float *h, const float *h0, const float *g, float *da, float *db, float *dh0,
              long rows, long steps, long width) {
  for (long r = 0; r < rows; r++) {
    float *carry = dh0 + r * width;
    for (long t = steps - 1; t >= 0; t--) {
      long at = (r * steps + t) * width;
      const float *before = t ? h + at - width : h0 + r * width;
      for (long k = 0; k < width; k++) {
        float whole = g[at + k] + carry[k];
        db[at + k] = whole;
        da[at + k] = whole * before[k];
        carry[k] = whole * a[at + k];
      }
    }
  }
}
"""


@cache
def _library() -> ctypes.CDLL | None:
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    name = hashlib.sha256(_SOURCE.encode()).hexdigest()[:16]
    path = Path(tempfile.gettempdir()) / f"antiphon-scan-{os.getuid()}-{name}.so"
    if not path.exists():
        source = path.with_suffix(f".{os.getpid()}.c")
        built = path.with_suffix(f".{os.getpid()}.so")
        source.write_text(_SOURCE)
        command = [compiler, "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", str(source), "-o", str(built)]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except subprocess.CalledProcessError:
            return None
        finally:
            source.unlink()
        built.rename(path)
    return ctypes.CDLL(str(path))


def _at(tensor: Tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(tensor.data_ptr())


class _CompiledScan(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a: Tensor, b: Tensor, h0: Tensor) -> Tensor:  # type: ignore[no-untyped-def, override]
        a, b, h0 = a.contiguous(), b.contiguous(), h0.contiguous()
        h = torch.empty_like(a)
        _library().forward(_at(a), _at(b), _at(h0), _at(h), *map(ctypes.c_long, a.shape))  # type: ignore[union-attr]
        ctx.save_for_backward(a, h, h0)
        return h

    @staticmethod
    def backward(ctx, g: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # type: ignore[no-untyped-def, override]
        a, h, h0 = ctx.saved_tensors
        g = g.contiguous()
        da, db, dh0 = torch.empty_like(a), torch.empty_like(a), torch.zeros_like(h0)
        sizes = map(ctypes.c_long, a.shape)
        _library().backward(_at(a), _at(h), _at(h0), _at(g), _at(da), _at(db), _at(dh0), *sizes)  # type: ignore[union-attr]
        return da, db, dh0


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
    def forward(ctx, a: Tensor, b: Tensor, h0: Tensor) -> Tensor:  # type: ignore[no-untyped-def, override]
        return scan_log(a, b, h0)

    @staticmethod
    def symbolic(g, a, b, h0):  # type: ignore[no-untyped-def]
        out = g.op("antiphon::Recurrence", a, b, h0)
        out.setType(a.type())
        return out


def scan(a: Tensor, b: Tensor, h0: Tensor) -> Tensor:
    """``a``, ``b`` [rows, steps, width] and ``h0`` [rows, width], float32 -> h [rows, steps, width]."""
    if torch.onnx.is_in_onnx_export():
        return _ExportedScan.apply(a, b, h0)  # type: ignore[no-any-return, no-untyped-call]
    if a.device.type == "cpu" and _library() is not None:
        return _CompiledScan.apply(a, b, h0)  # type: ignore[no-any-return, no-untyped-call]
    return scan_log(a, b, h0)
