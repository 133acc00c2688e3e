"""What a learner sees of a position in the environments of others: the planes of the networks."""

import numpy as np

from tengen.games.game import TO_MOVE, Game, Planes, State


def planes_seen_by(game: Game, state: State, player: int) -> Planes:
    """float32[C, H, W]: the planes for player 1 or 2, as if this player were to move."""
    seen = state.copy()
    seen[TO_MOVE] = player
    planes = np.empty(game.planes_shape, np.float32)
    game.planes(seen, planes)
    return planes
