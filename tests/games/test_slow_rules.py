"""The m,n,k family against slow_rules: random games and random boards, every rule, every empty point."""

import random

import numpy as np
import pytest

from tengen import games
from tengen.games import renju
from tengen.games.game import TO_MOVE, Game, State

from . import slow_rules
from .slow_rules import Board, Point

VERDICTS = {
    renju.LEGAL: slow_rules.LEGAL,
    renju.FIVE: slow_rules.FIVE,
    renju.OVERLINE: slow_rules.OVERLINE,
    renju.DOUBLE_FOUR: slow_rules.DOUBLE_FOUR,
    renju.DOUBLE_THREE: slow_rules.DOUBLE_THREE,
}


def mnk(rows: int, cols: int, k: int, rule: str) -> Game:
    return games.find(f"mnk:rows={rows},cols={cols},k={k},rule={rule}")


def empty_board(rows: int, cols: int) -> Board:
    return slow_rules.read(["." * cols] * rows)


def draw(board: Board) -> str:
    return "\n" + "\n".join(slow_rules.draw(board))


def assert_same_end(game: Game, state: State, board: Board, winner: str | None, is_over: bool) -> None:
    """The product agrees on whether the game is over, and who won ("X", "O" or nobody)."""
    values = {None: 0.0, "X": 1.0, "O": -1.0}
    value = values[winner] * (1 if state[TO_MOVE] == 1 else -1)
    assert game.outcome(state) == (is_over, value), draw(board)


# ---- freestyle, standard, caro


@pytest.mark.parametrize("rule", ["freestyle", "standard", "caro", "caro-exact"])
@pytest.mark.parametrize(
    ("rows", "cols", "k"), [(3, 3, 3), (4, 9, 3), (7, 6, 4), (8, 8, 5), (10, 7, 5), (1, 12, 2), (15, 15, 5)]
)
def test_random_games(rows: int, cols: int, k: int, rule: str) -> None:
    game, rng = mnk(rows, cols, k, rule), random.Random(f"{rows}×{cols}×{k} {rule}")
    for _ in range(40 if rows < 15 else 10):
        state, board = game.new_state(), empty_board(rows, cols)
        winner = None
        while winner is None and slow_rules.empty_points(board):
            assert_same_end(game, state, board, winner=None, is_over=False)
            empty = slow_rules.empty_points(board)
            legal = np.flatnonzero(game.legal_mask(state)).tolist()
            assert legal == [row * cols + col for row, col in empty], draw(board)
            point = rng.choice(empty)
            me = "X" if state[TO_MOVE] == 1 else "O"
            board = slow_rules.put(board, point, me)
            state = game.after(state, point[0] * cols + point[1])
            if slow_rules.wins(board, point, k, rule):
                winner = me
        assert_same_end(game, state, board, winner, is_over=True)
        assert not game.legal_mask(state).any()


# ---- renju


def assert_same_verdicts(game: Game, state: State, board: Board) -> dict[Point, str]:
    """Both judge black's move at every empty point alike, and black's legal moves follow."""
    empty = slow_rules.empty_points(board)
    slow = {point: slow_rules.judge(board, point) for point in empty}
    fast = {point: VERDICTS[renju.judge(state.copy(), point[0] * game.cols + point[1])] for point in empty}
    assert fast == slow, draw(board)
    if not game.outcome(state)[0]:
        is_white = state[TO_MOVE] == 2
        legal = [point for point in empty if is_white or slow[point] in (slow_rules.LEGAL, slow_rules.FIVE)]
        mask = game.legal_mask(state)
        assert np.flatnonzero(mask).tolist() == [row * game.cols + col for row, col in legal], draw(board)
    return slow


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 12))]
)
def test_renju_games(seed: int) -> None:
    """Stones close to other stones, fives mostly avoided: boards full of threes and fours."""
    game, rng = games.find("renju15"), random.Random(seed)
    for _ in range(6):
        state, board = game.new_state(), empty_board(15, 15)
        winner = None
        while winner is None and len(slow_rules.empty_points(board)) > 165:
            assert_same_end(game, state, board, winner=None, is_over=False)
            verdicts = assert_same_verdicts(game, state, board)
            me = "X" if state[TO_MOVE] == 1 else "O"
            point = choose_near(board, verdicts, me, rng)
            board = slow_rules.put(board, point, me)
            state = game.after(state, point[0] * 15 + point[1])
            if slow_rules.wins(board, point, 5, "renju"):
                winner = me
        assert_same_end(game, state, board, winner, is_over=winner is not None)


