"""Evaluators whose answers depend on the state alone and are known to the test."""

import numpy as np

from tengen.evaluators.evaluator import Evaluation
from tengen.games.game import Mask, State


class HashEvaluator:
    """Logits and values that look random and are the same for the same state."""

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        places = np.arange(states.shape[1])
        mixed = (states.astype(np.int64) * (places * 7919 + 104729) % 1009).sum(axis=1)
        values = np.sin(mixed * 12.9898) * 0.8
        actions = np.arange(legal.shape[1])
        logits = np.sin(mixed[:, None] * 0.37 + actions * 1.7) * 2
        return Evaluation(logits.astype(np.float32), values.astype(np.float32))


class ConstantEvaluator:
    """The same value for every position: whoever is to move is better."""

    def __init__(self, value: float) -> None:
        self.value = value

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        return Evaluation(np.zeros(legal.shape, np.float32), np.full(len(states), self.value, np.float32))


class PriorEvaluator:
    """The same logits for every position, and even values."""

    def __init__(self, logits: list[float]) -> None:
        self.logits = np.array(logits, np.float32)

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        return Evaluation(np.tile(self.logits, (len(states), 1)), np.zeros(len(states), np.float32))


class GoodForTheFirst:
    """Every position is good for the first player, and so bad for the second."""

    def __init__(self, value: float) -> None:
        self.value = value

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        values = np.where(states[:, -1] == 1, self.value, -self.value).astype(np.float32)
        return Evaluation(np.zeros(legal.shape, np.float32), values)
