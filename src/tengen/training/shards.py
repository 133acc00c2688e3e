"""Shards as values: tasks in, samples and statistics out. Nothing here touches a disk.

run_tasks(SelfPlay(…, the champion), [ShardTask(…), …])  ──►  Shard, Shard, …
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from tengen import games
from tengen.training.checkpoint import Checkpoint
from tengen.training.config import SelfPlayConfig
from tengen.training.evaluating import evaluators
from tengen.training.record import Samples
from tengen.training.selfplay import ShardStats, play_shard


@dataclass(frozen=True)
class ShardTask:
    """A shard to be played."""

    generation: int
    number: int  # in its generation
    num_games: int
    simulations: int  # of a full search
    seed: tuple[int, ...]

    def __str__(self) -> str:
        return f"shard {self.number} of generation {self.generation}"


@dataclass(frozen=True)
class Shard:
    """The samples and statistics of a shard, as sent by workers and as stored; policies are float16."""

    samples: Samples
    stats: ShardStats | None  # None in files of older versions


@dataclass(frozen=True)
class SelfPlay:
    """Work: plays shards with one network."""

    game: str
    config: SelfPlayConfig
    network: Checkpoint

    @property
    def needs_gpu(self) -> bool:
        return self.config.device.startswith("cuda")

    @contextmanager
    def open(self) -> Iterator[Callable[[ShardTask], Shard]]:
        game = games.find(self.game)
        new_evaluator = evaluators(game, self.config, self.network)

        def play(task: ShardTask) -> Shard:
            evaluator, cache = new_evaluator()
            samples, stats = play_shard(
                game, evaluator, self.config, task.simulations, task.num_games, list(task.seed)
            )
            compact = replace(samples, policies=samples.policies.astype(np.float16))
            return Shard(compact, replace(stats, hit_rate=cache.hit_rate))

        yield play
