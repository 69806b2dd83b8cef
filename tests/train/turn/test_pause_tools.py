"""What the pause model learns from: streams put together from made-up recordings, their labels and weights."""

from pathlib import Path

import numpy as np
import pytest
from train.turn.pause import targets
from train.turn.pause.pool import Item, Place, dip_near, load, save, silences, smooth_levels, whole
from train.turn.pause.rooms import Surroundings, telephone
from train.turn.pause.streams import KINDS, PAUSE, STEPS, Composer, Shard
from train.turn.sound import RATE_HZ

from antiphon.models.pause import STEP_SAMPLES


def recording(seed: int, quiet: tuple[float, float] = (1.0, 1.3), seconds: float = 2.5) -> np.ndarray:
    """Noise bursts for speech, silent from ``quiet[0]`` to ``quiet[1]`` s and for the last half second."""
    rng = np.random.default_rng(seed)
    sound = rng.normal(0, 0.1, round(seconds * RATE_HZ))
    t = np.arange(len(sound)) / RATE_HZ
    silent = ((t >= quiet[0]) & (t < quiet[1])) | (t > seconds - 0.5)
    return np.where(silent, sound * 1e-3, sound).astype(np.float32)


def items(per_kind: int = 3) -> list[Item]:
    made = []
    for kind in KINDS:
        for n in range(per_kind):
            places = [Place(RATE_HZ, round(1.3 * RATE_HZ), 0.0, 1.0, True), Place(2 * RATE_HZ, -1, 1.0)]
            made.append(Item(kind, f"{kind}-{n}", whole(recording(n)), 0, places))
    return made


def rows(*values: dict[str, float]) -> np.ndarray:
    found = np.zeros(len(values), PAUSE)
    found["weight"], found["teacher"], found["stop"] = 1.0, np.nan, STEPS * STEP_SAMPLES
    for number, row in enumerate(values):
        for name, value in row.items():
            found[number][name] = value
    return found


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Shard:
    return Composer(items(), Surroundings(tmp_path_factory.mktemp("speech"))).shard(12, 5, None, 0.0)


def test_the_pool_comes_back_in_one_order(tmp_path: Path) -> None:
    save(tmp_path / "b.pool", items(1)[1:2])
    save(tmp_path / "a.pool", items(1)[:1])
    assert [item.speaker for item in load(tmp_path)] == [f"{KINDS[0]}-0", f"{KINDS[1]}-0"]


def test_a_tenth_of_speakers_is_held_out_and_always_the_same() -> None:
    out = [Item("libri", f"speaker {n}", whole(np.zeros(1)), 0).held_out for n in range(2000)]
    assert 0.08 < np.mean(out) < 0.12
    assert out == [Item("hibari", f"speaker {n}", whole(np.ones(1)), 9).held_out for n in range(2000)]


def test_silences_are_found_where_they_are() -> None:
    ((start, end),) = silences(recording(1), 0.14)
    assert start / RATE_HZ == pytest.approx(1.0, abs=0.03)
    assert end / RATE_HZ == pytest.approx(1.3, abs=0.03)


def test_a_dip_is_as_deep_as_the_lower_of_its_sides() -> None:
    at, depth = dip_near(smooth_levels(recording(1, (1.0, 1.05))), RATE_HZ)
    assert at / RATE_HZ == pytest.approx(1.025, abs=0.03)
    assert depth > 40
    assert dip_near(smooth_levels(recording(1)), round(0.5 * RATE_HZ))[1] < 8


def test_a_stream_can_be_made_again(shard: Shard, tmp_path: Path) -> None:
    again = Composer(items(), Surroundings(tmp_path)).shard(12, 5, None, 0.0)
    np.testing.assert_array_equal(again.features, shard.features)
    assert again.pauses.tobytes() == shard.pauses.tobytes()


