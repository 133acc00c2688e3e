"""Connect6 on 11×11, a complete game in one file. Try it:

    tengen --games examples/connect6.py check connect6
    tengen --games examples/connect6.py show connect6 f6 e7 g7

Black begins with one stone; then each player places two stones per turn. Six or more in a row win.
An action is a cell, one stone: so a player often moves twice in a row, and may win with the first of the two
stones; then the player to move is still the winner.

state: 121 cells (0 empty, 1 first, 2 second player) from the top row, stones on the board, the winner
(0 while undecided), the last action, the player to move.
"""

import numpy as np
from numba import njit

from tengen.games import symmetry
from tengen.games.coordinates import Cells
from tengen.games.game import MINE, THEIRS, Game, Mask, Planes, State

SIZE = 11
CELLS = SIZE * SIZE
STONES, WINNER, LAST_ACTION, TO_MOVE = -4, -3, -2, -1


@njit(cache=True)
def start(state: State) -> None:
    state[:] = 0
    state[LAST_ACTION], state[TO_MOVE] = -1, 1


@njit(cache=True)
def legal(state: State, mask: Mask) -> None:
    mask[:] = (state[:CELLS] == 0) & (state[WINNER] == 0)


@njit(cache=True)
def row_length(state: State, action: int, down: int, right: int) -> int:
    """The number of stones of one colour in a row through this one."""
    length = 1
    for sign in (-1, 1):
        row, col = action // SIZE + sign * down, action % SIZE + sign * right
        while 0 <= row < SIZE and 0 <= col < SIZE and state[row * SIZE + col] == state[action]:
            length, row, col = length + 1, row + sign * down, col + sign * right
    return length


@njit(cache=True)
def play(state: State, action: int, next_state: State) -> None:
    next_state[:] = state
    next_state[action] = state[TO_MOVE]
    next_state[STONES] += 1
    next_state[LAST_ACTION] = action
    if next_state[STONES] % 2 == 1:  # after the first stone, and after every second one from there
        next_state[TO_MOVE] = 3 - state[TO_MOVE]
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        if row_length(next_state, action, down, right) >= 6:
            next_state[WINNER] = state[TO_MOVE]


@njit(cache=True)
def outcome(state: State) -> tuple[bool, float]:
    """(is_over, value): +1, 0 or -1 for the player to move."""
    if state[WINNER] == 0:
        return state[STONES] == CELLS, 0.0
    return True, 1.0 if state[WINNER] == state[TO_MOVE] else -1.0


@njit(cache=True)
def planes(state: State, out: Planes) -> None:
    """My stones, the opponent's, ones if this is the second stone of a turn."""
    board, me = state[:CELLS].reshape(SIZE, SIZE), state[TO_MOVE]
    out[0], out[1] = board == me, board == 3 - me
    out[2] = np.float32(state[STONES] % 2 == 0)


CONNECT6 = Game("connect6", "6 in a row on 11×11, two stones per turn", rows=SIZE, cols=SIZE,
                state_size=CELLS + 4, num_actions=CELLS,
                plane_names=(MINE, THEIRS, "second stone of the turn"),
                start=start, legal=legal, play=play, outcome=outcome, planes=planes,
                moves=Cells(SIZE, SIZE), symmetries=symmetry.square(SIZE), look="points")  # fmt: skip
