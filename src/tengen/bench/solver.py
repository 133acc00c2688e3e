"""The speed of the Connect 4 solver: nodes per second, milliseconds per position; one core, random positions.

Each group starts with an empty table. Seconds are processor time, so other programs do not change them.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mean, median

import numpy as np

from tengen.games.position import Position
from tengen.tactics.connect4_solver import Solver

GROUPS = {"middle game": (15, 27), "opening": (4, 14)}  # plies


@dataclass(frozen=True)
class SolverSpeed:
    """The speed of solving some positions exactly."""

    group: str
    plies: tuple[int, int]
    positions: int
    nodes: int
    nodes_per_second: float
    mean_ms: float
    median_ms: float
    slowest_ms: float


def solver_speeds(positions: int, seed: int) -> Iterator[SolverSpeed]:
    """The speeds, one group of positions after another."""
    Solver().score(Position.from_moves("connect4", "4444432232334"))  # compile
    for group, (fewest, most) in GROUPS.items():
        random = np.random.default_rng(seed)
        solver, times = Solver(), []
        for _ in range(positions):
            position = random_position(int(random.integers(fewest, most + 1)), random)
            began = time.process_time()
            solver.score(position)
            times.append(1000 * (time.process_time() - began))
        yield SolverSpeed(
            group,
            (fewest, most),
            positions,
            solver.nodes,
            solver.nodes / max(sum(times) / 1000, 1e-9),
            mean(times),
            median(times),
            max(times),
        )


def random_position(plies: int, random: np.random.Generator) -> Position:
    """A position after `plies` random moves; the game is not over."""
    while True:
        position = Position.start("connect4")
        while len(position.actions) < plies and not position.is_over:
            position = position.play(int(random.choice(position.legal_actions)))
        if not position.is_over:
            return position
