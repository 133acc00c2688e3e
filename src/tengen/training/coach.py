"""The training loop: play, store, reanalyse, learn, measure, record; repeat.

champion ── self-play ──► shards ──► replay ──► learner ──► checkpoint ──► gate ──► champion

Only the coach writes files. The slow work (games, gradients, matches) is done by `run_tasks`; the coach does
not know on which machine. With `selfplay.overlap`, `run_beside` plays the next generation meanwhile
(ahead.py).
"""

import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import partial

from tengen import files, games, nets
from tengen.evaluators.zoo import find_network
from tengen.games.game import Game
from tengen.nets.checkpoint import load_net
from tengen.training import manifest
from tengen.training.ahead import Ahead
from tengen.training.changes import in_force
from tengen.training.checkpoint import read as read_checkpoint
from tengen.training.config import Config
from tengen.training.exporting import export, with_precisions
from tengen.training.gate import Standing, hold_gate, standing_after
from tengen.training.generation import Generation, ReplayMetrics
from tengen.training.gradients import GradientWork
from tengen.training.learner import Learner
from tengen.training.measure import strength_of
from tengen.training.playing import stored
from tengen.training.reanalysis import reanalyse
from tengen.training.replay import Replay
from tengen.training.run import Run, arguments_of
from tengen.training.watch import Watcher
from tengen.workers.tasks import RunBeside, RunTasks


def train(
    run: Run,
    run_tasks: RunTasks,
    watcher: Watcher,
    run_beside: RunBeside | None = None,
    run_gradients: RunTasks | None = None,
) -> Iterator[Generation]:
    """Each generation, once it is complete and on disk; starts or continues a run, to its end.

    run_gradients: if the learner works elsewhere than the games are played, as with a cluster."""
    game = games.find(run.config.game)
    learner, replay, standing = start_or_resume(run, game, run_tasks, watcher)
    config, number, elapsed = run.config, run.generation + 1, run.elapsed
    compute_gradients = partial(run_gradients or run_tasks, gradient_work(config))
    is_last, seconds = run.is_finished, 0.0  # of the last generation
    with Ahead(run, config, run_tasks, run_beside, watcher) as ahead:
        while not is_last:
            began, progress = time.perf_counter(), config.length.progress(number - 1, elapsed)
            # 1. play
            shards, selfplay = ahead.shards(number)
            # 2. store
            num_new = replay.add(shards)
            if not config.length.is_over(number, elapsed + seconds, seconds):  # if it takes no longer
                ahead.begin(number + 1)
            # 3. reanalyse
            reanalysis = reanalyse(run, config, number, replay, num_new, run_tasks, watcher)
            # 4. learn
            learning_began = time.perf_counter()
            num_steps = max(1, round(config.learner.passes * num_new / config.learner.batch_size))
            if config.network.start and len(replay.samples()) < config.replay.least_positions:
                num_steps = 0  # a trained network learns only once the window is full: it would forget
            watcher.begin(number, "learning", num_steps)
            deadline = began + config.length.seconds_left(elapsed)
            seed = [config.seed, number, 1]
            losses = learner.learn(
                replay.samples(), num_steps, progress, seed, deadline, compute_gradients, watcher.learned
            )
            learning_seconds = time.perf_counter() - learning_began
            watcher.begin(number, "exporting")
            checkpoint, exported = export(config, game, learner, replay, number)
            # 5. measure
            watcher.begin(number, "measuring")
            before = standing
            standing, match = hold_gate(run, config, game, before, checkpoint, run_tasks)
            seconds = time.perf_counter() - began
            is_last = config.length.is_over(number, elapsed + seconds, seconds)
            strength = strength_of(run, config.measure, game, checkpoint, is_last, run_tasks)
            # 6. record
            elapsed += time.perf_counter() - began
            generation = Generation(
                number,
                elapsed,
                selfplay,
                reanalysis,
                losses,
                learning_seconds,
                ReplayMetrics(len(replay.samples()), replay.total),
                exported,
                standing,
                match,
                strength,
            )
            minutes = round(elapsed / 60, 1)
            training = {"minutes": minutes, "positions": replay.total, "config": asdict(config)}
            card = replace(checkpoint.card, strength=strength, training=training)
            plays_next = (before if config.selfplay.overlap else standing).champion
            run.record(generation, replace(checkpoint, card=card), plays_next)
            watcher.finished(generation.to_line())
            yield generation
            number += 1


def gradient_work(config: Config) -> GradientWork:
    return GradientWork(config.game, config.network.name, arguments_of(config), config.learner.precision)


def start_or_resume(
    run: Run, game: Game, run_tasks: RunTasks, watcher: Watcher
) -> tuple[Learner, Replay, Standing]:
    """The learner, the replay window and the gate as the last complete generation left them."""
    files.remove_partial(run.folder)
    config = run.config
    name, settings = config.network.name, arguments_of(config)
    net, is_trained = nets.make(name, game, settings, config.seed), bool(config.network.start)
    learner = Learner(game, net, config.learner, is_trained)
    replay = Replay(config.replay)
    if run.generation < 0:
        if config.network.start:
            learner.begin_with(load_net(find_network(config.network.start)))
        run.configure(config := with_precisions(config, game, learner))  # once, before anything depends on it
        if config.network.teacher:
            run.save_teacher(read_checkpoint(find_network(config.network.teacher)))
        checkpoint, _ = export(config, game, learner, replay, generation=0)
        run.save_checkpoint(checkpoint, champion=0)
        return learner, replay, Standing()
    learner.load(run.checked_weights(run.generation))
    for generation in range(1, run.generation + 1):
        num_new = replay.add(stored(run, generation, run_tasks, watcher))
        reanalyse(run, in_force(config, generation), generation, replay, num_new, run_tasks, watcher)
    standing = standing_after(run, run.generation)
    manifest.check(run.checkpoint(standing.champion))
    if not (run.folder / "best").exists():  # killed while the champion was being replaced
        run.promote(run.load_checkpoint(standing.champion))
    return learner, replay, standing
