"""Samples to learn from: positions with their targets, made from the search and the final result."""

from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from tengen.evaluators.hashing import Bits, new_weights
from tengen.games.game import LAST_ACTION, State


@dataclass(frozen=True)
class Samples:
    """N positions, in the order they were played, game after game. Values are for the player to move."""

    states: State  # [N, S]
    policies: npt.NDArray[np.floating]  # [N, A], the search's improved policy; float16 in a shard
    values: npt.NDArray[np.float32]  # [N], value targets, see targets.py
    outcomes: npt.NDArray[np.float32]  # [N, 3], targets for win, draw and loss, without discount
    plies_left: npt.NDArray[np.float32]  # [N], until the end of the game
    is_proven: npt.NDArray[np.bool_]  # [N], by the search: policy and value are exact

    def __len__(self) -> int:
        return len(self.states)

    def take(self, rows: npt.NDArray[np.int64]) -> "Samples":
        """The samples of these rows."""
        return Samples(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})


@dataclass(frozen=True)
class FreshTargets:
    """What a new search found in N positions that were recorded before. Values are for the player to move."""

    keys: Bits  # [N], of the positions: keys_of
    policies: npt.NDArray[np.floating]  # [N, A], the search's improved policy, in float16
    values: npt.NDArray[np.float32]  # [N], the search's, not mixed with anything
    is_proven: npt.NDArray[np.bool_]  # [N]

    def __len__(self) -> int:
        return len(self.keys)


Rows = TypeVar("Rows", Samples, FreshTargets)


def join(parts: list[Rows]) -> Rows:
    """All rows of the parts, one after another."""
    kind = type(parts[0])
    return kind(
        **{
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(kind)
        }
    )


def merged(samples: Samples) -> Samples:
    """One sample per position, with the mean of its targets: so common openings do not have contradicting
    targets. The last action is not part of a position. It is proven if all of its samples are. In float32."""
    bare = samples.states.copy()
    bare[:, LAST_ACTION] = -1
    _, first, group, counts = np.unique(
        bare, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    group = group.ravel()

    def mean(values: npt.NDArray[np.floating | np.bool_]) -> npt.NDArray[np.float32]:
        sums = np.zeros((len(first), *values.shape[1:]), np.float64)
        np.add.at(sums, group, values)
        return (sums / counts.reshape(-1, *[1] * (values.ndim - 1))).astype(np.float32)

    return Samples(
        states=samples.states[first],
        policies=mean(samples.policies),
        values=mean(samples.values),
        outcomes=mean(samples.outcomes),
        plies_left=mean(samples.plies_left),
        is_proven=mean(samples.is_proven) == 1,
    )


def keys_of(states: State) -> Bits:
    """A 64-bit hash of each position, without its last action;  [N]"""
    entries = states.shape[1]
    weights = new_weights(seed=0, count=entries)
    weights[LAST_ACTION] = 0
    keys = np.zeros(len(states), np.uint64)
    for i in range(entries):
        keys += states[:, i].astype(np.uint64) * weights[i]
    return keys
