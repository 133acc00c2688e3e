"""A network in ONNX, ready to run. Needs ONNX Runtime and no more: probe.py's child starts quickly."""

import onnxruntime


def new_session(data: bytes, threads: int = 1) -> onnxruntime.InferenceSession:
    """A session on the CPU."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
