"""Reanalysis: old positions are searched again with the newest champion, so that their targets do not age.

    replay ── positions of older generations ──► run_tasks ──► fresh targets, on disk ──► replay

MuZero Reanalyse (Schrittwieser et al. 2020, appendix H). The new search's policy replaces the stored one. Its
value is mixed with the stored one (`selfplay.reanalyse_value`), unless it is proven: then it replaces it. The
newest games were searched by this champion, or by the one before it, so they are left alone.

Which positions are drawn depends on the seed, the generation and the window. A run that is resumed does the
same again for every generation, to rebuild its window; what is on disk is not searched again.
"""

import time

import numpy as np

from tengen.training import shard_files
from tengen.training.config import Config
from tengen.training.fresh_targets import Reanalysis, ReanalysisTask
from tengen.training.gate import standing_after
from tengen.training.generation import ReanalysisMetrics
from tengen.training.playing import full_simulations
from tengen.training.record import join
from tengen.training.replay import Replay
from tengen.training.run import Run
from tengen.training.watch import Watcher
from tengen.workers.tasks import RunTasks

BATCHES_PER_SHARD = 4  # of selfplay.at_once positions: few, so that every worker gets some shards


def reanalyse(
    run: Run,
    config: Config,
    generation: int,
    replay: Replay,
    num_new: int,
    run_tasks: RunTasks,
    watcher: Watcher,
) -> ReanalysisMetrics:
    """The metrics of a generation's reanalysis, whose fresh targets are now in the replay window. `num_new`:
    the generation's number of new positions."""
    began = time.perf_counter()
    tasks = shards_of(config, generation, replay, round(config.selfplay.reanalyse * num_new))
    if not tasks:
        return ReanalysisMetrics()
    paths = [run.fresh_targets(generation, task.number) for task in tasks]
    missing = [task for task, path in zip(tasks, paths, strict=True) if not path.is_file()]
    if missing:
        watcher.begin(generation, "refreshing")
        champion = run.load_checkpoint(standing_after(run, generation - 1).champion)
        network = champion.to_send(has_weights=config.selfplay.device != "cpu")
        for index, found in run_tasks(Reanalysis(config.game, config.selfplay, network), missing):
            shard_files.save_fresh(paths[missing[index].number], found)
    fresh = join([shard_files.load_fresh(path) for path in paths])
    replay.refresh(fresh, config.selfplay.reanalyse_value)
    return ReanalysisMetrics(len(fresh), int(fresh.is_proven.sum()), time.perf_counter() - began)


def shards_of(config: Config, generation: int, replay: Replay, num_positions: int) -> list[ReanalysisTask]:
    """The tasks of a generation: the positions to search again, in shards."""
    if not num_positions:
        return []
    states = replay.draw_old(num_positions, np.random.default_rng([config.seed, generation, 4]))
    size = BATCHES_PER_SHARD * config.selfplay.at_once
    return [
        ReanalysisTask(
            generation, number, states[first : first + size], full_simulations(config.selfplay, generation)
        )
        for number, first in enumerate(range(0, len(states), size))
    ]
