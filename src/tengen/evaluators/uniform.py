"""Knows nothing: all moves equally likely, all positions even. Shows what the search does without help."""

import numpy as np

from tengen.evaluators.evaluator import Evaluation
from tengen.games.game import Mask, State


class UniformEvaluator:
    """Logits and values of zero."""

    def __init__(self) -> None:
        self._all = Evaluation(np.zeros((0, 0), np.float32), np.zeros(0, np.float32))

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        count, most = len(legal), len(self._all.values)
        if count > most or legal.shape[1] != self._all.logits.shape[1]:
            self._all = Evaluation(np.zeros(legal.shape, np.float32), np.zeros(count, np.float32))
        elif count < most:
            return Evaluation(self._all.logits[:count], self._all.values[:count])
        return self._all
