"""PUCT by hand-made cases, by what must hold in every tree, and by playing."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tengen import games
from tengen.errors import UserError
from tengen.evaluators.rollout import RolloutEvaluator
from tengen.evaluators.uniform import UniformEvaluator
from tengen.games.game import Game, State
from tengen.games.position import Position
from tengen.search.gumbel import Gumbel, halving
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tengen.search.result import sample_actions, temperatures
from tengen.search.tree import DRAW, LOSS, NONE, UNKNOWN, WIN, Trees, bytes_per_node, new_trees, nodes_in

from .fakes import ConstantEvaluator, GoodForTheFirst, HashEvaluator, PriorEvaluator

GAMES = ["tictactoe", "connect4", "gomoku6", "othello6", "hex7"]
CONNECT6 = Path(__file__).parents[2] / "examples" / "connect6.py"


def connect6() -> Game:
    games.load_file(CONNECT6)
    return games.find("connect6")


def random_states(game: Game, count: int, max_plies: int, seed: int = 0) -> State:
    """Positions after random moves, not over."""
    random = np.random.default_rng(seed)
    found: list[State] = []
    while len(found) < count:
        state = game.new_state()
        for _ in range(random.integers(0, max_plies + 1)):
            state = game.after(state, int(random.choice(np.flatnonzero(game.legal_mask(state)))))
            if game.outcome(state)[0]:
                break
        else:
            found.append(state)
    return np.stack(found)


def searched(
    game: str, moves: str, simulations: int, settings: Puct | Gumbel, discount: float = 0.97
) -> tuple[Search, Position]:
    position = Position.from_moves(game, moves)
    search = Search(
        position.game, UniformEvaluator(), settings, max_simulations=simulations, discount=discount
    )
    search.begin(position.state[None])
    search.run(simulations)
    return search, position


def chosen(search: Search, position: Position) -> str:
    return position.game.moves.name(int(search.result().actions[0]))


# ---- what must hold in every tree


def assert_tree_is_sound(trees: Trees, discount: float) -> None:
    """Every visit is counted once, and every value has the sign of the player who chose the edge."""
    for tree in range(trees.num_trees):
        first = tree * trees.capacity
        for node in range(first, first + int(trees.used[tree])):
            below, sums = 0, 0.0
            child = int(trees.nodes.first_child[node])
            shares = float(trees.nodes.priors[node].sum())
            while child != NONE:
                assert trees.nodes.parents[child] == node and child > node
                below += int(trees.nodes.visits[child])
                sums += float(trees.nodes.value_sums[child])
                shares += float(trees.nodes.edge_priors[child])
                child = int(trees.nodes.next_sibling[child])
            if trees.nodes.proven[node] != UNKNOWN:
                continue
            assert trees.nodes.visits[node] == 1 + below
            assert shares == pytest.approx(1.0, abs=1e-4)
            own = float(trees.nodes.values[node]) + sums
            parent = int(trees.nodes.parents[node])
            if parent != NONE:
                own *= discount if trees.nodes.to_move[parent] == trees.nodes.to_move[node] else -discount
            assert float(trees.nodes.value_sums[node]) == pytest.approx(own, abs=2e-3)


@pytest.mark.parametrize("name", [*GAMES, "connect6"])
@pytest.mark.parametrize("leaves_per_round", [1, 4])
def test_every_tree_is_sound(name: str, leaves_per_round: int) -> None:
    game = connect6() if name == "connect6" else games.find(name)
    states = random_states(game, 12, max_plies=6)
    search = Search(
        game, HashEvaluator(), Puct(), len(states), 120, leaves_per_round=leaves_per_round, discount=0.97
    )
    search.begin(states)
    search.run(120)
    assert_tree_is_sound(search.trees, 0.97)
    visits, proven = search.result().simulations, search.result().root_proven
    assert visits.max() <= 121
    if leaves_per_round == 1:  # a tree stops when its result is proven
        assert (visits[proven == UNKNOWN] == 121).all()


@pytest.mark.parametrize("name", [*GAMES, "connect6"])
def test_every_gumbel_tree_is_sound(name: str) -> None:
    game = connect6() if name == "connect6" else games.find(name)
    states = random_states(game, 12, max_plies=6)
    search = Search(game, HashEvaluator(), Gumbel(), len(states), 64, discount=0.97)
    search.begin(states, np.random.default_rng(1))
    search.run(64)
    assert_tree_is_sound(search.trees, 0.97)


# ---- signs


def test_a_position_that_is_good_for_the_opponent_is_bad_for_me() -> None:
    search = Search(games.find("connect4"), ConstantEvaluator(0.5), Puct(), max_simulations=7)
    search.begin(games.find("connect4").new_state()[None])
    search.run(7)
    assert search.result().q[0] == pytest.approx(-0.5)


def test_the_sign_stays_when_the_same_player_moves_again() -> None:
    """Connect6: after black's one stone white puts two; the first of them keeps white to move."""
    game = connect6()
    position = Position.start(game).play("f6")
    search = Search(game, ConstantEvaluator(0.5), Puct(), max_simulations=121, discount=1.0)
    search.begin(position.state[None])
    search.run(1)
    assert search.result().q[0].max() == 0.5 and search.result().q[0].min() == 0
    search.run(1)  # black is to move after the second stone, and what is good for black is bad for white
    assert search.result().q[0].max() == pytest.approx((0.5 - 0.5) / 2)


