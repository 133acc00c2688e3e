"""Hex: connect your two edges. The first player connects top and bottom, the second left and right.

      a b c d e             An action is a cell, counted from the top row. There are no draws: on a full
    1 . . . . .             board exactly one player has connected the edges.
     2 . . . . .
      3 . . . . .           state: size (the header); the cells from the top row (0 empty,
       4 . . . . .          1 first, 2 second player); then
        5 . . . . .            -4 stones on the board    -3 result (0 not over, 1, 2)
                               -2 last action            -1 player to move

The neighbours of a cell, in a ring:

          1 2           1 (row - 1, col)    2 (row - 1, col + 1)    3 (row, col + 1)
         6 * 3          4 (row + 1, col)    5 (row + 1, col - 1)    6 (row, col - 1)
          5 4
"""

import numpy as np
import numpy.typing as npt
from numba import njit

from tengen.errors import UserError
from tengen.games import symmetry
from tengen.games.coordinates import Cells
from tengen.games.game import Game, Mask, Planes, Random, State
from tengen.games.planes import STONE_PLANES, stone_planes
from tengen.games.randomness import random_below
from tengen.games.result import RESULT, outcome

HEADER = 1
STONES, LAST_ACTION, TO_MOVE = -4, -2, -1
MAX_SIZE = 19

RING = ((-1, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1))  # (row, col) from a cell


@njit(cache=True)
def start(state: State) -> None:
    for i in range(HEADER, state.size):
        state[i] = 0
    state[LAST_ACTION] = -1
    state[TO_MOVE] = 1


@njit(cache=True)
def legal(state: State, mask: Mask) -> None:
    for i in range(mask.size):
        mask[i] = (state[HEADER + i] == 0) & (state[RESULT] == 0)


@njit(cache=True, forceinline=True)
def is_mine(state: State, row: int, col: int, me: int) -> bool:
    """Is there a stone of `me` on a cell, or is it off the board beyond an edge of `me`?"""
    size = state[0]
    if row < 0 or row >= size:
        return me == 1
    if col < 0 or col >= size:
        return me == 2
    return bool(state[HEADER + row * size + col] == me)


@njit(cache=True, forceinline=True)
def joins_something(state: State, cell: int, me: int) -> bool:
    """Does a stone of `me` connect two groups, or a group and an edge, that do not touch around this cell?

    Neighbours that follow each other in the ring touch. So count the runs of `me` around the ring; an edge
    of `me` counts like its stones. With fewer than two runs, the stone has connected nothing new.
    """
    size = state[0]
    row, col = cell // size, cell % size
    changes = 0  # around the ring, two for each run
    before = is_mine(state, row, col - 1, me)
    for down, right in RING:
        here = is_mine(state, row + down, col + right, me)
        changes += here != before
        before = here
    return changes > 2


@njit(cache=True, forceinline=True)
def touches_both_edges(state: State, me: int, stack: npt.NDArray[np.int16], waiting: int) -> bool:
    """Do these stones of `me`, with all stones connected to them, reach both edges? Flood fill.

    The stones are the first `waiting` entries of the stack; it has room for a whole board.
    """
    size = state[0]
    seen = np.zeros(size * size, np.bool_)
    for i in range(waiting):
        seen[stack[i]] = True
    at_first_edge, at_second_edge = False, False
    while waiting > 0:
        waiting -= 1
        cell = stack[waiting]
        row, col = cell // size, cell % size
        along = row if me == 1 else col
        at_first_edge |= along == 0
        at_second_edge |= along == size - 1
        if at_first_edge and at_second_edge:
            return True
        for down, right in RING:
            r, c = row + down, col + right
            if 0 <= r < size and 0 <= c < size:
                i = r * size + c
                if state[HEADER + i] == me and not seen[i]:
                    seen[i] = True
                    stack[waiting] = i
                    waiting += 1
    return False


@njit(cache=True)
def has_joined(state: State, me: int) -> bool:
    """Has `me` connected its edges? Searches the whole board, from one edge."""
    size = state[0]
    step = 1 if me == 1 else size
    stack = np.empty(size * size, np.int16)
    waiting = 0
    for i in range(size):
        if state[HEADER + i * step] == me:
            stack[waiting] = i * step
            waiting += 1
    return touches_both_edges(state, me, stack, waiting)


@njit(cache=True)
def play(state: State, action: int, next_state: State) -> None:
    for i in range(state.size):  # faster than next_state[:] = state, see connect4.py
        next_state[i] = state[i]
    me = state[TO_MOVE]
    next_state[HEADER + action] = me
    next_state[STONES] += 1
    next_state[LAST_ACTION] = action
    next_state[TO_MOVE] = 3 - me
    if joins_something(next_state, action, me):
        stack = np.empty(state[0] * state[0], np.int16)
        stack[0] = action
        if touches_both_edges(next_state, me, stack, 1):
            next_state[RESULT] = me


@njit(cache=True)
def planes(state: State, out: Planes) -> None:
    """My stones, the opponent's, the opponent's last move, ones if the first player is to move."""
    stone_planes(state, HEADER, out)
    size, last = state[0], state[LAST_ACTION]
    if last >= 0:
        out[2, last // size, last % size] = 1


@njit(cache=True)
def rollout(state: State, random: Random) -> None:
    """Plays random moves in place until the board is full: the first player to connect still wins then."""
    if state[RESULT] != 0:
        return
    num_cells = state[0] * state[0]
    empty = np.empty(num_cells, np.int16)  # the first `left` entries are the empty cells
    left = 0
    for i in range(num_cells):
        if state[HEADER + i] == 0:
            empty[left] = i
            left += 1
    me = state[TO_MOVE]
    while left > 0:
        i = random_below(random, left)
        left -= 1
        action = empty[i]
        empty[i] = empty[left]
        state[HEADER + action] = me
        state[LAST_ACTION] = action
        me = 3 - me
    state[STONES] = num_cells
    state[RESULT] = 1 if has_joined(state, 1) else 2
    state[TO_MOVE] = me


@njit(cache=True)
def settle(state: State) -> None:
    """Completes a position set up by hand: counts the stones and finds a finished connection."""
    state[STONES] = 0
    for i in range(state[0] * state[0]):
        state[STONES] += state[HEADER + i] != 0
    state[RESULT] = 1 if has_joined(state, 1) else 2 if has_joined(state, 2) else 0


def game(name: str = "hex", size: int = 11) -> Game:
    """The game on a board of size × size: `hex:size=13`."""
    if not 2 <= size <= MAX_SIZE:
        raise UserError(f"{name}: size is 2-{MAX_SIZE}, got {size}")
    num_cells = size * size
    return Game(
        name=name,
        summary=f"Hex on {size}×{size}",
        rows=size,
        cols=size,
        header=(size,),
        state_size=HEADER + num_cells + 4,
        num_actions=num_cells,
        plane_names=STONE_PLANES,
        start=start,
        legal=legal,
        play=play,
        outcome=outcome,
        planes=planes,
        rollout=rollout,
        settle=settle,
        moves=Cells(size, size, row_one="top"),
        symmetries=symmetry.half_turn(size, size),
        look="hexagons",
    )
