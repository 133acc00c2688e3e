"""Knows nothing: all moves alike, all positions even. What a search does alone."""

import numpy as np

from tengen.evaluators.evaluator import Evaluation
from tengen.games.game import Mask, State


class UniformEvaluator:
    """Logits and values of zero."""

    def __init__(self) -> None:
        self._zeros = np.zeros((0, 0), np.float32)
        self._values = np.zeros(0, np.float32)

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        if len(legal) > len(self._zeros) or legal.shape[1] != self._zeros.shape[1]:
            self._zeros, self._values = np.zeros(legal.shape, np.float32), np.zeros(len(legal), np.float32)
        return Evaluation(self._zeros[: len(legal)], self._values[: len(legal)])
