"""The compiled searches against slow_search: the same visits, values and proofs at every root.

float32 and float64 may part ways where two scores are almost equal: at most 1 % of the trees may differ.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pytest

from tengen.evaluators.evaluator import Evaluation, Evaluator
from tengen.evaluators.forced import SeesForced
from tengen.evaluators.wins import sees_wins
from tengen.games.game import Mask, State
from tengen.search.gumbel import Gumbel, gumbel_noise, halving
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tengen.search.result import Result
from tengen.tactics.fours import SeesFours, has_fours

from . import slow_search
from .noisy import NoisyEvaluator, find_game, random_positions
from .slow_search import Node, SlowGumbel, SlowPuct, World

GAMES = ("tictactoe", "connect4", "gomoku6", "othello6", "connect6")
CERTAIN = "with an evaluator that knows what is forced in "
WORLDS = (*GAMES, *(CERTAIN + name for name in ("tictactoe", "connect4", "gomoku6")))
BUDGETS = (2, 4, 8, 32, 100)
NUM_POSITIONS = 24


@lru_cache
def world_of(name: str) -> tuple[World, State]:
    """A game with noise for an evaluator, and positions to search."""
    game, evaluator = find_game(name.removeprefix(CERTAIN)), NoisyEvaluator()
    if not name.startswith(CERTAIN):
        return World(game, evaluator), random_positions(game, NUM_POSITIONS)
    look = SeesFours(game, max_nodes=1_000_000) if has_fours(game) else sees_wins(game)
    return World(game, SeesForced(evaluator, game, look, 0.97)), random_positions(game, NUM_POSITIONS)


@dataclass
class Tally:
    """How many trees have been compared, and how many had other visits than expected."""

    trees: int = 0
    different: int = 0

    def compare(self, result: Result, roots: list[Node], discount: float) -> list[int]:
        """Checks all that both searches report; returns the trees that have the same visits."""
        same = []
        for tree, root in enumerate(roots):
            self.trees += 1
            expected = np.zeros(result.visits.shape[1], np.int32)
            for action, count in root.visits.items():
                expected[action] = count
            if not np.array_equal(result.visits[tree], expected):
                self.different += 1
                continue
            assert set(np.flatnonzero(result.legal[tree])) == set(root.priors)
            assert result.root_proven[tree] == root.proven
            if root.proven != slow_search.UNKNOWN:
                assert result.root_distance[tree] == root.distance
            assert abs(result.values[tree] - slow_search.mean_value(root, discount)) < 1e-4
            if root.proven == slow_search.UNKNOWN:
                assert result.simulations[tree] == 1 + expected.sum()
            for action, child in root.children.items():
                q = slow_search.edge_value(root, action, discount)
                assert abs(result.q[tree, action] - q) < 1e-4
                assert result.proven[tree, action] == seen_from_root(root, child)
                if child.proven != slow_search.UNKNOWN:
                    assert result.distance[tree, action] == child.distance + 1
            same.append(tree)
        return same

    def check(self) -> None:
        assert self.trees >= 100
        assert self.different <= 0.01 * self.trees, f"{self.different} of {self.trees} trees differ"


def seen_from_root(root: Node, child: Node) -> int:
    """A child's proven result for the player to move at the root."""
    turned = {slow_search.WIN: slow_search.LOSS, slow_search.LOSS: slow_search.WIN}
    return child.proven if child.to_move == root.to_move else turned.get(child.proven, child.proven)


def check_choice(result: Result, tree: int, root: Node) -> None:
    """The move by rank; the policy by visits, or that move alone if it is proven to win."""
    action, visits = int(result.actions[tree]), result.visits[tree]
    ranks = {action: slow_search.rank(root, action) for action in root.priors}
    assert ranks[action] == max(ranks.values())
    policy = np.eye(len(visits))[action] if root.proven == slow_search.WIN else visits / visits.sum()
    assert np.allclose(result.policy[tree], policy, atol=1e-6)


