"""What the blocks do to every number besides matrix products, fused into loops of C for training on CPUs.

Compiled once with the machine's ``cc``; where there is none, and on GPUs, :mod:`train.voice.blocks` uses plain PyTorch.
"""

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

_SOURCE = """
#include <math.h>
#include <string.h>
typedef const float *restrict in;
typedef float *restrict out;

void recur(in a, in b, in h0, out h, long rows, long steps, long width) {
  for (long r = 0; r < rows; r++)
    for (long t = 0; t < steps; t++) {
      long at = (r * steps + t) * width;
      const float *before = t ? h + at - width : h0 + r * width;
      for (long k = 0; k < width; k++) h[at + k] = a[at + k] * before[k] + b[at + k];
    }
}
void recur_back(in a, in h, in h0, in g, out da, out db, out dh0, long rows, long steps, long width) {
  for (long r = 0; r < rows; r++) {
    float *carry = dh0 + r * width;
    for (long t = steps - 1; t >= 0; t--) {
      long at = (r * steps + t) * width;
      const float *before = t ? h + at - width : h0 + r * width;
      for (long k = 0; k < width; k++) {
        float whole = g[at + k] + carry[k];
        db[at + k] = whole; da[at + k] = whole * before[k]; carry[k] = whole * a[at + k];
      }
    }
  }
}
void norm(in x, in w, out y, out inverse, long count, long width) {
  for (long n = 0; n < count; n++) {
    in from = x + n * width; out to = y + n * width;
    float sum = 0;
    for (long k = 0; k < width; k++) sum += from[k] * from[k];
    float inv = 1 / sqrtf(sum / width + 1e-6f);
    inverse[n] = inv;
    for (long k = 0; k < width; k++) to[k] = from[k] * inv * w[k];
  }
}
void norm_back(in x, in w, in inverse, in g, out dx, out dw, long count, long width) {
  for (long n = 0; n < count; n++) {
    in from = x + n * width; in grad = g + n * width; out to = dx + n * width;
    float inv = inverse[n], dot = 0;
    for (long k = 0; k < width; k++) dot += grad[k] * w[k] * from[k];
    float pull = dot * inv * inv * inv / width;
    for (long k = 0; k < width; k++) {
      dw[k] += grad[k] * from[k] * inv;
      to[k] = grad[k] * w[k] * inv - from[k] * pull;
    }
  }
}
void taps(in line, in w, out y, long rows, long steps, long width) {
  for (long r = 0; r < rows; r++)
    for (long t = 0; t < steps; t++) {
      in l = line + (r * (steps + 3) + t) * width; out to = y + (r * steps + t) * width;
      for (long k = 0; k < width; k++)
        to[k] = l[k] * w[k] + l[width + k] * w[width + k] + l[2 * width + k] * w[2 * width + k]
              + l[3 * width + k] * w[3 * width + k];
    }
}
void taps_back(in line, in w, in g, float *dline, out dw, long rows, long steps, long width) {
  for (long r = 0; r < rows; r++)
    for (long t = 0; t < steps; t++) {
      in grad = g + (r * steps + t) * width;
      for (long tap = 0; tap < 4; tap++) {
        in l = line + (r * (steps + 3) + t + tap) * width; out d = dline + (r * (steps + 3) + t + tap) * width;
        in wt = w + tap * width; out dwt = dw + tap * width;
        for (long k = 0; k < width; k++) { d[k] += grad[k] * wt[k]; dwt[k] += grad[k] * l[k]; }
      }
    }
}
static inline float sigmoid(float x) { return 1 / (1 + expf(-x)); }
void gate(in z, in u, in g, in c, in h0, out h, out y, long gwidth, long rows, long steps, long width) {
  for (long r = 0; r < rows; r++)
    for (long t = 0; t < steps; t++) {
      long place = r * steps + t, at = place * width;
      const float *before = t ? h + at - width : h0 + r * width;
      in zr = z + place * 2 * width; in zi = zr + width; in ut = u + at; in gt = g + place * gwidth;
      float *ht = h + at; out yt = y + at;
      for (long k = 0; k < width; k++) {
        float a = expf(c[k] * sigmoid(zr[k]));
        float now = a * before[k] + sqrtf(1 - a * a + 1e-6f) * sigmoid(zi[k]) * ut[k];
        ht[k] = now; yt[k] = now * gt[k] * sigmoid(gt[k]);
      }
    }
}
void gate_back(in z, in u, in g, in c, in h0, in h, in dy, out dz, out du, out dg, out dc, float *carry,
               long gwidth, long rows, long steps, long width) {
  for (long r = 0; r < rows; r++) {
    out cr = carry + r * width;
    for (long t = steps - 1; t >= 0; t--) {
      long place = r * steps + t, at = place * width;
      const float *before = t ? h + at - width : h0 + r * width;
      in zr = z + place * 2 * width; in zi = zr + width; in ut = u + at; in gt = g + place * gwidth; in ht = h + at;
      in dyt = dy + at; out dzr = dz + place * 2 * width; out dzi = dzr + width; out dut = du + at; out dgt = dg + at;
      for (long k = 0; k < width; k++) {
        float s = sigmoid(gt[k]), r1 = sigmoid(zr[k]), i = sigmoid(zi[k]);
        float a = expf(c[k] * r1), root = sqrtf(1 - a * a + 1e-6f);
        float dh = dyt[k] * gt[k] * s + cr[k];
        dgt[k] = dyt[k] * ht[k] * s * (1 + gt[k] * (1 - s));
        float da = dh * (before[k] - i * ut[k] * a / root);
        dzr[k] = da * a * c[k] * r1 * (1 - r1);
        dc[k] += da * a * r1;
        dzi[k] = dh * root * ut[k] * i * (1 - i);
        dut[k] = dh * root * i;
        cr[k] = dh * a;
      }
    }
  }
}
void glu(in z, out y, long count, long width) {
  for (long n = 0; n < count; n++) {
    in p = z + n * 2 * width; in q = p + width; out to = y + n * width;
    for (long k = 0; k < width; k++) to[k] = p[k] * sigmoid(p[k]) * q[k];
  }
}
void glu_back(in z, in g, out dz, long count, long width) {
  for (long n = 0; n < count; n++) {
    in p = z + n * 2 * width; in q = p + width; in grad = g + n * width;
    out dp = dz + n * 2 * width; out dq = dp + width;
    for (long k = 0; k < width; k++) {
      float s = sigmoid(p[k]);
      dp[k] = grad[k] * q[k] * s * (1 + p[k] * (1 - s)); dq[k] = grad[k] * p[k] * s;
    }
  }
}
"""
_FLAGS = ("-O3", "-march=native", "-ffast-math", "-shared", "-fPIC")


