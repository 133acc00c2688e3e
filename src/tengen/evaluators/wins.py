"""Sees a win in one move by the rules alone, and asks another evaluator about all other positions.

A network needs long to learn what a single move does, and few simulations cannot make up for it: 32 of them
cannot look at all of 81 replies. The rules are much cheaper than the network.
"""

import numpy as np

from tengen.evaluators.evaluator import Evaluation, Evaluator
from tengen.games.batch import lift
from tengen.games.game import Game, Mask, State

SURE = np.float32(20.0)  # the logit of a winning move; the others have 0


class SeesWins:
    """Answers by itself if the player to move can win at once; the value is then `discount`, of one ply."""

    def __init__(self, evaluator: Evaluator, game: Game, discount: float) -> None:
        self._evaluator, self._batched, self._discount = evaluator, lift(game), discount

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        wins = np.zeros(legal.shape, np.bool_)
        self._batched.wins(states, legal, wins)
        is_won = wins.any(axis=1)
        if not is_won.any():
            return self._evaluator.evaluate(states, legal)
        logits = np.where(wins, SURE, np.float32(0.0))
        values = np.full(len(states), self._discount, np.float32)
        plies_left = np.ones(len(states), np.float32)
        others = np.flatnonzero(~is_won)
        if not len(others):
            return Evaluation(logits, values, plies_left)
        found = self._evaluator.evaluate(states[others], legal[others])
        logits[others], values[others] = found.logits, found.values
        if found.plies_left is None:
            return Evaluation(logits, values)
        plies_left[others] = found.plies_left
        return Evaluation(logits, values, plies_left)
