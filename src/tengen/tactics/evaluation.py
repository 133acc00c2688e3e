"""Evaluates a board by its patterns: who has won, what must be answered, and otherwise who is better.

Values are integers for the player to move. MATE - n is a win at the n-th move from here, by either side:

    a point that makes a five                                        MATE - 1
    the opponent has two such points                                 -(MATE - 2)
    neither has one, and I have one that makes an open four          MATE - 3

In caro one stone can stop two fives, and in renju black's open four may be forbidden: we do not claim a win
in such cases.
"""

import math

import numpy as np
import numpy.typing as npt

from tengen.games.mnk import CARO, CARO_EXACT, HEADER, RENJU
from tengen.games.renju import OVERLINE, judge
from tengen.search.tree import kernel
from tengen.tactics.lines import (
    FOUR_THREE,
    TWO_THREES,
    WINS,
    WINS_IN_TWO,
    Lines,
    count,
    line_reach,
    rank,
    whole,
)

MATE = 1_000_000
SURE = MATE - 1000  # values beyond it are proven
UNKNOWN = MATE + 1  # no value
SCALE = 400  # an advantage of this size is shown as tanh(1)

# Added to the worth of all lines: a double threat that can be played now, or only later.
FOUR_THREE_NOW, FOUR_THREE_LATER = 300, 60
TWO_THREES_NOW, TWO_THREES_LATER = 120, 30

Moves = npt.NDArray[np.int16]

# `judge` allocates, which our kernels cannot do (see search/tree.py): it is compiled before them, here.
judge(np.array([1, 1, 5, RENJU, 0, 0, 0, 0, 1], np.int16), 0)


def squash(value: int) -> float:
    """A value from -1 to 1; proven ones are -1 and 1."""
    return math.copysign(1.0, value) if abs(value) > SURE else math.tanh(value / SCALE)


def plies_to_end(value: int) -> int | None:
    """The number of plies to the end that a value proves; None if nothing is proven."""
    return MATE - abs(value) if abs(value) > SURE else None


@kernel
def at_ply(value: int, ply: int) -> int:
    """A value as seen from the root, `ply` moves earlier: wins are further away."""
    if value > SURE:
        return value - ply
    if value < -SURE:
        return value + ply
    return value


@kernel
def is_legal(lines: Lines, me: int, point: int) -> bool:
    """May the player put a stone on this empty point?"""
    return lines.state[3] != RENJU or me == 2 or judge(lines.state, whole(point)) < OVERLINE


@kernel
def find_point(lines: Lines, me: int, wanted: int) -> int:
    """A legal point that has this rank for a player; -1 if there is none."""
    for point in range(lines.shapes.size):
        if lines.state[HEADER + point] == 0 and rank(lines, lines.shapes[point], me) == wanted:
            if is_legal(lines, me, point):
                return point
    return -1


@kernel
def settled(lines: Lines, me: int, mine: int, theirs: int) -> int:
    """The value, if the tallies of the two players show how the game ends; else UNKNOWN."""
    if count(mine, WINS) > 0:
        return MATE - 1
    rule = lines.state[3]
    if count(theirs, WINS) > 0:
        return 2 - MATE if count(theirs, WINS) > 1 and rule != CARO and rule != CARO_EXACT else UNKNOWN
    if count(mine, WINS_IN_TWO) > 0 and (
        rule != RENJU or me == 2 or find_point(lines, me, whole(WINS_IN_TWO)) >= 0
    ):
        return MATE - 3
    return UNKNOWN


@kernel
def estimate(me: int, worth: int, mine: int, theirs: int) -> int:
    """How much better the player to move is. A player who must stop a five does not really have the move."""
    first, second = worth & 0xFFFFFFFF, worth >> 32
    balance = first - second if me == 1 else second - first
    total = first if me == 1 else second
    if count(theirs, WINS) > 0:
        total = second if me == 1 else first
        return balance - total // 4 - double_threats(theirs, mine)
    return balance + total // 4 + double_threats(mine, theirs)


@kernel
def double_threats(now: int, later: int) -> int:
    """What double threats are worth to the player with the move; tallies of that player and the opponent."""
    value = 0
    if count(now, FOUR_THREE) > 0:
        value += FOUR_THREE_NOW
    elif count(now, TWO_THREES) > 0:
        value += TWO_THREES_NOW
    if count(later, FOUR_THREE) > 0:
        value -= FOUR_THREE_LATER
    if count(later, TWO_THREES) > 0:
        value -= TWO_THREES_LATER
    return value


@kernel
def evaluate(lines: Lines, me: int, worth: int, first: int, second: int, left: int) -> int:
    """The value for the player to move of a board with this worth, these tallies, `left` empty points."""
    if left == 0:
        return 0
    mine, theirs = (first, second) if me == 1 else (second, first)
    value = settled(lines, me, mine, theirs)
    return value if value != UNKNOWN else estimate(me, worth, mine, theirs)


@kernel
def evaluate_board(lines: Lines, me: int) -> int:
    """The value of the board as it is, for the player to move."""
    return evaluate(lines, me, lines.worth[0], lines.tally[0], lines.tally[1], lines.left[0])


@kernel
def makes_four(shape: int, me: int) -> bool:
    """Does a stone of this player make a four in some line, or better?"""
    mine = shape >> 12 * (me - 1)
    return mine & 0o4444 & ((mine & 0o1111) << 2 | (mine & 0o2222) << 1) != 0


@kernel
def list_near(lines: Lines, moves: Moves) -> int:
    """Lists the empty points within two of a stone; returns their number."""
    rows, cols = np.int64(lines.state[0]), np.int64(lines.state[1])
    occupied = lines.occupied
    found = 0
    for row in range(rows):
        near = occupied[row] | occupied[row + 1] | occupied[row + 2] | occupied[row + 3] | occupied[row + 4]
        near |= near << np.uint32(1) | near << np.uint32(2) | near >> np.uint32(1) | near >> np.uint32(2)
        near &= ~occupied[row + 2]
        for col in range(cols):
            moves[found] = row * cols + col
            found += whole(near >> np.uint32(col) & np.uint32(1))
            if found == moves.size:
                return found
    return found


@kernel
def list_moves(lines: Lines, me: int, moves: Moves) -> tuple[int, int]:
    """Lists the moves to try: (count, least value), the least value being sure without any of them.

    These are all empty points within two of a stone. If the opponent threatens to win, only the points that
    may prevent it; all others give the least value. Forbidden points are listed too.
    """
    cols, rule = np.int64(lines.state[1]), lines.state[3]
    reach = line_reach(lines.state[2], rule)
    opponent = 3 - me
    theirs = lines.tally[opponent - 1]
    is_five = count(theirs, WINS) > 0
    threat = -1
    if is_five:
        threat = whole(find_point(lines, opponent, whole(WINS)))
        if rule != CARO and rule != CARO_EXACT:  # in caro, a stone at an end of the five can stop it too
            moves[0] = threat
            return 1, 2 - MATE
    elif count(theirs, WINS_IN_TWO) > 0:
        threat = whole(find_point(lines, opponent, whole(WINS_IN_TWO)))
    found = list_near(lines, moves)
    if threat < 0:
        return found, -MATE
    useful = 0
    for i in range(found):
        point = whole(moves[i])
        down, right = abs(point // cols - threat // cols), abs(point % cols - threat % cols)
        is_in_line = (down == 0 or right == 0 or down == right) and max(down, right) <= reach
        if is_in_line or (not is_five and makes_four(whole(lines.shapes[point]), me)):
            moves[useful] = point
            useful += 1
    return useful, 2 - MATE if is_five else 4 - MATE
