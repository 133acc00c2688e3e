"""Shards as values: tasks in, samples and statistics out. Nothing here touches a disk.

run_tasks(SelfPlay(…, the champion), [ShardTask(…), …])  ──►  Shard, Shard, …
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from tengen import games
from tengen.evaluators.cache import CachedEvaluator
from tengen.evaluators.evaluator import Evaluator
from tengen.evaluators.forced import SeesForced
from tengen.evaluators.wins import sees_wins
from tengen.games.game import Game
from tengen.tactics.fours import SeesFours, has_fours
from tengen.training.checkpoint import Checkpoint
from tengen.training.config import SelfPlayConfig
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
    """Work: plays shards with one network. Each begins with an empty cache, so that it depends only on its
    task."""

    game: str
    config: SelfPlayConfig
    network: Checkpoint

    @contextmanager
    def open(self) -> Iterator[Callable[[ShardTask], Shard]]:
        game = games.find(self.game)
        network = self.evaluator(game)
        sees_last_move = self.network.playing.sees_last_move(game)

        def play(task: ShardTask) -> Shard:
            cache = CachedEvaluator(network, game, self.config.cache_positions, sees_last_move=sees_last_move)
            evaluator: Evaluator = cache
            if self.config.fours and has_fours(game):
                look = SeesFours(game, self.config.fours)
                evaluator = SeesForced(cache, game, look, self.config.discount)
            elif self.config.see_wins:
                evaluator = SeesForced(cache, game, sees_wins(game), self.config.discount)
            samples, stats = play_shard(
                game, evaluator, self.config, task.simulations, task.num_games, list(task.seed)
            )
            compact = replace(samples, policies=samples.policies.astype(np.float16))
            return Shard(compact, replace(stats, hit_rate=cache.hit_rate))

        yield play

    def evaluator(self, game: Game) -> Evaluator:
        """The network with ONNX Runtime, or with PyTorch on a GPU."""
        if self.config.device != "cpu":
            from tengen.nets.checkpoint import net_of
            from tengen.nets.evaluator import TorchEvaluator, find_device

            device = find_device(self.config.device)
            if device.type != "cpu":
                assert self.network.weights is not None, "a run keeps the weights of its champion"
                return TorchEvaluator(game, net_of(self.network.card, self.network.weights), device)
        return self.network.playing.direct(game)