@cache
def library() -> ctypes.CDLL | None:
    """The compiled loops; None where they cannot be had."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    name = hashlib.sha256(_SOURCE.encode()).hexdigest()[:16]
    path = Path(tempfile.gettempdir()) / f"antiphon-kernels-{os.getuid()}-{name}.so"
    if not path.exists():
        source, built = path.with_suffix(f".{os.getpid()}.c"), path.with_suffix(f".{os.getpid()}.so")
        source.write_text(_SOURCE)
        try:
            subprocess.run([compiler, *_FLAGS, str(source), "-o", str(built), "-lm"], check=True, capture_output=True)
        except subprocess.CalledProcessError:
            return None
        finally:
            source.unlink()
        built.rename(path)
    return ctypes.CDLL(str(path))


def call(name: str, *arguments: Tensor | int) -> None:
    """One loop over contiguous float32 tensors; numbers are sizes."""
    function = getattr(library(), name)
    function(*(ctypes.c_long(x) if isinstance(x, int) else ctypes.c_void_p(x.data_ptr()) for x in arguments))


class Recur(torch.autograd.Function):
    """h[t] = a[t] h[t-1] + b[t]."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, h0: Tensor) -> Tensor:
        a, b, h0 = a.contiguous(), b.contiguous(), h0.contiguous()
        h = torch.empty_like(a)
        call("recur", a, b, h0, h, *a.shape)
        ctx.save_for_backward(a, h, h0)
        return h

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # type: ignore[override]
        a, h, h0 = ctx.saved_tensors
        da, db, dh0 = torch.empty_like(a), torch.empty_like(a), torch.zeros_like(h0)
        call("recur_back", a, h, h0, g.contiguous(), da, db, dh0, *a.shape)
        return da, db, dh0