def test_a_win_with_the_first_of_two_stones_is_a_win() -> None:
    game = connect6()
    position = Position.from_moves(game, "a1 f6 g6 a2 a3 h6 i6 a4 b1 j6 k9 b2 c1")  # white has five: f6-j6
    assert position.to_move == 2
    search = Search(game, UniformEvaluator(), Puct(), max_simulations=150)
    search.begin(position.state[None])
    search.run(150)
    result = search.result()
    assert result.root_proven[0] == WIN and result.root_distance[0] == 1
    assert game.moves.name(int(result.actions[0])) in ("e6", "k6")


# ---- rules of selection


def test_the_first_visits_follow_the_prior() -> None:
    logits = [0.0, 3.0, 1.0, 0.0, 0.0, 2.0, 0.0]
    search = Search(games.find("connect4"), PriorEvaluator(logits), Puct(c_puct=1.0), max_simulations=1)
    search.begin(games.find("connect4").new_state()[None])
    search.run(1)
    assert search.result().visits[0].tolist() == [0, 1, 0, 0, 0, 0, 0]
    assert search.result().priors[0] == pytest.approx(np.exp(logits) / np.exp(logits).sum(), rel=1e-5)


def test_visits_by_hand() -> None:
    """Two moves with priors .7 and .3, all values 0: the larger P·√N / (1 + n) each time."""
    game = games.find("mnk:rows=1,cols=2,k=2")
    search = Search(game, PriorEvaluator([np.log(7 / 3), 0.0]), Puct(c_puct=1.0), max_simulations=3)
    search.begin(game.new_state()[None])
    for expected in ([1, 0], [2, 0], [2, 1]):  # .7 > .3;  .7·√2/2 = .49 > .3·√2 = .42;  .7·√3/3 = .40 < .3·√3
        search.run(1)
        assert search.result().visits[0].tolist() == expected


def test_first_play_urgency_keeps_the_search_of_a_lost_position_deep() -> None:
    """Taken for even, every unvisited move looks better than what is known."""
    game = games.find("gomoku9")
    lost = Position.start(game).play("e5").state[None]

    def moves_tried(settings: Puct) -> int:
        search = Search(game, GoodForTheFirst(0.9), settings, max_simulations=60)
        search.begin(lost)
        search.run(60)
        return int((search.result().visits > 0).sum())

    assert moves_tried(Puct(fpu_reduction=None)) == 60
    assert moves_tried(Puct(fpu_reduction=0.2)) < 20


