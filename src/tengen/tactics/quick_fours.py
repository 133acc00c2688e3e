"""Wins by continuous fours on a `Lines` board, for the nodes of alpha-beta.

It needs no setting up, which takes threats.py 5 to 8 µs, and sees an open four and two fours without playing
them. For that it does less than
threats.py: the first win it finds, not the shortest, and none in caro, where a four has several replies.
What it finds is proven.

    find_fours(lines, fours, me, num_nodes)  →  plies to the win, 0 if none was found
    mark_defences(lines, fours, me)          →  the only moves that may stop that win of the opponent
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tengen.games.game import Game
from tengen.games.mnk import CARO, HEADER, RENJU
from tengen.search.tree import kernel
from tengen.tactics.evaluation import MATE, UNKNOWN, Moves, find_point, is_legal, makes_four, settled
from tengen.tactics.lines import (
    FOUR_THREE,
    ONE_FOUR,
    WINS,
    WINS_IN_TWO,
    Lines,
    count,
    line_reach,
    place,
    rank,
    remove,
    whole,
)

MAX_FOURS = 16  # in a row
MOST_MOVES = 40  # fours listed at one position; others are not tried
SPARE_POINTS = 30  # on a fuller board a forbidden reply proves nothing: black might have no legal point

LENGTH, NODES = range(2)  # numbers

Longs = npt.NDArray[np.int64]


class QuickFours(NamedTuple):
    """The stack of a search, D = MAX_FOURS deep."""

    moves: Moves  # [D, MOST_MOVES], the fours to try
    num_moves: Longs  # [D]
    tried: Longs  # [D]
    line: Longs  # [2 · D + 1], four and reply in turn, then the point that wins or makes an open four
    numbers: Longs  # [2], LENGTH of `line`, NODES of the last search
    marks: npt.NDArray[np.bool_]  # [A], see mark_defences


def new_quick_fours(game: Game) -> QuickFours:
    return QuickFours(
        moves=np.zeros((MAX_FOURS, MOST_MOVES), np.int16),
        num_moves=np.zeros(MAX_FOURS, np.int64),
        tried=np.zeros(MAX_FOURS, np.int64),
        line=np.zeros(2 * MAX_FOURS + 1, np.int64),
        numbers=np.zeros(2, np.int64),
        marks=np.zeros(game.num_actions, np.bool_),
    )


@kernel
def find_fours(lines: Lines, fours: QuickFours, me: int, num_nodes: int) -> int:
    """The number of plies in which a player, to move, wins by fours; 0 if `num_nodes` fours show no win.

    Only for positions that are not settled. The board is the same afterwards.
    """
    fours.numbers[NODES] = 0
    mine = lines.tally[me - 1]
    if lines.state[3] >= CARO or num_nodes == 0 or count(mine, ONE_FOUR) + count(mine, FOUR_THREE) == 0:
        return 0
    line, depth, nodes, plies = fours.line, whole(0), 0, 0
    list_fours(lines, fours, me, depth)
    while plies == 0:
        # 1. the next four; if there is none, take back the four above and its reply
        if fours.tried[depth] == fours.num_moves[depth] or nodes == num_nodes:
            depth -= 1
            if depth < 0:
                break
            remove(lines, line[2 * depth + 1])
            remove(lines, line[2 * depth])
            continue
        move = whole(fours.moves[depth, fours.tried[depth]])
        fours.tried[depth] += 1
        if not is_legal(lines, me, move):
            continue
        nodes += 1
        place(lines, move, me)
        reply = winning_point_near(lines, me, move)
        # 2. the only reply
        if reply < 0 or count(lines.tally[2 - me], WINS) > 0:
            remove(lines, move)
            continue
        line[2 * depth] = move
        if not is_legal(lines, 3 - me, reply):
            if lines.left[0] > SPARE_POINTS:
                plies, fours.numbers[LENGTH] = 2 * depth + 3, 2 * depth + 1
            remove(lines, move)
            continue
        line[2 * depth + 1] = reply
        place(lines, reply, 3 - me)
        # 3. won, or the next four
        value = settled(lines, me, lines.tally[me - 1], lines.tally[2 - me])
        if value == UNKNOWN and depth + 1 < MAX_FOURS:
            depth += 1
            list_fours(lines, fours, me, depth)
            continue
        if value > 0 and value != UNKNOWN:
            last = WINS if value == MATE - 1 else WINS_IN_TWO
            plies = 2 * depth + 2 + MATE - value
            line[2 * depth + 2] = find_point(lines, me, whole(last))
            fours.numbers[LENGTH] = 2 * depth + 3
        remove(lines, reply)
        remove(lines, move)
    while depth > 0:
        depth -= 1
        remove(lines, line[2 * depth + 1])
        remove(lines, line[2 * depth])
    fours.numbers[NODES] = nodes
    return plies


@kernel
def list_fours(lines: Lines, fours: QuickFours, me: int, depth: int) -> None:
    """Lists the fours of a player, one that makes a three too first; if a five must be stopped, that."""
    moves, found = fours.moves[depth], 0
    fours.tried[depth] = 0
    if count(lines.tally[2 - me], WINS) > 0:
        point = find_point(lines, 3 - me, whole(WINS))
        if point >= 0 and makes_four(whole(lines.shapes[point]), me):
            moves[0] = point
            found = 1
    elif count(lines.tally[me - 1], ONE_FOUR) + count(lines.tally[me - 1], FOUR_THREE) > 0:
        for point in range(lines.shapes.size):
            if lines.state[HEADER + point] == 0 and found < MOST_MOVES:
                its_rank = rank(lines, lines.shapes[point], me)
                if its_rank in (ONE_FOUR, FOUR_THREE):
                    moves[found] = point
                    if its_rank == FOUR_THREE:
                        moves[0], moves[found] = moves[found], moves[0]
                    found += 1
    fours.num_moves[depth] = found


@kernel
def winning_point_near(lines: Lines, me: int, stone: int) -> int:
    """A point in line with a stone where the player completes a row; -1 if there is none."""
    cols = np.int64(lines.state[1])
    for direction in range(4):
        step = whole(1) if direction == 0 else cols + (0 if direction == 1 else 1 if direction == 2 else -1)
        room = 8 * stone + 2 * direction
        for away in range(-lines.room[room], lines.room[room + 1] + 1):
            point = stone + away * step
            if lines.state[HEADER + point] == 0 and rank(lines, lines.shapes[point], me) == WINS:
                return int(point)
    return -1


@kernel
def mark_defences(lines: Lines, fours: QuickFours, me: int) -> bool:
    """Marks the moves of `me` that may stop the win just found; all others lose. False if it cannot tell.

    These are the points of the line; own fours, which come first; points in line with a reply, because the
    two stones may make a four; and those in line with the last point, where they stop an open four. In renju
    any stone may change what is forbidden.
    """
    if lines.state[3] >= RENJU:
        return False
    cols = np.int64(lines.state[1])
    reach = line_reach(lines.state[2], lines.state[3])
    length = fours.numbers[LENGTH]
    for point in range(lines.shapes.size):
        is_useful = False
        if lines.state[HEADER + point] == 0:
            is_useful = makes_four(whole(lines.shapes[point]), me)
            for i in range(length):
                if is_useful:
                    break
                other = fours.line[i]
                is_useful = point == other
                if i % 2 == 1 or i == length - 1:
                    down, right = abs(point // cols - other // cols), abs(point % cols - other % cols)
                    is_in_line = down == 0 or right == 0 or down == right
                    is_useful |= is_in_line and max(down, right) <= reach
        fours.marks[point] = is_useful
    return True
