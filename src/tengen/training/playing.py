"""The games of a generation: shards that are not on the disk yet are played, somewhere."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tengen.evaluators.card import read_card
from tengen.games.position import Position
from tengen.training import replay
from tengen.training.config import Config
from tengen.training.record import Positions
from tengen.training.run import Run
from tengen.training.shards import ShardTask
from tengen.training.watch import Watcher

PlayShards = Callable[[Iterable[ShardTask]], Iterable[tuple[int, dict[str, Any]]]]

MOST_RISE = 4  # times the simulations
SUMS = ("games", "moves", "simulations", "first_wins", "draws", "positions")  # over the shards
MEANS = ("hit_rate", "entropy")


def play(
    run: Run, config: Config, generation: int, champion: int, play_shards: PlayShards, watcher: Watcher
) -> tuple[dict[str, Any], list[Positions]]:
    """What happened, and the positions, shard by shard. The champion plays."""
    tasks = shards_of(run, config, generation, champion)
    missing = [task for task in tasks if not task.file.is_file()]
    watcher.begin(generation, "playing", sum(task.games for task in missing))
    results = []
    for _, result in play_shards(missing):
        results.append(result)
        watcher.played(result)
    if results:
        run.save_sample(generation, game_text(config.game, results[0]["sample"]))
    return summary(results), [replay.load(task.file) for task in tasks]


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
            games=min(settings.games_a_shard, settings.games - number * settings.games_a_shard),
            seed=(config.seed, generation, 0, number),
            file=run.shard(generation, number),
        )
        for number in range(config.selfplay.num_shards)
    ]


def summary(results: list[dict[str, Any]]) -> dict[str, Any]:
    """What the shards say together; nothing of those that were played before the run was interrupted."""
    if not results:
        return {}
    sums = {key: sum(result[key] for result in results) for key in SUMS}
    means = {key: round(sum(result[key] for result in results) / len(results), 3) for key in MEANS}
    return sums | means


def game_text(game: str, actions: Sequence[int]) -> str:
    """A game to look at: its moves and the last board."""
    position = Position.from_moves(game, actions)
    return f"{' '.join(position.moves)}\n{position.outcome}\n\n{position}\n"
