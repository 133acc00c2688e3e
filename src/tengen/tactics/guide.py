"""Win if you can, block if you must: knowledge that guides UCT, in the tree and in its random games.

A guided game is the same game with two functions replaced:

    legal(state, mask)       only the moves that are worth adding to the tree
    rollout(state, random)   a game to its end, in place; completes winning rows and blocks the opponent's

`legal` keeps the first of these that exists: winning moves; points that stop a win of the opponent. In the
m,n,k family, then: double threats, such as an open four; against a double threat of the opponent, the points
in line with it and our own fours; of the points within two of a stone, the 16 that touch the most stones.
UCT's proofs then hold among the moves that are kept: nearly always, not always, the truth.
"""

from dataclasses import replace

import numpy as np
from numba import njit

from tengen.games import connect4, mnk
from tengen.games.connect4 import HEADER as COLUMN_HEADER
from tengen.games.connect4 import completes_row as completes_row_of_columns
from tengen.games.connect4 import legal as legal_columns
from tengen.games.game import Game, Mask, Random, State
from tengen.games.mnk import HEADER, LAST_ACTION, RENJU, STONES, TO_MOVE, completes_row
from tengen.games.mnk import legal as legal_points
from tengen.games.randomness import random_below
from tengen.games.renju import FORBIDDEN, OVERLINE, judge
from tengen.games.result import DRAW, RESULT

REACH = 2  # cells: points this near to a stone are considered
MOST_MOVES = 16  # in a quiet position: fewer moves, deeper trees
KEPT = 8  # open threats remembered for each player
DOWN = np.array([0, 0, 1, -1, 1, -1, 1, -1])  # the eight directions
RIGHT = np.array([1, -1, 0, 0, 1, -1, -1, 1])


def guided(game: Game) -> Game | None:
    """The game with guided moves and rollouts; None if we know nothing about it."""
    if mnk.is_mnk(game):
        return replace(game, legal=row_moves, rollout=row_rollout)
    if game.play is connect4.play:
        return replace(game, legal=column_moves, rollout=column_rollout)
    return None


