"""ONNX Runtime sessions as the scheduler wants them: one thread each, ``run`` is thread-safe and may be shared."""

import onnxruntime as ort


def open_session(model: bytes) -> ort.InferenceSession:
    """``model``: the graph's bytes. Raises what ONNX Runtime raises for a graph that it cannot load."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Plans of memory are kept per shape, and no two phrases have the same one: no faster, and never freed.
    options.enable_mem_pattern = False
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
