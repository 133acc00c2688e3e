"""UCT with rollouts: what it proves is true, what it plays is sensible, and it does what it was asked to."""

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from tengen import games
from tengen.errors import UserError
from tengen.games.game import TO_MOVE, Game, State
from tengen.games.randomness import new_random
from tengen.search import uct
from tengen.search.tree import DRAW, LOSS, UNKNOWN, WIN
from tengen.search.uct import Uct, UctResult, UctSearch, nodes_in, prepare, search
from tengen.search.uct_nodes import UctNodes, back_up, make_root, new_nodes

EXAMPLES = Path(__file__).parents[2] / "examples"
TICTACTOE, CONNECT4 = games.find("tictactoe"), games.find("connect4")
VALUES = {WIN: 1.0, LOSS: -1.0, DRAW: 0.0}

Minimax = dict[bytes, tuple[float, int]]


def after(game: Game, moves: str) -> State:
    """The position after moves, as people write them: "4 4 5"."""
    state = game.new_state()
    for move in moves.split():
        state = game.after(state, game.moves.action(move))
    return state


def legal_actions(game: Game, state: State) -> list[int]:
    return [int(action) for action in np.flatnonzero(game.legal_mask(state))]


def minimax(game: Game, state: State, known: Minimax) -> tuple[float, int]:
    """(value for the player to move, plies to the end), by trying everything."""
    key = state.tobytes()
    if key not in known:
        is_over, value = game.outcome(state)
        known[key] = value, 0
        if not is_over:
            replies = [after_action(game, state, action, known) for action in legal_actions(game, state)]
            value = max(reply[0] for reply in replies)
            plies = [reply[1] for reply in replies if reply[0] == value]
            known[key] = value, min(plies) if value > 0 else max(plies)
    return known[key]


def after_action(game: Game, state: State, action: int, known: Minimax) -> tuple[float, int]:
    """(value for the player to move now, plies to the end) of an action."""
    next_state = game.after(state, action)
    value, plies = minimax(game, next_state, known)
    return value if next_state[TO_MOVE] == state[TO_MOVE] else -value, plies + 1


def random_positions(game: Game, count: int, min_plies: int, max_plies: int, seed: int) -> Iterator[State]:
    """Positions of random games, not over."""
    random = np.random.default_rng(seed)
    while count > 0:
        state = game.new_state()
        for _ in range(random.integers(min_plies, max_plies + 1)):
            state = game.after(state, int(random.choice(legal_actions(game, state))))
            if game.outcome(state)[0]:
                break
        else:
            count -= 1
            yield state


def assert_equal(one: UctResult, other: UctResult) -> None:
    for field in fields(UctResult):
        assert np.array_equal(getattr(one, field.name), getattr(other, field.name)), field.name


# Proven results


def test_win_in_one_is_found_and_proven() -> None:
    found = search(CONNECT4, after(CONNECT4, "1 1 2 2 3 3"), 100, Uct(), new_random(1))
    assert found.action == 3 and found.principal_variation == [3]
    assert found.root_proven == found.proven[3] == WIN
    assert found.distance[3] == 1 and found.values[3] == 1.0
    assert found.simulations <= 7  # the seven moves are tried first, and a proof ends the search


def test_forced_loss_is_recognised() -> None:
    """Three open stones in the bottom row: whichever side is blocked, the other one wins."""
    found = search(CONNECT4, after(CONNECT4, "3 3 4 4 5"), 10_000, Uct(), new_random(1))
    assert found.root_proven == LOSS and found.simulations < 10_000
    assert (found.proven == LOSS).all() and (found.values == -1.0).all() and (found.distance == 2).all()
    assert len(found.principal_variation) == 2


def test_slowest_loss_is_played() -> None:
    known: Minimax = {}
    slower = 0
    for state in random_positions(TICTACTOE, 300, 3, 6, seed=4):
        value, plies = minimax(TICTACTOE, state, known)
        if value < 0:
            found = search(TICTACTOE, state, 20_000, Uct(), new_random(4))
            assert found.distance[found.action] == found.distance.max() >= plies
            slower += plies > 2
    assert slower > 0