def choose_near(board: Board, verdicts: dict[Point, str], me: str, rng: random.Random) -> Point:
    """A legal point one or two cells from a stone (or near the centre), seldom one that ends the game."""
    candidates = []
    for (row, col), verdict in verdicts.items():
        around = [(row + down, col + right) for down in range(-2, 3) for right in range(-2, 3)]
        is_near = (7, 7) in around or any(board.get(q) in ("X", "O") for q in around)
        if is_near and (me == "O" or verdict in (slow_rules.LEGAL, slow_rules.FIVE)):
            candidates.append((row, col))
    rng.shuffle(candidates)
    for point in candidates:
        if rng.random() < 0.02 or not slow_rules.wins(slow_rules.put(board, point, me), point, 5, "renju"):
            return point
    return candidates[0]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("rows", "cols"), [(15, 15), (9, 9), (6, 11), (12, 7)])
def test_renju_boards(rows: int, cols: int, seed: int) -> None:
    """Boards set up at random, most stones black and close together."""
    game, rng = mnk(rows, cols, 5, "renju"), random.Random(f"{rows}×{cols} {seed}")
    for _ in range(20):
        board, to_move = crowded_board(rows, cols, rng), rng.choice((1, 2))
        state = game.set_up([".XO".index(at) for at in "".join(slow_rules.draw(board))], to_move)
        verdicts = assert_same_verdicts(game, state, board)
        winners = {at for p, at in board.items() if at != "." and slow_rules.wins(board, p, 5, "renju")}
        if len(winners) < 2:  # a board with two winners arises in no game
            winner = next(iter(winners), None)
            is_stuck = to_move == 1 and all(
                verdict not in (slow_rules.LEGAL, slow_rules.FIVE) for verdict in verdicts.values()
            )
            assert_same_end(game, state, board, winner, is_over=winner is not None or is_stuck)


def crowded_board(rows: int, cols: int, rng: random.Random) -> Board:
    """Black stones, and a few white ones, thrown into a part of the board; no black six, as in a game."""
    while True:
        board = thrown_board(rows, cols, rng)
        black = [point for point, at in board.items() if at == "X"]
        if not any(slow_rules.wins(board, point, 6, "freestyle") for point in black):
            return board


def thrown_board(rows: int, cols: int, rng: random.Random) -> Board:
    height, width = min(rows, rng.randint(5, 9)), min(cols, rng.randint(5, 9))
    top, left = rng.randint(0, rows - height), rng.randint(0, cols - width)
    board = empty_board(rows, cols)
    black, white = rng.uniform(0.1, 0.4), rng.choice((0.0, 0.03, 0.15))
    for row in range(top, top + height):
        for col in range(left, left + width):
            thrown = rng.random()
            if thrown < black + white:
                board = slow_rules.put(board, (row, col), "X" if thrown < black else "O")
    return board


def test_renju_boards_hold_every_kind_of_point() -> None:
    """The random boards are worth judging: each verdict is common, and deep questions arise."""
    rng = random.Random(1)
    counts: dict[str, int] = {}
    deep = 0
    for _ in range(60):
        board = crowded_board(15, 15, rng)
        for point in slow_rules.empty_points(board):
            verdict = slow_rules.judge(board, point)
            counts[verdict] = counts.get(verdict, 0) + 1
            if verdict in (slow_rules.LEGAL, slow_rules.DOUBLE_THREE):
                deep += slow_rules.judge(board, point, levels=1) != verdict
    assert all(counts[verdict] >= 20 for verdict in VERDICTS.values()), counts
    assert deep >= 3


def test_renju_overline_beside_an_overline() -> None:
    """No game leads here, but a board can be set up so."""
    board = slow_rules.read(["........", ".XXXXXX.", "........"])
    game = mnk(3, 8, 5, "renju")
    state = game.set_up([".XO".index(at) for at in "".join(slow_rules.draw(board))], to_move=1)
    assert_same_verdicts(game, state, board)
