"""Random games to the end: all moves equally likely; the value of a position is their mean result."""

from functools import lru_cache

import numpy as np

from tengen.errors import UserError
from tengen.evaluators.evaluator import Evaluation, Floats
from tengen.evaluators.hashing import Bits, mix, new_weights, weighted_sum
from tengen.games.batch import Kernel, Loops, lift
from tengen.games.game import LAST_ACTION, Game, Mask, Random, State


class RolloutEvaluator:
    """Logits of zero; values are the mean of some random games, for the player to move.

    The random numbers of a state depend only on the seed and the state without its last action: the same
    position has the same value in any batch, at any place in it, and by any move order.
    """

    def __init__(self, game: Game, rollouts: int = 1, seed: int = 0) -> None:
        if rollouts < 1:
            raise UserError(f"a rollout evaluator plays 1 random game or more per position, got {rollouts}")
        self._rollouts, self._num_actions = rollouts, game.num_actions
        self._seed = np.uint64(seed % 2**64)
        self._weights = new_weights(0, game.state_size)[None]  # [1, S]
        self._weights[0, LAST_ACTION] = 0
        self._random = np.zeros(1, np.uint64)
        self._loop = _loop(lift(game).loops)
        self._logits = np.zeros((0, game.num_actions), np.float32)
        self._values = np.zeros(0, np.float32)

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        count = len(states)
        if count > len(self._values):
            self._logits = np.zeros((count, self._num_actions), np.float32)
            self._values = np.zeros(count, np.float32)
        values = self._values[:count]
        self._loop(states, self._rollouts, self._num_actions, self._seed, self._weights, self._random, values)
        return Evaluation(self._logits[:count], values)


@lru_cache(maxsize=64)
def _loop(loops: Loops) -> Kernel:
    """The loop over a batch, compiled once for all games that share their rules."""
    playouts = loops.playouts

    @loops.compiled
    def loop(
        states: State,
        count: int,
        num_actions: int,
        seed: np.uint64,
        weights: Bits,
        random: Random,
        values: Floats,
    ) -> None:
        for b in range(len(states)):
            random[0] = seed ^ mix(weighted_sum(states, b, weights, 0))
            values[b] = playouts(states[b], count, random, num_actions) / count

    return loop
