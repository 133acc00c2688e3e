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

Those ten digits in base 3 index LINES, where the answer for each of the 59,049 lines is kept:

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
EMPTY, BLACK, FORBIDDEN = 0, 1, 3  # FORBIDDEN: an empty cell where black may not play

LEGAL, FIVE, OVERLINE, DOUBLE_FOUR, DOUBLE_THREE = 0, 1, 2, 3, 4
WHY = {OVERLINE: "overline (six or more)", DOUBLE_FOUR: "double-four (4-4)", DOUBLE_THREE: "double-three (3-3)"}

UNDECIDED = 5

# A frame of `judge`: the point, what its cell held, all threes there, those asked about, those found real.
POINT, BEFORE, THREES, ASKED, REAL = range(5)

FIVE_BIT, OVERLINE_BIT = 1 << 8, 1 << 9
THREE_BITS = 63


@njit(cache=True)
def black_run(line: npt.NDArray[np.int8]) -> tuple[int, int]:
    """The first and last index of the run of black stones through the centre of an 11-cell line."""
    first, last = 5, 5
    while first > 0 and line[first - 1] == 1:
        first -= 1
    while last < 10 and line[last + 1] == 1:
        last += 1
    return first, last


@njit(cache=True)
def describe_line(line: npt.NDArray[np.int8]) -> int:
    """What black's stone at the centre of an 11-cell line makes there, as an entry of LINES."""
    first, last = black_run(line)
    length = last - first + 1
    if length == 5:
        return FIVE_BIT
    if length > 5:
        return OVERLINE_BIT
    fours = 0
    for q in range(1, 10):  # a five through the centre reaches at most four cells away
        if line[q] == 0:
            line[q] = 1
            a, b = black_run(line)
            if b - a == 4:
                fours += 1
            line[q] = 0
    if length == 4:  # a straight four is completed at either end and is still one four
        fours = min(fours, 1)
    straight = 0
    for q in range(2, 9):
        if line[q] == 0:
            line[q] = 1
            a, b = black_run(line)
            # Both ends empty, and no black stone behind them that would turn the five into a six.
            if b - a == 3 and a <= q <= b and line[a - 1] == 0 and line[b + 1] == 0:
                if (a < 2 or line[a - 2] != 1) and (b > 8 or line[b + 2] != 1):
                    straight |= 1 << (q - 2 if q < 5 else q - 3)
            line[q] = 0
    return straight | fours << 6


@njit(cache=True)
def describe_all_lines() -> npt.NDArray[np.uint16]:
    """LINES: an entry for each of the 3¹⁰ lines."""
    lines = np.zeros(3**10, np.uint16)
    line = np.zeros(11, np.int8)
    for code in range(lines.size):
        rest = code
        for i in range(11):
            if i == 5:
                line[i] = 1
            else:
                line[i] = rest % 3
                rest //= 3
        lines[code] = describe_line(line)
    return lines


LINES = describe_all_lines()
DIGITS = 3 ** np.arange(10)  # of the neighbours -5 … -1, 1 … 5
TERNARY = np.array([sum(3**i for i in range(10) if bits >> i & 1) for bits in range(1024)], np.int32)


@njit(cache=True)
def line_at(state: "State", row: int, col: int, down: int, right: int) -> int:
    """The entry of LINES for black at (row, col) in one direction."""
    rows, cols = state[0], state[1]
    code = 0
    for i in range(10):
        step = i - 5 if i < 5 else i - 4
        r, c = row + step * down, col + step * right
        if r < 0 or r >= rows or c < 0 or c >= cols:
            code += 2 * DIGITS[i]
        else:
            cell = state[HEADER + r * cols + c]
            if cell == 1 or cell == 2:
                code += cell * DIGITS[i]
    return LINES[code]


@njit(cache=True)
def look(state: "State", point: int, frame: npt.NDArray[np.int32]) -> int:
    """Black's move at an empty point, judged without asking whether its threes are real.

    UNDECIDED if that is the question; then the frame has been filled in to ask it.
    """
    cols = state[1]
    row, col = point // cols, point % cols
    east, south = line_at(state, row, col, 0, 1), line_at(state, row, col, 1, 0)
    southeast, southwest = line_at(state, row, col, 1, 1), line_at(state, row, col, 1, -1)
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
    frame[POINT], frame[BEFORE], frame[ASKED], frame[REAL] = point, state[HEADER + point], 0, 0
    frame[THREES] = (
        east & THREE_BITS
        | (south & THREE_BITS) << 6
        | (southeast & THREE_BITS) << 12
        | (southwest & THREE_BITS) << 18
    )
    return UNDECIDED


