"""Targets, by hand."""

from dataclasses import replace

import numpy as np
import pytest

from tengen import games
from tengen.evaluators.uniform import UniformEvaluator
from tengen.games.position import Position
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tengen.search.tree import LOSS, WIN
from tengen.training import targets


def values(
    thought: list[float], full: list[bool], proven: list[bool], td_lambda: float, end: float = -1.0
) -> list[float]:
    """Of a game whose players alternate, 1 first; `end` for the player who would move next."""
    to_move = np.array([1 + t % 2 for t in range(len(thought))], np.int16)
    found = targets.values(
        np.array(thought, np.float32), np.array(full), np.array(proven), to_move, end,
        last_to_move=1 + len(thought) % 2, discount=0.5, td_lambda=td_lambda,
    )  # fmt: skip
    return [float(value) for value in found]


def test_full_trust_is_the_end_of_the_game_discounted_and_signed() -> None:
    assert values([0.3, 0.3, 0.3], [True] * 3, [False] * 3, td_lambda=1) == [0.125, -0.25, 0.5]


def test_no_trust_is_what_the_search_thought() -> None:
    assert values([0.25, -0.5, 0.75], [True] * 3, [False] * 3, td_lambda=0) == [0.25, -0.5, 0.75]


def test_between_the_two_each_search_has_its_say() -> None:
    # the last ply: 0.5 · 0.75 + 0.5 · (0.5 · 1) = 0.625;  the one before: 0.5 · -0.5 + 0.5 · (-0.5 · 0.625)
    assert values([-0.5, 0.75], [True] * 2, [False] * 2, td_lambda=0.5) == pytest.approx([-0.40625, 0.625])


def test_a_ply_searched_in_haste_passes_on_what_came_later() -> None:
    assert values([0.9, 0.3], [False, True], [False] * 2, td_lambda=0.5)[0] == pytest.approx(-0.5 * 0.4)


def test_a_proven_result_outweighs_what_was_played_after_it() -> None:
    """The first player had a win in three and missed it."""
    assert values([0.125, 0.0, 0.0], [True] * 3, [True, False, False], td_lambda=1, end=1.0)[0] == 0.125


def test_a_player_who_moves_twice_keeps_the_sign() -> None:
    found = targets.values(
        np.zeros(2, np.float32), np.ones(2, np.bool_), np.zeros(2, np.bool_), np.array([1, 1], np.int16),
        end=-1.0, last_to_move=2, discount=1.0, td_lambda=1.0,
    )  # fmt: skip
    assert found.tolist() == [1.0, 1.0]


def search(moves: str, simulations: int) -> Search:
    game = games.find("connect4")
    found = Search(game, UniformEvaluator(), Puct(), 1, simulations)
    found.begin(Position.from_moves(game, moves).state[None])
    found.run(simulations)
    return found


def test_the_policy_of_a_proven_win_is_its_fastest_moves() -> None:
    """Two on the bottom row, open on both sides: a third on either side wins in three plies."""
    result = search("3344", 3000).result()
    assert result.root_proven[0] == WIN and result.root_distance[0] == 3
    won, plies = np.array([[0, WIN, 0, WIN, WIN, 0, 0]], np.int8), np.array([[1, 3, 1, 5, 3, 1, 1]], np.int16)
    both = replace(result, proven=won, distance=plies)
    assert targets.policies(both)[0].tolist() == [0, 0.5, 0, 0, 0.5, 0, 0]


def test_the_policy_of_a_proven_loss_is_its_slowest_moves() -> None:
    """Three on the bottom row, open on both sides: every move loses in two plies."""
    result = search("33445", 3000).result()
    assert result.root_proven[0] == LOSS
    assert targets.policies(result)[0] == pytest.approx(np.full(7, 1 / 7))


def test_the_value_of_a_search_is_that_of_the_policy_it_found() -> None:
    result = search("4444", 50).result()
    policy = targets.policies(result)
    by_hand = sum(policy[0, a] * result.q[0, a] for a in range(7) if result.visits[0, a] > 0)
    assert targets.root_values(result, policy)[0] == pytest.approx(by_hand, abs=1e-6)
