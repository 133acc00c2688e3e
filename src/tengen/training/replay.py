"""The window of positions that is learned from, and how they are kept on disk: one file a shard."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from tengen import files, sealed
from tengen.errors import UserError
from tengen.evaluators.hashing import Bits
from tengen.training.config import Replay as Settings
from tengen.training.record import Positions, join, keys_of, merged

NOTE = "tengen"  # its name in the header
ADVICE = "remove it, and its games are played again"


def save(path: Path, positions: Positions, stats: dict[str, Any]) -> None:
    """Compact: policies in half precision. In the header: what happened in the shard, and the file's hash."""
    arrays = {one.name: getattr(positions, one.name) for one in fields(Positions)}
    arrays["policies"] = arrays["policies"].astype(np.float16)
    # One entry: safetensors writes several in any order, and equal shards are equal files.
    note = json.dumps({"sha256": sealed.BLANK, "stats": stats})
    files.write_bytes(path, sealed.seal(safetensors.numpy.save(arrays, {NOTE: note})))


def load(path: Path) -> tuple[Positions, dict[str, Any]]:
    """The positions and what happened; the latter is {} in files of older versions."""
    data = files.read_bytes(path)
    sealed.check(path, data, ADVICE)
    try:
        arrays = safetensors.numpy.load(data)
        arrays["policies"] = arrays["policies"].astype(np.float32)
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        note = json.loads(header.get("__metadata__", {}).get(NOTE, "{}"))
        positions = Positions(**{one.name: arrays[one.name] for one in fields(Positions)})
        return positions, dict(note.get("stats", {}))
    except (safetensors.SafetensorError, TypeError, KeyError, ValueError) as error:
        raise UserError(f"{path} is damaged ({error}): {ADVICE}") from None


class Replay:
    """The newest positions, each once, so that the first moves of all games do not crowd out the rest:
    equal ones of a generation are merged, and one that is met again replaces the older."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._generations: list[tuple[Positions, Bits]] = []  # with their keys, oldest first
        self.total = 0  # positions so far

    def add(self, shards: list[Positions]) -> int:
        """The positions of a generation; how many different ones."""
        new = merged(join(shards))
        keys = keys_of(new)
        self._generations = [_without(keys, *older) for older in self._generations]
        self._generations.append((new, keys))
        self.total += len(new)
        window = max(self._settings.least_positions, int(self._settings.share * self.total))
        while sum(len(positions) for positions, _ in self._generations[1:]) >= window:
            del self._generations[0]
        return len(new)

    def positions(self) -> Positions:
        return join([positions for positions, _ in self._generations])


def _without(keys: Bits, positions: Positions, their_keys: Bits) -> tuple[Positions, Bits]:
    left = np.flatnonzero(~np.isin(their_keys, keys))
    return positions.take(left), their_keys[left]