class RootMeanSquare(torch.autograd.Function):
    """x / sqrt(mean(x^2) + 1e-6) * w over the last axis."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor) -> Tensor:
        x, w = x.contiguous(), w.contiguous()
        y, inverse = torch.empty_like(x), x.new_empty(x.shape[:-1])
        call("norm", x, w, y, inverse, inverse.numel(), x.shape[-1])
        ctx.save_for_backward(x, w, inverse)
        return y

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        x, w, inverse = ctx.saved_tensors
        dx, dw = torch.empty_like(x), torch.zeros_like(w)
        call("norm_back", x, w, inverse, g.contiguous(), dx, dw, inverse.numel(), x.shape[-1])
        return dx, dw


class Taps(torch.autograd.Function):
    """Causal depthwise convolution: ``line`` [rows, steps + 3, width], ``w`` [4, width] -> [rows, steps, width]."""

    @staticmethod
    def forward(ctx: Any, line: Tensor, w: Tensor) -> Tensor:
        line, w = line.contiguous(), w.contiguous()
        y = line.new_empty(line.shape[0], line.shape[1] - 3, line.shape[2])
        call("taps", line, w, y, *y.shape)
        ctx.save_for_backward(line, w)
        return y

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        line, w = ctx.saved_tensors
        dline, dw = torch.zeros_like(line), torch.zeros_like(w)
        call("taps_back", line, w, g.contiguous(), dline, dw, *g.shape)
        return dline, dw


class Gate(torch.autograd.Function):
    """Gates ``z`` [rows, steps, 2 width] (r, i before their sigmoids), input ``u``, output gate ``g`` before its silu
    [rows, steps, width], ``c`` [width] = -8 softplus(L), ``h0`` [rows, width] -> h silu(g), and the last h."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, u: Tensor, g: Tensor, c: Tensor, h0: Tensor) -> tuple[Tensor, Tensor]:
        z, u, c, h0, g = z.contiguous(), u.contiguous(), c.contiguous(), h0.contiguous(), g.contiguous()
        h, y = torch.empty_like(u), torch.empty_like(u)
        call("gate", z, u, g, c, h0, h, y, u.shape[2], *u.shape)
        ctx.save_for_backward(z, u, g, c, h0, h)
        return y, h[:, -1].clone()

    @staticmethod
    def backward(ctx: Any, dy: Tensor, dlast: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        z, u, g, c, h0, h = ctx.saved_tensors
        dz, du, dg, dc = torch.empty_like(z), torch.empty_like(u), torch.empty_like(u), torch.zeros_like(c)
        carry = dlast.contiguous().clone()
        call("gate_back", z, u, g, c, h0, h, dy.contiguous(), dz, du, dg, dc, carry, u.shape[2], *u.shape)
        return dz, du, dg, dc, carry


class Glu(torch.autograd.Function):
    """``z`` [..., 2 width] = p, q -> silu(p) q."""

    @staticmethod
    def forward(ctx: Any, z: Tensor) -> Tensor:
        z = z.contiguous()
        width = z.shape[-1] // 2
        y = z.new_empty(*z.shape[:-1], width)
        call("glu", z, y, y.numel() // width, width)
        ctx.save_for_backward(z)
        return y

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:  # type: ignore[override]
        (z,) = ctx.saved_tensors
        dz = torch.empty_like(z)
        call("glu_back", z, g.contiguous(), dz, g.numel() // g.shape[-1], g.shape[-1])
        return dz


def usable(x: Tensor) -> bool:
    """Whether the loops can take ``x``: float32 on a CPU, gradients wanted, not while exporting."""
    return x.device.type == "cpu" and x.dtype == torch.float32 and x.requires_grad and library() is not None
