"""The files of a run's shards: one safetensors file each, with its own hash."""

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from tengen import files, sealed
from tengen.errors import UserError
from tengen.training.record import Samples
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
        arrays.setdefault("is_proven", np.zeros(len(arrays["values"]), np.bool_))  # for older versions' files
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        note = json.loads(header.get("__metadata__", {}).get(NOTE, "{}"))
        samples = Samples(**{one.name: arrays[one.name] for one in fields(Samples)})
        stats = note.get("stats")
        return Shard(samples, None if not stats else _stats(stats))
    except (safetensors.SafetensorError, TypeError, KeyError, ValueError) as error:
        raise UserError(f"{path} is damaged ({error}): {ADVICE}") from None


def _stats(found: dict[str, Any]) -> ShardStats:
    """The statistics in a header; older versions did not write all of them."""
    known = {one.name: found[one.name] for one in fields(ShardStats) if one.name in found}
    return ShardStats(**known | {"sample": tuple(found.get("sample", ()))})
