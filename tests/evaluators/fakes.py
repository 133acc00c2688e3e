"""Evaluators whose answers are exact and different for every position, and positions to ask them about."""

import numpy as np
import numpy.typing as npt

from tengen.evaluators.evaluator import Evaluation
from tengen.games.batch import lift
from tengen.games.game import LAST_ACTION, Game, Mask, State
from tengen.games.random_games import sample_positions
from tengen.games.symmetry import transform

PRIME = 1_000_003


class FakeEvaluator:
    """Answers are Σ entry · weight modulo a prime: integers, so the rest of the batch cannot change a bit."""

    def __init__(self, game: Game, sees_last_move: bool = False, gives_plies_left: bool = False) -> None:
        self.game, self.sees_last_move, self.gives_plies_left = game, sees_last_move, gives_plies_left
        random = np.random.default_rng(1)
        self.weights = random.integers(1, PRIME, (game.state_size, game.num_actions + 2))
        self.asked: list[State] = []  # the batches it was asked about

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        self.asked.append(states.copy())
        numbers = (self.numbers(states) % PRIME / PRIME).astype(np.float32)
        logits = np.where(legal, numbers[:, :-2], np.float32(-1e9))
        return Evaluation(logits, numbers[:, -2], numbers[:, -1] if self.gives_plies_left else None)

    def numbers(self, states: State) -> npt.NDArray[np.int64]:
        """int64[B, A + 2]: for the logits, the value and the plies left."""
        entries = states.astype(np.int64)
        if not self.sees_last_move:
            entries[:, LAST_ACTION] = 0
        return entries @ self.weights

    @property
    def num_asked(self) -> int:
        return sum(len(batch) for batch in self.asked)


class SymmetricFake(FakeEvaluator):
    """The sum of a fake's answers for all images of a position, turned back."""

    def numbers(self, states: State) -> npt.NDArray[np.int64]:
        total = np.zeros((len(states), self.game.num_actions + 2), np.int64)
        for g, actions in enumerate(self.game.symmetries.actions):
            turned = super().numbers(np.stack([transform(self.game, state, g) for state in states]))
            total[:, :-2] += turned[:, actions]
            total[:, -2:] += turned[:, -2:]
        return total


def positions(game: Game, count: int, seed: int = 0) -> State:
    """int16[count, S]: positions from random games, none of them over, no two alike but for the last move."""
    found: dict[bytes, State] = {}
    for sample in sample_positions(game, 3 * count + 200, seed)[0]:
        seen = sample.state.copy()
        seen[LAST_ACTION] = -1
        if not game.outcome(sample.state)[0]:
            found.setdefault(seen.tobytes(), sample.state)
    assert len(found) >= count
    return np.stack(list(found.values())[:count])


def legal_actions(game: Game, states: State) -> Mask:
    """bool[B, A]"""
    masks = np.empty((len(states), game.num_actions), np.bool_)
    lift(game).legal(states, masks)
    return masks


def assert_same(one: Evaluation, other: Evaluation) -> None:
    """Bit for bit."""
    assert np.array_equal(one.logits, other.logits)
    assert np.array_equal(one.values, other.values)
    assert (one.plies_left is None) == (other.plies_left is None)
    if one.plies_left is not None and other.plies_left is not None:
        assert np.array_equal(one.plies_left, other.plies_left)
