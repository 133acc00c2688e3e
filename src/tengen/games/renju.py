"""Renju: the points where black may not play, by the full recursive definition.

For black at an empty point P (RIF rules, section 9):

    1. five in a row, exactly: legal, and wins
    2. six or more in a row: forbidden, an overline
    3. two or more fours: forbidden, a double-four
    4. two or more threes: forbidden, a double-three. A three counts only if black could make a straight
       four of it next move, at a point Q that makes no five and is itself not forbidden: 1-4 apply to Q
    5. anything else is legal

What a stone at P makes in one line depends on the five cells on either side of it:

    -5 -4 -3 -2 -1  P  1  2  3  4  5         0 empty, 1 black, 2 white or outside the board

Each side's five digits in base 3, the nearest cell lowest, make a code from 0 to 242; the two codes
index LINES[behind, ahead], where the answer for each of the 59,049 lines is kept:

    bits 0-5   a straight four, if black adds a stone at -3, -2, -1, 1, 2, 3
    bits 6-7   the number of fours: 0, 1 or 2 (".X.X*X.X." has two in one line)
    bit 8      exactly five        bit 9   six or more
"""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from numba import njit

if TYPE_CHECKING:
    from tengen.games.game import State

HEADER = 4  # rows, cols, k, rule: the header of the m,n,k family
EMPTY, BLACK, WHITE, FORBIDDEN = 0, 1, 2, 3  # FORBIDDEN: an empty cell where black may not play

LEGAL, FIVE, OVERLINE, DOUBLE_FOUR, DOUBLE_THREE = 0, 1, 2, 3, 4
WHY = {
    OVERLINE: "overline (six or more)",
    DOUBLE_FOUR: "double-four (4-4)",
    DOUBLE_THREE: "double-three (3-3)",
}

UNDECIDED = 5

# A frame of `judge`: the point, what its cell held, the bits of its threes, the bit asked about, real threes.
POINT, BEFORE, THREES, ASKED, REAL = range(5)

FIVE_BIT, OVERLINE_BIT = 1 << 8, 1 << 9
THREE_BITS = 63

Rows = npt.NDArray[np.uint32]  # a board as bits: [row + EDGE], a bit for each column
EDGE = 5  # empty rows around it


def describe_all_lines() -> npt.NDArray[np.uint16]:
    """LINES: an entry for each of the 243 · 243 lines, from what is known of their two sides.

    With NumPy, 3 ms. Compiling a loop would take a second, in every game.
    """
    cells = np.full((243, 7), WHITE, np.int8)  # [code, distance - 1], beyond five cells nothing is empty
    cells[:, :5] = np.arange(243)[:, None] // 3 ** np.arange(5) % 3
    run, is_open = describe_side(cells)
    length = 1 + run[:, None] + run
    fours, straight = np.zeros((243, 243), np.uint16), np.zeros((243, 243), np.uint16)
    for distance in range(1, 5):  # black adds a stone ahead; behind is the same, mirrored
        added = cells.copy()
        added[:, distance - 1] = BLACK
        is_empty = cells[:, distance - 1] == EMPTY
        run_then, is_open_then = describe_side(added)
        # 1. a four, if that completes a five through the centre
        completes = (run[:, None] + run_then == 4) & is_empty
        fours += completes
        fours += completes.T
        # 2. a straight four: both ends empty, and no black stone beyond them that would make it a six
        can = is_empty & (run_then >= distance) & is_open_then
        makes = (run[:, None] + run_then == 3) & is_open[:, None] & can
        if distance <= 3:
            straight |= makes.astype(np.uint16) << (2 + distance)
            straight |= makes.T.astype(np.uint16) << (3 - distance)
    fours[length == 4] = np.minimum(fours[length == 4], 1)  # completed at either end it is still one four
    described = straight | fours << np.uint16(6)
    described[length == 5] = FIVE_BIT
    described[length > 5] = OVERLINE_BIT
    return described


