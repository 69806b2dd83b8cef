"""Cutting the graph: both halves together give what the whole gives."""

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from hibari.tts import ASSETS

from antiphon.core.errors import ModelUnavailable
from antiphon.models.hibari_graph import BINS, DURATIONS, HibariGraph
from antiphon.models.subgraph import subgraph

GRAPH = Path(ASSETS) / "hibari.onnx"
IDS = [0, 50, 83, 54, 156, 31, 16, 81, 156, 86, 123, 4, 0]


@pytest.fixture(scope="module")
def graph() -> HibariGraph:
    return HibariGraph(GRAPH)


def test_durations_add_up_to_the_frames(graph: HibariGraph) -> None:
    for speed in (0.6, 1.0, 1.5):
        plan = graph.plan(IDS, speed)
        assert len(plan.durations) == len(IDS)
        assert plan.durations.sum() == len(plan.f0) == plan.features.shape[2]


def test_the_halves_give_what_the_whole_gives(graph: HibariGraph) -> None:
    whole = ort.InferenceSession(str(GRAPH), providers=["CPUExecutionProvider"])
    lh, _theta, ln, lr, _phi, f0 = whole.run(
        None, {"ids": np.asarray([IDS], np.int64), "speed": np.ones(1, np.float32)}
    )
    plan = graph.plan(IDS, 1.0)
    spectra = graph.decode(plan, 0, len(plan.f0))
    np.testing.assert_allclose(plan.f0, f0[0], atol=2.0)
    for index, part in ((0, lh), (2, ln), (3, lr)):
        # int8 scales are rounded anew in each run, so equal means within a fraction of a decibel.
        assert np.abs(spectra[:, index * BINS : (index + 1) * BINS] - part[0].T).mean() < 0.1


def test_a_window_gives_what_the_whole_gives(graph: HibariGraph) -> None:
    plan = graph.plan(IDS * 4, 1.0)
    whole = graph.decode(plan, 0, len(plan.f0))
    window = graph.decode(plan, 60, 84)
    assert window.shape == (24, 5 * BINS)
    assert np.abs(window[:, :BINS] - whole[60:84, :BINS]).mean() < 0.1


def test_another_graph_is_a_clear_error() -> None:
    with pytest.raises(ModelUnavailable, match="no tensor"):
        subgraph(GRAPH.read_bytes(), {}, ["no_such_tensor"])


def test_a_missing_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        HibariGraph(tmp_path / "gone.onnx")


def test_subgraph_keeps_only_what_is_needed() -> None:
    model = GRAPH.read_bytes()
    assert len(subgraph(model, {}, [DURATIONS])) < len(model) / 2
