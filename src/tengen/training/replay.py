"""The replay window, from which the learner draws samples."""

import numpy as np

from tengen.evaluators.hashing import Bits
from tengen.training.config import ReplayConfig
from tengen.training.record import Samples, join, keys_of, merged
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

    def samples(self) -> Samples:
        return join([samples for samples, _ in self._generations])


def _without(keys: Bits, samples: Samples, their_keys: Bits) -> tuple[Samples, Bits]:
    left = np.flatnonzero(~np.isin(their_keys, keys))
    return samples.take(left), their_keys[left]
