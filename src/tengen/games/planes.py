"""The planes that all games with stones share; each game adds its last move and its own planes."""

import numpy as np
from numba import njit

from tengen.games.game import FIRST_TO_MOVE, LAST_MOVE, MINE, THEIRS, Planes, State

TO_MOVE = -1
STONE_PLANES = (MINE, THEIRS, LAST_MOVE, FIRST_TO_MOVE)


@njit(cache=True, forceinline=True)
def stone_planes(state: State, header: int, out: Planes) -> None:
    """Writes the planes of STONE_PLANES. The last-move plane stays zero: the game fills it in."""
    rows, cols, me = out.shape[1], out.shape[2], state[TO_MOVE]
    first_to_move = np.float32(1.0 if me == 1 else 0.0)
    for row in range(rows):
        for col in range(cols):
            cell = state[header + row * cols + col]
            out[0, row, col] = cell == me
            out[1, row, col] = cell == 3 - me
            out[2, row, col] = 0
            out[3, row, col] = first_to_move