def test_proven_results_of_tictactoe_equal_minimax() -> None:
    known: Minimax = {}
    seen = {UNKNOWN: 0, WIN: 0, LOSS: 0, DRAW: 0}
    for seed, state in enumerate(random_positions(TICTACTOE, 200, 2, 7, seed=1)):
        found = search(TICTACTOE, state, 100_000, Uct(), new_random(seed))
        value, plies = minimax(TICTACTOE, state, known)
        assert VALUES[found.root_proven] == VALUES[int(found.proven[found.action])] == value
        assert found.distance[found.action] >= plies or value == 0
        for action in np.flatnonzero(found.proven):
            exact, plies = after_action(TICTACTOE, state, int(action), known)
            assert VALUES[int(found.proven[action])] == exact == found.values[action]
            assert found.distance[action] >= plies or exact == 0
        seen[found.root_proven] += 1
    assert seen[UNKNOWN] == 0 and min(seen[WIN], seen[LOSS], seen[DRAW]) > 10


def test_the_line_of_a_proven_win_wins() -> None:
    state = after(CONNECT4, "4 1 5 1")  # X makes an open three
    found = search(CONNECT4, state, 20_000, Uct(), new_random(1))
    assert found.root_proven == WIN
    assert len(found.principal_variation) == found.distance[found.action] == 3
    for action in found.principal_variation:
        state = CONNECT4.after(state, action)
    assert CONNECT4.outcome(state) == (True, -1.0)


# Games in which a player moves twice running


@pytest.fixture(scope="module")
def connect6() -> Game:
    with pytest.MonkeyPatch.context() as patch:  # other tests load this file too
        patch.setattr(games, "REGISTRY", {k: v for k, v in games.REGISTRY.items() if k != "connect6"})
        games.load_file(EXAMPLES / "connect6.py")
        return games.REGISTRY["connect6"]()


