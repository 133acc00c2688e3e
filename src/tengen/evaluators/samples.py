"""Positions of random games: to test a network, and to calibrate it before it has played any games."""

import numpy as np

from tengen.games.game import Game, Planes


def random_planes(game: Game, count: int, seed: int | list[int] = 1) -> Planes:
    """The planes of positions from random games;  [count, C, H, W]"""
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
