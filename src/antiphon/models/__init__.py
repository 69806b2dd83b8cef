"""One file per model family: graphs in ONNX Runtime, numpy in and out, explicit state."""
