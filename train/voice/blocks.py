"""The block of which everything here is made: a gated linear recurrence (RG-LRU, a diagonal selective state-space
model) and a gated feed-forward layer, causal, with an explicit state of fixed size.

With ``x`` of width d::

    u, g = W_in norm(x)                 u = causal depthwise convolution of u, kernel 4
    r, i = sigmoid(W_g u)               a = exp(-8 softplus(L) r)
    h[t] = a h[t-1] + sqrt(1 - a^2 + 1e-6) i u
    x    = x + W_out (h silu(g))        x = x + W_2 (silu(p) q),  p, q = W_1 norm(x)

The recurrence is that of De et al., "Griffin" (2024), section 2.4; the decay depends on the input, as in Mamba.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from train.voice import kernels
from train.voice.scan import ScanNode, scan

TAPS = 4
"""Of the depthwise convolution: the state holds the last three inputs."""


class Norm(nn.Module):
    """RMS normalisation with a gain; written out so that ONNX Runtime recognises and fuses it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """[..., width] -> the same."""
        if kernels.usable(x):
            return kernels.RootMeanSquare.apply(x, self.weight)  # type: ignore[no-any-return, no-untyped-call]
        return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class Block(nn.Module):
    """``forward`` for a run of steps, by scan; ``step`` for one, the slow reference. The state is [rows, 4 * width]."""

    def __init__(self, width: int, inner: int, slowest: float = 300.0) -> None:
        """``slowest``: longest time constant at the start, in steps (the shortest is 2)."""
        super().__init__()
        self.width = width
        self.norm = Norm(width)
        self.enter = nn.Linear(width, 2 * width)
        self.taps = nn.Parameter(torch.tensor([0.0] * (TAPS - 1) + [1.0])[:, None] + 0.1 * torch.randn(TAPS, width))
        self.gates = nn.Linear(width, 2 * width)
        constants = torch.exp(torch.linspace(math.log(2.0), math.log(slowest), width))
        # a = exp(-8 softplus(L) / 2) = exp(-1 / constant) at r = 1/2
        self.decay = nn.Parameter(torch.log(torch.expm1(1 / (4 * constants))))
        self.leave = nn.Linear(width, width, bias=False)
        self.norm_inner = Norm(width)
        self.widen = nn.Linear(width, 2 * inner)
        self.narrow = nn.Linear(inner, width, bias=False)
        nn.init.normal_(self.leave.weight, std=0.02)
        nn.init.normal_(self.narrow.weight, std=0.02)

    @property
    def state_size(self) -> int:
        """Floats of state per row: three past inputs of the convolution, then h."""
        return TAPS * self.width

    def forward(self, x: Tensor, state: Tensor, keep: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """``x`` [rows, steps, width]; where ``keep`` [rows, steps, 1] is 0 the memory h stays as it was."""
        width = self.width
        u, g = self.enter(self.norm(x)).split(width, -1)
        if keep is not None:
            u = u * keep
        past, h = state.split(((TAPS - 1) * width, width), -1)
        line = torch.cat((past.reshape(-1, TAPS - 1, width).to(u.dtype), u), dim=1)
        rest = line[:, 1 - TAPS :].reshape(-1, (TAPS - 1) * width).float()
        if keep is None and kernels.usable(u):
            u = kernels.Taps.apply(line, self.taps)  # type: ignore[no-untyped-call]
            y, h = kernels.Gate.apply(self.gates(u), u, g, -8 * F.softplus(self.decay), h)  # type: ignore[no-untyped-call]
            x = x + self.leave(y)
            out: Tensor = x + self.narrow(kernels.Glu.apply(self.widen(self.norm_inner(x))))  # type: ignore[no-untyped-call]
            return out, torch.cat((rest, h), dim=1)
        u = u * self.taps[TAPS - 1]
        for k in range(TAPS - 1):
            u = u + line[:, k : k + 1 - TAPS] * self.taps[k]
        r, i = torch.sigmoid(self.gates(u)).float().split(width, -1)
        log_a = r * (-8 * F.softplus(self.decay))
        a = torch.exp(log_a)
        b = torch.sqrt(1 - a * a + 1e-6) * i * u.float()
        if torch.onnx.is_in_onnx_export():
            # Where nothing is, a is 1 and b is 0: times 0 and plus 1 are exact.
            hs = ScanNode.apply(*((a, b) if keep is None else (1 + (a - 1) * keep, b * keep)), h)
        elif keep is not None:
            hs = scan(1 + (a - 1) * keep, b * keep, h)
        else:
            hs = scan(a, b, h)
        return self._finish(x, hs, g), torch.cat((rest, hs[:, -1]), dim=1)

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """``x`` [rows, width]: the equations of one step, written out."""
        width = self.width
        u, g = self.enter(self.norm(x)).split(width, -1)
        past, h = state.split(((TAPS - 1) * width, width), -1)
        line = torch.cat((past, u), dim=-1)
        u = (line.reshape(-1, TAPS, width) * self.taps).sum(1)
        r, i = torch.sigmoid(self.gates(u)).split(width, -1)
        a = torch.exp(-8 * F.softplus(self.decay) * r)
        h = a * h + torch.sqrt(1 - a * a + 1e-6) * i * u
        return self._finish(x, h, g), torch.cat((line[:, width:], h), dim=-1)

    def _finish(self, x: Tensor, h: Tensor, g: Tensor) -> Tensor:
        x = x + self.leave(h * F.silu(g))
        p, q = self.widen(self.norm_inner(x)).chunk(2, -1)
        out: Tensor = x + self.narrow(F.silu(p) * q)
        return out


class Stack(nn.Module):
    """Blocks in a row; the state is theirs side by side: [rows, blocks * 4 * width]."""

    def __init__(self, blocks: int, width: int, inner: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(width, inner) for _ in range(blocks))
        self.each = TAPS * width

    @property
    def state_size(self) -> int:
        return len(self.blocks) * self.each

    def start(self, rows: int) -> Tensor:
        """The state before anything."""
        return torch.zeros(rows, self.state_size, device=next(self.parameters()).device)

    def forward(self, x: Tensor, state: Tensor, keep: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """``x`` [rows, steps, width] -> the same, state; ``keep`` as in :meth:`Block.forward`."""
        after = []
        for block, own in zip(self.blocks, state.split(self.each, -1), strict=True):
            x, own = block(x, own, keep)
            after.append(own)
        return x, torch.cat(after, -1)

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """``x`` [rows, width] -> the same, state."""
        after = []
        for block, own in zip(self.blocks, state.split(self.each, -1), strict=True):
            x, own = block.step(x, own)
            after.append(own)
        return x, torch.cat(after, -1)
