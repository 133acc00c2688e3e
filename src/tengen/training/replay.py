"""The window of samples that is learned from, and how shards are kept on disk: one file each."""

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

NOTE = "tengen"  # its name in the header
ADVICE = "remove it, and its games are played again"


def save(path: Path, shard: Shard) -> None:
    """A shard as a file. In the header: what happened in the shard, and the file's hash."""
    assert shard.stats is not None
    arrays = {one.name: getattr(shard.samples, one.name) for one in fields(Samples)}
    # One entry: safetensors writes several in any order, and equal shards are equal files.
    note = json.dumps({"sha256": sealed.BLANK, "stats": asdict(shard.stats)})
    files.write_bytes(path, sealed.seal(safetensors.numpy.save(arrays, {NOTE: note})))


def load(path: Path) -> Shard:
    """The shard of a file."""
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
    """Samples of the newest positions, each once, so that the first moves of all games do not crowd out the
    rest: equal ones of a generation are merged, and one that is met again replaces the older."""

    def __init__(self, config: ReplayConfig) -> None:
        self._config = config
        self._generations: list[tuple[Samples, Bits]] = []  # with their keys, oldest first
        self.total = 0  # positions so far

    def add(self, shards: list[Shard]) -> int:
        """The samples of a generation; how many different positions."""
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
    """Of the header; an older version may not have known all of it."""
    known = {one.name: found[one.name] for one in fields(ShardStats) if one.name in found}
    return ShardStats(**known | {"sample": tuple(found.get("sample", ()))})
