"""ONNX Runtime sessions as the scheduler wants them: one thread each, ``run`` is thread-safe and may be shared.

Where graphs run is decided here, and told: a graph that was to run on CUDA and does not says why (:class:`Sessions`).
"""

import json
import logging
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import onnxruntime as ort

from antiphon.core.errors import ModelUnavailable

_log = logging.getLogger(__name__)

Provider: TypeAlias = Literal["cpu", "cuda"]

_CPU, _CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
_CUDA_OPTIONS = {
    "use_tf32": "0",  # or float32 would have the precision of half of it
    "cudnn_conv_algo_search": "HEURISTIC",  # no trial of every algorithm for each new shape, of which there are many
    "arena_extend_strategy": "kSameAsRequested",
}
_QUANTISED = (b"DynamicQuantizeLinear", b"QuantizeLinear", b"MatMulInteger", b"ConvInteger")
_INT8 = "its weights are int8, for which CUDA lacks operations"
_NO_CUDA = (
    f"ONNX Runtime {ort.__version__} comes without CUDA here; docs/operations.md says how the extra gpu is installed"
)


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """An open graph. ``provider`` it really has; ``asked`` for; ``reason`` why they differ."""

    name: str
    session: ort.InferenceSession
    asked: Provider
    provider: Provider
    reason: str = ""
    by_choice: bool = False
    """Whether it would be no gain to have it where it was asked for."""

    def operations(self) -> dict[str, int]:
        """How many operations ran where, in all calls so far of a graph that is profiled, which ends here."""
        events: list[dict[str, Any]] = json.loads(Path(self.session.end_profiling()).read_text("utf-8"))
        ran = {
            (event["name"], event["args"]["provider"])
            for event in events
            if event.get("cat") == "Node" and event.get("args", {}).get("provider")
        }
        return dict(Counter("cuda" if provider == _CUDA else "cpu" for _, provider in ran))


class Sessions:
    """Opens graphs on the provider that is asked for, and remembers in ``graphs`` what each got.

    ``profiles``: a folder for the records of what ran where (see :meth:`Graph.operations`), which cost time.
    """

    def __init__(self, provider: Provider = "cpu", profiles: Path | None = None) -> None:
        self.provider = provider
        self.graphs: list[Graph] = []
        self._profiles = profiles
        self._no_cuda = ""
        """Why nothing can run there."""
        if provider == "cuda" and not _cuda_here():
            self._give_up(_NO_CUDA)

    @property
    def device(self) -> Provider:
        """Where the work is done: ``cuda`` if any graph runs there."""
        return "cuda" if any(graph.provider == "cuda" for graph in self.graphs) else "cpu"

    def open(
        self, name: str, model: bytes | Path, options: ort.SessionOptions, on_cpu: str = ""
    ) -> ort.InferenceSession:
        """``on_cpu``: why it is no gain to have this graph elsewhere. Raises what ONNX Runtime raises."""
        if self._profiles is not None:
            options.enable_profiling = True
            options.profile_file_prefix = str(self._profiles / name.replace(" ", "-"))
        given = str(model) if isinstance(model, Path) else model
        choice = reason = ""
        if self.provider == "cuda":
            choice = on_cpu or (_INT8 if _is_quantised(model) else "")
            session = None if choice or self._no_cuda else self._on_cuda(given, options)
            if session is not None:
                self.graphs.append(Graph(name, session, "cuda", "cuda"))
                return session
            reason = choice or self._no_cuda
        session = ort.InferenceSession(given, options, providers=[_CPU])
        self.graphs.append(Graph(name, session, self.provider, "cpu", reason, bool(choice)))
        return session

    def _on_cuda(self, model: bytes | str, options: ort.SessionOptions) -> ort.InferenceSession | None:
        """None where that cannot be: then no other graph is tried there."""
        try:
            session = ort.InferenceSession(model, options, providers=[(_CUDA, _CUDA_OPTIONS), _CPU])
        except Exception as error:  # no memory there, say
            self._give_up(f"ONNX Runtime refuses: {error}")
            return None
        if _CUDA not in session.get_providers():  # a provider that cannot start is left out without an error
            self._give_up("ONNX Runtime could not start it; its own message is above (driver, CUDA or cuDNN missing)")
            return None
        return session

    def _give_up(self, why: str) -> None:
        self._no_cuda = why
        _log.warning("engine.provider is cuda, but graphs run on the CPU: %s", why)


def open_session(model: bytes, name: str = "graph", sessions: Sessions | None = None) -> ort.InferenceSession:
    """``model``: the graph's bytes. Raises what ONNX Runtime raises for a graph that it cannot load."""
    options = quiet_options()
    # Plans of memory are kept per shape, and no two phrases have the same one: no faster, and never freed.
    options.enable_mem_pattern = False
    return (sessions or Sessions()).open(name, model, options)


def load_session(
    path: Path, name: str = "graph", sessions: Sessions | None = None, on_cpu: str = ""
) -> ort.InferenceSession:
    """A graph as it lies on disk. Raises ``ModelUnavailable`` if it cannot be loaded."""
    try:
        return (sessions or Sessions()).open(name, path, one_thread(), on_cpu)
    except Exception as error:  # ONNX Runtime has no base class for its own
        raise ModelUnavailable(f"{path} cannot be loaded: {error}") from error


def one_thread() -> ort.SessionOptions:
    """The scheduler owns the cores."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return options


def quiet_options() -> ort.SessionOptions:
    """For graphs of our own making, of which ONNX Runtime has warnings that tell nobody anything."""
    options = one_thread()
    options.log_severity_level = 3
    return options


def _cuda_here() -> bool:
    if _CUDA not in ort.get_available_providers():
        return False
    if hasattr(ort, "preload_dlls"):
        ort.preload_dlls()  # those that came as packages, where the system has none; it says itself what is missing
    return True


def _is_quantised(model: bytes | Path) -> bool:
    data = model.read_bytes() if isinstance(model, Path) else model
    return any(operation in data for operation in _QUANTISED)
