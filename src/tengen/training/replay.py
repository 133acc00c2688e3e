"""The replay window, from which the learner draws samples, and the files of shards on disk: one file each."""

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from tengen import files, sealed
from tengen.errors import UserError
from tengen.evaluators.hashing import Bits
from tengen.training.config import ReplayConfig
from tengen.training.record import Samples, join, keys_of, merged
from tengen.training.selfplay import ShardStats
from tengen.training.shards import Shard

NOTE = "tengen"  # the key of our metadata in the header
ADVICE = "remove it, and its games are played again"


def save(path: Path, shard: Shard) -> None:
    """Writes a shard to a file. The header holds its statistics and the file's hash."""
    assert shard.stats is not None
    arrays = {one.name: getattr(shard.samples, one.name) for one in fields(Samples)}
    # One entry only: safetensors writes several in random order, but equal shards must be equal files.
    note = json.dumps({"sha256": sealed.BLANK, "stats": asdict(shard.stats)})
    files.write_bytes(path, sealed.seal(safetensors.numpy.save(arrays, {NOTE: note})))


def load(path: Path) -> Shard:
    """The shard in a file."""
    data = files.read_bytes(path)
    sealed.check(path, data, ADVICE)
    try:
        arrays = safetensors.numpy.load(data)
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        note = json.loads(header.get("__metadata__", {}).get(NOTE, "{}"))
        samples = Samples(**{one.name: arrays[one.name] for one in fields(Samples)})
        stats = note.get("stats")
        return Shard(samples, None if not stats else _stats(stats))
    except (safetensors.SafetensorError, TypeError, KeyError, ValueError) as error:
        raise UserError(f"{path} is damaged ({error}): {ADVICE}") from None


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
        keys = keys_of(new)
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


def _stats(found: dict[str, Any]) -> ShardStats:
    """The statistics in a header; older versions did not write all of them."""
    known = {one.name: found[one.name] for one in fields(ShardStats) if one.name in found}
    return ShardStats(**known | {"sample": tuple(found.get("sample", ()))})