@njit(cache=True)
def judge(state: "State", point: int) -> int:
    """What black's move at an empty point is: LEGAL, FIVE, OVERLINE, DOUBLE_FOUR or DOUBLE_THREE.

    Puts stones on the board while it thinks, and takes them off again. The recursion (is the point
    that would make the straight four itself legal?) is a stack of frames, one stone each.
    """
    cols = state[1]
    first_frame = np.empty(5, np.int32)
    verdict = look(state, point, first_frame)
    if verdict != UNDECIDED:
        return verdict
    frames = np.empty((state[0] * cols, 5), np.int32)
    frames[0] = first_frame
    depth = 0
    while True:
        frame = frames[depth]
        if verdict == UNDECIDED:  # a new question: the stone goes on the board
            state[HEADER + frame[POINT]] = BLACK
        elif verdict == LEGAL:  # a real three; on to the next line
            frame[REAL] += 1
            frame[ASKED] = (frame[ASKED] // 6 + 1) * 6
        else:
            frame[ASKED] += 1
        while frame[ASKED] < 24 and not frame[THREES] >> frame[ASKED] & 1:
            frame[ASKED] += 1
        if frame[REAL] == 2 or frame[ASKED] == 24:  # answered
            state[HEADER + frame[POINT]] = frame[BEFORE]
            verdict = DOUBLE_THREE if frame[REAL] == 2 else LEGAL
            if depth == 0:
                return verdict
            depth -= 1
        else:
            direction, i = frame[ASKED] // 6, frame[ASKED] % 6
            if direction == 0:
                step = 1
            elif direction == 1:
                step = cols
            elif direction == 2:
                step = cols + 1
            else:
                step = cols - 1
            verdict = look(state, frame[POINT] + (i - 3 if i < 3 else i - 2) * step, frames[depth + 1])
            if verdict == UNDECIDED:
                depth += 1


@njit(cache=True)
def mark_forbidden(state: "State") -> None:
    """Marks the empty cells of a state as FORBIDDEN or EMPTY.

    Lines are handled as bit masks, and lines with fewer than two black stones not at all: 8 × faster
    than judging each empty point by itself.
    """
    rows, cols = int(state[0]), int(state[1])
    black = np.zeros((4, 64), np.uint64)  # [direction, line]: → ↓ ↘ ↙, a bit for each stone
    white = np.zeros((4, 64), np.uint64)
    point = 0
    for row in range(rows):
        for col in range(cols):
            cell = state[HEADER + point]
            if cell == 1 or cell == 2:
                lines = black if cell == 1 else white
                at_col, at_row = np.uint64(1) << np.uint64(col + 5), np.uint64(1) << np.uint64(row + 5)
                lines[0, row] |= at_col
                lines[1, col] |= at_row
                lines[2, row - col + cols - 1] |= at_col
                lines[3, row + col] |= at_col
            elif cell == FORBIDDEN:
                state[HEADER + point] = EMPTY
            point += 1

    # made[point]: what the lines through it make together. Bits 0-3 count lines with a three,
    # bits 4-7 fours; the bits for five and overline are those of LINES.
    made = np.zeros(rows * cols, np.int32)
    for direction in range(4):
        for line in range(rows if direction == 0 else cols if direction == 1 else rows + cols - 1):
            stones = black[direction, line]
            if stones & (stones - np.uint64(1)) == 0:  # fewer than two
                continue
            # The line's cells are the points base + i · step, for i from first to last.
            if direction == 0:
                first, last, base, step = 0, cols - 1, line * cols, 1
            elif direction == 1:
                first, last, base, step = 0, rows - 1, line, cols
            elif direction == 2:
                down = line - (cols - 1)
                first, last, base, step = max(0, -down), min(cols - 1, rows - 1 - down), down * cols, cols + 1
            else:
                first, last, base, step = max(0, line - rows + 1), min(cols - 1, line), line * cols, 1 - cols
            inside = (np.uint64(1) << np.uint64(last + 6)) - (np.uint64(1) << np.uint64(first + 5))
            blocked = white[direction, line] | ~inside
            taken = stones | blocked
            for i in range(first, last + 1):
                if taken >> np.uint64(i + 5) & np.uint64(1):
                    continue
                b, w = stones >> np.uint64(i), blocked >> np.uint64(i)
                b = (b & np.uint64(31)) | (b >> np.uint64(1) & np.uint64(992))
                w = (w & np.uint64(31)) | (w >> np.uint64(1) & np.uint64(992))
                entry = np.int32(LINES[TERNARY[b] + 2 * TERNARY[w]])
                if entry:
                    count = (1 if entry & THREE_BITS else 0) + (entry >> 6 & 3) * 16
                    made[base + i * step] = made[base + i * step] + count | entry & (FIVE_BIT | OVERLINE_BIT)

    for p in range(rows * cols):
        if made[p] < 2 or made[p] & FIVE_BIT:
            continue
        if made[p] & OVERLINE_BIT or made[p] >> 4 & 15 >= 2:
            state[HEADER + p] = FORBIDDEN
        elif made[p] & 15 >= 2 and judge(state, p) == DOUBLE_THREE:
            state[HEADER + p] = FORBIDDEN