def describe_side(cells: npt.NDArray[np.int8]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """For each side: how many black stones begin it; is the next cell empty, and the one after not black?"""
    run = np.logical_and.accumulate(cells[:, :5] == BLACK, axis=1).sum(axis=1)
    each = np.arange(len(cells))
    return run, (cells[each, run] == EMPTY) & (cells[each, run + 1] != BLACK)


LINES = describe_all_lines()


@njit(cache=True, forceinline=True)
def side(state: "State", point: int, step: int, room: int) -> np.uint64:
    """The code of the five cells on one side of a point; `room` cells are left before the edge."""
    code = np.uint64(0)
    for distance in range(5, 0, -1):
        code *= np.uint64(3)
        if distance > room:
            code += np.uint64(2)
        else:
            cell = state[HEADER + point + distance * step]
            if cell != FORBIDDEN:
                code += np.uint64(cell)
    return code


@njit(cache=True, forceinline=True)
def line_through(state: "State", point: int, step: int, room_behind: int, room_ahead: int) -> int:
    """The entry of LINES for black at a point, in one direction."""
    return int(LINES[side(state, point, -step, room_behind), side(state, point, step, room_ahead)])


@njit(cache=True)
def look(state: "State", point: int) -> int:
    """What black's move at an empty point is, judged without asking whether its threes are real.

    If that question decides: UNDECIDED in the low three bits, and above them the bits of the threes, six per
    line.
    """
    # All int64: so Numba compiles the functions called with them once.
    one: int = np.int64(1)  # type: ignore[assignment]
    rows: int = np.int64(state[0])  # type: ignore[assignment]
    cols: int = np.int64(state[1])  # type: ignore[assignment]
    row, col = point // cols, point % cols
    up, down, left, right = row, rows - 1 - row, col, cols - 1 - col
    east = line_through(state, point, one, left, right)
    south = line_through(state, point, cols, up, down)
    southeast = line_through(state, point, cols + 1, min(up, left), min(down, right))
    southwest = line_through(state, point, cols - 1, min(up, right), min(down, left))
    together = east | south | southeast | southwest
    if together & FIVE_BIT:
        return FIVE
    if together & OVERLINE_BIT:
        return OVERLINE
    if (east >> 6) + (south >> 6) + (southeast >> 6) + (southwest >> 6) >= 2:
        return DOUBLE_FOUR
    lines_with_threes = 0
    for line in (east, south, southeast, southwest):
        if line & THREE_BITS:
            lines_with_threes += 1
    if lines_with_threes < 2:
        return LEGAL
    threes = (
        east & THREE_BITS
        | (south & THREE_BITS) << 6
        | (southeast & THREE_BITS) << 12
        | (southwest & THREE_BITS) << 18
    )
    return UNDECIDED | threes << 3


@njit(cache=True)
def judge(state: "State", point: int) -> int:
    """What black's move at an empty point is: LEGAL, FIVE, OVERLINE, DOUBLE_FOUR or DOUBLE_THREE.

    Puts stones on the board while it works, and removes them again. The recursion (is the point
    that would make the straight four itself legal?) is a stack of frames, one stone each.
    """
    cols = np.int64(state[1])
    verdict = look(state, point)
    if verdict & 7 != UNDECIDED:
        return verdict
    frames = np.empty((state[0] * cols, 5), np.int32)
    depth = -1
    while True:
        if verdict & 7 == UNDECIDED:  # a new question: its stone goes on the board
            depth += 1
            frames[depth, POINT], frames[depth, BEFORE] = point, state[HEADER + point]
            frames[depth, THREES], frames[depth, ASKED], frames[depth, REAL] = verdict >> 3, 0, 0
            state[HEADER + point] = BLACK
        elif verdict == LEGAL:  # a real three; on to the next line
            frames[depth, REAL] += 1
            frames[depth, ASKED] = (frames[depth, ASKED] // 6 + 1) * 6
        else:
            frames[depth, ASKED] += 1

        asked, threes = frames[depth, ASKED], frames[depth, THREES]
        while asked < 24 and not threes >> asked & 1:
            asked += 1
        frames[depth, ASKED] = asked
        if frames[depth, REAL] == 2 or asked == 24:  # answered
            state[HEADER + frames[depth, POINT]] = frames[depth, BEFORE]
            verdict = DOUBLE_THREE if frames[depth, REAL] == 2 else LEGAL
            depth -= 1
            if depth < 0:
                return verdict
        else:
            direction, i = asked // 6, asked % 6
            if direction == 0:
                step = np.int64(1)
            elif direction == 1:
                step = cols
            elif direction == 2:
                step = cols + 1
            else:
                step = cols - 1
            point = frames[depth, POINT] + (i - 3 if i < 3 else i - 2) * step
            verdict = look(state, point)


@njit(cache=True, forceinline=True)
def along(board: Rows, row: int, steps: int, down: int, right: int) -> np.uint32:
    """The cells `steps` away in a direction, each shifted to the bit of the cell it is seen from.

    Compiled once for every literal `steps`: with a variable, marking takes 1.28 × as long.
    """
    away = steps * right
    cells: np.uint32 = board[np.uint64(row + steps * down)]  # unsigned: no check for negative indices
    return cells >> np.uint32(max(away, 0)) << np.uint32(max(-away, 0))


@njit(cache=True)
def mark_forbidden(state: "State") -> None:
    """Marks the empty cells of a state as FORBIDDEN or EMPTY.

    First all cells at once, a machine word per row, a bit per cell: which points might be forbidden?
    Never too few points, sometimes too many. Then `judge` decides about each: 3 or 4 points with 40 stones.
    """
    rows, cols = int(state[0]), int(state[1])
    # 1. the board as bits, with empty rows around it, so that lines may run off its edge
    boards = np.zeros((9, rows + 2 * EDGE), np.uint32)
    black, empty, fours_at, threes_at, fives_at, three, threes, four, fours = boards
    whole_row = np.uint32((1 << cols) - 1)
    point = HEADER
    for row in range(EDGE, rows + EDGE):
        stones, others = np.uint32(0), np.uint32(0)
        for col in range(cols):
            cell = state[point + col]
            if cell == FORBIDDEN:
                state[point + col] = EMPTY
            stones |= np.uint32(cell == BLACK) << np.uint32(col)
            others |= np.uint32(cell == WHITE) << np.uint32(col)
        black[row] = stones
        empty[row] = whole_row & ~(stones | others)
        point += cols

    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        # 2. windows, each at the bit of its first cell
        for row in range(EDGE, rows + EDGE):
            b0, b1, b2, b3, b4 = (
                black[row], along(black, row, 1, down, right), along(black, row, 2, down, right),
                along(black, row, 3, down, right), along(black, row, 4, down, right),
            )  # fmt: skip
            e0, e1, e2, e3, e4 = (
                empty[row], along(empty, row, 1, down, right), along(empty, row, 2, down, right),
                along(empty, row, 3, down, right), along(empty, row, 4, down, right),
            )  # fmt: skip
            free = (b0 | e0) & (b1 | e1) & (b2 | e2) & (b3 | e3)
            # four cells with two black stones and two empty ones, between two empty cells
            odd, some, all_black = b0 ^ b1 ^ b2 ^ b3, b0 | b1 | b2 | b3, b0 & b1 & b2 & b3
            threes_at[row] = free & some & ~odd & ~all_black & e4 & along(empty, row, -1, down, right)
            # five cells with three black stones or more, and no white: add the five bits, see if ≥ 3
            sum_a, carry_a = b0 ^ b1 ^ b2, b0 & b1 | b0 & b2 | b1 & b2
            sum_b, carry_b = sum_a ^ b3 ^ b4, sum_a & b3 | sum_a & b4 | b3 & b4
            fours_at[row] = free & (b4 | e4) & (carry_a & carry_b | (carry_a | carry_b) & sum_b)
            fives_at[row] = all_black & b4
        # 3. the empty cells of those windows: once, twice or more often
        for row in range(EDGE, rows + EDGE):
            found = threes_at[row]
            for steps in range(-3, 0):
                found |= along(threes_at, row, steps, down, right)
            threes[row] |= three[row] & found
            three[row] |= found
            once, twice = four[row], fours[row]
            for steps in range(-4, 1):
                found = along(fours_at, row, steps, down, right)
                twice |= once & found
                once |= found
            # Beside five in a row: the game is over then, but such a board can be set up by hand.
            twice |= along(fives_at, row, 1, down, right) | along(fives_at, row, -5, down, right)
            four[row], fours[row] = once, twice

    # 4. judge
    for row in range(rows):
        found = (threes[row + EDGE] | fours[row + EDGE]) & empty[row + EDGE]
        col = 0
        while found:
            if found & np.uint32(1):
                point = row * cols + col
                if judge(state, point) >= OVERLINE:
                    state[HEADER + point] = FORBIDDEN
            found >>= np.uint32(1)
            col += 1
