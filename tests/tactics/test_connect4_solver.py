"""The Connect 4 solver against brute force on cells, and the laws that exact scores obey."""

import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from tengen.bench.solver import random_position
from tengen.errors import UserError
from tengen.games.position import Position
from tengen.tactics import connect4_book
from tengen.tactics.connect4_book import boards_of, layers, make_book, read_book
from tengen.tactics.connect4_search import COLS, book_key
from tengen.tactics.connect4_solver import NODES_PER_LOOK, Question, Solver, bitboards, plies_to_end

Columns = tuple[str, ...]  # each from the bottom, a letter a stone

FIRST_MOVES = [-2, -1, 0, 1, 0, -1, -2]  # Allis 1988, Allen 1988; with distances Tromp


@pytest.fixture(scope="module")
def solver() -> Solver:
    return Solver(table_mebibytes=16)


def columns_of(position: Position) -> Columns:
    cells = position.state[position.game.cells].reshape(6, 7)
    return tuple("".join("XO"[cell - 1] for cell in cells[::-1, column] if cell) for column in range(COLS))


def is_four(columns: Columns, column: int) -> bool:
    """Is the top stone of a column part of four?"""
    board = {(c, r): stone for c, stones in enumerate(columns) for r, stone in enumerate(stones)}
    at = column, len(columns[column]) - 1
    for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
        for first in range(-3, 1):
            four = [(at[0] + i * right, at[1] + i * up) for i in range(first, first + 4)]
            if all(board.get(cell) == board[at] for cell in four):
                return True
    return False


