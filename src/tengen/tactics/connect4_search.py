"""The alpha-beta search of the Connect 4 solver, over bitboards, compiled. It works in slices.

A board is two 49-bit words, seven bits per column, the seventh always empty so that lines do not wrap:

     6 13 20 27 34 41 48      mine    the stones of the player to move
     5 12 19 26 33 40 47      taken   all stones
     4 11 18 25 32 39 46
     3 10 17 24 31 38 45      A position's key is mine + taken + bottom: unique, because in each column the
     2  9 16 23 30 37 44      highest 1 bit is just above the highest stone.
     1  8 15 22 29 36 43
     0  7 14 21 28 35 42

Scores are for the player to move: 0 a draw, +n a win and -n a loss, n one more than the winner's stones left
unplayed when the game ends: an earlier win is higher. A win with the last stone is 1, the earliest is 18.

The methods are those of Tromp's and Pons' solvers: null-window searches ("more than this?") narrow the
score down; moves that allow an immediate win are left out; the others are ordered by the threats they make;
a table stores the bounds found before. One more is Allis' claimeven rule (even rows), see `cannot_win`.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

ROWS, COLS = 6, 7
CELLS = ROWS * COLS
COLUMNS_INWARDS = (0, 6, 1, 5, 2, 4, 3)  # the middle column is part of most lines

BOTTOM = np.uint64(sum(1 << (7 * col) for col in range(COLS)))
BOARD = np.uint64(sum(0b111111 << (7 * col) for col in range(COLS)))
ODD_ROWS = np.uint64(sum(0b010101 << (7 * col) for col in range(COLS)))  # the first, third and fifth
FILES = np.array([0b111111 << (7 * col) for col in COLUMNS_INWARDS], np.uint64)

# An entry of the table: key << 12 | upper bound << 6 | lower bound, the bounds stored plus 32.
Words = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]
BOUND = np.uint64(63)
UNBOUNDED = np.uint64(63 << 6)  # at least -32, at most 31
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # multiplied by it, a key's high bits depend on all others

# Looking up all children first saves nodes, but each look-up takes time. 60 random positions of 10-16
# plies: 34.8 million nodes without, 30.7 before ply 28, 27.8 before 34; times differed less than the noise.
LOOK_UP_CHILDREN_BEFORE = 28  # plies
MIRROR_BEFORE = 17  # plies; not tuned: later, mirror images hardly ever meet

# Numba turns int64 combined with uint64 into a float: every word below is a np.uint64, every number an int.
NOTHING, ONE, TWO, THREE, SIX, SEVEN, EIGHT = (np.uint64(number) for number in (0, 1, 2, 3, 6, 7, 8))
TWELVE, FOURTEEN, SIXTEEN, EIGHTEEN = (np.uint64(number) for number in (12, 14, 16, 18))
TWENTY_ONE, TWENTY_FOUR, TWENTY_EIGHT, FORTY_TWO = (np.uint64(number) for number in (21, 24, 28, 42))
COLUMN_0, COLUMN_1, COLUMN_2, COLUMN_3 = (np.uint64(0b1111111 << (7 * col)) for col in range(4))
THREATS = np.uint64(52)  # a listed move is threats << 52 | its bit


@njit(cache=True, nogil=True, forceinline=True)
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


@njit(cache=True, nogil=True, forceinline=True)
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


@njit(cache=True, nogil=True, forceinline=True)
def cannot_win(mine: np.uint64, taken: np.uint64) -> bool:
    """Is it certain that the player to move cannot win? Only for an even number of stones.

    The opponent can always answer in the same column or, if the stone was played in a column of odd height,
    in another such column: then the player to move only gets empty cells in odd rows and cells playable now.
    """
    empty = BOARD & ~taken
    return not has_four(mine | (empty & ODD_ROWS) | (empty & (taken + BOTTOM)))


@njit(cache=True, nogil=True, forceinline=True)
def count(bits: np.uint64) -> int:
    """The number of bits that are set."""
    number = 0
    while bits != NOTHING:  # LLVM compiles this loop to one instruction
        bits &= bits - ONE
        number += 1
    return number


@njit(cache=True, nogil=True, forceinline=True)
def safe_moves(threats: np.uint64, taken: np.uint64) -> np.uint64:
    """The moves after which the opponent, who would win on the cells `threats`, cannot win at once."""
    playable = (taken + BOTTOM) & BOARD
    forced = playable & threats
    if forced != NOTHING:
        if forced & (forced - ONE) != NOTHING:  # two threats: no move stops both
            return NOTHING
        playable = forced
    return playable & ~(threats >> ONE)  # never below a cell that wins for the opponent


@njit(cache=True, nogil=True, forceinline=True)
def key_of(mine: np.uint64, taken: np.uint64, played: int) -> np.uint64:
    """The position's key; in the opening the lower of its own key and its mirror image's."""
    key = mine + taken + BOTTOM
    if played < MIRROR_BEFORE:
        mirrored = (key & COLUMN_0) << FORTY_TWO | (key & COLUMN_1) << TWENTY_EIGHT
        mirrored |= (key & COLUMN_2) << FOURTEEN | key & COLUMN_3 | (key >> FOURTEEN) & COLUMN_2
        mirrored |= (key >> TWENTY_EIGHT) & COLUMN_1 | key >> FORTY_TWO
        if mirrored < key:
            return mirrored
    return key


@njit(cache=True, nogil=True, forceinline=True)
def look_up(table: Words, shift: np.uint64, key: np.uint64) -> np.uint64:
    """The known bounds of a position, as the last twelve bits of its entry."""
    entry = table[(key * SPREAD) >> shift]
    return entry & (UNBOUNDED | BOUND) if entry >> TWELVE == key else UNBOUNDED


@njit(cache=True, nogil=True, forceinline=True)
def lower(bounds: np.uint64) -> int:
    return np.int64(bounds & BOUND) - 32  # type: ignore[return-value]  # Numba's int() would stay unsigned


@njit(cache=True, nogil=True, forceinline=True)
def upper(bounds: np.uint64) -> int:
    return np.int64(bounds >> SIX) - 32  # type: ignore[return-value]


# Stack.words: the position whose score is wanted, and the position that the search has reached
ROOT_MINE, ROOT_TAKEN, MINE, TAKEN, GOOD = range(5)
# Stack.numbers: the bounds of the score; whether a search is running, whether its score is more than LIMIT
LOWEST, HIGHEST, IS_SEARCHING, LIMIT, DEPTH, VALUE, IS_NEW, NODES = range(8)


class Stack(NamedTuple):
    """The state of a search between two slices, one row per depth. (Recursion is slow in Numba.)"""

    words: Words  # [5], see ROOT_MINE …
    numbers: Numbers  # [8], see LOWEST …
    boards: Words  # [D, 2], mine, taken
    moves: Words  # [D, 7], the moves, the best last
    answers_to: Words  # [D, 7], the opponent's safe answers to each
    counts: Numbers  # [D, 3], moves left, best value so far, keep it in the table?


def new_stack() -> Stack:
    """An empty stack: 6 KiB."""
    return Stack(
        words=np.zeros(5, np.uint64),
        numbers=np.zeros(8, np.int64),
        boards=np.zeros((CELLS + 1, 2), np.uint64),
        moves=np.zeros((CELLS + 1, COLS), np.uint64),
        answers_to=np.zeros((CELLS + 1, COLS), np.uint64),
        counts=np.zeros((CELLS + 1, 3), np.int64),
    )


@njit(cache=True, nogil=True, forceinline=True)
def middle_of(lowest: int, highest: int) -> int:
    """The next limit to test between two bounds of a score. Early wins first: such searches are shallow."""
    middle = (lowest + highest) // 2
    if middle <= 0 and -(-lowest // 2) < middle:
        middle = -(-lowest // 2)
    elif middle >= 0 and highest // 2 > middle:
        middle = highest // 2
    return middle


@njit(cache=True, nogil=True)
def search(
    num_nodes: int,
    table: Words,
    words: Words,
    numbers: Numbers,
    boards: Words,
    moves: Words,
    answers_to: Words,
    counts: Numbers,
) -> bool:
    """Continues the search for at most `num_nodes` nodes. Is it done?

    Is the score more than the limit? If so, VALUE is a lower bound above it, else an upper bound at or below.
    The player to move cannot win at once, and has a safe move: GOOD.
    """
    shift = np.uint64(64 - count(np.uint64(len(table) - 1)))
    mine, taken, good = words[MINE], words[TAKEN], words[GOOD]
    limit, depth, value = numbers[LIMIT], numbers[DEPTH], numbers[VALUE]
    is_new = numbers[IS_NEW] != 0
    played = count(words[ROOT_TAKEN]) + depth
    visited = 0
    while True:
        is_done = False
        if is_new:
            if visited == num_nodes:
                break
            # 1. bounds by the rules. No move in `good` loses at once
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
                # 2. bounds from the table
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
                    if answers == NOTHING:  # no answer prevents a win with the next stone
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
                    counts[depth, 0], counts[depth, 1], counts[depth, 2] = number, -CELLS, is_kept
        else:
            # 4. a child has returned: is that enough, or was it the last?
            mine, taken = boards[depth, 0], boards[depth, 1]
            value = max(-value, counts[depth, 1])
            counts[depth, 1] = value
            if value > limit or counts[depth, 0] == 0:
                is_done = True
                if counts[depth, 2]:
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
                break
            depth -= 1
            played -= 1
            is_new = False
        else:
            next_move = counts[depth, 0] - 1
            counts[depth, 0] = next_move
            move, good = moves[depth, next_move] & BOARD, answers_to[depth, next_move]
            mine, taken = mine ^ taken, taken | move
            depth += 1
            played += 1
            is_new = True
        limit = -1 - limit  # score > limit for one player is score < -limit for the other
    words[MINE], words[TAKEN], words[GOOD] = mine, taken, good
    numbers[LIMIT], numbers[DEPTH], numbers[VALUE], numbers[IS_NEW] = limit, depth, value, is_new
    numbers[NODES] += visited
    return is_done


@njit(cache=True, nogil=True)
def close_in(
    num_nodes: int,
    table: Words,
    words: Words,
    numbers: Numbers,
    boards: Words,
    moves: Words,
    answers_to: Words,
    counts: Numbers,
) -> bool:
    """Brings LOWEST and HIGHEST together, by searches of at most `num_nodes` nodes in all. Are they equal?

    If so, they are the score, provided it was between the first two bounds. To ask a single question, is the
    score more than n, set LOWEST = n and HIGHEST = n + 1: if it is, LOWEST becomes a bound above n, else
    HIGHEST becomes one not above n. The player to move cannot win at once.
    """
    stop = numbers[NODES] + num_nodes
    mine, taken = words[ROOT_MINE], words[ROOT_TAKEN]
    while numbers[LOWEST] < numbers[HIGHEST]:
        lowest, highest = numbers[LOWEST], numbers[HIGHEST]
        middle = middle_of(lowest, highest)
        if not numbers[IS_SEARCHING]:
            words[MINE], words[TAKEN] = mine, taken
            words[GOOD] = safe_moves(winning_cells(mine ^ taken, taken), taken)
            if words[GOOD] == NOTHING:
                numbers[LOWEST] = numbers[HIGHEST] = -((CELLS - count(taken)) // 2)
                break
            numbers[LIMIT], numbers[DEPTH], numbers[IS_NEW] = middle, 0, 1
        left = stop - numbers[NODES]
        numbers[IS_SEARCHING] = not search(left, table, words, numbers, boards, moves, answers_to, counts)
        if numbers[IS_SEARCHING]:
            return False
        if numbers[VALUE] > middle:
            numbers[LOWEST] = numbers[VALUE]
        else:
            numbers[HIGHEST] = numbers[VALUE]
    return True


def win_now(played: int) -> int:
    """The score of winning with the next stone."""
    return (CELLS + 1 - played) // 2


def wins_at_once(mine: int, taken: int) -> bool:
    return bool(int(winning_cells(np.uint64(mine), np.uint64(taken))) & (taken + int(BOTTOM)))


def drop(taken: int, column: int) -> int:
    """The bit on which a stone in this column lands; 0 if it is full."""
    return (taken + (1 << 7 * column)) & (0b111111 << 7 * column)


def book_key(mine: int, taken: int) -> int:
    """The key of a position in a book: the same as for its mirror image."""
    return int(key_of(np.uint64(mine), np.uint64(taken), 0))
