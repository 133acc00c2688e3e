"""The work of a self-play process: shards in, files out."""

from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from tengen import games
from tengen.evaluators.cache import CachedEvaluator
from tengen.evaluators.card import Precision
from tengen.evaluators.evaluator import Evaluator
from tengen.evaluators.network import Network, open_network
from tengen.evaluators.wins import SeesWins
from tengen.games.game import Game
from tengen.training import replay
from tengen.training.config import SelfPlay
from tengen.training.selfplay import play_shard


@dataclass(frozen=True)
class ShardTask:
    """A shard to be played."""

    checkpoint: Path  # the network's folder
    precision: Precision
    simulations: int
    games: int
    seed: tuple[int, ...]
    file: Path  # where its positions go
    settings: SelfPlay | None = None  # those of its generation; without, the worker's

    def __str__(self) -> str:
        return f"shard {self.file.stem} of generation {self.file.parent.name}"


class SelfPlayWork:
    """Plays shards; every one with an empty cache, so that it depends on nothing else."""

    def __init__(self, game: str, settings: SelfPlay) -> None:
        self._game, self._settings = game, settings

    def __enter__(self) -> "SelfPlayWork":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def __call__(self, task: ShardTask) -> dict[str, Any]:
        game, settings = games.find(self._game), task.settings or self._settings
        network = open_network(task.checkpoint, task.precision)
        cache = CachedEvaluator(
            self._direct(network, game, task),
            game,
            settings.cache_positions,
            sees_last_move=network.sees_last_move(game),
        )
        evaluator = SeesWins(cache, game, settings.discount) if settings.see_wins else cache
        positions, stats = play_shard(
            game, evaluator, settings, task.simulations, task.games, list(task.seed)
        )
        found = {**asdict(stats), "positions": len(positions), "hit_rate": cache.hit_rate}
        task.file.parent.mkdir(parents=True, exist_ok=True)
        replay.save(task.file, positions, found)
        return found

    def _direct(self, network: Network, game: Game, task: ShardTask) -> Evaluator:
        if self._settings.device != "cpu":
            from tengen.nets.checkpoint import load_net
            from tengen.nets.evaluator import TorchEvaluator, find_device

            device = find_device(self._settings.device)
            if device.type != "cpu":
                return TorchEvaluator(game, load_net(task.checkpoint), device)
        return network.direct(game)