# ---- PUCT


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize(
    ("c_puct", "fpu_reduction", "discount"),
    [(1.5, None, 1.0), (1.5, 0.2, 0.97), (0.6, None, 0.97), (3.0, 0.0, 1.0)],
)
def test_puct(name: str, c_puct: float, fpu_reduction: float | None, discount: float) -> None:
    world, states = world_of(name)
    settings = Puct(c_puct=c_puct, fpu_reduction=fpu_reduction)
    search = Search(world.game, world.evaluator, settings, len(states), max(BUDGETS), discount=discount)
    search.begin(states)
    slow = SlowPuct(c_puct, fpu_reduction, discount)
    roots = [world.root(state, discount) for state in states]
    tally, done = Tally(), 0
    for budget in BUDGETS:
        search.run(budget - done)
        for root in roots:
            for _ in range(budget - done):
                slow_search.puct_round(root, world, slow)
        done = budget
        result = search.result()
        for tree in tally.compare(result, roots, discount):
            check_choice(result, tree, roots[tree])
    tally.check()


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize(("leaves_per_round", "virtual_loss"), [(2, 1.0), (5, 0.5), (8, 2.0)])
def test_puct_with_several_leaves_a_round(name: str, leaves_per_round: int, virtual_loss: float) -> None:
    """Many small trees near the end of the game: leaves of one round prove things together."""
    discount, num_simulations = 0.97, 20
    world, _ = world_of(name)
    settings, slow = Puct(virtual_loss=virtual_loss), SlowPuct(1.5, None, discount, virtual_loss)
    search = Search(world.game, world.evaluator, settings, 1, num_simulations, leaves_per_round, discount)
    tally = Tally()
    for state in random_positions(world.game, 120, seed=leaves_per_round):
        search.begin(state[None])
        search.run(num_simulations)
        root, done = world.root(state, discount), 0
        while done < num_simulations and root.proven == slow_search.UNKNOWN:
            done += slow_search.puct_round(root, world, slow, min(leaves_per_round, num_simulations - done))
        tally.compare(search.result(), [root], discount)
    tally.check()


@pytest.mark.parametrize("name", ["connect4", CERTAIN + "gomoku6"])
def test_puct_with_flatter_priors(name: str) -> None:
    """P = softmax(logits / T): of the log of a prior, only its differences matter."""
    temperature, num_simulations, discount = 1.5, 60, 0.97
    world, states = world_of(name)
    settings = Puct(c_puct=0.8, prior_temperature=temperature)
    search = Search(
        world.game, world.evaluator, settings, len(states) * 5, num_simulations, discount=discount
    )
    search.begin(np.concatenate([states] * 5))
    search.run(num_simulations)
    flatter = World(world.game, Flatter(world.evaluator, temperature))
    roots = [flatter.root(state, discount) for state in states] * 5
    for root in roots[: len(states)]:
        for _ in range(num_simulations):
            slow_search.puct_round(root, flatter, SlowPuct(0.8, None, discount))
    tally = Tally()
    tally.compare(search.result(), roots, discount)
    tally.check()


@dataclass
class Flatter:
    """An evaluator whose logits are divided by a temperature."""

    evaluator: Evaluator
    temperature: float

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        found = self.evaluator.evaluate(states, legal)
        return replace(found, logits=found.logits / np.float32(self.temperature))


@pytest.mark.parametrize("leaves_per_round", [1, 2, 3, 8])
def test_whatever_is_proven_is_true(leaves_per_round: int) -> None:
    """Every node of the trees of a quarter of all tic-tac-toe positions. Leaves of one round may prove things together:
    one says that its parent is won while the other has all the rest lost."""
    game, known = find_game("tictactoe"), dict[bytes, int]()
    slow_search.minimax(game, game.new_state(), known)
    states = np.stack([np.frombuffer(key, np.int16) for key in list(known)[::4]])
    search = Search(game, NoisyEvaluator(), Puct(), len(states), 64, leaves_per_round)
    search.begin(states)
    search.run(64)
    trees, proven = search.trees, 0
    for root, count in zip(trees.roots, trees.used, strict=True):
        for node in range(root, root + count):
            if trees.nodes.proven[node] != slow_search.UNKNOWN:
                assert trees.nodes.proven[node] == known[trees.nodes.states[node].tobytes()]
                proven += 1
    assert proven > 10_000


@pytest.mark.parametrize("name", WORLDS)
def test_puct_goes_on_after_a_move(name: str) -> None:
    """What was found below the move is kept; a move that was not visited begins anew."""
    discount, num_simulations, random = 0.97, 24, np.random.default_rng(6)
    world, states = world_of(name)
    search = Search(world.game, world.evaluator, Puct(), len(states), 4 * num_simulations, discount=discount)
    search.begin(states)
    roots = [world.root(state, discount) for state in states]
    tally = Tally()
    for _ in range(5):
        search.run(num_simulations)
        for root in roots:
            for _ in range(num_simulations):
                slow_search.puct_round(root, world, SlowPuct(1.5, None, discount))
        result = search.result()
        tally.compare(result, roots, discount)
        actions = result.actions.copy()
        for tree in np.flatnonzero(actions >= 0):
            if tree % 3 == 0:
                actions[tree] = random.choice(np.flatnonzero(result.legal[tree]))
        search.advance(actions)
        roots = [
            slow_search.after(root, int(a), world, discount) for root, a in zip(roots, actions, strict=True)
        ]
    tally.check()


