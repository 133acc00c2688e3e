"""What a cluster needs and what it brings: measured here with few workers, simulated with many.

1. The same shards are played by local processes and by a Ray cluster of this machine, by turns.
2. A step of the learner, and what it costs the coach to receive and write a shard.
3. Whole generations of the real coach on Ray, beside what the model says.
"""

import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TypeVar

from tengen import games
from tengen.bench.learner import WARM_UP, milliseconds_per_step, new_learner, random_samples
from tengen.bench.simulated_cluster import Costs
from tengen.training import shard_files
from tengen.training.coach import gradient_work, start_or_resume, train
from tengen.training.config import Config
from tengen.training.config_files import load, with_setting
from tengen.training.playing import player_of, shards_of
from tengen.training.run import Run
from tengen.training.shards import SelfPlay, Shard, ShardTask
from tengen.training.watch import Watchers
from tengen.workers.local import LocalWorkers, available_cores
from tengen.workers.ray import RayCluster
from tengen.workers.tasks import RunTasks

STEPS = 20  # of the learner, per measurement
SHARDS_PER_WORKER = 2  # per round

Show = Callable[[str], None]
T = TypeVar("T")


@dataclass(frozen=True)
class Sizes:
    """What one shard of games is, on one core."""

    games: int
    positions: int
    bytes_per_position: float  # as it travels
    network_bytes: int  # with the settings; once per machine and generation
    seconds: float  # to play it
    receiving: float  # seconds of the coach, to unpack and write it
    step: float  # seconds of the learner
    positions_per_step: float  # new ones, with the passes of the config

    def costs(self, step: float | None = None) -> Costs:
        """What a shard costs; step: seconds of another learner's step."""
        steps = self.positions / self.positions_per_step
        return Costs(self.seconds, steps * (self.step if step is None else step), self.receiving)


@dataclass(frozen=True)
class Rate:
    """Self-play with so many workers: games per second, the median of the rounds."""

    workers: int
    local: float
    ray: float
    positions_per_game: float  # to learn from

    @property
    def ratio(self) -> float:
        return self.ray / self.local


def bench_config(game: str, games_per_shard: int, workers: int = 1) -> Config:
    """The config of a game, with shards for so many workers in a generation."""
    config = load(game, [f"selfplay.games_per_shard={games_per_shard}", "measure.every=0"])
    games = SHARDS_PER_WORKER * workers * games_per_shard
    return with_setting(config, f"selfplay.games={games}")


def sizes(game: str, games_per_shard: int, rounds: int, show: Show) -> Sizes:
    """Plays shards on one core and takes steps of the learner."""
    config = bench_config(game, games_per_shard)
    with TemporaryDirectory() as folder, LocalWorkers(1) as here:
        work, tasks = _work(Path(folder), config, here)
        show("playing a shard on one core")
        _run(here, work, tasks[:1])  # compiles, opens the network
        seconds, (shard,) = _timed(partial(_run, here, work, tasks[:1]))
        packed = pickle.dumps(shard)
        receiving, _ = _timed(partial(_receive, packed, Path(folder) / "shard.safetensors"))
        network = len(pickle.dumps(work))
    positions = len(shard.samples)
    show("learning")
    step = median(_steps(config, rounds)) / 1000
    per_step = config.learner.batch_size / config.learner.passes
    return Sizes(
        games_per_shard, positions, len(packed) / positions, network, seconds, receiving, step, per_step
    )


def _steps(config: Config, rounds: int) -> list[float]:
    """Milliseconds per step of the learner, as in training: the parts of a batch in processes."""
    game, parts = games.find(config.game), config.learner.parts
    learner, samples = new_learner(config, game, parts), random_samples(game)
    with LocalWorkers(parts) as processes:
        compute = partial(processes, gradient_work(config))
        milliseconds_per_step(learner, compute, samples, WARM_UP)
        return [milliseconds_per_step(learner, compute, samples, STEPS) for _ in range(rounds)]


def rates(game: str, games_per_shard: int, workers: Sequence[int], rounds: int, show: Show) -> Iterator[Rate]:
    """Games per second with so many workers, local ones and those of Ray by turns."""
    for number in workers:
        config = bench_config(game, games_per_shard, number)
        with ExitStack() as stack:
            folder = stack.enter_context(TemporaryDirectory())
            local = stack.enter_context(LocalWorkers(number))
            ray = stack.enter_context(RayCluster(cores=number)).workers()
            work, tasks = _work(Path(folder), config, local)
            found: dict[str, list[float]] = {"local": [], "Ray": []}
            ways: dict[str, RunTasks] = {"local": local, "Ray": ray}
            for turn in range(rounds + 1):
                for name, run_tasks in ways.items():
                    show(
                        f"{number} workers, {name}: "
                        + (f"round {turn} of {rounds}" if turn else "warming up")
                    )
                    seconds, shards = _timed(partial(_run, run_tasks, work, tasks))
                    if turn:
                        found[name].append(config.selfplay.games / seconds)
        positions = sum(len(shard.samples) for shard in shards) / config.selfplay.games
        yield Rate(number, median(found["local"]), median(found["Ray"]), positions)


def whole_generation(game: str, games_per_shard: int, workers: int, show: Show) -> float:
    """Positions per second of the second generation of a real run on Ray, learning included."""
    config = bench_config(game, games_per_shard, workers)
    config = replace(config, length=replace(config.length, minutes=0.0, generations=2))
    show(f"two whole generations with {workers} workers of Ray")
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        here = stack.enter_context(LocalWorkers(available_cores()))
        ray = stack.enter_context(RayCluster(cores=workers))
        run = Run.create(Path(folder) / "run", config)
        first, second = train(run, ray.workers(), Watchers(), ray.workers(), here)
    return (second.replay.total - first.replay.total) / (second.elapsed - first.elapsed)


def _work(folder: Path, config: Config, run_tasks: RunTasks) -> tuple[SelfPlay, list[ShardTask]]:
    """The shards of a first generation."""
    run = Run.create(folder / "run", config)
    start_or_resume(run, games.find(config.game), run_tasks, Watchers())
    network = player_of(run, run.config, 1).to_send(has_weights=False)
    return SelfPlay(config.game, run.config.selfplay, network), shards_of(run.config, 1)


def _run(run_tasks: RunTasks, work: SelfPlay, tasks: list[ShardTask]) -> list[Shard]:
    return [shard for _, shard in run_tasks(work, tasks)]


def _receive(packed: bytes, path: Path) -> Shard:
    shard: Shard = pickle.loads(packed)  # noqa: S301  (packed by us)
    shard_files.save(path, shard)
    return shard


def _timed(do: Callable[[], T]) -> tuple[float, T]:
    began = time.perf_counter()
    found = do()
    return time.perf_counter() - began, found
