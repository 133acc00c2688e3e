"""Connect 4 and its variants: stones fall to the bottom of a column, k in a row wins.

 0  1  2  3  4  5  6      An action is a column.
 7  8  9 10 11 12 13
14 15 16 17 18 19 20      state: rows, cols, k (the header); the cells from the top row (0 empty,
21 22 23 24 25 26 27      1 first, 2 second player); then
28 29 30 31 32 33 34         -4 stones on the board    -3 result (0 not over, 1, 2, 3 a draw)
35 36 37 38 39 40 41         -2 last action            -1 player to move
"""

from numba import njit

from tengen.errors import UserError
from tengen.games import symmetry
from tengen.games.coordinates import MAX_SIDE, Columns
from tengen.games.game import Game, Mask, Planes, Random, State
from tengen.games.planes import STONE_PLANES, stone_planes
from tengen.games.randomness import random_below
from tengen.games.result import DRAW, RESULT, outcome

HEADER = 3
STONES, LAST_ACTION, TO_MOVE = -4, -2, -1


@njit(cache=True)
def start(state: State) -> None:
    for i in range(HEADER, state.size):
        state[i] = 0
    state[LAST_ACTION] = -1
    state[TO_MOVE] = 1


@njit(cache=True)
def legal(state: State, mask: Mask) -> None:
    for col in range(mask.size):
        mask[col] = (state[HEADER + col] == 0) & (state[RESULT] == 0)


@njit(cache=True, forceinline=True)
def completes_row(state: State, row: int, col: int, me: int) -> bool:
    """Is the stone on this cell part of k in a row of `me`?"""
    rows, cols, k = state[0], state[1], state[2]
    cell = row * cols + col
    down = 1
    while row + down < rows and state[HEADER + cell + down * cols] == me:
        down += 1
    if down >= k:
        return True
    for slope in range(-1, 2):  # ↗  →  ↘
        step = slope * cols + 1
        length = 1
        r, c, at = row + slope, col + 1, cell + step
        while 0 <= r < rows and c < cols and state[HEADER + at] == me:
            length += 1
            r, c, at = r + slope, c + 1, at + step
        r, c, at = row - slope, col - 1, cell - step
        while 0 <= r < rows and c >= 0 and state[HEADER + at] == me:
            length += 1
            r, c, at = r - slope, c - 1, at - step
        if length >= k:
            return True
    return False


@njit(cache=True)
def wins(state: State, action: int) -> bool:
    row = state[0] - 1
    while state[HEADER + row * state[1] + action] != 0:
        row -= 1
    return completes_row(state, row, action, state[TO_MOVE])


@njit(cache=True)
def play(state: State, action: int, next_state: State) -> None:
    for i in range(state.size):  # 14 ns; next_state[:] = state takes 52
        next_state[i] = state[i]
    rows, cols, me = state[0], state[1], state[TO_MOVE]
    row = rows - 1
    while state[HEADER + row * cols + action] != 0:
        row -= 1
    next_state[HEADER + row * cols + action] = me
    next_state[STONES] += 1
    next_state[LAST_ACTION] = action
    next_state[TO_MOVE] = 3 - me
    if completes_row(next_state, row, action, me):
        next_state[RESULT] = me
    elif next_state[STONES] == rows * cols:
        next_state[RESULT] = DRAW


@njit(cache=True)
def planes(state: State, out: Planes) -> None:
    """My stones, the opponent's, the opponent's last move, ones if the first player is to move."""
    stone_planes(state, HEADER, out)
    last = state[LAST_ACTION]
    if last >= 0:
        row = 0
        while state[HEADER + row * state[1] + last] == 0:
            row += 1
        out[2, row, last] = 1


@njit(cache=True)
def rollout(state: State, random: Random) -> None:
    """Random legal moves to the end, in place."""
    rows, cols = state[0], state[1]
    me, stones, result, col = state[TO_MOVE], state[STONES], state[RESULT], int(state[LAST_ACTION])
    while result == 0:
        col = random_below(random, cols)
        while state[HEADER + col] != 0:  # full: draw another column
            col = random_below(random, cols)
        row = rows - 1
        while state[HEADER + row * cols + col] != 0:
            row -= 1
        state[HEADER + row * cols + col] = me
        stones += 1
        if completes_row(state, row, col, me):
            result = me
        elif stones == rows * cols:
            result = DRAW
        me = 3 - me
    state[STONES] = stones
    state[RESULT] = result
    state[LAST_ACTION] = col
    state[TO_MOVE] = me


@njit(cache=True)
def settle(state: State) -> None:
    """Completes a position set up by hand: counts the stones and finds a finished row."""
    num_cells = state[0] * state[1]
    state[STONES] = 0
    state[RESULT] = 0
    for i in range(num_cells):
        if state[HEADER + i] != 0:
            state[STONES] += 1
            if completes_row(state, i // state[1], i % state[1], state[HEADER + i]):
                state[RESULT] = state[HEADER + i]
    if state[RESULT] == 0 and state[STONES] == num_cells:
        state[RESULT] = DRAW


def game(name: str = "connect", rows: int = 6, cols: int = 7, k: int = 4) -> Game:
    """A game of the family: `connect:rows=7,cols=8,k=4`."""
    for what, value in (("rows", rows), ("cols", cols)):
        if not 1 <= value <= MAX_SIDE:
            raise UserError(f"{name}: {what} is 1-{MAX_SIDE}, got {value}")
    if not 1 <= k <= max(rows, cols):
        raise UserError(f"{name}: k is 1-{max(rows, cols)} on a board of {rows}×{cols}, got {k}")
    return Game(
        name=name,
        summary=f"{k} in a row on {rows}×{cols}, stones fall",
        rows=rows,
        cols=cols,
        header=(rows, cols, k),
        state_size=HEADER + rows * cols + 4,
        num_actions=cols,
        plane_names=STONE_PLANES,
        start=start,
        legal=legal,
        play=play,
        outcome=outcome,
        planes=planes,
        rollout=rollout,
        wins=wins,
        settle=settle,
        moves=Columns(cols),
        symmetries=symmetry.mirror(rows, cols).for_moves(Columns(cols)),
        look="columns",
    )