@pytest.mark.parametrize("name", ["connect4", "connect6"])
def test_puct_with_noise_at_the_root(name: str) -> None:
    """P = (1 - ε)·p + ε·η, η ~ Dir(α): gamma draws of the legal actions, divided by their sum."""
    alpha, fraction, num_simulations, discount = 0.5, 0.25, 40, 1.0
    world, states = world_of(name)
    states = np.concatenate([states] * 5)
    settings = Puct(c_puct=1.5, dirichlet_alpha=alpha, dirichlet_fraction=fraction)
    search = Search(world.game, world.evaluator, settings, len(states), num_simulations)
    search.begin(states, np.random.default_rng(5))
    search.run(num_simulations)
    result = search.result()
    draws = np.random.default_rng(5).standard_gamma(alpha, (len(states), world.game.num_actions), np.float32)
    roots = [world.root(state, discount) for state in states]
    for root, drawn in zip(roots, draws, strict=True):
        total = sum(drawn[action] for action in root.priors)
        for action in root.priors:
            root.priors[action] = (1 - fraction) * root.priors[action] + fraction * drawn[action] / total
        for _ in range(num_simulations):
            slow_search.puct_round(root, world, SlowPuct(1.5, None, 1.0))
    tally = Tally()
    for tree in tally.compare(result, roots, 1.0):
        for action, prior in roots[tree].priors.items():
            assert abs(result.priors[tree, action] - prior) < 1e-5
    tally.check()


# ---- Gumbel


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize(
    ("noise", "num_considered", "c_visit", "c_scale", "discount"),
    [(0.0, 16, 50, 0.1, 1.0), (1.0, 16, 50, 0.1, 0.97), (1.0, 4, 50, 1.0, 1.0), (0.5, 7, 10, 0.15, 0.97)],
)
def test_gumbel(
    name: str, noise: float, num_considered: int, c_visit: float, c_scale: float, discount: float
) -> None:
    world, states = world_of(name)
    settings = Gumbel(num_considered, noise, c_visit, c_scale)
    slow = SlowGumbel(num_considered, c_visit, c_scale, discount)
    tally = Tally()
    for budget in BUDGETS:
        search = Search(world.game, world.evaluator, settings, len(states), budget, discount=discount)
        search.begin(states, np.random.default_rng(budget))
        search.run(budget)
        result = search.result()
        random = np.random.default_rng(budget)
        draws = noise * gumbel_noise((len(states), world.game.num_actions), random)
        roots = [world.root(state, discount) for state in states]
        found = [
            slow_search.gumbel_search(root, world, slow, budget, drawn)
            for root, drawn in zip(roots, draws, strict=True)
        ]
        for tree in tally.compare(result, roots, discount):
            if roots[tree].proven != slow_search.UNKNOWN:
                check_choice(result, tree, roots[tree])
                continue
            assert result.actions[tree] == found[tree].action
            for action, probability in found[tree].policy.items():
                assert abs(result.policy[tree, action] - probability) < 1e-3
    tally.check()


@pytest.mark.parametrize(
    ("num_candidates", "num_simulations", "expected"),
    [
        (1, 4, "0 1 2 3"),
        (2, 2, "00"),
        (2, 5, "00 11 2"),
        (3, 8, "000 11 22 3"),  # two phases, the first with 8 // (2 · 3) turns; then two of the three go on
        (4, 4, "0000"),
        (4, 12, "0000 11 22 33 44"),
        (4, 16, "0000 1111 22 33 44 55"),
        (5, 7, "00000 11"),
        (7, 24, "0000000 111 222 33 44 55 66 77 8"),
        (8, 24, "00000000 1111 2222 33 44 55 66"),
        (16, 32, "0000000000000000 11111111 2222 3333"),
        (16, 10, "0000000000"),
    ],
)
def test_halving(num_candidates: int, num_simulations: int, expected: str) -> None:
    assert halving(num_candidates, num_simulations) == [int(digit) for digit in expected.replace(" ", "")]
