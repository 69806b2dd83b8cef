"""The acoustic model: symbols in, two frames of spectrum and pitch per step out, nothing of it older than its state.

A symbol is known by itself, the four after it and all before it (four convolutions of kernel 3, then one block).
From its encoding come its duration and the frames; five blocks at 40 steps a second turn frames of encodings into
spectra. A sentence ends with a pad, behind which the convolutions see nothing; the states of all blocks go on.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from train.voice.blocks import Norm, Stack

MELS = 80
FRAMES_PER_STEP = 2
POSITION = 5
CONDITIONS = ("speed", "pitch", "range", "energy", "tone", "spread")
"""``speed``: 4 ln(rate); ``pitch``: shift in semitones / 3; ``range``: 3 ln(factor on F0's spread); ``energy``: 5 times
the effort in the teacher's units; ``tone``, ``spread``: how this sentence's measured mean and spread of F0 differ from
what these ask for, in standard deviations over sentences. All are 0 for the voice as it is. The F0 that comes out is
that of the voice as it is, whatever ``pitch`` and ``range`` say: they are for the spectrum, and whoever uses the F0
applies them to it exactly."""

MEL_MEAN, MEL_SCALE = -6.6, 1.8
LN_F0_MEAN, LN_F0_SCALE = 5.24, 0.2


@dataclass(frozen=True, slots=True)
class AcousticConfig:
    """Sizes of the model; what a checkpoint needs to be read."""

    symbols: int = 178
    width: int = 160
    inner: int = 320
    convolutions: int = 4
    blocks: int = 5
    dropout: float = 0.1

    @property
    def lookahead(self) -> int:
        """Symbols after one that must be known."""
        return self.convolutions

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Batch:
    """``ids`` [rows, places] with ``valid`` [rows, places] 0 where nothing is (between sentences and at the end),
    ``take`` [rows, tokens] where the tokens' encodings come out; ``durations`` [rows, tokens], 0 beyond the end;
    ``token`` [rows, frames] the token of each frame, ``position`` [rows, frames, 5]; ``conditions`` [rows, tokens, 6]
    and ``frame_conditions`` [rows, frames / 2, 6]; targets ``mel`` [rows, frames, 80], ``f0`` and ``voiced``
    [rows, frames] of the *next* frame; ``mask`` [rows, frames]."""

    ids: Tensor
    valid: Tensor
    take: Tensor
    durations: Tensor
    token: Tensor
    position: Tensor
    conditions: Tensor
    frame_conditions: Tensor
    mel: Tensor
    f0: Tensor
    voiced: Tensor
    mask: Tensor

    def to(self, device: torch.device | str) -> "Batch":
        return Batch(*(getattr(self, name).to(device) for name in Batch.__dataclass_fields__))


class Encoder(nn.Module):
    """Symbols to encodings, in runs of any length; every encoding comes out four places late."""

    def __init__(self, config: AcousticConfig) -> None:
        super().__init__()
        width = config.width
        self.width, self.layers = width, config.convolutions
        self.embed = nn.Embedding(config.symbols, width)
        self.norms = nn.ModuleList(Norm(width) for _ in range(config.convolutions))
        self.mixes = nn.ModuleList(nn.Linear(3 * width, width) for _ in range(config.convolutions))
        self.past = Stack(1, width, config.inner)
        self.durations = nn.Sequential(nn.Linear(width + len(CONDITIONS), 96), nn.SiLU(), nn.Linear(96, 1))
        nn.init.normal_(self.embed.weight, std=0.5)

    def forward(self, ids: Tensor, valid: Tensor, state: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """``ids`` [rows, n] int64; ``valid`` [rows, n] is 0 for places where nothing is: four or more of them follow a
        sentence, or the end.

        Returns encodings [rows, n, width] of the places ``lookahead`` before these, whether these hold symbols
        [rows, n], and the state. Any cut into runs gives the same.
        """
        width = self.width
        *layers, past = state.split([2 * width + 2] * self.layers + [self.past.state_size], -1)
        x, here = self.embed(ids) * valid[..., None], valid[..., None]
        after = []
        for layer, norm, mix in zip(layers, self.norms, self.mixes, strict=True):
            before, were = layer.split((2 * width, 2), -1)
            line = torch.cat((before.reshape(-1, 2, width), x), 1)
            are = torch.cat((were[..., None], here), 1)
            after.append(torch.cat((line[:, -2:].reshape(-1, 2 * width), are[:, -2:, 0]), -1))
            near = norm(line) * are
            mixed = F.silu(mix(torch.cat((near[:, :-2], near[:, 1:-1], near[:, 2:]), -1)))
            here = are[:, 1:-1]
            x = (line[:, 1:-1] + mixed) * here
        x, past = self.past(x, past, here)
        return x, here[..., 0], torch.cat((*after, past), -1)

    @property
    def state_size(self) -> int:
        """Per layer two inputs and whether they are symbols at all; then the block's state."""
        return self.layers * (2 * self.width + 2) + self.past.state_size

    def start(self, rows: int) -> Tensor:
        """The state before the first symbol."""
        return torch.zeros(rows, self.state_size, device=self.embed.weight.device)

    def log_durations(self, encodings: Tensor, conditions: Tensor) -> Tensor:
        """``encodings`` [..., width], ``conditions`` [..., 6] -> ln(1 + frames) [...]."""
        out: Tensor = self.durations(torch.cat((encodings, conditions), -1))[..., 0]
        return out


class Decoder(nn.Module):
    """Frames of encodings to spectra, two frames a step."""

    def __init__(self, config: AcousticConfig) -> None:
        super().__init__()
        width = config.width
        self.width = width
        self.place = nn.Linear(POSITION, width)
        self.pair = nn.Linear(FRAMES_PER_STEP * width, width)
        self.condition = nn.Linear(len(CONDITIONS), width)
        self.stack = Stack(config.blocks, width, config.inner)
        self.norm = Norm(width)
        self.out = nn.Linear(width, FRAMES_PER_STEP * (MELS + 2))

    def forward(self, frames: Tensor, position: Tensor, conditions: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """``frames`` [rows, steps * 2, width], ``position`` [rows, steps * 2, 5], ``conditions`` [rows, steps, 6] ->
        [rows, steps * 2, 82] (normalised mel, F0 of the next frame, its voicing as a logit), state."""
        x = (frames + self.place(position)).reshape(frames.shape[0], -1, FRAMES_PER_STEP * self.width)
        x, state = self.stack(self.pair(x) + self.condition(conditions), state)
        return self.out(self.norm(x)).reshape(frames.shape[0], -1, MELS + 2), state

    def step(self, frames: Tensor, position: Tensor, conditions: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """One step, by the slow reference: ``frames`` [rows, 2, width], ``position`` [rows, 2, 5], ``conditions``
        [rows, 6] -> [rows, 2, 82], state."""
        x = (frames + self.place(position)).reshape(-1, FRAMES_PER_STEP * self.width)
        x, state = self.stack.step(self.pair(x) + self.condition(conditions), state)
        return self.out(self.norm(x)).reshape(-1, FRAMES_PER_STEP, MELS + 2), state


class Acoustic(nn.Module):
    """Encoder and decoder, and the loss that trains them together."""

    def __init__(self, config: AcousticConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Outputs [rows, frames, 82] and log durations [rows, tokens], given the true durations."""
        encodings = self.encoder(batch.ids, batch.valid, self.encoder.start(len(batch.ids)))[0]
        encodings = encodings.gather(1, batch.take[..., None].expand(-1, -1, self.config.width))
        if self.training and self.config.dropout:
            encodings = F.dropout(encodings, self.config.dropout)
        durations = self.encoder.log_durations(encodings, batch.conditions)
        frames = encodings.gather(1, batch.token[..., None].expand(-1, -1, self.config.width))
        state = self.decoder.stack.start(len(frames))
        return self.decoder(frames, batch.position, batch.frame_conditions, state)[0], durations


def losses(outputs: Tensor, log_durations: Tensor, batch: Batch) -> dict[str, Tensor]:
    """``total`` and its parts: ``mel`` and ``f0`` in nepers, ``voiced`` in nats, ``duration`` in ln(1 + frames)."""
    outputs, mask = outputs.float(), batch.mask
    frames = mask.sum()
    mel = outputs[..., :MELS]
    target = (batch.mel - MEL_MEAN) / MEL_SCALE
    mel_l1 = ((mel - target).abs().mean(-1) * mask).sum() / frames
    both = mask[:, 1:] * mask[:, :-1]
    moved = (mel[:, 1:] - mel[:, :-1]) - (target[:, 1:] - target[:, :-1])
    delta = (moved.abs().mean(-1) * both).sum() / both.sum()
    weight = mask * (0.05 + 0.95 * batch.voiced)
    f0_l1 = ((outputs[..., MELS] - (batch.f0 - LN_F0_MEAN) / LN_F0_SCALE).abs() * weight).sum() / weight.sum()
    logits = F.binary_cross_entropy_with_logits(outputs[..., MELS + 1], batch.voiced, reduction="none")
    voiced = (logits * mask).sum() / frames
    known = (batch.durations > 0).float()
    wanted = torch.log1p(batch.durations.float())
    duration = ((log_durations.float() - wanted).abs() * known).sum() / known.sum()
    total = mel_l1 + 0.3 * delta + 0.3 * f0_l1 + 0.2 * voiced + 0.3 * duration
    return {
        "total": total,
        "mel": mel_l1 * MEL_SCALE,
        "f0": f0_l1 * LN_F0_SCALE,
        "voiced": voiced,
        "duration": duration,
    }


def whole_frames(log_durations: Tensor) -> Tensor:
    """``[tokens]`` ln(1 + frames) -> frames, at least 1 each; rounded so that errors do not add up."""
    ends = torch.round(torch.cumsum(torch.clamp(torch.expm1(log_durations.double()), min=1.0), -1))
    return torch.diff(ends, prepend=torch.zeros(1, dtype=ends.dtype)).long()


def positions(frac_at: Tensor, duration: Tensor) -> Tensor:
    """``frac_at`` [...] whole frames since the symbol began, ``duration`` [...] its frames -> [..., 5]."""
    share = (frac_at + 0.5) / duration
    parts = (
        share,
        torch.sin(math.pi * share),
        torch.log1p(frac_at) / 3,
        torch.log1p(duration - 1 - frac_at) / 3,
        torch.log(duration) / 3,
    )
    return torch.stack(parts, -1)