def test_an_illegal_move_is_never_visited() -> None:
    search, _ = searched("connect4", "444444", 500, Puct())
    assert search.result().visits[0, 3] == 0 and not search.result().legal[0, 3]


# ---- proven results


def test_proven_win_beats_most_visits() -> None:
    """X wins at once with c1, however much the prior and the visits say a3."""
    position = Position.from_moves("tictactoe", "a1 a2 b1 b2")
    a3, c1 = position.parse("a3"), position.parse("c1")
    logits = np.zeros(9)
    logits[a3] = 6.0
    search = Search(position.game, PriorEvaluator(logits.tolist()), Puct(), max_simulations=400)
    search.begin(position.state[None])
    search.run(400)
    assert search.result().visits[0, a3] > search.result().visits[0, c1]
    assert search.result().actions[0] == c1


@pytest.mark.parametrize(
    ("lcb", "visits", "q", "action"),
    [
        (0.0, [100, 60, 3], [0.10, 0.30, 0.90], 0),  # the most visited
        (0.5, [100, 60, 3], [0.10, 0.30, 0.90], 1),  # 0.050, 0.235; the third has too few visits to count
        (0.5, [100, 60, 3], [0.10, 0.11, 0.90], 0),  # 0.050, 0.045: not sure enough
        (20.0, [100, 60, 3], [0.10, 0.30, 0.90], 0),  # -1.90, -2.28
    ],
)
def test_the_move_to_play_has_the_highest_lower_confidence_bound(
    lcb: float, visits: list[int], q: list[float], action: int
) -> None:
    search, _ = searched("connect4", "", 1, Puct(lcb=lcb))
    result = search.result()
    result.visits[0, :3], result.q[0, :3], result.visits[0, 3:] = visits, q, 0
    result.actions[0] = int(np.argmax(visits))
    Puct(lcb=lcb).plan(search.trees, None, None).improve(result)
    assert result.actions[0] == action
    result.proven[0, action], result.actions[0] = LOSS, 2
    Puct(lcb=0.5).plan(search.trees, None, None).improve(result)
    assert result.actions[0] == 1 - action  # never a proven loss
    result.root_proven[0], result.actions[0] = WIN, 6
    Puct(lcb=0.5).plan(search.trees, None, None).improve(result)
    assert result.actions[0] == 6  # what is proven is exact


def test_a_win_in_one_is_found_and_the_search_stops() -> None:
    search, position = searched("connect4", "445566", 1000, Puct())
    assert chosen(search, position) in ("3", "7")
    result = search.result()
    assert result.root_proven[0] == WIN and result.root_distance[0] == 1
    assert result.simulations[0] < 100 and result.policy[0].max() == 1.0


def test_the_fastest_win_is_played() -> None:
    """X wins at once in column 1, and would win later too: the sooner win counts."""
    search, position = searched("connect4", "121212", 4000, Puct())
    assert chosen(search, position) == "1"
    assert search.result().root_distance[0] == 1


def test_a_drawn_board_is_a_proven_draw() -> None:
    search, _ = searched("tictactoe", "b2 a1 c3 a3 a2 c2 b1", 100, Puct())
    assert search.result().root_proven[0] == DRAW
    assert search.result().values[0] == 0


def test_a_proven_value_is_discounted_by_its_distance() -> None:
    search, _ = searched("connect4", "445566", 100, Puct(), discount=0.9)
    assert search.result().values[0] == pytest.approx(0.9)


# ---- noise, temperature


def test_noise_mixes_into_the_roots_priors() -> None:
    game = games.find("connect4")
    logits = [0.0, 3.0, 1.0, 0.0, 0.0, 2.0, 0.0]
    plain = np.exp(logits) / np.exp(logits).sum()
    settings = Puct(dirichlet_alpha=1.0, dirichlet_fraction=0.25)
    search = Search(game, PriorEvaluator(logits), settings, num_trees=500, max_simulations=1)
    search.begin(np.tile(game.new_state(), (500, 1)), np.random.default_rng(3))
    priors = search.result().priors
    assert priors.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    assert (priors >= 0.75 * plain - 1e-6).all()
    assert priors.mean(axis=0) == pytest.approx(0.75 * plain + 0.25 / 7, abs=0.01)
    assert priors.std(axis=0).min() > 0.01