def test_pauses_are_quiet_and_what_is_before_them_is_not(shard: Shard) -> None:
    assert shard.features.shape == (12, STEPS, 224)
    speech = shard.speech.astype(float)
    for pause in shard.pauses:
        first, last = -(-pause["start"] // STEP_SAMPLES), pause["stop"] // STEP_SAMPLES
        assert speech[pause["stream"], first:last].max(initial=0) == 0
        before = slice(max(0, pause["start"] // STEP_SAMPLES - 5), pause["start"] // STEP_SAMPLES)
        assert speech[pause["stream"], before].mean() > 0.5


def test_both_classes_pause_equally_long(shard: Shard) -> None:
    whole_ones = shard.pauses[shard.pauses["stop"] < STEPS * STEP_SAMPLES]
    lasts = (whole_ones["stop"] - whole_ones["start"]) / RATE_HZ
    assert lasts.min() > 0.25
    assert lasts.max() < 1.95
    done = whole_ones["complete"] > 0.5
    assert 0.2 < done.mean() < 0.8
    assert abs(lasts[done].mean() - lasts[~done].mean()) < 0.45


def test_a_shard_comes_back(shard: Shard, tmp_path: Path) -> None:
    shard.save(tmp_path / "s.npz")
    held = Shard.load(tmp_path / "s.npz")
    np.testing.assert_array_equal(held.features, shard.features)
    assert held.pauses.dtype == PAUSE


def test_weights_leave_length_and_kind_without_a_say() -> None:
    many = [{"complete": 1.0, "spoken_s": 3.0, "kind": 0}] * 6 + [{"complete": 0.0, "spoken_s": 3.0, "kind": 0}] * 2
    many += [{"complete": 1.0, "spoken_s": 1.0, "kind": 1}] * 2 + [{"complete": 0.0, "spoken_s": 1.0, "kind": 1}] * 6
    pauses = rows(*many, {"complete": 1.0, "spoken_s": 9.0, "kind": 2})
    weight = targets.balance(pauses)
    for kind in (0, 1):
        here = pauses["kind"] == kind
        assert weight[here] @ pauses["complete"][here] == pytest.approx(weight[here] @ (1 - pauses["complete"][here]))
    assert weight[-1] == 0  # nothing to compare it with


def test_targets_stand_where_the_pause_is() -> None:
    pauses = rows({"stream": 1, "start": 16_000, "stop": 32_000, "complete": 1.0, "teacher": 2.0})
    turn, counts, teacher, asked = targets.steps(pauses, np.array([0.5], np.float32), 2)
    assert not counts[0].any()
    assert not counts[1, :24].any()
    assert (turn[1][counts[1] > 0] == 1).all()
    assert counts[1, targets.step_at(pauses, 0.2)[0]] == 0.5
    assert not counts[1, 50:].any()
    assert teacher[1, 29] == pytest.approx(1 / (1 + np.exp(-2.0)))
    assert asked.sum() == (asked[1, 26:38] > 0).sum()


def test_auc_counts_pairs() -> None:
    odds = np.array([0.0, 1.0, 2.0, 1.0], np.float32)
    assert targets.auc(odds, np.array([False, True, True, False])) == pytest.approx(3.5 / 4)
    assert np.isnan(targets.auc(odds, np.ones(4, bool)))


def test_the_telephone_is_narrow_and_late_by_nothing() -> None:
    sound = recording(4)
    heard = telephone(sound, np.random.default_rng(1))
    spectrum = np.abs(np.fft.rfft(heard)) ** 2
    hz = np.linspace(0, RATE_HZ / 2, len(spectrum))
    assert spectrum[hz > 4_000].sum() < 0.01 * spectrum.sum()
    lag = int(np.argmax(np.correlate(heard[:8000], sound[200:7800], "valid"))) - 200
    assert abs(lag) <= 1


def test_torch_and_numpy_agree(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from train.turn.pause.model import PauseNet, export, restored, rounded

    torch.manual_seed(3)
    net = rounded(PauseNet(16, 2, 24)).eval()
    model = export(net, tmp_path / "weights.npz", 0.5, 0.1)
    heard = np.random.default_rng(1).normal(0, 1, (90, 224)).astype(np.float32)
    for one in (net, restored(tmp_path / "weights.npz")):
        with torch.no_grad():
            wanted = one(torch.from_numpy(heard)[None])[0].numpy()
        np.testing.assert_allclose(model.outputs(heard), wanted, atol=1e-4)