def slow_scores(columns: Columns, known: dict[Columns, int]) -> list[int | None]:
    """The score of each column, by playing everything to the end."""
    stones = sum(map(len, columns))
    scores: list[int | None] = []
    for column, pile in enumerate(columns):
        if len(pile) == 6:
            scores.append(None)
            continue
        after = (*columns[:column], pile + "XO"[stones % 2], *columns[column + 1 :])
        if is_four(after, column):
            own_stones_left = 21 - (stones // 2 + 1)
            scores.append(own_stones_left + 1)
        elif stones == 41:
            scores.append(0)
        else:
            if after not in known:
                known[after] = max(score for score in slow_scores(after, known) if score is not None)
            scores.append(-known[after])
    return scores


def late_positions(number: int, fewest: int, seed: int) -> list[Position]:
    random = np.random.default_rng(seed)
    return [random_position(int(random.integers(fewest, 41)), random) for _ in range(number)]


def test_scores_equal_brute_force_on_cells(solver: Solver) -> None:
    for position in late_positions(3, fewest=28, seed=0) + late_positions(60, fewest=32, seed=1):
        assert solver.column_scores(position) == slow_scores(columns_of(position), {}), position.moves


def test_a_tiny_table_gives_the_same_scores(solver: Solver) -> None:
    tiny = Solver(table_mebibytes=1)
    for position in late_positions(20, fewest=18, seed=2):
        assert tiny.column_scores(position) == solver.column_scores(position)


def test_mirrored_positions_have_mirrored_scores(solver: Solver) -> None:
    for position in late_positions(20, fewest=16, seed=3):
        mirrored = Position.from_moves("connect4", [6 - action for action in position.actions])
        assert Solver(table_mebibytes=1).column_scores(mirrored) == solver.column_scores(position)[::-1]


def test_the_laws_of_scores(solver: Solver) -> None:
    for position in late_positions(30, fewest=17, seed=4):
        scores = solver.column_scores(position)
        score = max(one for one in scores if one is not None)
        assert solver.score(position) == score
        assert Solver(table_mebibytes=1).score(position, weak=True) == np.sign(score)
        signs = [None if one is None else int(np.sign(one)) for one in scores]
        assert Solver(table_mebibytes=1).column_scores(position, weak=True) == signs
        best = [column for column, one in enumerate(scores) if one == score]
        assert solver.best_columns(position)[0] == score
        assert sorted(solver.best_columns(position)[1]) == best


def test_the_best_line_ends_when_the_score_says(solver: Solver) -> None:
    for position in late_positions(30, fewest=17, seed=5):
        score, me, now = solver.score(position), position.to_move, position
        for column in solver.best_line(position):
            assert solver.score(now) == (score if now.to_move == me else -score)
            now = now.play(column)
        assert now.is_over
        winner = me if score > 0 else 3 - me
        assert now.winner == (winner if score else None)
        if score:
            stones = int((now.state[now.game.cells] == winner).sum())
            assert abs(score) == 21 - stones + 1


def test_the_soonest_win_scores_18_and_the_latest_draw_0(solver: Solver) -> None:
    assert solver.score(Position.from_moves("connect4", "121212")) == 18
    full_but_one = "12121221212134343443434356565665656577777"
    position = Position.from_moves("connect4", full_but_one)
    assert solver.column_scores(position) == [None] * 6 + [0] and solver.best_line(position) == [6]


def test_a_question_in_slices_of_any_size_visits_the_same_nodes_and_answers_the_same() -> None:
    for position in late_positions(6, fewest=16, seed=9):
        mine, taken = bitboards(position)
        found = []
        for num_nodes in (1, 7, 1000, 10**9):
            solver = Solver(table_mebibytes=1)
            question = Question(solver)
            question.ask(mine, taken, *solver.bounds_of(mine, taken))
            slices = 1
            while not question.run(num_nodes):
                slices += 1
            assert slices == 1 or slices >= solver.nodes / num_nodes
            found.append((question.bounds, solver.nodes))
        assert found == [found[0]] * 4 and found[0][0] == (solver.score(position),) * 2


def test_two_positions_solved_in_turns_do_not_disturb_each_other(solver: Solver) -> None:
    positions = late_positions(8, fewest=14, seed=10)
    shared = Solver(table_mebibytes=1)
    solvings = [shared.begin(position, "every") for position in positions]
    while not all(solving.is_done for solving in solvings):
        for solving in solvings:
            solving.run(0.0)
        assert shared.score(positions[0]) == solver.score(positions[0])
    for solving, position in zip(solvings, positions, strict=True):
        assert solving.scores == solver.column_scores(position)


@pytest.mark.parametrize("weak", [False, True])
def test_bounds_hold_at_every_moment_and_close_in(solver: Solver, weak: bool) -> None:
    looks = 0
    for position in late_positions(12, fewest=10, seed=11):
        scores = solver.column_scores(position, weak)
        solving, known = Solver(table_mebibytes=1).begin(position, weak=weak), 0
        while not solving.run(0.0):
            looks += 1
            assert len(solving.best_columns) == 1
            for column, (lower, upper) in solving.bounds.items():
                score = scores[column]
                assert score is not None and lower <= score <= upper
            open_ends = sum(upper - lower for lower, upper in solving.bounds.values())
            assert known == 0 or open_ends <= known
            known = open_ends
        best = max(score for score in scores if score is not None)
        assert solving.score_bounds == (best, best)
        assert sorted(solving.best_columns) == [c for c in range(COLS) if scores[c] == best]
    assert looks > 20


def test_stopped_early_it_names_the_column_that_is_proven_to_reach_the_most() -> None:
    solver = Solver(table_mebibytes=16)
    solving = solver.begin(Position.start("connect4"))
    assert solving.best_columns == [3] and solving.score_bounds == (-20, 20)
    assert not solving.run(0.0) and solver.nodes <= NODES_PER_LOOK
    began = time.perf_counter()
    assert not solving.run(0.3)
    assert time.perf_counter() - began < 1  # of a minute
    assert solving.best_columns == [3] and not any(solving.scores)
    # The first player threatens to complete column 2: known by the rules, before any search
    assert solver.begin(Position.from_moves("connect4", "23252")).best_columns == [1]


def test_a_score_says_when_the_game_ends(solver: Solver) -> None:
    for position in late_positions(30, fewest=17, seed=5):
        score = solver.score(position)
        if score:
            assert len(solver.best_line(position)) == plies_to_end(score, len(position.actions))
    assert plies_to_end(18, 6) == 1 and plies_to_end(0, 40) == 2


@pytest.mark.slow
@pytest.mark.timeout(3600)  # six minutes of one quiet core
def test_the_first_move() -> None:
    assert Solver().column_scores(Position.start("connect4")) == FIRST_MOVES


def test_only_unfinished_positions_of_connect4_are_solved(solver: Solver) -> None:
    floating = [0] * 42
    floating[0] = 1
    uneven = [0] * 42
    uneven[35] = uneven[36] = 1
    for position, message in (
        (Position.from_moves("connect4", "1212121"), "nothing to solve: the game is over, first player wins"),
        (Position.start("tictactoe"), "the solver is for connect4, got tictactoe"),
        (Position.start("connect:rows=7,cols=6,k=4"), "the solver is for connect4, got connect:"),
        (
            Position.from_cells("connect4", floating, 2),
            "not a position of connect4: a stone has nothing below",
        ),
        (Position.from_cells("connect4", uneven, 1), "not a position of connect4: the players take turns"),
    ):
        with pytest.raises(UserError, match=message):
            solver.score(position)
    with pytest.raises(UserError, match="the solver's table is 1 MiB or more, got 0"):
        Solver(table_mebibytes=0)


def test_keys_and_boards_are_each_others_inverse() -> None:
    for position in late_positions(50, fewest=1, seed=6):
        mine, taken = bitboards(position)
        key = book_key(mine, taken)
        assert book_key(*boards_of(key)) == key
        mirrored = Position.from_moves("connect4", [6 - action for action in position.actions])
        assert book_key(*bitboards(mirrored)) == key
        assert boards_of(key) in ((mine, taken), bitboards(mirrored))


def test_layers_count_positions_up_to_mirror_images() -> None:
    """1, 7, 49, 238, 1120 positions by plies (OEIS A212693); 1, 1, 1, 4, 16 of them mirror themselves."""
    start = book_key(*bitboards(Position.start("connect4")))
    assert [len(layer) for layer in layers(start, 4)] == [1, 4, 25, 121, 568]


def test_a_book_is_interrupted_resumed_and_right(
    solver: Solver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = random_position(20, np.random.default_rng(8))
    file = tmp_path / "book.npz"
    asked = 0

    class Stopped(Solver):
        def score_of(self, mine: int, taken: int, weak: bool = False) -> int:
            nonlocal asked
            asked += 1
            if asked == 8:
                raise KeyboardInterrupt
            return super().score_of(mine, taken, weak)

    monkeypatch.setattr(connect4_book, "SECONDS_BETWEEN_WRITES", -1)
    with pytest.raises(KeyboardInterrupt):
        make_book(file, 3, start, Stopped(table_mebibytes=1), lambda done, of: None)
    with pytest.raises(UserError, match="is not finished: go on with --make-book"):
        read_book(file)
    seen: list[tuple[int, int]] = []
    total = make_book(file, 3, start, Solver(table_mebibytes=1), lambda done, of: seen.append((done, of)))
    assert seen[0] == (7, total) and seen[-1] == (total, total)
    assert [path.name for path in tmp_path.iterdir()] == ["book.npz"]

    book = read_book(file)
    for layer in layers(book_key(*bitboards(start)), 3):
        for key in layer:
            assert book[key] == solver.score_of(*boards_of(key))
    reader = Solver(table_mebibytes=1, book=book)
    assert reader.column_scores(start) == solver.column_scores(start)
    assert reader.best_columns(start) == solver.best_columns(start)
    assert reader.nodes == 0

    with pytest.raises(UserError, match="is another book, of 3 plies"):
        make_book(file, 2, start, solver, lambda done, of: None)
    file.write_bytes(b"nonsense")
    with pytest.raises(UserError, match="is not a book of connect4"):
        read_book(file)


def test_brute_force_knows_its_lines() -> None:
    assert is_four(("X", "X", "X", "X", "", "", ""), 3) and is_four(("", "OXXXX", "", "", "", "", ""), 1)
    assert is_four(("X", "OX", "OOX", "OOOX", "", "", ""), 0)
    assert not is_four(("X", "X", "X", "O", "X", "", ""), 2)


def test_a_damaged_book_is_refused_or_right(tmp_path: Path) -> None:
    """Every byte in turn: NumPy and zipfile raise eight kinds of errors."""
    file = tmp_path / "book"
    make_book(file, 1, Position.from_moves("connect4", "44444322555577331"), Solver(), lambda *_: None)
    whole, data = read_book(file), file.read_bytes()
    for place in range(len(data)):
        file.write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        with suppress(UserError):
            assert read_book(file) == whole