def test_without_a_generator_there_is_no_noise() -> None:
    game = games.find("connect4")
    search = Search(game, UniformEvaluator(), Puct(dirichlet_fraction=0.25), max_simulations=1)
    search.begin(game.new_state()[None])
    assert search.result().priors[0] == pytest.approx(1 / 7)


def test_noise_never_falls_on_illegal_moves() -> None:
    position = Position.from_moves("connect4", "444444")
    settings = Puct(dirichlet_fraction=0.5)
    search = Search(position.game, UniformEvaluator(), settings, num_trees=50, max_simulations=1)
    search.begin(np.tile(position.state, (50, 1)), np.random.default_rng(3))
    assert (search.result().priors[:, 3] == 0).all()


def test_temperature_draws_in_proportion_to_visits() -> None:
    game = games.find("connect4")
    search = Search(game, PriorEvaluator([0, 3, 1, 0, 0, 2, 0]), Puct(), num_trees=4000, max_simulations=40)
    search.begin(np.tile(game.new_state(), (4000, 1)))
    search.run(40)
    result, random = search.result(), np.random.default_rng(5)
    shares = np.bincount(sample_actions(result, 1.0, random), minlength=7) / 4000
    assert shares == pytest.approx(result.visits[0] / 40, abs=0.03)
    squared = (result.visits[0] / 40.0) ** 2
    sharper = np.bincount(sample_actions(result, 0.5, random), minlength=7) / 4000
    assert sharper == pytest.approx(squared / squared.sum(), abs=0.03)
    assert (sample_actions(result, 0.0, random) == result.actions).all()


def test_temperature_falls_to_zero_after_the_first_plies() -> None:
    assert temperatures(np.array([0, 9, 10, 11], np.int32), first_plies=10).tolist() == [1, 1, 0, 0]


def test_self_play_does_not_collapse_to_one_opening() -> None:
    """With noise and τ = 1, first moves stay varied even under a prior that is nearly sure of one."""
    game = games.find("gomoku9")
    logits = np.zeros(81)
    logits[40] = 6.0  # 0.83 of the prior
    settings = Puct(dirichlet_fraction=0.25)
    search = Search(game, PriorEvaluator(logits.tolist()), settings, num_trees=1000, max_simulations=100)
    random = np.random.default_rng(2)
    search.begin(np.tile(game.new_state(), (1000, 1)), random)
    search.run(100)
    shares = np.bincount(sample_actions(search.result(), 1.0, random), minlength=81) / 1000
    entropy = -(shares[shares > 0] * np.log2(shares[shares > 0])).sum()
    assert entropy > 1.5


# ---- playing


def play_games(game: Game, count: int, searcher: int | None, seed: int) -> dict[int | None, int]:
    """How many games each player won; the searcher plays 1 or 2 against random moves, or both sides.

    Uniform priors, values by one random game, a thousand simulations.
    """
    random = np.random.default_rng(seed)
    states = np.tile(game.new_state(), (count, 1))
    winners: dict[int | None, int] = {1: 0, 2: 0, None: 0}
    while len(states):
        to_move = int(states[0, -1])
        if searcher in (None, to_move):
            search = Search(game, RolloutEvaluator(game, seed=seed), Puct(), len(states), 1000, discount=0.97)
            search.begin(states)
            search.run(1000)
            actions = search.result().actions.tolist()
        else:
            actions = [int(random.choice(np.flatnonzero(game.legal_mask(state)))) for state in states]
        states = np.stack([game.after(s, a) for s, a in zip(states, actions, strict=True)])
        ended = np.array([game.outcome(state)[0] for state in states])
        for state in states[ended]:
            winners[Position(game, state.copy()).winner] += 1
        states = states[~ended]
    return winners


