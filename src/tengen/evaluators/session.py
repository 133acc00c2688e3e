"""A network in ONNX, ready to run. Needs only ONNX Runtime, so that probe.py's child starts quickly."""

from collections.abc import Sequence

import onnxruntime

HEIGHT, WIDTH = "height", "width"  # names of the free dimensions of a network for boards of every size


def new_session(
    data: bytes, board: Sequence[int] | None = None, threads: int = 1
) -> onnxruntime.InferenceSession:
    """A session on the CPU, for boards of rows × columns.

    If a network leaves its height and width free, they are fixed to the board. Then ONNX Runtime optimises it
    like one that was exported for that board: the same answers, bit for bit, at the same speed (left free,
    fp32 is up to 7 % slower). A network that was exported for one board ignores rows and columns.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors
    if board is not None:
        options.add_free_dimension_override_by_name(HEIGHT, board[0])
        options.add_free_dimension_override_by_name(WIDTH, board[1])
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
