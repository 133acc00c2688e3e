"""The replay window, from which the learner draws samples."""

from dataclasses import replace

import numpy as np

from tengen.evaluators.hashing import Bits
from tengen.games.game import State
from tengen.training.config import ReplayConfig
from tengen.training.record import FreshTargets, Samples, join, keys_of, merged
from tengen.training.shards import Shard


class Replay:
    """The replay window: samples of the newest positions, each position once, so that the first moves of all
    games do not take up most of it. Equal positions of a generation are merged; a position that occurs again
    later replaces the older sample."""

    def __init__(self, config: ReplayConfig) -> None:
        self._config = config
        self._generations: list[tuple[Samples, Bits]] = []  # with their keys, oldest first
        self.total = 0  # positions so far

    def add(self, shards: list[Shard]) -> int:
        """The number of different positions in a new generation, whose samples are added."""
        new = merged(join([shard.samples for shard in shards]))
        keys = keys_of(new.states)
        self._generations = [_without(keys, *older) for older in self._generations]
        self._generations.append((new, keys))
        self.total += len(new)
        window = max(self._config.least_positions, int(self._config.share * self.total))
        while sum(len(samples) for samples, _ in self._generations[1:]) >= window:
            del self._generations[0]
        return len(new)

    def draw_old(self, count: int, random: np.random.Generator) -> State:
        """At most `count` different positions of all generations but the newest;  [N, S]. No proven ones:
        their targets are exact."""
        *older, (newest, _) = self._generations
        old = np.concatenate([newest.states[:0], *(one.states[~one.is_proven] for one, _ in older)])
        return old[random.permutation(len(old))[:count]]

    def refresh(self, fresh: FreshTargets, weight: float) -> None:
        """Replaces the targets of positions that were searched again; each keeps its place in the window.
        `weight`: of a new value that is not proven; the stored value has the rest."""
        self._generations = [
            (_refreshed(samples, keys, fresh, weight), keys) for samples, keys in self._generations
        ]

    def samples(self) -> Samples:
        return join([samples for samples, _ in self._generations])


def _without(keys: Bits, samples: Samples, their_keys: Bits) -> tuple[Samples, Bits]:
    left = np.flatnonzero(~np.isin(their_keys, keys))
    return samples.take(left), their_keys[left]


def _refreshed(samples: Samples, keys: Bits, fresh: FreshTargets, weight: float) -> Samples:
    """The samples with the fresh targets of those that have some. Outcomes and plies left are the game's."""
    _, rows, new = np.intersect1d(keys, fresh.keys, assume_unique=True, return_indices=True)
    policies, values, is_proven = samples.policies.copy(), samples.values.copy(), samples.is_proven.copy()
    policies[rows] = fresh.policies[new]
    mixed = (1 - weight) * values[rows] + weight * fresh.values[new]
    values[rows] = np.where(fresh.is_proven[new], fresh.values[new], mixed)
    is_proven[rows] |= fresh.is_proven[new]
    return replace(samples, policies=policies, values=values, is_proven=is_proven)
