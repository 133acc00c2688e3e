"""The ways a board can be turned and mirrored without changing the game.

Each symmetry g sends cell i to cell cells[g, i] and action a to action actions[g, a]; symmetry 0
leaves everything in place. To transform a vector:  new[actions[g]] = old.

    symmetry.square(9)                       actions are cells
    symmetry.mirror(6, 7).for_moves(MOVES)   any other moves of coordinates.py: Columns, Steps, FromTo, a pass
    symmetry.identity(25, 75)                none: 25 cells, 75 actions
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tengen.games.coordinates import BoardMoves, Columns

if TYPE_CHECKING:
    from tengen.games.game import Game, State

Permutations = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Symmetries:
    """G permutations of a board and of the actions on it."""

    cells: Permutations  # [G, H·W]
    actions: Permutations  # [G, A]

    def __len__(self) -> int:
        return len(self.cells)

    def for_moves(self, moves: Columns | BoardMoves) -> "Symmetries":
        """The same symmetries, for a game whose actions are not, or not only, cells."""
        actions = [moves.turned(cells) for cells in self.cells]
        if isinstance(moves, BoardMoves) and moves.with_pass:  # no symmetry moves the pass
            actions = [np.append(one, moves.num_moves) for one in actions]
        return Symmetries(self.cells, np.stack(actions).astype(np.int32))


def square(size: int) -> Symmetries:
    """The eight symmetries of a square board: four rotations, each with and without a mirror."""
    board = np.arange(size * size).reshape(size, size)
    turned = [np.rot90(board, quarter) for quarter in range(4)]
    return _of_cells(turned + [np.fliplr(view) for view in turned])


def rectangle(rows: int, cols: int) -> Symmetries:
    """The four symmetries of a rectangle (eight if it is square): mirrors and the half turn."""
    if rows == cols:
        return square(rows)
    board = np.arange(rows * cols).reshape(rows, cols)
    return _of_cells([board, np.fliplr(board), np.flipud(board), np.rot90(board, 2)])


def half_turn(rows: int, cols: int) -> Symmetries:
    """Two symmetries: the identity and the half turn."""
    board = np.arange(rows * cols).reshape(rows, cols)
    return _of_cells([board, np.rot90(board, 2)])


def mirror(rows: int, cols: int) -> Symmetries:
    """Two symmetries: the identity, and left and right exchanged."""
    board = np.arange(rows * cols).reshape(rows, cols)
    return _of_cells([board, np.fliplr(board)])


def identity(num_cells: int, num_actions: int) -> Symmetries:
    """The identity only."""
    return Symmetries(
        np.arange(num_cells, dtype=np.int32)[None], np.arange(num_actions, dtype=np.int32)[None]
    )


def transform(game: "Game", state: "State", g: int) -> "State":
    """The state seen through symmetry g: its cells moved, its last action renamed."""
    moved = state.copy()
    moved[game.cells][game.symmetries.cells[g]] = state[game.cells]
    if state[-2] >= 0:
        moved[-2] = game.symmetries.actions[g, state[-2]]
    return moved


def _of_cells(views: list[npt.NDArray[np.int64]]) -> Symmetries:
    """Symmetries for games whose actions are cells. A view has at each place the cell that moved there."""
    permutations = np.stack([np.argsort(view.ravel()) for view in views]).astype(np.int32)
    return Symmetries(permutations, permutations)
