"""A search in slices is the same search: any slices, any variant, and after a move was played."""

from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
import pytest

from tengen.errors import UserError
from tengen.evaluators.evaluator import Evaluation
from tengen.games.game import Mask, State
from tengen.games.position import Position
from tengen.games.randomness import new_random
from tengen.search import uct
from tengen.search.gumbel import Gumbel
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tengen.search.result import Result, principal_variation
from tengen.search.selection import Selection
from tengen.search.tree import LOSS, UNKNOWN, Slots, Trees
from tengen.search.uct import Uct, UctSearch

from .fakes import HashEvaluator
from .noisy import NoisyEvaluator, find_game, random_positions
from .test_puct import assert_tree_is_sound

SETTINGS: dict[str, Selection] = {
    "puct": Puct(fpu_reduction=0.2, dirichlet_fraction=0.25),
    "gumbel": Gumbel(),
    "gumbel without noise": Gumbel(noise=0.0, num_considered=5),
}


def assert_same(one: Result, other: Result) -> None:
    for field in fields(Result):
        assert np.array_equal(getattr(one, field.name), getattr(other, field.name)), field.name


@pytest.mark.parametrize("rule", SETTINGS)
@pytest.mark.parametrize("seconds", [0.0, 0.0005])
def test_slices_change_nothing(rule: str, seconds: float) -> None:
    """Whole and in slices, read in between: bit for bit the same, before and after a move."""
    game = find_game("connect4")
    states = random_positions(game, 16, seed=5, with_ends=True)
    whole, sliced = (
        Search(game, NoisyEvaluator(), SETTINGS[rule], len(states), 200, discount=0.97) for _ in range(2)
    )
    randoms = np.random.default_rng(1), np.random.default_rng(1)
    for search, random in zip((whole, sliced), randoms, strict=True):
        search.begin(states, random)
    for budget in (48, 30):
        whole.run(budget)
        sliced.plan(budget)
        slices = 1
        while not sliced.run_for(seconds):
            sliced.result()
            slices += 1
        assert slices == budget or seconds > 0
        assert_same(sliced.result(), whole.result())
        actions = whole.result().actions
        for search, random in zip((whole, sliced), randoms, strict=True):
            search.advance(actions, random)


@pytest.mark.parametrize("leaves_per_round", [1, 3, 8])
def test_slices_of_one_tree_with_several_leaves(leaves_per_round: int) -> None:
    game = find_game("gomoku6")
    whole, sliced = (
        Search(game, HashEvaluator(), Puct(), 1, 300, leaves_per_round=leaves_per_round) for _ in range(2)
    )
    for search in (whole, sliced):
        search.begin(game.new_state()[None])
    whole.run(250)
    sliced.plan(250)
    while not sliced.run_for(0.0):
        assert sliced.new_simulations < 250
    assert_same(sliced.result(), whole.result())
    assert sliced.new_simulations == 250


def test_a_plan_is_cut_to_what_fits_and_a_full_tree_ends_the_search() -> None:
    game = find_game("connect4")
    for settings, wanted in ((Puct(), 500), (Puct(), None), (Gumbel(), 500)):
        search = Search(game, HashEvaluator(), settings, max_simulations=100)
        search.begin(game.new_state()[None])
        search.plan(wanted)
        while not search.run_for(0.001):
            pass
        assert search.new_simulations >= 100
        assert search.is_full or wanted is not None
        assert search.run_for(10.0)


def test_gumbel_must_know_its_simulations() -> None:
    game = find_game("connect4")
    search = Search(game, HashEvaluator(), Gumbel(), max_simulations=10)
    search.begin(game.new_state()[None])
    with pytest.raises(UserError, match="give their number, or use PUCT"):
        search.run_for(0.1)


def test_simulations_are_counted_as_new_ones() -> None:
    game = find_game("gomoku9")
    search = Search(game, HashEvaluator(), Puct(), max_simulations=500)
    search.begin(game.new_state()[None])
    assert search.new_simulations == 0
    search.run(200)
    assert search.new_simulations == 200
    action = search.result().actions
    below = int(search.result().visits[0, action[0]])
    assert search.advance(action).tolist() == [True]
    assert search.new_simulations == 0 and search.result().simulations[0] == below > 1
    search.run(70)
    assert search.new_simulations == 70 and search.result().simulations[0] == below + 70


@pytest.mark.parametrize("name", ["connect4", "gomoku6", "othello6", "connect6"])
def test_gumbel_goes_on_after_a_move(name: str) -> None:
    """New simulations are shared by sequential halving whatever the candidates had before, and the tree
    stays sound; the move chosen is, of the candidates that are not proven to lose, one with the most new
    visits. If all of them are, it is another move."""
    game, discount = find_game(name), 0.97
    states = random_positions(game, 16, seed=7)
    search = Search(game, NoisyEvaluator(), Gumbel(num_considered=4), len(states), 400, discount=discount)
    search.begin(states, np.random.default_rng(2))
    search.run(64)
    for _ in range(3):
        actions = search.result().actions
        kept = search.advance(actions, np.random.default_rng(3))
        before = search.result()
        search.run(24)
        after = search.result()
        assert_tree_is_sound(search.trees, discount)
        new = after.visits - before.visits
        for tree in np.flatnonzero(after.root_proven == UNKNOWN):
            k = min(4, int(after.legal[tree].sum()))
            assert new[tree].sum() == 24 and (new[tree] > 0).sum() == k
            open_ones = np.where(after.proven[tree] == LOSS, 0, new[tree])
            assert new[tree, after.actions[tree]] == open_ones.max()
            assert after.proven[tree, after.actions[tree]] != LOSS
            assert after.policy[tree].sum() == pytest.approx(1.0, abs=1e-4)
        assert kept.any()


