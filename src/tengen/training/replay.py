"""The window of positions that is learned from, and how they are kept on disk: one file a shard."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy

from tengen import files
from tengen.errors import UserError
from tengen.training.config import Replay as Settings
from tengen.training.record import Positions, join, merged


def save(path: Path, positions: Positions) -> None:
    """Compact: policies in half precision."""
    arrays = {one.name: getattr(positions, one.name) for one in fields(Positions)}
    arrays["policies"] = arrays["policies"].astype(np.float16)
    files.write_bytes(path, safetensors.numpy.save(arrays))


def load(path: Path) -> Positions:
    try:
        arrays = safetensors.numpy.load(files.read_bytes(path))
        arrays["policies"] = arrays["policies"].astype(np.float32)
        return Positions(**arrays)
    except (safetensors.SafetensorError, TypeError, KeyError) as error:
        raise UserError(f"{path} is damaged ({error}): remove it, and its games are played again") from None


class Replay:
    """The newest positions; equal ones of a generation are merged."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._generations: list[Positions] = []
        self.total = 0  # positions so far

    def add(self, shards: list[Positions]) -> None:
        """The positions of a generation."""
        new = merged(join(shards))
        self.total += len(new)
        self._generations.append(new)
        window = max(self._settings.least_positions, int(self._settings.share * self.total))
        while sum(map(len, self._generations[1:])) >= window:
            del self._generations[0]

    def positions(self) -> Positions:
        return join(self._generations)
