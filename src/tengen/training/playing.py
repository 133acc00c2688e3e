"""The games of a generation: shards that are not on disk yet are played by workers and written here."""

import time
from collections.abc import Sequence

from tengen.games.position import Position
from tengen.training import shard_files
from tengen.training.changes import in_force
from tengen.training.checkpoint import Checkpoint
from tengen.training.config import Config, SelfPlayConfig
from tengen.training.gate import standing_after
from tengen.training.generation import SelfPlayMetrics
from tengen.training.run import Run
from tengen.training.shards import SelfPlay, Shard, ShardTask
from tengen.training.watch import Watcher
from tengen.workers.tasks import RunTasks

MOST_RISE = 4  # simulations rise to at most this many times the first number

Played = tuple[list[Shard], SelfPlayMetrics]


def play(run: Run, config: Config, generation: int, run_tasks: RunTasks, watcher: Watcher) -> Played:
    """The shards of a generation, in order, and their metrics."""
    began = time.perf_counter()
    tasks = shards_of(config, generation)
    paths = [run.shard(generation, task.number) for task in tasks]
    missing = [task for task, path in zip(tasks, paths, strict=True) if not path.is_file()]
    watcher.begin(generation, "playing", sum(task.num_games for task in missing))
    new: dict[int, Shard] = {}
    if missing:
        network = player_of(run, config, generation).to_send(has_weights=config.selfplay.device != "cpu")
        paths[0].parent.mkdir(parents=True, exist_ok=True)
        for index, shard in run_tasks(SelfPlay(config.game, config.selfplay, network), missing):
            number = missing[index].number
            shard_files.save(paths[number], shard)
            assert shard.stats is not None
            watcher.played(shard.stats)
            new[number] = shard
    seconds = time.perf_counter() - began
    shards = [new.get(task.number) or shard_files.load(paths[task.number]) for task in tasks]
    if shards[0].stats and shards[0].stats.sample:
        run.save_sample(generation, game_text(config.game, shards[0].stats.sample))
    stats = [shard.stats for shard in shards if shard.stats]
    return shards, SelfPlayMetrics.of(stats, [shard.stats for shard in new.values() if shard.stats], seconds)


def stored(run: Run, generation: int, run_tasks: RunTasks, watcher: Watcher) -> list[Shard]:
    """The shards of a complete generation. Shards whose files were removed are played again, with the same
    games."""
    config = in_force(run.config, generation)
    paths = [run.shard(generation, number) for number in range(config.selfplay.num_shards)]
    if all(path.is_file() for path in paths):
        return [shard_files.load(path) for path in paths]
    return play(run, config, generation, run_tasks, watcher)[0]


def player_of(run: Run, config: Config, generation: int) -> Checkpoint:
    """The network that plays a generation: at first the teacher, if there is one, then the champion."""
    if config.network.teacher and generation <= config.network.teacher_generations:
        return run.load_teacher()
    return run.load_checkpoint(who_plays(run, config, generation))


def who_plays(run: Run, config: Config, generation: int) -> int:
    """Which champion plays a generation: the one after the generation before it. With an overlap that
    one is still being learned from, so it is the champion after the one before that: 0 0 1 2 3 … if the gate
    always promotes."""
    return standing_after(run, generation - 1 - config.selfplay.overlap).champion


def shards_of(config: Config, generation: int) -> list[ShardTask]:
    """The tasks of a generation: its shards to play."""
    selfplay = config.selfplay
    return [
        ShardTask(
            generation,
            number,
            num_games=min(selfplay.games_per_shard, selfplay.games - number * selfplay.games_per_shard),
            simulations=full_simulations(selfplay, generation),
            seed=(config.seed, generation, 0, number),
        )
        for number in range(selfplay.num_shards)
    ]


def full_simulations(config: SelfPlayConfig, generation: int) -> int:
    """The simulations of a full search, which may rise with the generations."""
    rise = 1 + config.simulations_rise * (generation - 1) / config.simulations
    return round(config.simulations * min(rise, MOST_RISE))


def game_text(game: str, actions: Sequence[int]) -> str:
    """A game as text: its moves, result and last board."""
    position = Position.from_moves(game, actions)
    return f"{' '.join(position.moves)}\n{position.outcome}\n\n{position}\n"
