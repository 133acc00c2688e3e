"""How long a person waits for the first move: `tengen play`, from the command to the reply.

Each game is played by new processes: the first one of a pair finds an empty kernel cache, as after an
installation, and compiles; the second one finds what the first one left.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from tengen.errors import MachineError, UserError

REPLY = " plays "  # in the line that announces the opponent's move


@dataclass(frozen=True)
class Start:
    """Seconds from the command to the opponent's first move: medians, and the longest."""

    game: str
    count: int
    cold: float  # with an empty kernel cache
    longest_cold: float
    warm: float  # the second time
    longest_warm: float


def starts(names: list[str], count: int) -> Iterator[Start]:
    """The starts of each game, as they are measured."""
    for name in names:
        cold, warm = [], []
        for _ in range(count):
            with tempfile.TemporaryDirectory() as folder:
                cold.append(seconds_to_reply(name, folder))
                warm.append(seconds_to_reply(name, folder))
        yield Start(name, count, median(cold), max(cold), median(warm), max(warm))


def seconds_to_reply(game: str, cache: str) -> float:
    """Starts `tengen play` as the second player; the seconds until its opponent has moved."""
    command = [sys.executable, "-m", "tengen", "play", game, "--side", "second"]
    environment = {**os.environ, "TENGEN_CACHE_DIR": cache}
    began = time.perf_counter()
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        for line in process.stdout:
            if REPLY in line:
                seconds = time.perf_counter() - began
                process.stdin.close()  # ends the game
                return seconds
        error = process.stderr.read().strip()
    if process.returncode == 2:
        raise UserError(error)
    raise MachineError(f"tengen play {game} made no move: {error[-300:]}")
