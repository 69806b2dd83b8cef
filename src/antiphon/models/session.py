"""ONNX Runtime sessions as the scheduler wants them: one thread each, ``run`` is thread-safe and may be shared."""

from pathlib import Path

import onnxruntime as ort

from antiphon.core.errors import ModelUnavailable

_PROVIDERS = ["CPUExecutionProvider"]


def open_session(model: bytes) -> ort.InferenceSession:
    """``model``: the graph's bytes. Raises what ONNX Runtime raises for a graph that it cannot load."""
    options = quiet_options()
    # Plans of memory are kept per shape, and no two phrases have the same one: no faster, and never freed.
    options.enable_mem_pattern = False
    return ort.InferenceSession(model, options, providers=_PROVIDERS)


def load_session(path: Path) -> ort.InferenceSession:
    """A graph as it lies on disk. Raises ``ModelUnavailable`` if it cannot be loaded."""
    try:
        return ort.InferenceSession(str(path), one_thread(), providers=_PROVIDERS)
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
