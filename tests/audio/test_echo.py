"""Echo of synthetic speech in synthetic rooms, all from seeds. Bounds are far below what was measured."""

import sys

import numpy as np
import pytest
from scipy.signal import fftconvolve

from antiphon.audio import echo
from antiphon.audio.echo import EchoCanceller
from antiphon.core.errors import InvalidInput
from antiphon.core.frame import Samples

RATE_HZ = 16_000
pytest.importorskip("livekit.rtc")


def speech(seconds: float, seed: int, pitch_hz: float = 120.0, rate_hz: int = RATE_HZ) -> Samples:
    """Syllables: harmonics of a gliding pitch through a changing formant, hissing between them, and pauses."""
    rng = np.random.default_rng(seed)
    parts: list[Samples] = []
    while sum(map(len, parts)) < seconds * rate_hz:
        count = round(rng.uniform(0.08, 0.3) * rate_hz)
        time = np.arange(count) / rate_hz
        pitch = pitch_hz * (1 + 0.2 * rng.uniform(-1, 1) + 0.15 * rng.uniform(-1, 1) * time / time[-1])
        phase = 2 * np.pi * np.cumsum(pitch) / rate_hz
        formant = rng.uniform(300, 2_500)
        orders = np.arange(1, 40)
        weights = np.exp(-(((orders * pitch_hz - formant) / 700) ** 2)) + 0.05
        voiced = (weights[:, None] * np.sin(orders[:, None] * phase + rng.uniform(0, 6, 39)[:, None])).sum(axis=0)
        voiced *= np.hanning(count) * rng.uniform(0.3, 1.0)
        hiss = rng.normal(0, 0.3, round(rng.uniform(0.02, 0.08) * rate_hz))
        pause = np.zeros(round(rng.uniform(0.0, 0.2) * rate_hz))
        parts += [part.astype(np.float32) for part in (voiced / np.abs(voiced).max(), hiss * 0.3, pause)]
    whole: Samples = 0.5 * np.concatenate(parts)[: round(seconds * rate_hz)]
    return whole


def room(seed: int, rt60_s: float = 0.3, rate_hz: int = RATE_HZ) -> Samples:
    rng = np.random.default_rng(seed)
    time = np.arange(round(rt60_s * rate_hz)) / rate_hz
    response = rng.normal(0, 1, len(time)) * 10 ** (-3 * time / rt60_s)
    response[0] = 4.0
    out: Samples = (response / np.sqrt(np.sum(response**2))).astype(np.float32)
    return out


def echo_of(far: Samples, delay_ms: int, seed: int = 7, gain: float = 0.3, rate_hz: int = RATE_HZ) -> Samples:
    came = gain * fftconvolve(far, room(seed, rate_hz=rate_hz))[: len(far)].astype(np.float32)
    delay = round(delay_ms * rate_hz / 1000)
    out: Samples = np.concatenate([np.zeros(delay, np.float32), came])[: len(far)]
    return out


def cancel(canceller: EchoCanceller, far: Samples, near: Samples, piece: int = 320) -> Samples:
    """Both in pieces of the same time; the result in step with ``near``."""
    out = []
    for start in range(0, len(near), piece):
        canceller.played(far[start : start + piece])
        out.append(canceller.heard(near[start : start + piece]))
    clean: Samples = np.concatenate(out)[canceller.latency_samples :]
    return clean


def db(one: Samples, other: Samples) -> float:
    return float(10 * np.log10(np.sum(one.astype(float) ** 2) / max(1e-9, np.sum(other.astype(float) ** 2))))


@pytest.mark.parametrize(("delay_ms", "known_ms"), [(40, 0), (250, 0), (900, 800)])
def test_the_echo_falls_far_below_what_it_was(delay_ms: int, known_ms: int) -> None:
    far = speech(12.0, 1)
    near = echo_of(far, delay_ms)
    clean = cancel(EchoCanceller(RATE_HZ, known_ms), far, near)
    half = len(clean) // 2
    assert db(near[half : len(clean)], clean[half:]) > 20.0  # echo return loss enhancement


