"""A cluster that does not exist: the real coach and the real dispatch, on a clock that does not wait.

    coach ──► dispatch ──► simulated cores: a shard takes some seconds, may be lost, may hang
      └─────► simulated gradients: a step takes some seconds

Only what takes time is simulated. Which shard is sent when, what is done with a lost one, and who waits for
whom, is decided by the code that runs on a real cluster.
"""

import heapq
import math
import threading
from collections.abc import Generator, Iterable
from dataclasses import dataclass, fields
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from tengen import games, nets
from tengen.bench.learner import random_samples
from tengen.training.coach import train
from tengen.training.config_files import load
from tengen.training.gradients import Gradients, GradientTask, GradientWork
from tengen.training.record import Samples
from tengen.training.run import Run
from tengen.training.selfplay import ShardStats
from tengen.training.shards import Shard
from tengen.training.watch import Phase
from tengen.workers.dispatch import LostError, Ref, dispatch
from tengen.workers.tasks import Result, Task, Work

if TYPE_CHECKING:
    from tengen.training.learner import Losses

GAME = "tictactoe"  # the coach needs some game: the smallest
POSITIONS = 4  # per shard; how many does not matter here
SHARDS_PER_CORE = 4  # in a generation
GENERATIONS = 3  # the first one does not count: it has to wait for its games in any case


@dataclass(frozen=True)
class Costs:
    """What a shard costs, in seconds."""

    playing: float  # of one core
    learning: float  # of the learner
    receiving: float  # of the coach, which also writes it
    lost: float = 0.0  # the share of shards whose worker is lost
    hung: float = 0.0  # the share of shards whose worker never answers


@dataclass(frozen=True)
class Throughput:
    """Of a simulated cluster."""

    shards_per_second: float  # over whole generations
    num_lost: int  # shards that were sent again


def modelled(costs: Costs, cores: int, is_overlapped: bool) -> float:
    """Shards per second by three terms: whoever plays, whoever receives, whoever learns."""
    shards = SHARDS_PER_CORE * cores
    playing = max(SHARDS_PER_CORE * costs.playing, shards * costs.receiving)
    learning = shards * costs.learning
    return shards / (max(playing, learning) if is_overlapped else playing + learning)


def simulated(costs: Costs, cores: int, is_overlapped: bool, seed: int = 0) -> Throughput:
    """Whole generations, with so many cores."""
    shards = SHARDS_PER_CORE * cores
    settings = [
        f"selfplay.games={shards}", "selfplay.games_per_shard=1", f"selfplay.overlap={int(is_overlapped)}",
        "selfplay.precision=fp32", "network.channels=8", "network.blocks=1", "learner.parts=1",
        f"learner.batch_size={shards}", "learner.precision=fp32", "measure.every=0", "gate.kind=always",
        f"length.generations={GENERATIONS}", "length.minutes=0",
    ]  # fmt: skip
    clock, cluster = Clock(), SimulatedCluster(cores, costs, seed)
    gradients = _Gradients(clock)
    watcher = _Watcher(clock, gradients, shards * costs.learning, is_overlapped)
    front, beside = _Workers(clock, cluster), _Workers(clock, cluster)
    with TemporaryDirectory() as folder:
        run = Run.create(Path(folder) / "run", load(GAME, settings))
        for _ in train(run, front, watcher, beside, gradients):
            pass
    seconds = watcher.ends[-1] - watcher.ends[0]
    return Throughput(shards * (GENERATIONS - 1) / seconds, cluster.num_lost)


class Clock:
    """Seconds that pass only when every thread that takes part waits for a later moment."""

    def __init__(self) -> None:
        self._now = 0.0
        self._changed = threading.Condition()
        self._taking_part: set[int] = set()  # threads
        self._waiting: dict[int, float] = {}  # the moment that each of them waits for

    def now(self) -> float:
        return self._now

    def join(self, thread: int) -> None:
        """No time passes any more without this thread."""
        with self._changed:
            self._taking_part.add(thread)

    def leave(self, thread: int) -> None:
        with self._changed:
            self._taking_part.discard(thread)
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        me, end = threading.get_ident(), self._now + seconds
        with self._changed:
            self._waiting[me] = end
            while self._now < end:
                asleep = {thread: moment for thread, moment in self._waiting.items() if moment > self._now}
                if self._taking_part <= asleep.keys():
                    self._now = min(asleep.values())
                    self._changed.notify_all()
                else:
                    self._changed.wait()
            del self._waiting[me]


class SimulatedCluster:
    """Cores that may fail; every task takes the next core that is free."""

    def __init__(self, cores: int, costs: Costs, seed: int = 0) -> None:
        self.cores, self.costs, self.num_lost = cores, costs, 0
        self.random = np.random.default_rng(seed)
        self.free_from = [0.0] * cores  # when each core is free, a heap


