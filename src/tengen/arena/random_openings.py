"""Random positions from which a game can begin."""

import numpy as np

from tengen.games import mnk
from tengen.games.game import Game, Mask
from tengen.games.position import Position

REACH = 3  # of a stone from an earlier one, in rows and columns


def random_opening(
    game: Game, plies: int, random: np.random.Generator, is_dense: bool = True
) -> Position | None:
    """A position after random moves; None if the game is over. is_dense: in the m,n,k family stones are near
    each other, and the first one is not near an edge; otherwise every legal move is as likely."""
    position = Position.start(game)
    for _ in range(plies):
        legal = position.legal_mask
        if is_dense and mnk.is_mnk(game):
            legal = legal & _near(game, position, random)
        if not legal.any():
            return None
        position = position.play(int(random.choice(np.flatnonzero(legal))))
        if position.is_over:
            return None
    return position


def _near(game: Game, position: Position, random: np.random.Generator) -> Mask:
    """The cells around a random stone; for the first stone, those that are not near an edge."""
    near = np.zeros((game.rows, game.cols), np.bool_)
    if position.actions:
        row, col = divmod(int(random.choice(position.actions)), game.cols)
        near[max(0, row - REACH) : row + REACH + 1, max(0, col - REACH) : col + REACH + 1] = True
    else:
        top, left = game.rows // 4, game.cols // 4
        near[top : game.rows - top, left : game.cols - left] = True
    return near.reshape(-1)
