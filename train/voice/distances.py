"""How far made sound is from real sound: spectra, harmonics against noise, and small critics that learn the rest."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from train.voice.features import FLOOR, mel_weights, window
from train.voice.vocoder import HOP, SAMPLE_RATE_HZ

RESOLUTIONS = (256, 512, 1024, 2048)


class Spectra(nn.Module):
    """Distance of two signals in spectra of several resolutions, and in the log-mel spectrum."""

    def __init__(self) -> None:
        super().__init__()
        for size in RESOLUTIONS:
            self.register_buffer(f"window_{size}", torch.hann_window(size), persistent=False)
        self.register_buffer("mel", torch.from_numpy(mel_weights()), persistent=False)
        self.register_buffer("mel_window", torch.from_numpy(window()), persistent=False)

    def magnitudes(self, x: Tensor, size: int) -> Tensor:
        """[rows, frames, bins], scaled so that white noise has the same level at every size."""
        shape = getattr(self, f"window_{size}")
        spectrum = torch.fft.rfft(x.unfold(-1, size, size // 4) * shape)
        power = spectrum.real.square() + spectrum.imag.square()
        return torch.sqrt(power / shape.square().sum() + 1e-9)

    def forward(self, made: Tensor, real: Tensor) -> Tensor:
        total = torch.zeros((), device=made.device)
        for size in RESOLUTIONS:
            x, y = self.magnitudes(made, size), self.magnitudes(real, size)
            convergence = torch.linalg.norm(y - x) / torch.linalg.norm(y)
            total = total + (torch.log(x) - torch.log(y)).abs().mean() + 0.5 * convergence
        return total / len(RESOLUTIONS) + (self._log_mel(made) - self._log_mel(real)).abs().mean()

    def _log_mel(self, x: Tensor) -> Tensor:
        frames = x.unfold(-1, len(self.mel_window), HOP) * self.mel_window
        return torch.log(torch.clamp(torch.fft.rfft(frames).abs() @ self.mel, min=FLOOR))


class Harmonics(nn.Module):
    """How high the harmonics of two signals of one F0 stand above the noise between them, by band.

    A distance of single bins punishes noise, which is never the same twice, and so prefers a buzz, which is wrong in
    every bin by less. Here the logarithms at harmonics, and those half-way between, are averaged over some frames and
    harmonics before they are compared: noise of the right power is right.
    """

    WINDOW, SIZE, MOST = 1200, 4096, 56

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(self.WINDOW), persistent=False)

    def forward(self, made: Tensor, real: Tensor, f0: Tensor) -> Tensor:
        """``made``, ``real`` [rows, (frames + 3) * 300]; ``f0`` [rows, frames] Hz in the middles of windows, which
        begin at multiples of 300. The distance in nepers."""
        places = torch.arange(2, 2 * self.MOST + 2, device=f0.device) / 2 * f0[..., None]
        here = (places < 0.96 * SAMPLE_RATE_HZ / 2).float()
        bins = (places * (self.SIZE / SAMPLE_RATE_HZ)).round().long().clamp(max=self.SIZE // 2)
        apart = (self._log(made).gather(-1, bins) - self._log(real).gather(-1, bins)) * here
        total = torch.zeros((), device=f0.device)
        for parity in (0, 1):  # harmonics, valleys
            mean = F.avg_pool2d(apart[:, None, :, parity::2], (8, 7), (4, 7))
            share = F.avg_pool2d(here[:, None, :, parity::2], (8, 7), (4, 7))
            total = total + mean.abs().sum() / share.sum()
        return total

    def _log(self, x: Tensor) -> Tensor:
        spectrum = torch.fft.rfft(x.unfold(-1, self.WINDOW, HOP) * self.window, self.SIZE)
        power = spectrum.real.square() + spectrum.imag.square()
        return 0.5 * torch.log(power / self.window.square().sum() + 1e-7)


class Discriminator(nn.Module):
    """Convolutions over the log spectrogram at one resolution; gives scores and what its layers saw."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        wide = {"stride": (1, 2), "padding": (1, 4)}
        self.layers = nn.ModuleList(
            (
                nn.Conv2d(1, 8, (3, 9), **wide),
                nn.Conv2d(8, 16, (3, 9), **wide),
                nn.Conv2d(16, 16, (3, 9), **wide),
                nn.Conv2d(16, 16, (3, 3), padding=1),
            )
        )
        self.score = nn.Conv2d(16, 1, 3, padding=1)

    def forward(self, magnitudes: Tensor) -> tuple[Tensor, list[Tensor]]:
        x = torch.log(magnitudes)[:, None] * 0.3 + 1
        seen = []
        for layer in self.layers:
            x = F.leaky_relu(layer(x), 0.1)
            seen.append(x)
        return self.score(x), seen


def challenge(critics: Iterable[nn.Module], spectra: Spectra, made: Tensor, real: Tensor) -> Tensor:
    """What the critics are to learn: real is 1, made is 0 (least squares)."""
    caught = torch.zeros((), device=made.device)
    for critic in critics:
        true, _ = critic(spectra.magnitudes(real, critic.size))
        false, _ = critic(spectra.magnitudes(made, critic.size))
        caught = caught + (true - 1).square().mean() + false.square().mean()
    return caught


def judged(critics: Iterable[nn.Module], spectra: Spectra, made: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    """How far from passing for real, and how differently the critics' layers see the two; sums over critics."""
    fooled, alike = torch.zeros((), device=made.device), torch.zeros((), device=made.device)
    for critic in critics:
        score, seen = critic(spectra.magnitudes(made, critic.size))
        with torch.no_grad():
            real_seen = critic(spectra.magnitudes(real, critic.size))[1]
        fooled = fooled + (score - 1).square().mean()
        for x, y in zip(seen, real_seen, strict=True):
            alike = alike + (x - y).abs().mean() / y.abs().mean()
    return fooled, alike