class SimulatedMachines:
    """A simulated cluster, for the tasks of one call."""

    def __init__(self, clock: Clock, cluster: SimulatedCluster, result: Any) -> None:
        self._clock, self._cluster, self._result = clock, cluster, result
        self._ends: dict[Ref, float] = {}
        self._is_lost: set[Ref] = set()
        self._numbers = count()

    def num_cores(self) -> int:
        return self._cluster.cores

    def send(self, task: Any) -> Ref:
        cluster, ref = self._cluster, next(self._numbers)
        fate, costs = cluster.random.random(), cluster.costs
        begin = max(self._clock.now(), heapq.heappop(cluster.free_from))
        end = begin + costs.playing
        heapq.heappush(cluster.free_from, end)  # that of a hung worker too: somebody kills it, some day
        self._ends[ref] = math.inf if fate < costs.hung else end
        if costs.hung <= fate < costs.hung + costs.lost:
            self._is_lost.add(ref)
        return ref

    def wait(self, refs: list[Ref], seconds: float) -> list[Ref]:
        first = min(self._ends[ref] for ref in refs)
        self._clock.wait(max(0.0, min(seconds, first - self._clock.now())))
        return [ref for ref in refs if self._ends[ref] <= self._clock.now()]

    def take(self, ref: Ref) -> Any:
        if ref in self._is_lost:
            raise LostError("a simulated worker was lost")
        self._clock.wait(self._cluster.costs.receiving)
        return self._result

    def cancel(self, ref: Ref) -> None:
        del self._ends[ref]

    def report_lost(self, task: Any, why: str) -> None:
        self._cluster.num_lost += 1

    def now(self) -> float:
        return self._clock.now()


class _Workers:
    """Plays shards on simulated machines: always the same one."""

    def __init__(self, clock: Clock, cluster: SimulatedCluster) -> None:
        self._clock, self._cluster = clock, cluster
        self._is_stopped = threading.Event()

    def stop(self) -> None:
        self._is_stopped.set()

    def __call__(
        self, work: Work[Task, Result], tasks: Iterable[Task], /
    ) -> Generator[tuple[int, Result], None, None]:
        me = threading.get_ident()
        self._clock.join(me)
        try:
            yield from dispatch(
                tasks, SimulatedMachines(self._clock, self._cluster, _shard()), self._is_stopped.is_set
            )
        finally:
            self._clock.leave(me)


class _Gradients:
    """Steps of the learner that take time, and change nothing."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self.seconds = clock, 0.0

    def __call__(
        self, work: Work[Task, Result], tasks: Iterable[Task], /
    ) -> Generator[tuple[int, Result], None, None]:
        assert isinstance(work, GradientWork)
        net = nets.make(work.network, games.find(work.game), work.settings)
        num_parameters = sum(parameter.numel() for parameter in net.parameters())
        for index, task in enumerate(tasks):
            assert isinstance(task, GradientTask)
            self._clock.wait(self.seconds)
            nothing = np.zeros(num_parameters, np.float32)
            result: Any = Gradients(nothing, task.weights[num_parameters:], np.zeros(3, np.float32))
            yield index, result


class _Watcher:
    """Notes when generations end, and says who takes part in the clock: the coach does not while it waits for
    games that the other thread plays."""

    def __init__(
        self, clock: Clock, gradients: _Gradients, learning_seconds: float, is_overlapped: bool
    ) -> None:
        self._clock, self._gradients, self._learning_seconds = clock, gradients, learning_seconds
        self._coach = threading.get_ident()
        self._is_ahead = [threading.Event() for _ in range(GENERATIONS + 2)]  # by generation
        if not is_overlapped:
            for event in self._is_ahead:
                event.set()
        self._is_ahead[GENERATIONS + 1].set()  # is never played
        self.ends: list[float] = []

    def begin(self, generation: int, phase: Phase, total: int = 0) -> None:
        if phase == "playing":
            self._clock.leave(self._coach)
        elif phase == "playing ahead":
            self._clock.join(self._coach)
            self._clock.join(threading.get_ident())
            self._is_ahead[generation].set()
        elif phase == "learning":
            self._is_ahead[generation + 1].wait()  # the other thread takes part too: no time passes before
            self._clock.join(self._coach)
            self._gradients.seconds = self._learning_seconds / total

    def played(self, shard: ShardStats) -> None:
        pass

    def learned(self, losses: "Losses") -> None:
        pass

    def finished(self, metrics: dict[str, Any]) -> None:
        self.ends.append(self._clock.now())


def _shard() -> Shard:
    rows = random_samples(games.find(GAME))
    samples = Samples(*(getattr(rows, one.name)[:POSITIONS] for one in fields(Samples)))
    return Shard(samples, ShardStats(1, POSITIONS, POSITIONS, 1, 0, 0.0, (), POSITIONS))