@pytest.mark.parametrize("searcher", [1, 2, None])
def test_tictactoe_is_never_lost(searcher: int | None) -> None:
    """500 games against random moves as either side, and against itself."""
    winners = play_games(games.find("tictactoe"), 500, searcher, seed=searcher or 0)
    assert sum(winners.values()) == 500
    if searcher is None:
        assert winners[None] == 500
    else:
        assert winners[3 - searcher] == 0 and winners[searcher] > 300


# ---- limits


def test_a_search_that_does_not_fit_says_so() -> None:
    game = games.find("connect4")
    search = Search(game, UniformEvaluator(), Puct(), max_simulations=10)
    search.begin(game.new_state()[None])
    search.run(8)
    with pytest.raises(UserError, match="5 simulations do not fit: the trees have room for 2 more"):
        search.run(5)
    with pytest.raises(UserError, match="expected 1 states of connect4"):
        search.begin(np.tile(game.new_state(), (2, 1)))
    with pytest.raises(UserError, match="do not fit in a pool"):
        new_trees(game, 1_000_000, 10_000)
    with pytest.raises(UserError, match="GiB, this machine has"):
        new_trees(games.find("gomoku15"), 1, 1_000_000_000)
    with pytest.raises(UserError, match="Gumbel search finds at most 1 leaf per round, got 4: use PUCT"):
        Search(game, UniformEvaluator(), Gumbel(), leaves_per_round=4)


def test_memory_stays_within_what_was_asked() -> None:
    game = games.find("gomoku15")
    assert bytes_per_node(game) <= 2 * game.state_size + 4 * game.num_actions + 56
    assert bytes_per_node(game) * 256 * 401 < 256 * 2**20
    assert bytes_per_node(game) * 1_000_001 < 2 * 2**30
    assert nodes_in(256 * 2**20, game) == 256 * 2**20 // bytes_per_node(game)
    assert nodes_in(2**60, game) == 2**31 - 1  # nodes are numbered by int32
    with pytest.raises(UserError, match="a search tree of gomoku15 needs at least 2,832 bytes, got 1,000"):
        nodes_in(1000, game)


def test_a_search_can_be_stopped_and_read_and_continued() -> None:
    game = games.find("connect4")
    search = Search(game, HashEvaluator(), Puct(), max_simulations=300)
    search.begin(game.new_state()[None])
    search.plan(300)
    for _ in range(50):
        assert not search.run_for(0.0)  # a round
    assert search.result().visits.sum() == search.new_simulations == 50
    while not search.run_for(0.001):
        pass
    whole = Search(game, HashEvaluator(), Puct(), max_simulations=300)
    whole.begin(game.new_state()[None])
    whole.run(300)
    assert (search.result().visits == whole.result().visits).all()
    assert search.is_full and search.run_for(10.0)  # returns at once


def test_a_finished_game_has_no_move() -> None:
    position = Position.from_moves("tictactoe", "a1 a2 b1 b2 c1")
    for settings in (Puct(), Gumbel()):
        search = Search(position.game, UniformEvaluator(), settings, max_simulations=10)
        search.begin(position.state[None])
        search.run(10)
        result = search.result()
        assert result.actions[0] == NONE and result.root_proven[0] == LOSS and result.values[0] == -1


@pytest.mark.parametrize(
    ("candidates", "simulations"), [(1, 5), (2, 8), (4, 12), (7, 32), (16, 64), (16, 10)]
)
def test_halving_visits_the_better_half_more(candidates: int, simulations: int) -> None:
    sequence = halving(candidates, simulations)
    assert len(sequence) == simulations
    counts = [sequence.count(visits) for visits in range(max(sequence) + 1)]
    assert counts[0] == min(candidates, simulations)
    assert all(a >= b for a, b in pairwise(counts))
    assert all(count >= min(2, candidates) for count in counts[:-1])
