"""How well two exports of a network agree: int8 against fp32. Needs only numpy and ONNX Runtime."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tengen.evaluators.session import new_session

Floats = npt.NDArray[np.float32]  # importing games/ would import Numba, which probe.py's child avoids

MOST_KL, MOST_VALUE_ERROR = 0.02, 0.05  # beyond these, int8 is refused


@dataclass(frozen=True)
class Agreement:
    """How well another export agrees with fp32."""

    kl: float  # of the policies, mean
    same_move: float  # share of positions with the same best move
    value_error: float  # mean

    @property
    def is_close(self) -> bool:
        return self.kl < MOST_KL and self.value_error < MOST_VALUE_ERROR


def agreement(fp32: bytes, int8: bytes, planes: Floats) -> Agreement:
    """Compares two exports on the planes they see [B, C, H, W]."""
    return compared(answers(fp32, planes), answers(int8, planes))


def answers(data: bytes, planes: Floats) -> Sequence[Floats]:
    """What an export says of planes [B, C, H, W]: logits [B, A], values [B], perhaps more."""
    found: Sequence[Floats] = new_session(data, planes.shape[2:]).run(None, {"planes": planes})
    return found


def compared(expected: Sequence[Floats], got: Sequence[Floats]) -> Agreement:
    """Compares the answers of two exports to the same planes."""
    (a, value_a, *_), (b, value_b, *_) = expected, got
    log_a, log_b = (_log_softmax(logits) for logits in (a, b))
    return Agreement(
        kl=float((np.exp(log_a) * (log_a - log_b)).sum(axis=1).mean()),
        same_move=float((a.argmax(axis=1) == b.argmax(axis=1)).mean()),
        value_error=float(np.abs(value_a - value_b).mean()),
    )


def _log_softmax(logits: Floats) -> Floats:
    shifted = logits - logits.max(axis=1, keepdims=True)
    logs: Floats = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return logs
