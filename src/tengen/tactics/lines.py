"""Patterns: what a stone on a point would make in each line, for every game of the m,n,k family.

The names are those of five in a row; with another k a "five" is k stones, a "four" one fewer, and so on.

    FIVE        wins at once
    OPEN_FOUR   one stone short of a five, and no single reply in this line stops it     .XX*X.   X.X*X.X
    FOUR        one stone short of a five                                                OXX*X.   XX*.X
    OPEN_THREE  one stone short of an open four      THREE  one stone short of a four
    OPEN_TWO    one stone short of an open three     TWO    one stone short of a three

Only FIVE needs the rules, and asks them; the others follow from it, one stone at a time. So the same dozen
lines of code describe overlines in standard gomoku and fives blocked at both ends in caro.

What a stone makes in a line depends on the cells within reach. They are the digits of a code in base 4:

    -4 -3 -2 -1  *  1  2  3  4        0 empty   1 first player's   2 second player's   3 outside the board
     0  1  2  3     4  5  6  7        the digit's place, lowest first; here reach 4

A table holds the pattern for either player under each code: a pair, the first player's in bits 0-2, the
second's in bits 3-5. Reach is k, so that the cells at both ends of a five are seen; in freestyle they do not
matter, and k - 1 is enough. What a stone makes in its four lines together is its shape:

    bits 0-2 →    3-5 ↓    6-8 ↘    9-11 ↙     the first player's        bits 12-23     the second's

A shape's rank says how strong it is. A tally counts the empty points of each rank, one digit per rank. Two
fours are as good as an open four, because no reply stops both.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tengen.errors import UserError
from tengen.games import mnk
from tengen.games.game import Game, State
from tengen.games.mnk import FREESTYLE, HEADER, RENJU, completes_row
from tengen.games.renju import FORBIDDEN
from tengen.search.tree import inlined, kernel

NONE, TWO, OPEN_TWO, THREE, OPEN_THREE, FOUR, OPEN_FOUR, FIVE = range(8)
NAMES = ("none", "two", "open two", "three", "open three", "four", "open four", "five")
NOTABLE = 4  # the bit that is set in OPEN_THREE and better
# What a stone makes, by the best that one more stone can make; a FOUR may still turn out to be open.
ONE_SHORT_OF = np.array([NONE, NONE, NONE, TWO, OPEN_TWO, THREE, OPEN_THREE, FOUR], np.uint8)

# Ranks; each has a digit in a tally.
PLAIN, ONE_THREE, TWO_THREES, ONE_FOUR, FOUR_THREE, WINS_IN_TWO, WINS = range(7)
NAMED_RANKS = ("nothing", "a three", "two threes", "a four", "four and three", "an open four", "five")
DIGIT = 10  # bits: a board has fewer than 1024 points

# What a point is worth to a player who could make this there. Chosen by hand, checked by matches.
WORTH = (0, 1, 4, 5, 16, 18, 90, 100)

LEAST_K, MOST_K = 3, 6  # a table for k = 7 would take 256 MiB

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Rows = npt.NDArray[np.uint32]
Longs = npt.NDArray[np.int64]


class Lines(NamedTuple):
    """A board and the patterns of its empty points, kept up to date by `place` and `remove`."""

    state: State  # only the header and the cells are kept up to date; no cell is marked FORBIDDEN
    occupied: Rows  # [rows + 4], a bit for each stone; two empty rows above and below
    room: npt.NDArray[np.int8]  # [8 · A], cells behind and ahead of a point in each direction, within reach
    codes: Rows  # [4 · A], the code of each line through a point
    pairs: Bytes  # [4 · A], the entry of the table for that code; stale where there is a stone
    shapes: Rows  # [A], what a stone would make here; stale where there is a stone
    tally: Longs  # [2], how many empty points have each rank, for either player
    worth: Longs  # [1], of all lines through empty points: first player's + second player's << 32
    left: Longs  # [1], empty points
    table: Bytes  # [4 ** (2 · reach)], pairs
    ranks: Bytes  # [2, 4096], of shapes
    pair_worth: Longs  # [64], as in `worth`


@njit(cache=True)
def describe_lines(k: int, rule: int, me: int, reach: int) -> Bytes:
    """uint8[4 ** (2 · reach)]: what a stone of `me` makes, for each code; 0 for impossible codes."""
    width = 2 * reach + 1
    table = np.zeros(4 ** (2 * reach), np.uint8)
    board = np.zeros(HEADER + width + 4, np.int16)  # a board of one row, as long as the line
    board[0], board[2], board[3] = 1, k, rule
    for code in range(table.size - 1, -1, -1):  # one more stone makes a greater code: its entry is known
        first, last = 0, 2 * reach - 1
        while first < reach and code >> 2 * first & 3 == 3:
            first += 1
        while last >= reach and code >> 2 * last & 3 == 3:
            last -= 1
        is_possible = True
        for place in range(first, last + 1):
            cell = code >> 2 * place & 3
            is_possible &= cell != 3
            board[HEADER + place - first + (place >= reach)] = cell
        if not is_possible:
            continue
        board[HEADER + reach - first] = me
        board[1] = last - first + 2
        if completes_row(board, reach - first, me):
            table[code] = FIVE
            continue
        best = NONE
        for place in range(first, last + 1):
            if code >> 2 * place & 3 == 0:
                best = max(best, table[code | me << 2 * place])
        table[code] = ONE_SHORT_OF[best]
        if best == FIVE:
            is_open = True
            for place in range(first, last + 1):
                if code >> 2 * place & 3 == 0:
                    is_open &= table[code | 3 - me << 2 * place] >= FOUR
            if is_open:
                table[code] = OPEN_FOUR
    return table


@lru_cache(maxsize=8)
def line_table(k: int, rule: int) -> Bytes:
    """The table of pairs."""
    first, second = (describe_lines(k, rule, me, line_reach(k, rule)) for me in (1, 2))
    return first | second << np.uint8(3)


@inlined
def line_reach(k: int, rule: int) -> int:
    return k - 1 if rule == FREESTYLE else k


@lru_cache(maxsize=2)
def rank_table(is_renju: bool) -> Bytes:
    """uint8[2, 4096]: the rank of each shape, for either player."""
    shapes = np.arange(4096)
    patterns = np.stack([shapes >> 3 * direction & 7 for direction in range(4)])
    best = patterns.max(axis=0)
    fours = (patterns >= FOUR).sum(axis=0)
    threes = (patterns == OPEN_THREE).sum(axis=0)
    ranks = np.select(
        [
            best == FIVE,
            (best == OPEN_FOUR) | (fours >= 2),
            (fours == 1) & (threes > 0),
            fours == 1,
            threes >= 2,
        ],
        [WINS, WINS_IN_TWO, FOUR_THREE, ONE_FOUR, TWO_THREES],
        np.where(threes == 1, ONE_THREE, PLAIN),
    )
    both = np.stack([ranks, ranks]).astype(np.uint8)
    if is_renju:  # black may not play there
        both[0, ((fours >= 2) | (threes >= 2)) & (best < FIVE)] = PLAIN
    return both


def check_plays(player: str, game: Game) -> None:
    """UserError if there are no patterns for this game."""
    if not mnk.is_mnk(game):
        raise UserError(f"player '{player}' plays five-in-a-row games (mnk), not {game.name}")
    k = game.header[2]
    if not LEAST_K <= k <= MOST_K:
        raise UserError(f"player '{player}' plays {LEAST_K} to {MOST_K} in a row, {game.name} has k={k}")


def new_lines(game: Game) -> Lines:
    """The empty board of a game."""
    rows, cols, k, rule = game.header
    num_cells = rows * cols
    worth = np.array(WORTH, np.int64)
    lines = Lines(
        state=game.new_state(),
        occupied=np.zeros(rows + 4, np.uint32),
        room=np.zeros(8 * num_cells, np.int8),
        codes=np.zeros(4 * num_cells, np.uint32),
        pairs=np.zeros(4 * num_cells, np.uint8),
        shapes=np.zeros(num_cells, np.uint32),
        tally=np.zeros(2, np.int64),
        worth=np.zeros(1, np.int64),
        left=np.zeros(1, np.int64),
        table=line_table(k, rule),
        ranks=rank_table(rule == RENJU),
        pair_worth=np.array([worth[pair & 7] + (worth[pair >> 3] << 32) for pair in range(64)]),
    )
    measure_room(lines)
    clear(lines)
    return lines


@kernel
def measure_room(lines: Lines) -> None:
    rows, cols = int(lines.state[0]), int(lines.state[1])
    reach = line_reach(lines.state[2], lines.state[3])
    for row in range(rows):
        for col in range(cols):
            up, down, back, ahead = row, rows - 1 - row, col, cols - 1 - col
            i = 8 * (row * cols + col)
            lines.room[i], lines.room[i + 1] = min(reach, back), min(reach, ahead)
            lines.room[i + 2], lines.room[i + 3] = min(reach, up), min(reach, down)
            lines.room[i + 4], lines.room[i + 5] = min(reach, up, back), min(reach, down, ahead)
            lines.room[i + 6], lines.room[i + 7] = min(reach, up, ahead), min(reach, down, back)


@kernel
def clear(lines: Lines) -> None:
    """Removes all stones."""
    reach = line_reach(lines.state[2], lines.state[3])
    lines.occupied[:] = 0
    lines.tally[:] = 0
    lines.worth[0] = 0
    lines.left[0] = 0
    for point in range(lines.shapes.size):
        lines.state[HEADER + point] = 0
        for direction in range(4):
            behind, ahead = lines.room[8 * point + 2 * direction], lines.room[8 * point + 2 * direction + 1]
            code = 0
            for distance in range(behind + 1, reach + 1):
                code |= 3 << 2 * (reach - distance)
            for distance in range(ahead + 1, reach + 1):
                code |= 3 << 2 * (reach + distance - 1)
            lines.codes[4 * point + direction] = code
        appear(lines, point)


@kernel
def set_up(lines: Lines, state: State) -> None:
    """Copies the board of a state."""
    clear(lines)
    for point in range(lines.shapes.size):
        cell = state[HEADER + point]
        if cell != 0 and cell != FORBIDDEN:
            place(lines, point, whole(cell))


@inlined
def whole(number: Any) -> int:
    """The number as int64, so that functions called with it are compiled only once."""
    return np.int64(number)  # type: ignore[return-value]


@inlined
def rank(lines: Lines, shape: int, me: int) -> int:
    """The rank of a shape for a player, 1 or 2."""
    return whole(lines.ranks[np.uint64(me - 1), np.uint64(shape >> (12 * (me - 1)) & 4095)])


@inlined
def digit(rank: int) -> int:
    """The tally of one point of this rank; plain points are not counted."""
    return 0 if rank == 0 else 1 << DIGIT * (rank - 1)


@inlined
def count(tally: int, rank: int) -> int:
    """The number of points with a rank."""
    return tally >> DIGIT * (rank - 1) & (1 << DIGIT) - 1


@kernel
def appear(lines: Lines, point: int) -> None:
    """Counts a point that has become empty."""
    shape = 0
    for direction in range(4):
        pair = lines.table[lines.codes[4 * point + direction]]
        lines.pairs[4 * point + direction] = pair
        lines.worth[0] += lines.pair_worth[pair]
        shape |= ((pair & 7) | (pair >> 3) << 12) << 3 * direction
    lines.shapes[point] = shape
    lines.left[0] += 1
    for me in (1, 2):
        lines.tally[me - 1] += digit(rank(lines, shape, me))


@kernel
def disappear(lines: Lines, point: int) -> None:
    """Stops counting a point, before a stone is put there."""
    lines.left[0] -= 1
    for direction in range(4):
        lines.worth[0] -= lines.pair_worth[lines.pairs[4 * point + direction]]
    for me in (1, 2):
        lines.tally[me - 1] -= digit(rank(lines, lines.shapes[point], me))


@inlined
def see_stone(lines: Lines, point: int, stone: int, keep: bool) -> tuple[int, int, int]:
    """How `worth` and the two tallies change when a stone is placed or removed, over all points within reach.

    With keep=False nothing is written, only computed: 2 × as fast as placing and removing the stone.
    """
    cols = int(lines.state[1])
    reach = line_reach(lines.state[2], lines.state[3])
    worth, first, second = 0, 0, 0
    for direction in range(4):
        if direction == 0:
            step = 1
        elif direction == 1:
            step = cols
        elif direction == 2:
            step = cols + 1
        else:
            step = cols - 1
        room = np.uint64(8 * point + 2 * direction)
        behind, ahead = lines.room[room], lines.room[room + np.uint64(1)]
        for away in range(-behind, ahead + 1):
            if away == 0:
                continue
            other = np.uint64(point + away * step)
            line = np.uint64(4) * other + np.uint64(direction)
            place = reach - away if away > 0 else reach - away - 1  # of this digit in the other's code
            code = lines.codes[line] ^ np.uint32(stone << 2 * place)
            if keep:
                lines.codes[line] = code
            if lines.state[np.uint64(HEADER) + other] != 0:
                continue
            pair, before = lines.table[code], lines.pairs[line]
            if pair == before:
                continue
            worth += lines.pair_worth[np.uint64(pair)] - lines.pair_worth[np.uint64(before)]
            old = whole(lines.shapes[other])
            change = whole(pair ^ before)
            new = old ^ ((change & 7) | (change >> 3) << 12) << 3 * direction
            if keep:
                lines.pairs[line] = pair
                lines.shapes[other] = new
            seen = pair | before
            if seen & NOTABLE:
                first += digit(rank(lines, new, 1)) - digit(rank(lines, old, 1))
            if seen >> 3 & NOTABLE:
                second += digit(rank(lines, new, 2)) - digit(rank(lines, old, 2))
    return worth, first, second


@kernel
def see_and_keep(lines: Lines, point: int, stone: int) -> None:
    worth, first, second = see_stone(lines, point, stone, True)
    lines.worth[0] += worth
    lines.tally[0] += first
    lines.tally[1] += second


@kernel
def peek(lines: Lines, point: int, stone: int) -> tuple[int, int, int]:
    """`worth` and the two tallies as they would be with a stone on an empty point."""
    worth, first, second = see_stone(lines, point, stone, False)
    for direction in range(4):
        worth -= lines.pair_worth[lines.pairs[4 * point + direction]]
    first -= digit(rank(lines, lines.shapes[point], 1))
    second -= digit(rank(lines, lines.shapes[point], 2))
    return lines.worth[0] + worth, lines.tally[0] + first, lines.tally[1] + second


@kernel
def place(lines: Lines, point: int, stone: int) -> None:
    """Puts a stone, 1 or 2, on an empty point."""
    cols = lines.state[1]
    disappear(lines, point)
    lines.state[HEADER + point] = stone
    lines.occupied[point // cols + 2] |= np.uint32(1) << np.uint32(point % cols)
    see_and_keep(lines, point, stone)


@kernel
def remove(lines: Lines, point: int) -> None:
    """Removes a stone."""
    cols = lines.state[1]
    stone = whole(lines.state[HEADER + point])
    lines.state[HEADER + point] = 0
    lines.occupied[point // cols + 2] ^= np.uint32(1) << np.uint32(point % cols)
    see_and_keep(lines, point, stone)
    appear(lines, point)
