"""The speed of a network: evaluations per second on one thread, in fp32, in int8, or by a table.

The precisions are measured alternately, and the median counts. This runs in a separate process, because some
machines claim 8-bit instructions that they do not have, and a process that uses one of them is killed.
Seconds are processor time, so other programs do not change them.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import cast

import numpy as np

from tengen.evaluators.gathering import Answers
from tengen.evaluators.lookup import Lookup
from tengen.evaluators.session import new_session
from tengen.games.game import Planes

BATCHES = (64, 256)
ROUNDS = 5

Rates = dict[str, dict[int, float]]  # evaluations per second, by precision and batch size


def speeds(networks: dict[str, bytes], planes: Planes, seconds: float) -> Rates:
    """The rates of networks by their precision, without int8 if it is not possible on this machine.

    planes [B, C, H, W]: the input of the networks, at least 256 positions; seconds: for each measurement.
    """
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "planes.npy", planes)
        for name, data in networks.items():
            (Path(folder) / name).write_bytes(data)
        command = [sys.executable, "-m", "tengen.bench.network", folder, str(seconds), *networks]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode == 0:
        rates = json.loads(done.stdout)
        return {name: {int(batch): rate for batch, rate in row.items()} for name, row in rates.items()}
    return measure({"fp32": networks["fp32"]}, planes, seconds)


def measure(networks: dict[str, bytes], planes: Planes, seconds: float) -> Rates:
    """The rates, measured in this process."""
    opened = {name: _opened(name, data, planes) for name, data in networks.items()}
    rates: dict[str, dict[int, list[float]]] = {name: {size: [] for size in BATCHES} for name in networks}
    for round in range(ROUNDS + 1):
        for size in BATCHES:
            for name, run in opened.items():
                batches = _endless(planes, size)
                began = time.process_time()
                done = 0
                while done == 0 or (round > 0 and time.process_time() - began < seconds):
                    run(next(batches))
                    done += size
                if round > 0:  # the first one is a warm-up
                    rates[name][size].append(done / (time.process_time() - began))
    return {name: {size: median(row[size]) for size in BATCHES} for name, row in rates.items()}


def _opened(name: str, data: bytes, planes: Planes) -> Callable[[Planes], Answers]:
    """What answers planes like these: a session, or a table."""
    if name == "lookup":
        return Lookup.of(data).answers
    session = new_session(data, planes.shape[2:])
    return lambda seen: cast(Answers, session.run(None, {"planes": seen}))


def _endless(planes: Planes, size: int) -> Iterator[Planes]:
    while True:
        for begin in range(0, len(planes) - size + 1, size):
            yield planes[begin : begin + size]


if __name__ == "__main__":
    folder, seconds, *names = sys.argv[1:]
    networks = {name: (Path(folder) / name).read_bytes() for name in names}
    print(json.dumps(measure(networks, np.load(Path(folder) / "planes.npy"), float(seconds))))
