"""Playing a move keeps what was found below it, and nothing else."""

import numpy as np
import pytest

from tengen import games
from tengen.games.position import Position
from tengen.games.randomness import new_random
from tengen.search import reuse
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tengen.search.result import principal_variation
from tengen.search.tree import NONE, UNKNOWN, Trees, children
from tengen.search.uct import OPPOSITE, Uct, UctSearch

from .fakes import HashEvaluator
from .noisy import NoisyEvaluator, find_game, random_positions
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
    assert search.advance(before.actions).all()
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
    assert search.advance(np.array([unvisited, kept], np.int32)).tolist() == [False, True]
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


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "gomoku6", "othello6", "connect6"])
@pytest.mark.parametrize("leaves_per_round", [1, 4])
def test_a_kept_tree_is_sound_and_what_it_proved_stays(name: str, leaves_per_round: int) -> None:
    """Played on from anywhere, also where a player passes or moves twice running: every visit is counted once,
    sums have the sign of the player who chose, and each kept node is the one it was."""
    game, discount = find_game(name), 0.97
    states = random_positions(game, 12, seed=3)
    search = Search(
        game, NoisyEvaluator(), Puct(), len(states), 600, leaves_per_round=leaves_per_round, discount=discount
    )
    search.begin(states)
    random = np.random.default_rng(4)
    num_kept, num_proven = 0, 0
    for _ in range(6):
        search.run(min(60, search.room))
        result = search.result()
        actions = result.actions.copy()
        for tree in np.flatnonzero(actions != NONE)[::3]:  # also moves that the search does not like
            actions[tree] = random.choice(np.flatnonzero(result.legal[tree]))
        below = [
            statistics_below(search.trees, tree, int(action)) if action != NONE else {}
            for tree, action in enumerate(actions)
        ]
        kept = search.advance(actions)
        assert_tree_is_sound(search.trees, discount)
        for tree in np.flatnonzero(kept):
            found = statistics_below(search.trees, int(tree))
            root = found.pop(()), below[tree].pop(())
            assert root[0][0] == root[1][0] and root[0][2:] == root[1][2:]  # its sum is for another player
            assert found == below[tree]
            num_kept += len(found)
            num_proven += sum(node[2] != UNKNOWN for node in found.values())
    assert num_kept > 100 and num_proven > 0


def statistics_below(
    trees: Trees, tree: int, action: int | None = None
) -> dict[tuple[int, ...], tuple[float, ...]]:
    """Each node below the root, or below one of its moves, by the actions that lead to it from there."""
    nodes, found = trees.nodes, dict[tuple[int, ...], tuple[float, ...]]()
    start = int(trees.roots[tree])
    stack: list[tuple[tuple[int, ...], int]] = [((), start)]
    if action is not None:
        stack = [((), child) for child in children(nodes, start) if nodes.actions[child] == action]
    while stack:
        path, node = stack.pop()
        found[path] = (
            int(nodes.visits[node]), float(nodes.value_sums[node]), int(nodes.proven[node]),
            int(nodes.distance[node]), int(nodes.to_move[node]), int(nodes.num_legal[node]),
            int(nodes.num_children[node]), float(nodes.values[node]), hash(nodes.states[node].tobytes()),
            float(nodes.priors[node].sum()) if nodes.num_legal[node] != NONE else 0.0,
        )  # fmt: skip
        stack += [((*path, int(nodes.actions[child])), child) for child in children(nodes, node)]
    return found


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "othello6", "connect6"])
def test_uct_keeps_its_subtree(name: str) -> None:
    """To the end of a game: visits stay and add up, what was proven stays, and new trees begin where needed."""
    game, random, choice = find_game(name), new_random(2), np.random.default_rng(3)
    search = UctSearch(game, Uct(), 1000)
    state = game.new_state()
    search.begin(state, random)
    kept_any = False
    for ply in range(8):
        search.run(min(300, search.room))
        before = search.result()
        action = before.action if ply % 3 else int(choice.choice(np.flatnonzero(game.legal_mask(state))))
        mover, state = state[-1], game.after(state, action)
        if game.outcome(state)[0]:
            break
        kept = search.advance(action, random)
        assert kept == (before.visits[action] > 0)
        assert np.array_equal(search.nodes.states[0], state) and search.new_simulations == 0
        after = search.result()
        if kept:
            kept_any = True
            assert after.visits.sum() == before.visits[action] - 1  # the first was its own rollout
            assert int(search.nodes.visits[0]) == before.visits[action]
            proven = before.proven[action]
            assert after.root_proven == (proven if state[-1] == mover else OPPOSITE[proven])
        else:
            assert search.used == 1 and after.visits.sum() == 0
        assert_uct_is_sound(search)
        new = min(50, search.room)
        search.run(new)
        assert_uct_is_sound(search)
        if not search.is_proven:
            assert search.result().visits.sum() == after.visits.sum() + new
    assert kept_any


def assert_uct_is_sound(search: UctSearch) -> None:
    """A child comes after its parent; each visit of a node but its own rollout is one of a child's."""
    nodes = search.nodes
    for node in range(search.used):
        below = children(nodes, node)
        assert all(child > node and nodes.parents[child] == node for child in below)
        visits = sum(int(nodes.visits[child]) for child in below)
        own = 0 if node == 0 and nodes.actions[0] == NONE else 1
        assert nodes.visits[node] == visits + own
        assert abs(nodes.value_sums[node]) <= nodes.visits[node] + 1e-9


def test_a_kept_tree_is_moved_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    game = games.find("connect4")
    found = []
    for chunk in (1, 7, 4096):
        monkeypatch.setattr(reuse, "CHUNK", chunk)
        search = Search(game, HashEvaluator(), Puct(), 1, 1000)
        search.begin(game.new_state()[None])
        search.run(800)
        search.advance(search.result().actions)
        assert search.trees.used[0] > 50
        found.append(statistics_below(search.trees, 0))
    assert found[0] == found[1] == found[2]