@pytest.mark.parametrize("rate_hz", [16_000, 24_000, 48_000])
def test_each_rate_works(rate_hz: int) -> None:
    far = speech(6.0, 2, rate_hz=rate_hz)
    near = echo_of(far, 60, rate_hz=rate_hz)
    clean = cancel(EchoCanceller(rate_hz), far, near, rate_hz // 50)
    half = len(clean) // 2
    assert db(near[half : len(clean)], clean[half:]) > 15.0


def test_the_user_is_heard_over_the_agent() -> None:
    """Double talk: of both at once, what is left is the user, about as loud as alone."""
    far = speech(16.0, 3)
    user = np.zeros_like(far)
    user[8 * RATE_HZ : 14 * RATE_HZ] = speech(6.0, 4, pitch_hz=210.0)
    near = echo_of(far, 80) + user
    clean = cancel(EchoCanceller(RATE_HZ), far, near)
    both = slice(9 * RATE_HZ, 14 * RATE_HZ)
    assert abs(db(clean[both], user[both])) < 3.0
    before = slice(5 * RATE_HZ, 8 * RATE_HZ)
    assert db(near[before], clean[before]) > 15.0


def test_without_an_agent_the_user_passes() -> None:
    user = speech(4.0, 5)
    clean = cancel(EchoCanceller(RATE_HZ), np.zeros_like(user), user)
    assert abs(db(clean[RATE_HZ:], user[RATE_HZ : len(clean)])) < 1.5


def test_output_is_as_long_as_input_and_the_same_however_it_is_cut() -> None:
    far = speech(3.0, 6)
    near = echo_of(far, 50)
    whole, cut = EchoCanceller(RATE_HZ), EchoCanceller(RATE_HZ)
    whole.played(far)
    cut.played(far)
    rng = np.random.default_rng(1)
    pieces, start = [], 0
    while start < len(near):
        piece = near[start : start + int(rng.integers(0, 700))]
        clean = cut.heard(piece)
        assert len(clean) == len(piece)
        pieces.append(clean)
        start += len(piece)
    assert np.array_equal(np.concatenate(pieces), whole.heard(near))
    assert len(cut.heard(np.zeros(0, np.float32))) == 0


def test_what_was_played_waits_for_its_time_and_can_be_dropped() -> None:
    canceller = EchoCanceller(RATE_HZ, delay_ms=100)
    canceller.played(np.ones(1_000, np.float32))
    assert canceller.waiting_samples == 1_000 + 1_600
    canceller.heard(np.zeros(1_600, np.float32))
    assert canceller.waiting_samples == 1_000
    canceller.clear()
    assert canceller.waiting_samples == 0
    for _ in range(100):
        canceller.played(np.zeros(10 * RATE_HZ, np.float32))
    assert canceller.waiting_samples <= echo.LONGEST_WAIT_S * RATE_HZ


def test_bad_samples_do_no_harm() -> None:
    canceller = EchoCanceller(RATE_HZ)
    canceller.played(np.full(320, np.nan, np.float32))
    assert np.isfinite(canceller.heard(np.full(960, np.inf, np.float32))).all()


@pytest.mark.parametrize(
    ("rate_hz", "delay_ms", "named"), [(8_000, 0, "16000"), (44_100, 0, "48000"), (16_000, -1, "before")]
)
def test_what_cannot_work_is_refused(rate_hz: int, delay_ms: int, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        EchoCanceller(rate_hz, delay_ms)


def test_without_the_extra_the_message_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert echo.available()
    monkeypatch.setitem(sys.modules, "livekit", None)
    assert not echo.available()
    with pytest.raises(InvalidInput, match=r"antiphon\[aec\]"):
        EchoCanceller(RATE_HZ)
