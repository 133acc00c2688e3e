"""Connect 4, solved exactly: the score of every move in any position.

    solver = Solver()
    solver.score(position)                  # 4
    solver.column_scores(position)          # [-4, 4, -3, None, -4, -4, -4]
    solving = solver.begin(position)        # the same in slices, can be watched and stopped
    while not solving.run(seconds=0.1):
        print(solving.lower, solving.upper, solving.best_columns)

Scores are for the player to move: 0 a draw, +n a win and -n a loss, n one more than the winner's stones left
unplayed when the game ends: an earlier win is higher. A win with the last stone is 1, the earliest is 18.
"""

import math
import time
from collections.abc import Mapping
from typing import Literal

import numpy as np

from tengen.errors import UserError
from tengen.games import connect4
from tengen.games.position import Position
from tengen.tactics.connect4_search import (
    BOARD,
    BOTTOM,
    CELLS,
    COLS,
    COLUMNS_INWARDS,
    HIGHEST,
    IS_SEARCHING,
    LOWEST,
    NODES,
    ROOT_MINE,
    ROOT_TAKEN,
    ROWS,
    book_key,
    close_in,
    drop,
    has_four,
    middle_of,
    new_stack,
    win_now,
    winning_cells,
    wins_at_once,
)

MIDDLE_FIRST = COLUMNS_INWARDS[::-1]
TABLE_MEBIBYTES = 128
NODES_PER_LOOK = 20_000  # between two checks of the clock: 2-5 ms

Goal = Literal["best", "every"]


