"""Priors and values of a network for a batch of states: makes the planes, and calls the network."""

from collections.abc import Callable

import numpy as np

from tengen.evaluators.evaluator import Evaluation
from tengen.evaluators.gathering import Answers
from tengen.games.batch import lift
from tengen.games.game import Game, Mask, Planes, State


class OnnxEvaluator:
    """Made by a Network (network.py). It has its own buffers, so it belongs to one thread."""

    def __init__(self, game: Game, planes: tuple[int, ...], run: Callable[[Planes], Answers]) -> None:
        """planes: which of the game's planes the network sees. run: turns planes into answers."""
        self._batched, self._chosen, self.run = lift(game), planes, run
        self._sees_all = planes == tuple(range(game.num_planes))
        self._planes: Planes = np.zeros((0, *game.planes_shape), np.float32)

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        if len(states) > len(self._planes):
            self._planes = np.zeros((len(states), *self._planes.shape[1:]), np.float32)
        planes = self._planes[: len(states)]
        self._batched.planes(states, planes)
        seen = planes if self._sees_all else np.ascontiguousarray(planes[:, self._chosen])
        logits, values, *rest = self.run(seen)
        return Evaluation(logits, values, rest[0] if rest else None)
