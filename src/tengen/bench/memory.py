"""The memory of a process that plays: unique memory (USS), as tournament managers count it.

Measured in new processes: one compiles its kernels, one finds them compiled. Linux only.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tengen import games, players
from tengen.errors import MachineError, UserError
from tengen.games.position import Position
from tengen.players.limit import Limit

MEGABYTE = 1_000_000
MOVES = 3


@dataclass(frozen=True)
class Footprint:
    """Unique memory of a process in megabytes (10⁶ bytes)."""

    player: str
    game: str
    is_cold: bool  # it had to compile its kernels
    imported: float
    prepared: float
    moved: float  # after a few moves


def footprints(player: str, game: str, seconds: float) -> Iterator[Footprint]:
    """The memory of a process that compiles its kernels, then of one that finds them. Linux only."""
    if sys.platform != "linux":
        raise UserError("unique memory is measured on Linux only")
    with tempfile.TemporaryDirectory() as folder:
        for is_cold in (True, False):  # the first one compiles for the second
            command = [sys.executable, "-m", "tengen.bench.memory", player, game, str(seconds)]
            environment = {**os.environ, "TENGEN_CACHE_DIR": folder}
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise MachineError(f"{player} could not move in a new process: {done.stderr.strip()[-300:]}")
            yield Footprint(player, game, is_cold, *json.loads(done.stdout))


def unique_megabytes() -> float:
    """The memory of this process that no other process shares, in megabytes."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_")) / MEGABYTE


def main() -> None:
    """Runs in the new process: prints the three numbers."""
    spec, game, seconds = sys.argv[1:]
    limit = Limit(seconds=float(seconds))
    imported = unique_megabytes()
    with players.find(spec, games.find(game)) as player:
        player.prepare(limit)
        prepared = unique_megabytes()
        position = Position.start(player.game)
        for _ in range(MOVES):
            position = position.play(player.choose(position, limit).action)
        print(json.dumps([imported, prepared, unique_megabytes()]))


if __name__ == "__main__":
    main()
