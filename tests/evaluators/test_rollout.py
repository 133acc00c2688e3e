"""Rollouts: the right sign, the right mean, and the same for a position wherever it stands."""

from pathlib import Path

import numpy as np
import pytest

from tengen import games
from tengen.errors import UserError
from tengen.evaluators.rollout import RolloutEvaluator
from tengen.games.batch import lift
from tengen.games.game import LAST_ACTION, TO_MOVE, Game, State
from tengen.games.randomness import new_random
from tests.evaluators.fakes import legal_actions, positions

CONNECT6 = Path(__file__).parents[2] / "examples" / "connect6.py"


def values(game: Game, states: list[State] | State, rollouts: int = 1, seed: int = 0) -> list[float]:
    batch = np.stack(list(states))
    found = RolloutEvaluator(game, rollouts, seed).evaluate(batch, legal_actions(game, batch))
    return [float(value) for value in found.values]


def after(game: Game, moves: str) -> State:
    state = game.new_state()
    for name in game.moves.split(moves):
        state = game.after(state, game.moves.action(name))
    return state


def test_the_sign_is_that_of_the_player_to_move() -> None:
    """X has three in the middle of the bottom row, both ends open."""
    game = games.find("connect4")
    wins_next, loses_soon = after(game, "334455"), after(game, "33445")
    won, lost = values(game, [wins_next, loses_soon], rollouts=500)
    assert won > 0.5
    assert lost < -0.3


def test_a_finished_game_is_worth_its_result() -> None:
    game = games.find("connect4")
    assert values(game, [after(game, "3344556")], rollouts=3) == [-1.0]


@pytest.mark.parametrize("name", ["connect4", "gomoku9", "othello6", "hex7"])
def test_the_mean_agrees_with_plain_playouts(name: str) -> None:
    game, count = games.find(name), 4000
    batch = positions(game, 30)[::10]
    for state, value in zip(batch, values(game, batch, count, seed=5), strict=True):
        plain = lift(game).playouts(state, count, new_random(6)) / count
        # Results lie in [-1, 1]: the difference of two means has a standard deviation of at most √(2 / count).
        assert abs(value - plain) < 5 * (2 / count) ** 0.5


def test_streams_of_different_states_are_different() -> None:
    """One rollout for each of many positions has the mean of many rollouts for each."""
    game = games.find("gomoku9")
    batch = positions(game, 2000)
    few, many = np.mean(values(game, batch)), np.mean(values(game, batch, rollouts=50))
    assert abs(few - many) < 5 * (1.02 / len(batch)) ** 0.5


@pytest.mark.parametrize("name", ["connect4", "gomoku9", "othello6"])
def test_a_value_does_not_depend_on_the_batch(name: str) -> None:
    game = games.find(name)
    batch = positions(game, 50)
    together = values(game, batch, rollouts=3)
    assert values(game, batch[::-1], rollouts=3) == together[::-1]
    assert [values(game, [state], rollouts=3)[0] for state in batch] == together
    assert values(game, batch, rollouts=3, seed=1) != together


def test_a_value_does_not_depend_on_the_way_to_the_position() -> None:
    game = games.find("gomoku9")
    batch = positions(game, 50)
    elsewhere = batch.copy()
    elsewhere[:, LAST_ACTION] = -1
    assert values(game, batch, rollouts=3) == values(game, elsewhere, rollouts=3)


def test_arrays_fit_the_batch_and_the_states_stay_as_they_are() -> None:
    game = games.find("othello6")
    evaluator, batch = RolloutEvaluator(game), positions(game, 20)
    before = batch.copy()
    for size in (3, 20, 0, 5):
        found = evaluator.evaluate(batch[:size], legal_actions(game, batch[:size]))
        assert found.logits.shape == (size, 37)
        assert not found.logits.any()
        assert found.values.tolist() == values(game, batch)[:size]
    assert np.array_equal(batch, before)


def test_a_player_who_moves_twice_running(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connect6, two or three points left: X wins at f11, with either stone of a turn.

        a b c d e f g …
    11  X X X X X . …      elsewhere stripes without a row of six
    """
    monkeypatch.setattr(games, "REGISTRY", {k: v for k, v in games.REGISTRY.items() if k != "connect6"})
    games.load_file(CONNECT6)
    game = games.REGISTRY["connect6"]()
    rows, cols = np.indices((11, 11))
    board = 1 + (rows + cols // 2) % 2
    board[0, :6] = 1, 1, 1, 1, 1, 0
    board[6, 5] = 0

    def position(to_move: int) -> State:
        state = game.new_state()
        state[game.cells], state[TO_MOVE] = board.ravel(), to_move
        state[-4] = np.count_nonzero(board)
        return state

    # X has both stones to come, O cannot win
    wins, draws = values(game, [position(to_move=1), position(to_move=2)], rollouts=100)
    assert wins == 1
    assert draws == 0
    board[8, 5] = 0
    # O has one stone to come and blocks once in three times, then X has two
    assert -0.8 < values(game, [position(to_move=2)], rollouts=500)[0] < -0.5


def test_at_least_one_rollout() -> None:
    with pytest.raises(UserError, match="1 random game or more per position, got 0"):
        RolloutEvaluator(games.find("connect4"), rollouts=0)
