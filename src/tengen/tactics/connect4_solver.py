"""Connect 4, solved exactly: the score of any position, by alpha-beta over bitboards.

A board is two 49-bit words, seven bits a column, the seventh always empty so that lines do not wrap:

     6 13 20 27 34 41 48      mine    the stones of the player to move
     5 12 19 26 33 40 47      taken   all stones
     4 11 18 25 32 39 46
     3 10 17 24 31 38 45      A position's key is mine + taken + bottom: unique, because in each column the
     2  9 16 23 30 37 44      highest one stands above the highest stone.
     1  8 15 22 29 36 43
     0  7 14 21 28 35 42

Scores are for the player to move: 0 a draw, +n a win and -n a loss, n one more than the winner's stones left
unplayed when the game ends: the sooner the higher. A win with the very last stone is 1, the soonest is 18.

The methods are those of Tromp's and Pons' solvers: searches that only ask "more than this?" close in on the
score; moves that allow an immediate win are left out; the others are ordered by the threats they make; a
table keeps the bounds met before. One more is Allis' claim of the even rows, see `cannot_win`.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from numba import njit

from tengen.errors import UserError
from tengen.games import connect4
from tengen.games.position import Position

ROWS, COLS = 6, 7
CELLS = ROWS * COLS
COLUMNS_INWARDS = (0, 6, 1, 5, 2, 4, 3)  # the middle takes part in the most lines
MIDDLE_FIRST = COLUMNS_INWARDS[::-1]

BOTTOM = np.uint64(sum(1 << (7 * col) for col in range(COLS)))
BOARD = np.uint64(sum(0b111111 << (7 * col) for col in range(COLS)))
ODD_ROWS = np.uint64(sum(0b010101 << (7 * col) for col in range(COLS)))  # the first, third and fifth
FILES = np.array([0b111111 << (7 * col) for col in COLUMNS_INWARDS], np.uint64)

# An entry of the table: key << 12 | upper bound << 6 | lower bound, the bounds 32 more than they are.
Words = npt.NDArray[np.uint64]
BOUND = np.uint64(63)
UNBOUNDED = np.uint64(63 << 6)  # at least -32, at most 31
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # multiplied by it, a key's high bits depend on all others
TABLE_MEBIBYTES = 128

# Looking up all children first spares nodes, but look-ups cost time too. 60 random positions of 10-16
# plies: 34.8 million nodes without, 30.7 before ply 28, 27.8 before 34; times differed less than they vary.
LOOK_UP_CHILDREN_BEFORE = 28  # plies
MIRROR_BEFORE = 17  # plies; not tuned: later, mirror images hardly ever meet

# Numba makes a float of int64 with uint64: every word below is a np.uint64, every number an int.
NOTHING, ONE, TWO, THREE, SIX, SEVEN, EIGHT = (np.uint64(number) for number in (0, 1, 2, 3, 6, 7, 8))
TWELVE, FOURTEEN, SIXTEEN, EIGHTEEN = (np.uint64(number) for number in (12, 14, 16, 18))
TWENTY_ONE, TWENTY_FOUR, TWENTY_EIGHT, FORTY_TWO = (np.uint64(number) for number in (21, 24, 28, 42))
COLUMN_0, COLUMN_1, COLUMN_2, COLUMN_3 = (np.uint64(0b1111111 << (7 * col)) for col in range(4))
THREATS = np.uint64(52)  # a listed move is threats << 52 | its bit


@njit(cache=True, forceinline=True)
def winning_cells(stones: np.uint64, taken: np.uint64) -> np.uint64:
    """The empty cells that would complete four in a row."""
    found = (stones << ONE) & (stones << TWO) & (stones << THREE)  # ↑
    pair = (stones << SIX) & (stones << TWELVE)  # ↘
    found |= pair & ((stones << EIGHTEEN) | (stones >> SIX))
    pair = (stones >> SIX) & (stones >> TWELVE)
    found |= pair & ((stones >> EIGHTEEN) | (stones << SIX))
    pair = (stones << SEVEN) & (stones << FOURTEEN)  # →
    found |= pair & ((stones << TWENTY_ONE) | (stones >> SEVEN))
    pair = (stones >> SEVEN) & (stones >> FOURTEEN)
    found |= pair & ((stones >> TWENTY_ONE) | (stones << SEVEN))
    pair = (stones << EIGHT) & (stones << SIXTEEN)  # ↗
    found |= pair & ((stones << TWENTY_FOUR) | (stones >> EIGHT))
    pair = (stones >> EIGHT) & (stones >> SIXTEEN)
    found |= pair & ((stones >> TWENTY_FOUR) | (stones << EIGHT))
    return found & BOARD & ~taken


@njit(cache=True, forceinline=True)
def has_four(stones: np.uint64) -> bool:
    pairs = stones & (stones >> ONE)
    found = pairs & (pairs >> TWO)
    pairs = stones & (stones >> SIX)
    found |= pairs & (pairs >> TWELVE)
    pairs = stones & (stones >> SEVEN)
    found |= pairs & (pairs >> FOURTEEN)
    pairs = stones & (stones >> EIGHT)
    found |= pairs & (pairs >> SIXTEEN)
    return bool(found != NOTHING)


@njit(cache=True, forceinline=True)
def cannot_win(mine: np.uint64, taken: np.uint64) -> bool:
    """Is at most a draw certain for the player to move? For an even number of stones only.

    The opponent can always answer in the same column, or in another column of odd height if the stone fell
    on one: then the player to move gets no empty cells but the odd rows and those playable now.
    """
    empty = BOARD & ~taken
    return not has_four(mine | (empty & ODD_ROWS) | (empty & (taken + BOTTOM)))


@njit(cache=True, forceinline=True)
def count(bits: np.uint64) -> int:
    """How many bits are set."""
    number = 0
    while bits != NOTHING:  # LLVM makes one instruction of this loop
        bits &= bits - ONE
        number += 1
    return number


@njit(cache=True, forceinline=True)
def safe_moves(threats: np.uint64, taken: np.uint64) -> np.uint64:
    """The moves after which the opponent, who would win on the cells `threats`, cannot win at once."""
    playable = (taken + BOTTOM) & BOARD
    forced = playable & threats
    if forced != NOTHING:
        if forced & (forced - ONE) != NOTHING:  # two threats: nothing helps
            return NOTHING
        playable = forced
    return playable & ~(threats >> ONE)  # never below a cell that wins for the opponent


@njit(cache=True, forceinline=True)
def key_of(mine: np.uint64, taken: np.uint64, played: int) -> np.uint64:
    """The position's key; in the opening the lesser of its own and its mirror image's."""
    key = mine + taken + BOTTOM
    if played < MIRROR_BEFORE:
        mirrored = (key & COLUMN_0) << FORTY_TWO | (key & COLUMN_1) << TWENTY_EIGHT
        mirrored |= (key & COLUMN_2) << FOURTEEN | key & COLUMN_3 | (key >> FOURTEEN) & COLUMN_2
        mirrored |= (key >> TWENTY_EIGHT) & COLUMN_1 | key >> FORTY_TWO
        if mirrored < key:
            return mirrored
    return key


@njit(cache=True, forceinline=True)
def look_up(table: Words, shift: np.uint64, key: np.uint64) -> np.uint64:
    """The bounds known of a position, as the last twelve bits of its entry."""
    entry = table[(key * SPREAD) >> shift]
    return entry & (UNBOUNDED | BOUND) if entry >> TWELVE == key else UNBOUNDED


@njit(cache=True, forceinline=True)
def lower(bounds: np.uint64) -> int:
    return np.int64(bounds & BOUND) - 32  # type: ignore[return-value]  # Numba's int() would stay unsigned


@njit(cache=True, forceinline=True)
def upper(bounds: np.uint64) -> int:
    return np.int64(bounds >> SIX) - 32  # type: ignore[return-value]


@njit(cache=True)
def search(
    mine: np.uint64,
    taken: np.uint64,
    limit: int,
    table: Words,
    boards: Words,
    moves: Words,
    answers_to: Words,
    numbers: npt.NDArray[np.int64],
    nodes: npt.NDArray[np.int64],
) -> int:
    """Is the score more than the limit? Then a lower bound above it, else an upper bound not above it.

    The player to move cannot win at once. Numba does not do recursion well, so for each depth:
    boards      mine, taken                                           uint64[D, 2]
    moves       the moves, the best last                              uint64[D, 7]
    answers_to  the opponent's safe answers to each                   uint64[D, 7]
    numbers     moves left, best value so far, keep it in the table?  int64[D, 3]
    """
    shift = np.uint64(64 - count(np.uint64(len(table) - 1)))
    played = count(taken)
    good = safe_moves(winning_cells(mine ^ taken, taken), taken)
    if good == NOTHING:
        return -((CELLS - played) // 2)
    depth, visited, value = 0, 0, 0
    is_new = True
    while True:
        is_done = False
        if is_new:
            # 1. what do the rules say? No move in `good` loses at once
            visited += 1
            lowest, highest = -((CELLS - 2 - played) // 2), (CELLS - 1 - played) // 2
            is_last_chance = highest == limit + 1  # only a win with the next stone but one is enough
            is_kept = not is_last_chance and good & (good - ONE) != NOTHING
            if played >= CELLS - 2:
                value, is_done = 0, True
            elif lowest > limit:
                value, is_done = lowest, True
            elif highest <= limit:
                value, is_done = highest, True
            elif limit >= 0 and played & 1 == 0 and cannot_win(mine, taken):
                value, is_done = 0, True
            elif is_kept:
                # 2. what does the table say?
                bounds = look_up(table, shift, key_of(mine, taken, played))
                if lower(bounds) > limit:
                    value, is_done = lower(bounds), True
                elif upper(bounds) <= limit:
                    value, is_done = upper(bounds), True
            if not is_done:
                # 3. its moves, ordered by the number of threats they make
                number = 0
                for i in range(COLS):
                    move = good & FILES[i]
                    if move == NOTHING:
                        continue
                    after = taken | move
                    threats = winning_cells(mine | move, after)
                    answers = safe_moves(threats, after)
                    if answers == NOTHING:  # whatever the answer, the next stone wins
                        value, is_done = highest, True
                        break
                    if is_last_chance:
                        continue
                    if limit < 0 and played & 1 == 1 and cannot_win(mine ^ taken, after):
                        value, is_done = 0, True
                        break
                    if played < LOOK_UP_CHILDREN_BEFORE:
                        bounds = look_up(table, shift, key_of(mine ^ taken, after, played + 1))
                        if -upper(bounds) > limit:
                            value, is_done = -upper(bounds), True
                            break
                    num_threats = np.uint64(count(threats))
                    at = number
                    while at > 0 and moves[depth, at - 1] >> THREATS > num_threats:
                        moves[depth, at] = moves[depth, at - 1]
                        answers_to[depth, at] = answers_to[depth, at - 1]
                        at -= 1
                    moves[depth, at] = num_threats << THREATS | move
                    answers_to[depth, at] = answers
                    number += 1
                if is_last_chance and not is_done:
                    value, is_done = limit, True
                if not is_done:
                    boards[depth, 0], boards[depth, 1] = mine, taken
                    numbers[depth, 0], numbers[depth, 1], numbers[depth, 2] = number, -CELLS, is_kept
        else:
            # 4. a child has returned: is that enough, or was it the last?
            mine, taken = boards[depth, 0], boards[depth, 1]
            value = max(-value, numbers[depth, 1])
            numbers[depth, 1] = value
            if value > limit or numbers[depth, 0] == 0:
                is_done = True
                if numbers[depth, 2]:
                    key = key_of(mine, taken, played)
                    bounds = look_up(table, shift, key)
                    if value > limit:
                        bounds = (bounds & UNBOUNDED) | np.uint64(value + 32)
                    else:
                        bounds = (bounds & BOUND) | np.uint64(value + 32) << SIX
                    table[(key * SPREAD) >> shift] = key << TWELVE | bounds
        # 5. back to the parent, or on to the next move
        if is_done:
            if depth == 0:
                nodes[0] += visited
                return value
            depth -= 1
            played -= 1
            is_new = False
        else:
            next_move = numbers[depth, 0] - 1
            numbers[depth, 0] = next_move
            move, good = moves[depth, next_move] & BOARD, answers_to[depth, next_move]
            mine, taken = mine ^ taken, taken | move
            depth += 1
            played += 1
            is_new = True
        limit = -1 - limit  # score > limit for one player is score < -limit for the other


@njit(cache=True)
def close_in(
    mine: np.uint64,
    taken: np.uint64,
    lowest: int,
    highest: int,
    table: Words,
    boards: Words,
    moves: Words,
    answers_to: Words,
    numbers: npt.NDArray[np.int64],
    nodes: npt.NDArray[np.int64],
) -> int:
    """The score, if it lies between the two; the player to move cannot win at once."""
    while lowest < highest:
        middle = (lowest + highest) // 2
        if middle <= 0 and -(-lowest // 2) < middle:  # ask about early wins first: such searches are shallow
            middle = -(-lowest // 2)
        elif middle >= 0 and highest // 2 > middle:
            middle = highest // 2
        found = search(mine, taken, middle, table, boards, moves, answers_to, numbers, nodes)
        if found > middle:
            lowest = found
        else:
            highest = found
    return lowest


class Solver:
    """Solves positions one after another; owns the table of bounds, which makes later ones faster.

    >>> Solver().column_scores(Position.from_moves("connect4", "4444432232334"))
    [-4, 4, -3, None, -4, -4, -4]
    """

    def __init__(self, table_mebibytes: int = TABLE_MEBIBYTES, book: Mapping[int, int] | None = None) -> None:
        """A book has scores by key, see connect4_book.py."""
        if table_mebibytes < 1:
            raise UserError(f"the solver's table is 1 MiB or more, got {table_mebibytes}")
        entries = 1 << (table_mebibytes * 2**20 // 8).bit_length() - 1
        self._book = book or {}
        self._nodes = np.zeros(1, np.int64)
        self._work = (
            np.zeros(entries, np.uint64),
            np.zeros((CELLS + 1, 2), np.uint64),
            np.zeros((CELLS + 1, COLS), np.uint64),
            np.zeros((CELLS + 1, COLS), np.uint64),
            np.zeros((CELLS + 1, 3), np.int64),
            self._nodes,
        )
        close_in(NOTHING, NOTHING, 0, 0, *self._work)  # compile now, not during the first search

    @property
    def nodes(self) -> int:
        """Positions searched so far."""
        return int(self._nodes[0])

    def score(self, position: Position, weak: bool = False) -> int:
        """The exact score; weak: only its sign, -1, 0 or 1, which is faster."""
        mine, taken = bitboards(position)
        return self.score_of(mine, taken, weak)

    def score_of(self, mine: int, taken: int, weak: bool = False) -> int:
        """The same for bitboards of a game that is not over."""
        played = taken.bit_count()
        if wins_at_once(mine, taken):
            return 1 if weak else win_now(played)
        known = self._book.get(book_key(mine, taken)) if self._book else None
        if known is None:
            lowest, highest = -((CELLS - played) // 2), (CELLS - 1 - played) // 2
            if weak:
                lowest, highest = max(lowest, -1), min(highest, 1)
            known = int(close_in(np.uint64(mine), np.uint64(taken), lowest, highest, *self._work))
        return max(-1, min(1, known)) if weak else known

    def column_scores(self, position: Position, weak: bool = False) -> list[int | None]:
        """The score of each column, for the player to move; None if it is full."""
        mine, taken = bitboards(position)
        scores: list[int | None] = [None] * COLS
        for column in MIDDLE_FIRST:
            move = drop(taken, column)
            if move:
                scores[column] = self._score_after(mine, taken, move, weak)
        return scores

    def best_columns(self, position: Position) -> tuple[int, list[int]]:
        """The score, and the columns that keep it, the middle first. Less work than the score of each."""
        mine, taken = bitboards(position)
        score = self.score_of(mine, taken)
        moves = [(column, drop(taken, column)) for column in MIDDLE_FIRST]
        return score, [column for column, move in moves if move and self._keeps(mine, taken, move, score)]

    def best_line(self, position: Position) -> list[int]:
        """The columns of best play to the end: the winner hurries, the loser delays; the middle first."""
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

    def _score_after(self, mine: int, taken: int, move: int, weak: bool) -> int:
        """The score of a move for the player who makes it."""
        if has_four(np.uint64(mine | move)):
            return 1 if weak else win_now(taken.bit_count())
        if taken | move == int(BOARD):
            return 0
        return -self.score_of(mine ^ taken, taken | move, weak)

    def _keeps(self, mine: int, taken: int, move: int, score: int) -> bool:
        """Is this a best move, if the best score is this?"""
        after, theirs = taken | move, mine ^ taken
        if has_four(np.uint64(mine | move)) or after == int(BOARD) or wins_at_once(theirs, after):
            return self._score_after(mine, taken, move, weak=False) == score
        if self._book and book_key(theirs, after) in self._book:
            return -self._book[book_key(theirs, after)] == score
        return bool(search(np.uint64(theirs), np.uint64(after), -score, *self._work) <= -score)


def win_now(played: int) -> int:
    """The score of winning with the next stone."""
    return (CELLS + 1 - played) // 2


def wins_at_once(mine: int, taken: int) -> bool:
    return bool(int(winning_cells(np.uint64(mine), np.uint64(taken))) & (taken + int(BOTTOM)))


def drop(taken: int, column: int) -> int:
    """The bit on which a stone in this column lands; 0 if it is full."""
    return (taken + (1 << 7 * column)) & (0b111111 << 7 * column)


def book_key(mine: int, taken: int) -> int:
    """The same for a position and its mirror image."""
    return int(key_of(np.uint64(mine), np.uint64(taken), 0))


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
