"""What the vocoder learns by; needs PyTorch, so it runs with ``make soak`` and the extra ``train``."""

import pytest

torch = pytest.importorskip("torch")

from train.voice.distances import Discriminator, Harmonics, Spectra, challenge, judged  # noqa: E402

pytestmark = pytest.mark.soak

F0_HZ, FRAMES = 200.0, 40


def voice(noise: float, seed: int, buzz: float = 0.05) -> torch.Tensor:
    """Harmonics of 200 Hz and white noise, [2, samples]."""
    torch.manual_seed(seed)
    time = torch.arange((FRAMES + 3) * 300) / 24_000
    tones = sum(torch.cos(2 * torch.pi * (F0_HZ * k * time + torch.rand(2, 1))) for k in range(1, 57))
    return buzz * tones + noise * torch.randn(2, len(time))


def test_harmonics_hear_the_share_of_noise_and_not_its_draw() -> None:
    f0 = torch.full((2, FRAMES), F0_HZ)
    distance = Harmonics()
    real = voice(0.2, 0)
    heard = ((0.2, 0.05), (0.05, 0.05), (0.2, 0.2))
    same, quieter, buzz = (float(distance(voice(noise, 1, tones), real, f0)) for noise, tones in heard)
    assert same < 0.25
    assert quieter > 2 * same
    assert buzz > 2 * same


def test_critics_learn_to_tell_and_what_they_say_moves_the_sound() -> None:
    torch.manual_seed(0)
    spectra, critic = Spectra(), Discriminator(512)
    real, made = voice(0.2, 0), voice(0.02, 1).requires_grad_()
    optimizer = torch.optim.Adam(critic.parameters(), lr=3e-3)
    caught = []
    for _ in range(25):
        optimizer.zero_grad()
        loss = challenge([critic], spectra, made.detach(), real)
        loss.backward()
        optimizer.step()
        caught.append(float(loss.detach()))
    assert caught[-1] < 0.5 * caught[0]
    fooled, alike = judged([critic], spectra, made, real)
    (fooled + alike).backward()
    assert made.grad is not None
    assert float(made.grad.abs().max()) > 0
