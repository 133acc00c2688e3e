"""The files of a run's shards and of its fresh targets: safetensors, each with its own hash."""

import json
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import safetensors
import safetensors.numpy

from tengen import files, sealed
from tengen.errors import UserError
from tengen.training.record import FreshTargets, Samples
from tengen.training.selfplay import ShardStats
from tengen.training.shards import Shard

NOTE = "tengen"  # the key of our metadata in the header

Content = TypeVar("Content", Shard, FreshTargets)


def save(path: Path, shard: Shard) -> None:
    """Writes a shard to a file. The header holds its statistics and the file's hash."""
    assert shard.stats is not None
    _write(path, shard.samples, {"stats": asdict(shard.stats)})


def load(path: Path) -> Shard:
    """The shard in a file."""
    return _read(path, _shard, "remove it, and its games are played again")


def save_fresh(path: Path, fresh: FreshTargets) -> None:
    """Writes fresh targets to a file. The header holds the file's hash."""
    _write(path, fresh, {})


def load_fresh(path: Path) -> FreshTargets:
    """The fresh targets in a file."""
    return _read(path, _fresh, "remove it, and its positions are searched again")


def _write(path: Path, rows: Samples | FreshTargets, note: dict[str, Any]) -> None:
    arrays = {one.name: getattr(rows, one.name) for one in fields(rows)}
    # One entry only: safetensors writes several in random order, but equal shards must be equal files.
    text = json.dumps({"sha256": sealed.BLANK} | note)
    files.write_bytes(path, sealed.seal(safetensors.numpy.save(arrays, {NOTE: text})))


def _read(path: Path, parse: Callable[[bytes], Content], advice: str) -> Content:
    """The content of a file; UserError if it is damaged."""
    data = files.read_bytes(path)
    sealed.check(path, data, advice)
    try:
        return parse(data)
    except (safetensors.SafetensorError, TypeError, KeyError, ValueError) as error:
        raise UserError(f"{path} is damaged ({error}): {advice}") from None


def _shard(data: bytes) -> Shard:
    arrays = safetensors.numpy.load(data)
    arrays.setdefault("is_proven", np.zeros(len(arrays["values"]), np.bool_))  # older files have none
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    note = json.loads(header.get("__metadata__", {}).get(NOTE, "{}"))
    samples = Samples(**{one.name: arrays[one.name] for one in fields(Samples)})
    stats = note.get("stats")
    return Shard(samples, None if not stats else _stats(stats))


def _fresh(data: bytes) -> FreshTargets:
    arrays = safetensors.numpy.load(data)
    return FreshTargets(**{one.name: arrays[one.name] for one in fields(FreshTargets)})


def _stats(found: dict[str, Any]) -> ShardStats:
    """The statistics in a header; older versions did not write all of them."""
    known = {one.name: found[one.name] for one in fields(ShardStats) if one.name in found}
    return ShardStats(**known | {"sample": tuple(found.get("sample", ()))})