class Solver:
    """Solves positions one after another; owns the table of bounds, which makes later searches faster.

    >>> Solver().column_scores(Position.from_moves("connect4", "4444432232334"))
    [-4, 4, -3, None, -4, -4, -4]
    """

    def __init__(self, table_mebibytes: int = TABLE_MEBIBYTES, book: Mapping[int, int] | None = None) -> None:
        """book: scores by key, see connect4_book.py."""
        if table_mebibytes < 1:
            raise UserError(f"the solver's table is 1 MiB or more, got {table_mebibytes}")
        entries = 1 << (table_mebibytes * 2**20 // 8).bit_length() - 1
        self.table = np.empty(entries, np.uint64)
        self.table.fill(0)  # np.zeros would allocate memory on first use: 0.3 s of the first search
        self.book = book or {}
        self.nodes = 0  # positions searched so far
        self._question = Question(self)
        self._answer(0, 0, 0, 0)  # compile now, not during the first search
        self.bounds_after(0, 0, 1)
        book_key(0, 0)
        middle_of(0, 0)

    @property
    def memory(self) -> int:
        """The size of the table in bytes."""
        return self.table.nbytes

    def begin(self, position: Position, goal: Goal = "best", weak: bool = False) -> "Solving":
        """Starts to solve the columns of a position, in slices; several may take turns.

        best   the score of the position and all the columns that have it
        every  the score of every column
        weak   only the signs of the scores, -1, 0 or 1, which is faster
        """
        return Solving(self, *bitboards(position), goal, weak)

    def score(self, position: Position, weak: bool = False) -> int:
        """The exact score; weak: only its sign, -1, 0 or 1, which is faster."""
        mine, taken = bitboards(position)
        return self.score_of(mine, taken, weak)

    def score_of(self, mine: int, taken: int, weak: bool = False) -> int:
        """The exact score, or its sign, for bitboards of a game that is not over."""
        lowest, highest = self.bounds_of(mine, taken)
        if weak:
            lowest, highest = clamp(lowest), clamp(highest)
        if lowest < highest:
            lowest, highest = self._answer(mine, taken, lowest, highest)
        return clamp(lowest) if weak else lowest

    def column_scores(self, position: Position, weak: bool = False) -> list[int | None]:
        """The score of each column, for the player to move; None if it is full."""
        solving = self.begin(position, "every", weak)
        solving.run()
        return solving.scores

    def best_columns(self, position: Position) -> tuple[int, list[int]]:
        """The score, and the columns that keep it, the middle first. Faster than the score of each column."""
        solving = self.begin(position)
        solving.run()
        return solving.score_bounds[0], solving.best_columns

    def best_line(self, position: Position) -> list[int]:
        """The columns of best play to the end: early wins, late losses; among equals the middle first."""
        mine, taken = bitboards(position)
        score, line = self.score_of(mine, taken), list[int]()
        while taken != int(BOARD):
            column = next(
                column
                for column in MIDDLE_FIRST
                if drop(taken, column) and self._keeps(mine, taken, drop(taken, column), score)
            )
            move = drop(taken, column)
            line.append(column)
            if has_four(np.uint64(mine | move)):
                break
            mine, taken, score = mine ^ taken, taken | move, -score
        return line

    def bounds_of(self, mine: int, taken: int) -> tuple[int, int]:
        """Lower and upper bound of the score of a game that is not over, by the rules and the book."""
        played = taken.bit_count()
        if wins_at_once(mine, taken):
            return win_now(played), win_now(played)
        known = self.book.get(book_key(mine, taken)) if self.book else None
        if known is not None:
            return known, known
        return -((CELLS - played) // 2), (CELLS - 1 - played) // 2

    def bounds_after(self, mine: int, taken: int, move: int) -> tuple[int, int]:
        """Lower and upper bound of the score of a move, for the player who makes it."""
        if has_four(np.uint64(mine | move)):
            return win_now(taken.bit_count()), win_now(taken.bit_count())
        if taken | move == int(BOARD):
            return 0, 0
        lowest, highest = self.bounds_of(mine ^ taken, taken | move)
        return -highest, -lowest

    def _keeps(self, mine: int, taken: int, move: int, score: int) -> bool:
        """Is this a best move, if `score` is the best score?"""
        lower, upper = self.bounds_after(mine, taken, move)
        if lower == upper or score <= lower:
            return lower == score
        return self._answer(mine ^ taken, taken | move, -score, 1 - score)[1] <= -score

    def _answer(self, mine: int, taken: int, lowest: int, highest: int) -> tuple[int, int]:
        """(LOWEST, HIGHEST): the answer to a question as close_in explains it."""
        self._question.ask(mine, taken, lowest, highest)
        while not self._question.run(NODES_PER_LOOK):  # in slices, so that Ctrl-C works
            pass
        return self._question.bounds


class Question:
    """One question about one position, see `close_in`, answered in slices."""

    def __init__(self, solver: Solver) -> None:
        self._solver, self._stack = solver, new_stack()

    def ask(self, mine: int, taken: int, lowest: int, highest: int) -> None:
        """Sets a new question, in place of the last."""
        words, numbers = self._stack.words, self._stack.numbers
        words[ROOT_MINE], words[ROOT_TAKEN] = mine, taken
        numbers[LOWEST], numbers[HIGHEST], numbers[IS_SEARCHING] = lowest, highest, 0

    def run(self, num_nodes: int) -> bool:
        """Searches at most `num_nodes` nodes. Is the question answered?"""
        self._stack.numbers[NODES] = 0
        is_answered = close_in(num_nodes, self._solver.table, *self._stack)
        self._solver.nodes += int(self._stack.numbers[NODES])
        return is_answered

    @property
    def bounds(self) -> tuple[int, int]:
        """(LOWEST, HIGHEST) so far."""
        return int(self._stack.numbers[LOWEST]), int(self._stack.numbers[HIGHEST])


class Solving:
    """The columns of one position, being solved: the bounds of each can be read between two slices.

    1. the score of the position: ask for each column, the most promising first, whether it is better
    2. do other columns have that score too?
    3. for the goal "every": the scores of the remaining columns
    """

    def __init__(self, solver: Solver, mine: int, taken: int, goal: Goal, weak: bool) -> None:
        self.goal, self.weak = goal, weak
        self.bounds: dict[int, tuple[int, int]] = {}  # of the score of each column: at least, at most
        self._mine, self._taken = mine, taken
        self._question = Question(solver)
        self._asked: tuple[int, int, int] | None = None  # the question: column, lowest, highest
        threats = {}
        for column in MIDDLE_FIRST:
            if move := drop(taken, column):
                lower, upper = solver.bounds_after(mine, taken, move)
                self.bounds[column] = (clamp(lower), clamp(upper)) if weak else (lower, upper)
                cells = winning_cells(np.uint64(mine | move), np.uint64(taken | move))
                threats[column] = int(cells).bit_count()
        self._by_promise = sorted(threats, key=lambda column: -threats[column])  # ties: the middle first

    def run(self, seconds: float = math.inf) -> bool:
        """Searches for about `seconds`, 5 ms more at most. Is everything known?"""
        ends = time.perf_counter() + seconds
        while self._asked or self._ask():
            is_answered = self._question.run(NODES_PER_LOOK)
            self._take_over()
            if is_answered:
                self._asked = None
            if time.perf_counter() >= ends:
                break
        return self.is_done

    @property
    def is_done(self) -> bool:
        return self._asked is None and self._next_question() is None

    @property
    def scores(self) -> list[int | None]:
        """The score of each column; None if it is full, or not known yet."""
        scores: list[int | None] = [None] * COLS
        for column, (lower, upper) in self.bounds.items():
            if lower == upper:
                scores[column] = lower
        return scores

    @property
    def score_bounds(self) -> tuple[int, int]:
        """Lower and upper bound of the position's score."""
        return max(lower for lower, _ in self.bounds.values()), max(
            upper for _, upper in self.bounds.values()
        )

    @property
    def best_columns(self) -> list[int]:
        """All best columns, the middle first. Until they are known: the column with the highest lower bound;
        among equals the one with the highest upper bound; among equals the one nearest to the middle."""
        columns = sorted(self.bounds, key=lambda column: self.bounds[column], reverse=True)
        score = self.score_bounds[0]
        return (
            [column for column in columns if self.bounds[column] == (score, score)]
            if self.is_done
            else columns[:1]
        )

    def _ask(self) -> bool:
        """Asks the next question. False if there is none."""
        self._asked = self._next_question()
        if self._asked:
            column, lowest, highest = self._asked
            after = self._taken | drop(self._taken, column)
            self._question.ask(self._mine ^ self._taken, after, -highest, -lowest)
        return self._asked is not None

    def _next_question(self) -> tuple[int, int, int] | None:
        """(column, lowest, highest): where between the two is its score? None if everything is known."""
        lowest, highest = self.score_bounds
        if lowest < highest:
            middle = int(middle_of(lowest, highest))
            better = [column for column in self._by_promise if self.bounds[column][1] > middle]
            column = max(better, key=lambda column: self.bounds[column][0])  # among equals the first
            return column, middle, middle + 1
        for column, (lower, upper) in self.bounds.items():
            if lower < highest <= upper:
                return column, highest - 1, highest
        if self.goal == "every":
            for column, (lower, upper) in self.bounds.items():
                if lower < upper:
                    return column, lower, upper
        return None

    def _take_over(self) -> None:
        """Takes over what the question has found so far: those of its bounds that have changed."""
        assert self._asked
        column, lowest, highest = self._asked
        lower, upper = self.bounds[column]
        theirs_lowest, theirs_highest = self._question.bounds
        if -theirs_highest > lowest:
            lower = clamp(-theirs_highest) if self.weak else -theirs_highest
        if -theirs_lowest < highest:
            upper = clamp(-theirs_lowest) if self.weak else -theirs_lowest
        self.bounds[column] = lower, upper


def clamp(score: int) -> int:
    """The sign of a score: -1, 0 or 1."""
    return max(-1, min(1, score))


def plies_to_end(score: int, played: int) -> int:
    """The number of plies to the end of a game with this score, by best play after `played` stones.

    A win of n comes with stone 22 - n of the winner's 21.
    """
    if score == 0:
        return CELLS - played
    stones = 22 - abs(score)
    return 2 * stones - 1 - played if (score > 0) == (played % 2 == 0) else 2 * stones - played


def bitboards(position: Position) -> tuple[int, int]:
    """(mine, taken) of a position of Connect 4 that is not over."""
    if position.game.play is not connect4.play or position.game.header != (ROWS, COLS, 4):
        raise UserError(f"the solver is for connect4, got {position.game.name}")
    if position.is_over:
        raise UserError(f"nothing to solve: the game is over, {position.outcome}")
    mine = taken = 0
    for cell, stone in enumerate(position.state[position.game.cells]):
        row, column = divmod(cell, COLS)
        bit = 1 << (7 * column + ROWS - 1 - row)
        taken |= bit if stone else 0
        mine |= bit if stone == position.to_move else 0
    if taken & (taken + int(BOTTOM)):
        raise UserError("not a position of connect4: a stone has nothing below it")
    if mine.bit_count() != taken.bit_count() // 2:
        raise UserError("not a position of connect4: the players take turns, count the stones")
    return mine, taken