@njit(cache=True)
def row_moves(state: State, mask: Mask) -> None:
    rows, cols, me = state[0], state[1], state[TO_MOVE]
    legal_points(state, mask)
    if state[STONES] == 0:
        for i in range(mask.size):
            mask[i] = mask[i] and i == rows // 2 * cols + cols // 2
        return
    # 1. a point that completes a row, mine or the opponent's
    for turn in range(2):
        player = me if turn == 0 else 3 - me
        found = 0
        for i in range(mask.size):
            found += mask[i] and completes_row(state, i, player)
        if found > 0:
            for i in range(mask.size):
                mask[i] = mask[i] and completes_row(state, i, player)
            return
    # 2. among the points near a stone: a double threat of mine, or what helps against one of the opponent's
    near = 0
    for i in range(mask.size):
        near += mask[i] and is_near(state, i)
    if near == 0:  # no such point is free and allowed: any legal move will do
        return
    for i in range(mask.size):
        mask[i] = mask[i] and is_near(state, i)
    found = 0
    for i in range(mask.size):
        found += mask[i] and num_threats_made(state, i, me) >= 2
    if found > 0:
        for i in range(mask.size):
            mask[i] = mask[i] and num_threats_made(state, i, me) >= 2
        return
    threat = -1
    for i in range(mask.size):
        if threat < 0 and mask[i] and num_threats_made(state, i, 3 - me) >= 2:
            threat = i
    if threat < 0:
        keep_busiest(state, mask)
        return
    for i in range(mask.size):
        down, right = abs(i // cols - threat // cols), abs(i % cols - threat % cols)
        is_in_line = (down == 0 or right == 0 or down == right) and max(down, right) < state[2]
        mask[i] = mask[i] and (is_in_line or num_threats_made(state, i, me) > 0)


@njit(cache=True)
def keep_busiest(state: State, mask: Mask) -> None:
    """Keeps only the moves that touch the most stones: counts every run of k cells through a point in which
    only one player has stones, four times as much for each stone."""
    scores = np.zeros(mask.size, np.int64)
    count = 0
    for i in range(mask.size):
        if mask[i]:
            scores[i] = busyness(state, i)
            count += 1
    while count > MOST_MOVES:  # removes the least busy, the last first
        worst = -1
        for i in range(mask.size):
            if mask[i] and (worst < 0 or scores[i] <= scores[worst]):
                worst = i
        mask[worst] = False
        count -= 1


@njit(cache=True)
def busyness(state: State, cell: int) -> int:
    rows, cols, k = state[0], state[1], state[2]
    row, col = cell // cols, cell % cols
    total = 0
    for direction in range(0, 8, 2):
        down, right = DOWN[direction], RIGHT[direction]
        for first in range(1 - k, 1):
            r, c = row + first * down, col + first * right
            last_r, last_c = r + (k - 1) * down, c + (k - 1) * right
            if not (0 <= r < rows and 0 <= last_r < rows and 0 <= c < cols and 0 <= last_c < cols):
                continue
            ones, twos = 0, 0
            for _ in range(k):
                stone = state[HEADER + r * cols + c]
                ones += stone == 1
                twos += stone == 2
                r, c = r + down, c + right
            if ones == 0 or twos == 0:
                total += 1 << 2 * (ones + twos)
    return total


@njit(cache=True)
def num_threats_made(state: State, cell: int, player: int) -> int:
    """The number of points that complete this player's row after a stone here; two cannot be stopped."""
    rows, cols = state[0], state[1]
    row, col = cell // cols, cell % cols
    before = state[HEADER + cell]
    state[HEADER + cell] = player
    count = 0
    for direction in range(8):
        down, right = DOWN[direction], RIGHT[direction]
        r, c = row + down, col + right
        while 0 <= r < rows and 0 <= c < cols and state[HEADER + r * cols + c] == player:
            r, c = r + down, c + right
        if 0 <= r < rows and 0 <= c < cols and state[HEADER + r * cols + c] == 0:
            count += completes_row(state, r * cols + c, player)
    state[HEADER + cell] = before
    return count


@njit(cache=True)
def is_near(state: State, cell: int) -> bool:
    """Is there a stone within REACH of a cell?"""
    rows, cols = state[0], state[1]
    row, col = cell // cols, cell % cols
    for r in range(max(0, row - REACH), min(rows, row + REACH + 1)):
        for c in range(max(0, col - REACH), min(cols, col + REACH + 1)):
            if state[HEADER + r * cols + c] == 1 or state[HEADER + r * cols + c] == 2:
                return True
    return False


@njit(cache=True)
def row_rollout(state: State, random: Random) -> None:
    """Plays a guided random game to the end, in place. Remembers the points where a row can be completed."""
    if state[RESULT] != 0:
        return
    num_cells, is_renju = state[0] * state[1], state[3] == RENJU
    empty = np.empty(num_cells, np.int16)  # the first `left` entries are the empty cells
    place = np.empty(num_cells, np.int16)  # where in `empty` a cell is
    left = 0
    threats, num_threats = np.empty((3, KEPT), np.int16), np.zeros(3, np.int16)
    for i in range(num_cells):
        if state[HEADER + i] == 0 or state[HEADER + i] == FORBIDDEN:
            state[HEADER + i] = 0
            empty[left], place[i] = i, left
            left += 1
    for j in range(left):
        for player in range(1, 3):
            if num_threats[player] < KEPT and completes_row(state, empty[j], player):
                threats[player, num_threats[player]] = empty[j]
                num_threats[player] += 1
    me, action, result = state[TO_MOVE], state[LAST_ACTION], 0
    while result == 0:
        # 1. win, or block, or any legal point
        j = forced(state, me, threats, num_threats, place)
        if j < 0:
            j = forced(state, 3 - me, threats, num_threats, place)
            if j >= 0 and is_renju and me == 1 and judge(state, empty[j]) >= OVERLINE:
                j = -1
        if j < 0:
            untried = left
            while untried > 0:
                j = random_below(random, untried)
                if not (is_renju and me == 1 and judge(state, empty[j]) >= OVERLINE):
                    break
                untried -= 1  # forbidden: skipped for this move
                swap(empty, place, j, untried)
                j = -1
        if j < 0:  # every empty point is forbidden
            result = DRAW
            break
        action = empty[j]
        left -= 1
        swap(empty, place, j, left)
        state[HEADER + action] = me
        # 2. is it over, and if not, which points complete a row now?
        if completes_row(state, action, me):
            result = me
        elif left == 0:
            result = DRAW
        else:
            remember_threats(state, action, me, threats, num_threats)
        me = 3 - me
    state[LAST_ACTION] = action
    state[TO_MOVE] = me
    state[STONES] = num_cells - left
    state[RESULT] = result


@njit(cache=True)
def swap(empty: State, place: State, i: int, j: int) -> None:
    empty[i], empty[j] = empty[j], empty[i]
    place[empty[i]], place[empty[j]] = i, j


@njit(cache=True)
def forced(state: State, player: int, threats: State, num_threats: State, place: State) -> int:
    """The place, in the list of empty cells, of a point that completes a row of this player, or -1."""
    while num_threats[player] > 0:
        cell = threats[player, num_threats[player] - 1]
        if state[HEADER + cell] == 0 and completes_row(state, cell, player):
            return int(place[cell])
        num_threats[player] -= 1
    return -1


@njit(cache=True)
def remember_threats(state: State, action: int, me: int, threats: State, num_threats: State) -> None:
    """Stores the points that complete a row through the new stone: just beyond the two ends of its run."""
    rows, cols = state[0], state[1]
    row, col = action // cols, action % cols
    for direction in range(8):
        down, right = DOWN[direction], RIGHT[direction]
        r, c = row + down, col + right
        while 0 <= r < rows and 0 <= c < cols and state[HEADER + r * cols + c] == me:
            r, c = r + down, c + right
        if 0 <= r < rows and 0 <= c < cols and state[HEADER + r * cols + c] == 0:
            cell = r * cols + c
            if num_threats[me] < KEPT and completes_row(state, cell, me):
                threats[me, num_threats[me]] = cell
                num_threats[me] += 1


@njit(cache=True)
def winning_column(state: State, player: int) -> int:
    """A column in which this player's stone completes a row, or -1."""
    rows, cols = state[0], state[1]
    for col in range(cols):
        row = rows - 1
        while row >= 0 and state[COLUMN_HEADER + row * cols + col] != 0:
            row -= 1
        if row >= 0 and completes_row_of_columns(state, row, col, player):
            return col
    return -1


@njit(cache=True)
def column_moves(state: State, mask: Mask) -> None:
    legal_columns(state, mask)
    me = state[TO_MOVE]
    forced_column = winning_column(state, me)
    if forced_column < 0:
        forced_column = winning_column(state, 3 - me)
    if forced_column >= 0:
        for col in range(mask.size):
            mask[col] = col == forced_column


@njit(cache=True)
def column_rollout(state: State, random: Random) -> None:
    rows, cols = state[0], state[1]
    me, stones, result = state[TO_MOVE], state[STONES], state[RESULT]
    col = int(state[LAST_ACTION])
    while result == 0:
        wins = winning_column(state, me)
        col = wins if wins >= 0 else winning_column(state, 3 - me)
        if col < 0:
            col = random_below(random, cols)
            while state[COLUMN_HEADER + col] != 0:  # full: draw another column
                col = random_below(random, cols)
        row = rows - 1
        while state[COLUMN_HEADER + row * cols + col] != 0:
            row -= 1
        state[COLUMN_HEADER + row * cols + col] = me
        stones += 1
        if wins >= 0:
            result = me
        elif stones == rows * cols:
            result = DRAW
        me = 3 - me
    state[STONES] = stones
    state[RESULT] = result
    state[LAST_ACTION] = col
    state[TO_MOVE] = me