def crowded(game: Game, row_five: str, to_move: int, *empty: int) -> State:
    """A full board of pairs without six in a row, but for the first cells of one row and these empty cells."""
    row, col = np.divmod(np.arange(121), 11)
    state = game.new_state()
    state[:121] = 1 + (row + col // 2) % 2
    state[55 : 55 + len(row_five)] = [".XO".index(cell) for cell in row_five]
    state[list(empty)] = 0
    state[-4:] = np.count_nonzero(state[:121]), 0, 0, to_move
    return state


def test_first_of_two_stones_wins(connect6: Game) -> None:
    state = crowded(connect6, "XXXXX.", 1, 0, 10, 120)
    assert connect6.after(state, 60)[TO_MOVE] == 1  # still the winner's turn
    found = search(connect6, state, 100, Uct(), new_random(1))
    assert found.action == 60 and found.proven[60] == WIN and found.values[60] == 1.0


@pytest.mark.parametrize(
    ("to_move", "empty", "expected"),
    [
        (1, (0, 10), {59: WIN, 60: WIN}),  # X puts both stones there; other first stones leave only one
        (2, (0, 10), {0: DRAW, 10: DRAW, 59: DRAW, 60: DRAW}),  # O blocks with the first or the second stone
        (2, (0,), {0: LOSS, 59: DRAW, 60: DRAW}),  # O has only one stone left to block with
    ],
)
def test_two_stones_a_turn(
    connect6: Game, to_move: int, empty: tuple[int, ...], expected: dict[int, int]
) -> None:
    state = crowded(connect6, "XXXX..", to_move, *empty)
    found = search(connect6, state, 1000, Uct(), new_random(1))
    known: Minimax = {}
    assert VALUES[found.root_proven] == minimax(connect6, state, known)[0]
    proven = {int(action): int(found.proven[action]) for action in np.flatnonzero(found.proven)}
    assert proven.items() <= expected.items()
    assert found.root_proven == WIN or proven == expected
    for action, code in proven.items():
        assert VALUES[code] == after_action(connect6, state, action, known)[0]


@pytest.mark.parametrize(("to_move", "sign"), [(1, 1), (2, -1)])
def test_rollouts_count_for_the_player_who_chose(connect6: Game, to_move: int, sign: int) -> None:
    """Only X can win here, so X likes every move, and O none, before anything is proven."""
    state = crowded(connect6, "XXXX..", to_move, 0, 10, 110, 120)
    found = search(connect6, state, 6, Uct(rollouts_per_leaf=64), new_random(1))
    assert found.root_proven == UNKNOWN and sorted(found.visits)[-6:] == [1] * 6
    assert (sign * found.values >= 0).all()
    assert np.count_nonzero(found.values) >= 3


# Play


def test_never_loses_tictactoe_to_random() -> None:
    random, choice = new_random(7), np.random.default_rng(7)
    wins = 0
    for number in range(100):
        state, me = TICTACTOE.new_state(), 1 + number % 2
        while not TICTACTOE.outcome(state)[0]:
            action = int(choice.choice(legal_actions(TICTACTOE, state)))
            if state[TO_MOVE] == me:
                action = search(TICTACTOE, state, 2000, Uct(), random).action
            state = TICTACTOE.after(state, action)
        value = TICTACTOE.outcome(state)[1]
        assert value == 0 or (value > 0) == (state[TO_MOVE] == me)
        wins += value != 0
    assert wins > 70


@pytest.mark.parametrize("num_simulations", [100, 400, 800])
def test_takes_wins_and_stops_threats_in_connect4(num_simulations: int) -> None:
    taken, stopped = 0, 0
    for seed, state in enumerate(random_positions(CONNECT4, 300, 7, 24, seed=2)):
        mine, theirs = winning_columns(state, state[TO_MOVE]), winning_columns(state, 3 - state[TO_MOVE])
        if not mine and len(theirs) != 1:
            continue
        found = search(CONNECT4, state, num_simulations, Uct(), new_random(seed))
        if mine:
            assert found.action in mine
            taken += 1
        elif found.root_proven != LOSS:
            assert found.action in theirs
            stopped += 1
    assert taken > 30 and stopped > 30


def winning_columns(state: State, player: int) -> list[int]:
    """Where a player would win at once, if it were their turn."""
    turned = state.copy()
    turned[TO_MOVE] = player
    actions = legal_actions(CONNECT4, turned)
    return [action for action in actions if CONNECT4.outcome(CONNECT4.after(turned, action)) == (True, -1.0)]


# Hand-made roots: each child as (action, visits, value sum, proven for the player who chose it, distance)

Child = tuple[int, int, float, int, int]


@pytest.mark.parametrize(
    ("children", "action"),
    [
        ([(0, 9, 5.0, UNKNOWN, 0), (1, 5, 4.0, UNKNOWN, 0)], 0),  # most visits
        ([(0, 9, 5.0, UNKNOWN, 0), (1, 9, 6.0, UNKNOWN, 0)], 1),  # of equal visits, the higher value
        ([(0, 9, 5.0, UNKNOWN, 0), (1, 1, 1.0, WIN, 4)], 1),  # a proven win beats most visits
        ([(0, 9, 9.0, WIN, 4), (1, 1, 1.0, WIN, 2)], 1),  # the fastest win
        ([(0, 9, -9.0, LOSS, 5), (1, 1, -1.0, UNKNOWN, 0)], 1),  # anything beats a proven loss
        ([(0, 9, -9.0, LOSS, 1), (1, 1, -1.0, LOSS, 3)], 1),  # the slowest loss
        ([(0, 9, -2.0, UNKNOWN, 0), (1, 1, 0.0, DRAW, 4)], 1),  # a sure draw beats what looks worse
        ([(0, 9, 2.0, UNKNOWN, 0), (1, 1, 0.0, DRAW, 4)], 0),  # and not what looks better
        ([(0, 9, 0.0, DRAW, 2), (1, 1, 0.0, DRAW, 4)], 1),  # the longest draw: the opponent may go wrong
    ],
)
def test_best_move(children: list[Child], action: int) -> None:
    for order in (children, children[::-1]):
        found = uct._result(TICTACTOE, hand_made(order), used=len(order) + 1, simulations=20)
        assert found.action == action
        for child, visits, value_sum, proven, distance in children:
            assert (found.visits[child], found.proven[child]) == (visits, proven)
            assert found.values[child] == pytest.approx(value_sum / visits)
            assert found.distance[child] == (distance + 1 if proven else 0)


def test_untried_move_is_better_than_proven_loss() -> None:
    tree = hand_made([(0, 1, -1.0, LOSS, 0)])
    assert uct._result(TICTACTOE, tree, used=2, simulations=1).action == 0
    tree.num_untried[0], tree.untried[0, 0] = 1, 7
    found = uct._result(TICTACTOE, tree, used=2, simulations=1)
    assert found.action == 7 and found.principal_variation == [7]


@pytest.mark.parametrize(
    ("siblings", "num_untried", "proven"),
    [
        ([], 0, LOSS),
        ([], 1, UNKNOWN),  # not lost while a move is untried
        ([(1, 1, -1.0, UNKNOWN, 0)], 0, UNKNOWN),  # nor while one is open
        ([(1, 1, -1.0, LOSS, 0)], 0, LOSS),
        ([(1, 1, 0.0, DRAW, 0)], 0, DRAW),
    ],
)
def test_what_a_lost_move_proves(siblings: list[Child], num_untried: int, proven: int) -> None:
    tree = hand_made([(0, 0, 0.0, LOSS, 2), *siblings])
    tree.num_untried[0] = num_untried
    tree.has_draw[0] = any(sibling[3] == DRAW for sibling in siblings)
    back_up(tree, 1, 1.0)
    assert (tree.visits[1], tree.value_sums[1], tree.visits[0]) == (1, -1.0, 1)
    assert tree.value_sums[0] == (0.0 if proven == DRAW else -1.0)
    assert tree.proven[0] == proven and tree.distance[0] == {UNKNOWN: 0, LOSS: 3, DRAW: 1}[proven]


def hand_made(children: list[Child]) -> UctNodes:
    tree = new_nodes(TICTACTOE, 21)
    make_root(tree, TICTACTOE.new_state())
    tree.num_untried[0] = 0
    for node, (action, visits, value_sum, proven, distance) in enumerate(children, start=1):
        tree.parents[node], tree.actions[node], tree.first_child[node] = 0, action, -1
        tree.next_sibling[node], tree.first_child[0] = tree.first_child[0], node
        tree.visits[node], tree.value_sums[node], tree.distance[node] = visits, value_sum, distance
        tree.to_move[node] = 2  # so what is won for the chooser is lost for the player to move
        tree.proven[node] = uct.OPPOSITE[proven]
    return tree


# What was asked for


@pytest.mark.parametrize("rollouts_per_leaf", [1, 4, 16])
def test_visits_count_simulations_whatever_the_rollouts(rollouts_per_leaf: int) -> None:
    settings = Uct(rollouts_per_leaf=rollouts_per_leaf)
    found = search(CONNECT4, CONNECT4.new_state(), 500, settings, new_random(1))
    assert found.simulations == found.visits.sum() == 500
    assert (np.abs(found.values) <= 1).all() and found.values.any()
    sums = found.values * found.visits * rollouts_per_leaf  # of rollouts that end in +1, 0 or -1
    assert np.allclose(sums, np.rint(sums), atol=1e-2)


def test_more_rollouts_make_values_less_noisy() -> None:
    def spread(rollouts_per_leaf: int) -> float:
        settings, start = Uct(rollouts_per_leaf=rollouts_per_leaf), CONNECT4.new_state()
        values = [search(CONNECT4, start, 7, settings, new_random(seed)).values for seed in range(100)]
        return float(np.std(values))

    assert 0.15 < spread(16) / spread(1) < 0.4  # 1 / √16, and what differs between the moves


def test_more_exploration_spreads_the_visits() -> None:
    visits = [
        search(CONNECT4, CONNECT4.new_state(), 2000, Uct(c=c), new_random(1)).visits for c in (0.3, 1.4, 6.0)
    ]
    assert visits[0].max() > visits[1].max() > visits[2].max()


def test_same_seed_same_result() -> None:
    state = after(CONNECT4, "4 4 3")
    one, same, other = (search(CONNECT4, state, 1000, Uct(), new_random(seed)) for seed in (5, 5, 6))
    assert_equal(one, same)
    assert not np.array_equal(one.visits, other.visits)


@pytest.mark.parametrize("chunk_seconds", [0.0, 10.0])
def test_looks_at_the_clock_do_not_change_the_result(
    monkeypatch: pytest.MonkeyPatch, chunk_seconds: float
) -> None:
    state = after(CONNECT4, "4 4 3")
    expected = search(CONNECT4, state, 3000, Uct(), new_random(5))
    monkeypatch.setattr(uct, "CHUNK_SECONDS", chunk_seconds)
    assert_equal(search(CONNECT4, state, 3000, Uct(), new_random(5), seconds=1e9), expected)


def test_time_ends_a_search() -> None:
    prepare(CONNECT4)
    for seconds in (0.0, 0.02):
        found = search(CONNECT4, CONNECT4.new_state(), 1_000_000, Uct(), new_random(1), seconds)
        assert 1 <= found.simulations == found.visits.sum() < 1_000_000


def test_state_is_left_alone() -> None:
    state = after(CONNECT4, "4 4 3")
    before = state.copy()
    search(CONNECT4, state, 200, Uct(), new_random(1))
    assert np.array_equal(state, before)


def test_line_is_playable() -> None:
    state = after(CONNECT4, "4 4 3")
    found = search(CONNECT4, state, 2000, Uct(), new_random(1))
    assert found.principal_variation[0] == found.action == np.argmax(found.visits)
    assert len(found.principal_variation) > 2
    for action in found.principal_variation:
        assert action in legal_actions(CONNECT4, state)
        state = CONNECT4.after(state, action)


def test_memory_has_a_limit() -> None:
    """A tree that is full ends the search."""
    most = nodes_in(2**20, CONNECT4) - 1
    tree = UctSearch(CONNECT4, Uct(), most + 1)
    tree.begin(CONNECT4.new_state(), new_random(1))
    assert tree.run_for(None) and tree.is_full
    assert tree.result().simulations == tree.new_simulations == most > 1000
    assert 2**20 - 500 < tree.memory <= 2**20
    tree.begin(CONNECT4.new_state(), new_random(1))
    with pytest.raises(
        UserError, match=f"{most + 1} simulations do not fit: the tree has room for {most} more"
    ):
        tree.run(most + 1)
    assert nodes_in(2**31, games.find("gomoku15")) > 1_000_000
    assert nodes_in(10**15, TICTACTOE) == 2**31 - 1  # nodes are numbered by int32


def test_senseless_requests_are_refused() -> None:
    with pytest.raises(UserError, match="simulations is 1 or more, got 0"):
        search(CONNECT4, CONNECT4.new_state(), 0, Uct(), new_random(1))
    with pytest.raises(UserError, match="this game of connect4 is over"):
        search(CONNECT4, after(CONNECT4, "1 2 1 2 1 2 1"), 10, Uct(), new_random(1))
    with pytest.raises(UserError, match="c is a number from 0 up, got -1"):
        Uct(c=-1)
    with pytest.raises(UserError, match="rollouts_per_leaf is 1 or more, got 0"):
        Uct(rollouts_per_leaf=0)
