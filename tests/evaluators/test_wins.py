"""Wins in one move are seen by the rules; everything else is what the evaluator behind says."""

from dataclasses import replace

import numpy as np
import pytest

from tengen import games
from tengen.evaluators.wins import SeesWins
from tengen.games.game import Game, State
from tests.evaluators.fakes import FakeEvaluator, legal_actions, positions

GAMES = ["tictactoe", "connect4", "gomoku6", "gomoku9", "standard15", "caro15", "renju15", "hex7", "othello6"]


def winning(game: Game, state: State) -> set[int]:
    """By trying every move."""
    me = int(state[-1])
    found = set()
    for action in np.flatnonzero(game.legal_mask(state)):
        after = game.after(state, int(action))
        is_over, value = game.outcome(after)
        if is_over and value == (1 if after[-1] == me else -1):
            found.add(int(action))
    return found


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("gives_plies_left", [True, False])
def test_it_answers_where_a_move_wins_and_asks_elsewhere(name: str, gives_plies_left: bool) -> None:
    game = games.find(name)
    states = positions(game, 200)
    legal = legal_actions(game, states)
    inner, alone = (FakeEvaluator(game, gives_plies_left=gives_plies_left) for _ in range(2))
    found, plain = SeesWins(inner, game, discount=0.9).evaluate(states, legal), alone.evaluate(states, legal)
    num_won = 0
    for i, state in enumerate(states):
        wins = winning(game, state)
        if wins:
            num_won += 1
            best = np.flatnonzero(legal[i] & (found.logits[i] == found.logits[i][legal[i]].max()))
            assert set(best.tolist()) == wins and found.values[i] == np.float32(0.9)
            chances = np.exp(found.logits[i][legal[i]] - found.logits[i].max())
            assert chances.sum() == pytest.approx(len(wins), abs=1e-3)
        else:
            assert np.array_equal(found.logits[i], plain.logits[i]) and found.values[i] == plain.values[i]
        if gives_plies_left and found.plies_left is not None and plain.plies_left is not None:
            assert found.plies_left[i] == (1 if wins else plain.plies_left[i])
    assert inner.num_asked == len(states) - num_won
    assert num_won > 0
    assert (found.plies_left is not None) == gives_plies_left


def test_a_batch_of_wins_asks_nobody() -> None:
    game = games.find("connect4")
    states = np.stack([state for state in positions(game, 300) if winning(game, state)])
    inner = FakeEvaluator(game)
    found = SeesWins(inner, game, discount=1.0).evaluate(states, legal_actions(game, states))
    assert len(states) > 5 and inner.num_asked == 0 and (found.values == 1.0).all()


@pytest.mark.parametrize("name", ["connect4", "renju15"])
def test_a_game_that_does_not_say_what_wins_is_played(name: str) -> None:
    game = games.find(name)
    silent = replace(game, wins=None)
    states = positions(game, 100)
    legal = legal_actions(game, states)
    one = SeesWins(FakeEvaluator(game), game, 0.9).evaluate(states, legal)
    other = SeesWins(FakeEvaluator(game), silent, 0.9).evaluate(states, legal)
    assert np.array_equal(one.logits, other.logits) and np.array_equal(one.values, other.values)
