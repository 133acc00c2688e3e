"""What self-play leaves behind: positions with what the search and the game's end say of them."""

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from tengen.evaluators.hashing import Bits, new_weights
from tengen.games.game import LAST_ACTION, State


@dataclass(frozen=True)
class Positions:
    """N positions, in the order they were played, game after game. Values are for the player to move."""

    states: State  # [N, S]
    policies: npt.NDArray[np.float32]  # [N, A], the search's improved policy
    values: npt.NDArray[np.float32]  # [N], what targets.py makes of the search and the game's end
    outcomes: npt.NDArray[np.float32]  # [N, 3], the same undiscounted: shares of win, draw and loss
    plies_left: npt.NDArray[np.float32]  # [N], to the end of the game

    def __len__(self) -> int:
        return len(self.states)

    def take(self, rows: npt.NDArray[np.int64]) -> "Positions":
        """Some of them."""
        return Positions(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})


def join(parts: list[Positions]) -> Positions:
    """One after another."""
    return Positions(
        **{
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(Positions)
        }
    )


def merged(positions: Positions) -> Positions:
    """Equal positions made one: the mean of what was said of each, so that common openings do not contradict
    themselves. The last action is not part of a position."""
    bare = positions.states.copy()
    bare[:, LAST_ACTION] = -1
    _, first, group, counts = np.unique(
        bare, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    group = group.ravel()

    def mean(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        sums = np.zeros((len(first), *values.shape[1:]), np.float64)
        np.add.at(sums, group, values)
        return (sums / counts.reshape(-1, *[1] * (values.ndim - 1))).astype(np.float32)

    return Positions(
        states=positions.states[first],
        policies=mean(positions.policies),
        values=mean(positions.values),
        outcomes=mean(positions.outcomes),
        plies_left=mean(positions.plies_left),
    )


def keys_of(positions: Positions) -> Bits:
    """64 bits for each that tell it from others, by all but its last action;  [N]"""
    entries = positions.states.shape[1]
    weights = new_weights(seed=0, count=entries)
    weights[LAST_ACTION] = 0
    keys = np.zeros(len(positions), np.uint64)
    for i in range(entries):
        keys += positions.states[:, i].astype(np.uint64) * weights[i]
    return keys