def test_gumbel_keeps_to_what_it_found() -> None:
    """A move with a small prior that turned out best is among the candidates after a move was played."""
    game = find_game("gomoku6")
    states = random_positions(game, 64, seed=9)
    settings = Gumbel(noise=0.0, num_considered=2, c_scale=1.0)
    search = Search(game, NoisyEvaluator(), settings, len(states), 700)
    search.begin(states)
    search.run(400)
    search.advance(search.result().actions)
    kept = search.result()
    search.run(20)
    after = search.result()
    surprises, visited = 0, 0
    for tree in np.flatnonzero(after.root_proven == UNKNOWN):
        best = int(np.argmax(np.where(kept.visits[tree] > 0, kept.q[tree], -9)))
        if best not in np.argsort(-kept.priors[tree])[:2] and kept.visits[tree, best] > 0:
            surprises += 1
            visited += after.visits[tree, best] > kept.visits[tree, best]
    assert surprises >= 10 and visited >= 0.9 * surprises


@dataclass(frozen=True)
class Widest:
    """A third variant: always the unvisited move with the highest prior, at the root."""

    max_leaves_per_round: ClassVar[int] = 1
    virtual_loss: ClassVar[float] = 0.0
    prior_temperature: ClassVar[float] = 1.0

    def explore(self, trees: Trees, random: np.random.Generator) -> None:
        pass

    def plan(
        self, trees: Trees, num_simulations: int | None, random: np.random.Generator | None
    ) -> "WidestPlan":
        return WidestPlan(trees)


@dataclass(frozen=True)
class WidestPlan:
    trees: Trees

    def descend(self, slots: Slots, simulation: int) -> None:
        from tengen.search.edges import add_child

        for tree, root in enumerate(self.trees.roots):
            leaf = root + self.trees.used[tree]
            add_child(self.trees.nodes, root, self.trees.nodes.best_action[root], leaf)
            self.trees.used[tree] += 1
            slots.leaves[tree], slots.is_new[tree] = leaf, True

    def improve(self, result: Result) -> None:
        result.actions[:] = 6


def test_a_third_variant_needs_no_change_of_the_loop() -> None:
    game = find_game("connect4")
    search = Search(game, HashEvaluator(), Widest(), 2, 7)
    search.begin(np.tile(game.new_state(), (2, 1)))
    search.run(7)
    assert (search.result().visits == 1).all() and (search.result().actions == 6).all()
    assert_tree_is_sound(search.trees, 1.0)


# ---- UCT


@pytest.mark.parametrize("name", ["connect4", "gomoku9", "connect6"])
def test_slices_of_uct_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = find_game(name)
    whole, sliced = (UctSearch(game, Uct(), 5000) for _ in range(2))
    randoms = new_random(4), new_random(4)
    whole.begin(game.new_state(), randoms[0])
    sliced.begin(game.new_state(), randoms[1])
    monkeypatch.setattr(uct, "CHUNK_SECONDS", 0.0002)
    for _ in range(3):
        whole.run(1200)
        sliced.plan(1200)
        slices = 0
        while not sliced.run_for(0.0):
            slices += 1
            assert sliced.result().action >= 0
        assert slices > 2 and sliced.new_simulations == whole.new_simulations == 1200
        one, other = whole.result(), sliced.result()
        for field in fields(one):
            assert np.array_equal(getattr(one, field.name), getattr(other, field.name)), field.name
        for search, random in zip((whole, sliced), randoms, strict=True):
            assert search.advance(one.action, random)


def test_uct_has_an_answer_before_its_first_simulation() -> None:
    game = find_game("connect4")
    search = UctSearch(game, Uct(), 100)
    search.begin(game.new_state(), new_random(1))
    assert search.result().action in range(7) and search.result().simulations == 0


def test_puct_has_an_answer_and_a_line_before_its_first_simulation() -> None:
    game = find_game("connect4")
    search = Search(game, HashEvaluator(), Puct())
    search.begin(Position.start(game).state[None])
    assert search.result().actions[0] == np.argmax(search.result().priors[0])
    assert principal_variation(search.trees, 0) == []


class CountsBatches(HashEvaluator):
    """Remembers how many positions it was asked for together."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        self.sizes.append(len(states))
        return super().evaluate(states, legal)


def test_a_round_has_more_leaves_as_the_tree_grows() -> None:
    """One more for every 20 visits, up to six. Leaves that meet are evaluated once."""
    game, evaluator = find_game("gomoku9"), CountsBatches()
    search = Search(game, evaluator, Puct(), 1, 400, leaves_per_round=6, visits_per_leaf=20)
    search.begin(game.new_state()[None])
    search.run(400)
    assert search.new_simulations == 400
    visits, expected = 1, [1]  # the root
    while visits < 401:
        expected.append(min(6, 1 + visits // 20, 401 - visits))
        visits += expected[-1]
    assert len(evaluator.sizes) == len(expected)
    assert all(size <= most for size, most in zip(evaluator.sizes, expected, strict=True))
    assert evaluator.sizes[:19] == [1] * 19 and max(evaluator.sizes) == 6
