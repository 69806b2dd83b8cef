"""Where graphs run: what was asked for, what they got, and that it is said when these differ."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

from antiphon.core.errors import ModelUnavailable
from antiphon.models.session import Sessions, load_session, open_session
from tests.models.ssm_weights import folder

GRAPH = folder() / "encoder.onnx"
CUDA, CPU = "CUDAExecutionProvider", "CPUExecutionProvider"


class Opened:
    """A session of an ONNX Runtime that has CUDA, or says so."""

    starts = True
    refuses = False

    def __init__(self, model: bytes | str, options: Any, providers: list[Any]) -> None:
        names = [one if isinstance(one, str) else one[0] for one in providers]
        if CUDA in names and self.refuses:
            raise RuntimeError("out of memory")
        self.asked = dict(one for one in providers if not isinstance(one, str))
        self.providers = names if self.starts else [CPU]

    def get_providers(self) -> list[str]:
        return self.providers


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> type[Opened]:
    class OpenedHere(Opened):
        pass

    monkeypatch.setattr(ort, "get_available_providers", lambda: [CUDA, CPU])
    monkeypatch.setattr(ort, "preload_dlls", lambda: None, raising=False)
    monkeypatch.setattr(ort, "InferenceSession", OpenedHere)
    return OpenedHere


def test_on_the_cpu_nothing_is_to_be_said() -> None:
    sessions = Sessions()
    session = open_session(GRAPH.read_bytes(), "encoder", sessions)
    assert session.get_providers() == [CPU]
    (graph,) = sessions.graphs
    assert (graph.name, graph.asked, graph.provider, graph.reason) == ("encoder", "cpu", "cpu", "")
    assert sessions.device == "cpu"


def test_what_really_ran_is_counted(tmp_path: Path) -> None:
    sessions = Sessions(profiles=tmp_path)
    session = open_session(GRAPH.read_bytes(), "ssm encoder", sessions)
    feeds = {
        one.name: np.zeros([2 if isinstance(size, str) else size for size in one.shape],
                           np.int64 if "int64" in one.type else np.float32)
        for one in session.get_inputs()
    }  # fmt: skip
    session.run(None, feeds)
    (graph,) = sessions.graphs
    assert set(graph.operations()) == {"cpu"}
    assert list(tmp_path.glob("ssm-encoder*"))


def test_float_graphs_go_where_they_are_asked_for_and_some_do_not_by_choice(cuda: type[Opened], tmp_path: Path) -> None:
    sessions = Sessions("cuda")
    session: Any = open_session(b"Conv MatMul", "decoder", sessions)
    assert session.asked[CUDA]["use_tf32"] == "0"
    open_session(b"Conv DynamicQuantizeLinear", "int8", sessions)
    file = tmp_path / "graph.onnx"
    file.write_bytes(b"ConvInteger")
    load_session(file, "file", sessions)
    load_session(file, "small", sessions, "it is small")
    told = [(graph.name, graph.provider, graph.by_choice) for graph in sessions.graphs]
    assert told == [("decoder", "cuda", False), ("int8", "cpu", True), ("file", "cpu", True), ("small", "cpu", True)]
    assert [graph.reason for graph in sessions.graphs][2:] == [
        "its weights are int8, for which CUDA lacks operations", "it is small",
    ]  # fmt: skip
    assert sessions.device == "cuda"


@pytest.mark.parametrize(("fault", "why"), [("starts", "could not start"), ("refuses", "out of memory")])
def test_cuda_that_does_not_start_is_said_once_and_the_cpu_does_it(
    cuda: type[Opened], fault: str, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    setattr(cuda, fault, fault == "refuses")
    sessions = Sessions("cuda")
    with caplog.at_level(logging.WARNING):
        for name in ("one", "two"):
            open_session(b"Conv", name, sessions)
    assert [(graph.provider, graph.by_choice, why in graph.reason) for graph in sessions.graphs] == [
        ("cpu", False, True)
    ] * 2
    assert len(caplog.records) == 1
    assert "on the CPU" in caplog.text
    assert sessions.device == "cpu"


def test_an_onnx_runtime_without_cuda_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ort, "get_available_providers", lambda: [CPU])
    sessions = Sessions("cuda")
    assert "comes without CUDA" in caplog.text
    open_session(GRAPH.read_bytes(), "encoder", sessions)
    (graph,) = sessions.graphs
    assert (graph.asked, graph.provider, graph.by_choice) == ("cuda", "cpu", False)
    assert "extra gpu" in graph.reason


def test_a_file_that_is_no_graph(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.onnx", tmp_path):
        for provider in ("cpu", "cuda"):
            with pytest.raises(ModelUnavailable, match="cannot be loaded"):
                load_session(path, "graph", Sessions(provider))  # type: ignore[arg-type]
