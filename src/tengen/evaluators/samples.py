"""Positions of random games: to try a network on, and to calibrate it before it has played any."""

import numpy as np

from tengen.games.game import Game, Planes


def random_planes(game: Game, count: int, seed: int | list[int] = 1) -> Planes:
    """What networks see of positions of random games;  [count, C, H, W]"""
    random = np.random.default_rng(seed)
    planes = np.zeros((count, *game.planes_shape), np.float32)
    made = 0
    while made < count:
        state = game.new_state()
        while made < count and not game.outcome(state)[0]:
            game.planes(state, planes[made])
            made += 1
            state = game.after(state, int(random.choice(np.flatnonzero(game.legal_mask(state)))))
    return planes
