"""Playing a move keeps what was found below it, and nothing else."""

import numpy as np
import pytest

from tengen import games
from tengen.games.position import Position
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tengen.search.result import principal_variation
from tengen.search.tree import UNKNOWN

from .fakes import HashEvaluator
from .test_puct import assert_tree_is_sound, random_states


@pytest.mark.parametrize("name", ["connect4", "gomoku6", "othello6"])
def test_the_subtree_is_kept_whole(name: str) -> None:
    game = games.find(name)
    states = random_states(game, 20, max_plies=4, seed=1)
    search = Search(game, HashEvaluator(), Puct(), len(states), 400, discount=0.97)
    search.begin(states)
    search.run(200)
    before = search.result()
    lines = [principal_variation(search.trees, tree) for tree in range(len(states))]
    search.advance(before.actions)
    after = search.result()
    for tree, (state, action) in enumerate(zip(states, before.actions, strict=True)):
        assert np.array_equal(
            search.trees.nodes.states[search.trees.roots[tree]], game.after(state, int(action))
        )
        assert after.simulations[tree] == before.visits[tree, action] >= search.trees.used[tree]
        assert principal_variation(search.trees, tree) == lines[tree][1:]
        assert after.values[tree] == pytest.approx(-before.q[tree, action] / 0.97, abs=1e-4)
    assert_tree_is_sound(search.trees, 0.97)
    search.run(150)
    assert_tree_is_sound(search.trees, 0.97)
    open_still = search.result().root_proven == UNKNOWN
    assert (search.result().simulations == after.simulations + 150)[open_still].all() and open_still.any()


def test_a_move_nobody_looked_at_begins_a_new_tree() -> None:
    game = games.find("gomoku9")
    search = Search(game, HashEvaluator(), Puct(), 2, 50)
    search.begin(np.tile(game.new_state(), (2, 1)))
    search.run(10)
    unvisited = int(np.flatnonzero(search.result().visits[0] == 0)[0])
    kept = int(search.result().actions[1])
    search.advance(np.array([unvisited, kept], np.int32))
    assert search.trees.used[0] == 1 and search.result().simulations[0] == 1
    assert search.result().simulations[1] > 1
    search.run(30)
    assert_tree_is_sound(search.trees, 1.0)


def test_a_whole_game_is_played_in_one_pool() -> None:
    """Each move keeps its subtree; the pool never grows, and the game is the one on the board."""
    game = games.find("connect4")
    search = Search(game, HashEvaluator(), Puct(), 1, 200, discount=0.98)
    position = Position.start(game)
    search.begin(position.state[None])
    while not position.is_over:
        search.run(min(60, search.room))
        action = int(search.result().actions[0])
        position = position.play(action)
        search.advance(np.array([action], np.int32))
        assert np.array_equal(search.trees.nodes.states[0], position.state)
        if not search.is_proven:
            assert_tree_is_sound(search.trees, 0.98)
    assert search.is_proven
