"""What the rules leave no choice about is answered by the rules; the rest is what the evaluator behind says."""

from dataclasses import replace

import numpy as np
import pytest

from tengen import games
from tengen.evaluators.evaluator import Evaluation
from tengen.evaluators.forced import MOST_REPLIES, SeesForced
from tengen.evaluators.wins import MOST_ACTIONS, sees_wins
from tengen.games.batch import LOSS, UNKNOWN, WIN
from tengen.games.game import Game, State
from tests.evaluators.fakes import FakeEvaluator, legal_actions, positions

GAMES = ["tictactoe", "connect4", "gomoku6", "gomoku9", "standard15", "caro15", "renju15", "hex7", "othello6"]
DISCOUNT = 0.9


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


def safe(game: Game, state: State) -> set[int]:
    """The moves after which the opponent cannot win at once, by trying every move and every reply."""
    if game.num_actions > MOST_ACTIONS:
        return {int(action) for action in np.flatnonzero(game.legal_mask(state))}
    found = set()
    for action in np.flatnonzero(game.legal_mask(state)):
        after = game.after(state, int(action))
        if game.outcome(after)[0] or after[-1] == state[-1] or not winning(game, after):
            found.add(int(action))
    return found


def expected(game: Game, state: State, replies: int = 0) -> tuple[int, int, State, float]:
    """(proven, distance, the position to ask about, the factor of its value), one position at a time."""
    if winning(game, state):
        return WIN, 1, state, 1.0
    moves = safe(game, state)
    if not moves:
        return LOSS, 2, state, 1.0
    pruned = 2 if len(moves) < game.legal_mask(state).sum() else 0
    if len(moves) > 1 or replies == MOST_REPLIES:
        return UNKNOWN, pruned, state, 1.0
    after = game.after(state, next(iter(moves)))
    if game.outcome(after)[0]:
        return UNKNOWN, pruned, state, 1.0
    proven, distance, end, factor = expected(game, after, replies + 1)
    sign = 1 if after[-1] == state[-1] else -1
    if proven == UNKNOWN:
        return UNKNOWN, pruned, end, sign * DISCOUNT * factor
    is_won = (proven == WIN) == (sign > 0)
    return (WIN if is_won else LOSS), max(distance + 1, pruned), state, 1.0


def looked_at(game: Game, inner: FakeEvaluator) -> SeesForced:
    return SeesForced(inner, game, sees_wins(game), DISCOUNT)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("gives_plies_left", [True, False])
def test_it_answers_where_nothing_is_left_to_choose_and_asks_elsewhere(
    name: str, gives_plies_left: bool
) -> None:
    game = games.find(name)
    states = positions(game, 200)
    legal = legal_actions(game, states)
    inner, alone = (FakeEvaluator(game, gives_plies_left=gives_plies_left) for _ in range(2))
    found = looked_at(game, inner).evaluate(states, legal)
    assert found.proven is not None and found.distance is not None and found.playable is not None
    num_won = num_forced = 0
    for i, state in enumerate(states):
        proven, distance, end, factor = expected(game, state)
        assert (found.proven[i], found.distance[i]) == (proven, distance)
        wins, moves = winning(game, state), safe(game, state)
        plain: Evaluation = alone.evaluate(end[None], legal_actions(game, end[None]))
        if proven == WIN:
            num_won += 1
            best = np.flatnonzero(legal[i] & (found.logits[i] == found.logits[i][legal[i]].max()))
            assert set(best.tolist()) == (wins or moves)
            assert found.values[i] == pytest.approx(DISCOUNT**distance)
            chances = np.exp(found.logits[i][legal[i]] - found.logits[i].max())
            assert chances.sum() == pytest.approx(len(wins or moves), abs=1e-3)
        elif factor == 1.0:
            assert np.array_equal(found.logits[i], plain.logits[0]) and found.values[i] == plain.values[0]
        else:
            num_forced += 1
            assert found.logits[i].argmax() == next(iter(moves)) and len(moves) == 1
            assert found.values[i] == pytest.approx(factor * plain.values[0])
        is_pruned = proven == UNKNOWN or (proven == WIN and not wins)
        assert set(np.flatnonzero(found.playable[i])) == (
            moves if is_pruned else set(np.flatnonzero(legal[i]))
        )
        if gives_plies_left and found.plies_left is not None and plain.plies_left is not None:
            later = 0 if proven == WIN else round(np.log(abs(factor)) / np.log(DISCOUNT))
            assert found.plies_left[i] == (distance if proven == WIN else later + plain.plies_left[0])
    assert inner.num_asked == len(states) - num_won
    assert num_won > 0
    assert num_forced > 0 or game.num_actions > MOST_ACTIONS
    assert (found.plies_left is not None) == gives_plies_left


def test_a_batch_of_wins_asks_nobody() -> None:
    game = games.find("connect4")
    states = np.stack([state for state in positions(game, 300) if winning(game, state)])
    inner = FakeEvaluator(game)
    found = SeesForced(inner, game, sees_wins(game), discount=1.0).evaluate(
        states, legal_actions(game, states)
    )
    assert len(states) > 5 and inner.num_asked == 0 and (found.values == 1.0).all()


@pytest.mark.parametrize("name", ["connect4", "renju15"])
def test_a_game_that_does_not_say_what_wins_is_played(name: str) -> None:
    game = games.find(name)
    silent = replace(game, wins=None)
    states = positions(game, 100)
    legal = legal_actions(game, states)
    one = looked_at(game, FakeEvaluator(game)).evaluate(states, legal)
    other = looked_at(silent, FakeEvaluator(game)).evaluate(states, legal)
    assert np.array_equal(one.logits, other.logits) and np.array_equal(one.values, other.values)
