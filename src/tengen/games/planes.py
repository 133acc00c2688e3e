"""The planes every game of stones has; each game adds where the last move was, and planes of its own."""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from tengen.games.game import Planes, State

TO_MOVE = -1


@njit(cache=True, forceinline=True)
def stone_planes(state: "State", header: int, out: "Planes") -> None:
    """0 my stones, 1 the opponent's, 2 zeros (the last move goes there), 3 ones if the first player moves."""
    rows, cols, me = out.shape[1], out.shape[2], state[TO_MOVE]
    first_to_move = np.float32(1.0 if me == 1 else 0.0)
    for row in range(rows):
        for col in range(cols):
            cell = state[header + row * cols + col]
            out[0, row, col] = cell == me
            out[1, row, col] = cell == 3 - me
            out[2, row, col] = 0
            out[3, row, col] = first_to_move
