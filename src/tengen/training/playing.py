"""The games of a generation: shards that are not on the disk yet are played, somewhere."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tengen.evaluators.card import read_card
from tengen.games.position import Position
from tengen.training import replay
from tengen.training.changes import in_force
from tengen.training.config import Config
from tengen.training.gate import Standing
from tengen.training.record import Positions
from tengen.training.run import Run
from tengen.training.shards import ShardTask
from tengen.training.watch import Watcher

PlayShards = Callable[[Iterable[ShardTask]], Iterable[tuple[int, dict[str, Any]]]]

MOST_RISE = 4  # times the simulations
SUMS = ("games", "moves", "simulations", "first_wins", "draws", "positions")  # over the shards
MEANS = ("hit_rate", "entropy")
RATES = ("games", "positions", "simulations")


def play(
    run: Run, config: Config, generation: int, champion: int, play_shards: PlayShards, watcher: Watcher
) -> tuple[dict[str, Any], list[Positions]]:
    """What happened, and the positions, shard by shard. The champion plays."""
    tasks = shards_of(run, config, generation, champion)
    missing = [task for task in tasks if not task.file.is_file()]
    watcher.begin(generation, "playing", sum(task.games for task in missing))
    began = time.perf_counter()
    results = []
    for _, result in play_shards(missing):
        results.append(result)
        watcher.played(result)
    speed = rates(results, time.perf_counter() - began)
    shards = [replay.load(task.file) for task in tasks]
    if sample := shards[0][1].get("sample"):
        run.save_sample(generation, game_text(config.game, sample))
    return summary([stats for _, stats in shards if stats]) | speed, [positions for positions, _ in shards]


def stored(run: Run, generation: int, play_shards: PlayShards, watcher: Watcher) -> list[Positions]:
    """The positions of a complete generation. Shards that were removed are played again, as they were."""
    config = in_force(run.config, generation)
    shards = [run.shard(generation, number) for number in range(config.selfplay.num_shards)]
    if all(shard.is_file() for shard in shards):
        return [replay.load(shard)[0] for shard in shards]
    champion = Standing.load(run.checkpoint(generation - 1)).champion if generation > 1 else 0
    return play(run, config, generation, champion, play_shards, watcher)[1]


def shards_of(run: Run, config: Config, generation: int, champion: int) -> list[ShardTask]:
    """The tasks of a generation."""
    settings = config.selfplay
    rise = 1 + settings.simulations_rise * (generation - 1) / settings.simulations
    folder = run.checkpoint(champion)
    return [
        ShardTask(
            checkpoint=folder,
            precision=read_card(folder).precision,
            simulations=round(settings.simulations * min(rise, MOST_RISE)),
            games=min(settings.games_per_shard, settings.games - number * settings.games_per_shard),
            seed=(config.seed, generation, 0, number),
            file=run.shard(generation, number),
            settings=settings,
        )
        for number in range(config.selfplay.num_shards)
    ]


def summary(shards: list[dict[str, Any]]) -> dict[str, Any]:
    """What the shards say together; {} if they are of an older version, which did not keep it."""
    if not shards:
        return {}
    sums = {key: sum(shard[key] for shard in shards) for key in SUMS}
    means = {key: round(sum(shard[key] for shard in shards) / len(shards), 3) for key in MEANS}
    return sums | means


def rates(shards: list[dict[str, Any]], seconds: float) -> dict[str, float]:
    """How fast these were played: only those that were not on the disk already."""
    counts = {key: sum(shard[key] for shard in shards) for key in RATES}
    return {f"{key}_per_second": round(count / max(seconds, 1e-9), 2) for key, count in counts.items()}


def game_text(game: str, actions: Sequence[int]) -> str:
    """A game to look at: its moves and the last board."""
    position = Position.from_moves(game, actions)
    return f"{' '.join(position.moves)}\n{position.outcome}\n\n{position}\n"
