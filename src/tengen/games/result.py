"""The result, for games that keep it in state[-3]: 0 not over, 1 or 2 the winner, 3 a draw."""

from typing import TYPE_CHECKING

from numba import njit

if TYPE_CHECKING:
    from tengen.games.game import State

RESULT, TO_MOVE = -3, -1
DRAW = 3


@njit(cache=True)
def outcome(state: "State") -> tuple[bool, float]:
    """(is_over, value): +1, 0 or -1 for the player to move."""
    result = state[RESULT]
    if result == 0 or result == DRAW:
        return result != 0, 0.0
    return True, 1.0 if result == state[TO_MOVE] else -1.0
