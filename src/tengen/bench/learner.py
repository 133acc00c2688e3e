"""The time of a learning step, on a quiet machine and next to programs that keep every core busy.

The same step is measured alternately in two ways: the batch in parts, each computed by one process with one
thread, as in training; and the whole batch in one process with as many threads, as PyTorch does by default.
"""

import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from statistics import median

import numpy as np

from tengen import games, nets
from tengen.games.game import Game
from tengen.training.config import Config
from tengen.training.config_files import load
from tengen.training.gradients import ComputeGradients, GradientWork
from tengen.training.learner import Learner
from tengen.training.record import Samples
from tengen.training.run import arguments_of
from tengen.workers.local import LocalWorkers

POSITIONS = 4096  # to draw batches from
WARM_UP = 3  # steps before the measurement
BUSY_PROGRAM = (sys.executable, "-c", "while True: pass")


@dataclass(frozen=True)
class StepTime:
    """Milliseconds per step: each round gives a mean; these are the median and the extremes of the rounds."""

    how: str  # "2 processes" or "2 threads"
    busy_programs: int  # that ran at the same time
    milliseconds: float
    least: float
    most: float


def step_times(
    game_name: str, parts: int, busy_programs: int, steps: int, rounds: int, show: Callable[[str], None]
) -> Iterator[StepTime]:
    """The times with the network and settings of the game's config: without, then with busy programs."""
    config, game = load(game_name), games.find(game_name)
    samples, network = random_samples(game), (config.network.name, arguments_of(config))
    in_parts, whole = GradientWork(game_name, *network), GradientWork(game_name, *network, num_threads=parts)
    with LocalWorkers(processes=parts) as processes, LocalWorkers(processes=1) as here:
        ways = {
            f"{parts} processes": (new_learner(config, game, parts), partial(processes, in_parts)),
            f"{parts} threads": (new_learner(config, game, 1), partial(here, whole)),
        }
        for learner, compute in ways.values():
            milliseconds_per_step(learner, compute, samples, WARM_UP)
        for count in dict.fromkeys((0, busy_programs)):
            found: dict[str, list[float]] = {how: [] for how in ways}
            with busy(count):
                for number in range(rounds):
                    show(f"round {number + 1} of {rounds}, {count} busy programs at the same time")
                    for how, (learner, compute) in ways.items():
                        found[how].append(milliseconds_per_step(learner, compute, samples, steps))
            for how, times in found.items():
                yield StepTime(how, count, median(times), min(times), max(times))


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Runs this many programs, each of which keeps a core busy, during the with statement."""
    programs = [subprocess.Popen(BUSY_PROGRAM) for _ in range(count)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def random_samples(game: Game) -> Samples:
    """Positions of random games with random targets: they do not change the time of a step."""
    random = np.random.default_rng(0)
    states = np.empty((POSITIONS, game.state_size), np.int16)
    state = game.new_state()
    for row in range(POSITIONS):
        states[row] = state
        state = game.after(state, int(random.choice(np.flatnonzero(game.legal_mask(state)))))
        if game.outcome(state)[0]:
            state = game.new_state()
    return Samples(
        states,
        policies=random.dirichlet(np.ones(game.num_actions), POSITIONS).astype(np.float32),
        values=random.uniform(-1, 1, POSITIONS).astype(np.float32),
        outcomes=random.dirichlet(np.ones(3), POSITIONS).astype(np.float32),
        plies_left=random.uniform(0, 40, POSITIONS).astype(np.float32),
        is_proven=np.zeros(POSITIONS, np.bool_),
    )


def new_learner(config: Config, game: Game, parts: int) -> Learner:
    net = nets.make(config.network.name, game, arguments_of(config))
    return Learner(game, net, replace(config.learner, parts=parts, device="cpu"))


def milliseconds_per_step(learner: Learner, compute: ComputeGradients, samples: Samples, steps: int) -> float:
    """Milliseconds per step, in wall-clock time."""
    began = time.perf_counter()
    learner.learn(samples, steps, 0.0, [0], math.inf, compute, lambda _: None)
    return 1000 * (time.perf_counter() - began) / steps
