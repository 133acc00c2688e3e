"""The loop: play, remember, learn, measure, again.

champion ── self-play ──► shards ──► replay ──► learner ──► checkpoint ──► gate ──► champion
"""

import time
from dataclasses import asdict, replace

from tengen import games, nets
from tengen.evaluators.card import read_card
from tengen.evaluators.zoo import find_network
from tengen.games.game import Game
from tengen.nets.checkpoint import load_net
from tengen.training import manifest
from tengen.training.exporting import export, with_precision
from tengen.training.gate import Standing, judge
from tengen.training.gradients import ComputeGradients
from tengen.training.learner import Learner
from tengen.training.measure import strength_of
from tengen.training.playing import PlayShards, play, stored
from tengen.training.replay import Replay
from tengen.training.run import Run, arguments_of
from tengen.training.watch import Watcher


def train(run: Run, play_shards: PlayShards, compute_gradients: ComputeGradients, watcher: Watcher) -> None:
    """Goes on with a run to its end. The two functions have shards played and gradients computed, somewhere;
    `watcher` looks on."""
    game = games.find(run.config.game)
    learner, replay, standing = start_or_resume(run, game, play_shards, watcher)
    config, generation, elapsed = run.config, run.generation + 1, run.elapsed
    is_last = run.is_finished
    while not is_last:
        # 1. play
        began, progress = time.perf_counter(), config.length.progress(generation - 1, elapsed)
        stats, shards = play(run, config, generation, standing.champion, play_shards, watcher)
        # 2. remember
        num_new = replay.add(shards)
        played = time.perf_counter()
        # 3. learn
        steps = max(1, round(config.learner.passes * num_new / config.learner.batch_size))
        watcher.begin(generation, "learning", steps)
        seed = [config.seed, generation, 1]
        deadline = began + config.length.seconds_left(elapsed)
        losses = learner.learn(
            replay.positions(), steps, progress, seed, deadline, compute_gradients, watcher.learned
        )
        learned = time.perf_counter()
        watcher.begin(generation, "exporting")
        exports = export(run, config, game, learner, replay, generation)
        # 4. measure
        watcher.begin(generation, "measuring")
        standing, match = judge(run, config, game, standing, generation, exports)
        seconds = time.perf_counter() - began
        is_last = config.length.is_over(generation, elapsed + seconds, seconds)
        strength = strength_of(run, config, game, generation, exports, is_last)
        # 5. record; the card comes last: a generation counts when its card is there
        elapsed += time.perf_counter() - began
        metrics = {
            "generation": generation,
            "elapsed": round(elapsed, 2),
            "selfplay": stats | {"seconds": round(played - began, 2)},
            "learner": asdict(losses) | {"seconds": round(learned - played, 2)},
            "replay": {"window": len(replay.positions()), "total": replay.total},
            "export": exports.notes,
            "gate": asdict(standing) | (asdict(match) | {"score": match.score} if match else {}),
            "strength": strength,
        }
        run.log(metrics)
        standing.save(run.checkpoint(generation))
        training = {"minutes": round(elapsed / 60, 1), "positions": replay.total, "config": asdict(config)}
        card = replace(exports.card, strength=strength, training=training)
        run.save_checkpoint(generation, exports.networks, card, standing.champion, metrics)
        watcher.finished(metrics)
        generation += 1


def start_or_resume(
    run: Run, game: Game, play_shards: PlayShards, watcher: Watcher
) -> tuple[Learner, Replay, Standing]:
    """The learner, the window and the gate as the last complete generation left them."""
    config = run.config
    name, settings = config.network.name, arguments_of(config)
    learner = Learner(game, nets.make(name, game, settings, config.seed), config.learner)
    replay = Replay(config.replay)
    if run.generation < 0:
        if config.network.start:
            learner.begin_with(load_net(find_network(config.network.start)))
        run.configure(config := with_precision(config, game, learner))  # once, before anything depends on it
        exports = export(run, config, game, learner, replay, generation=0)
        run.save_checkpoint(0, exports.networks, exports.card, champion=0)
        return learner, replay, Standing()
    learner.load(run.checked_weights(run.generation))
    for generation in range(1, run.generation + 1):
        replay.add(stored(run, generation, play_shards, watcher))
    standing = Standing.load(run.checkpoint(run.generation)) if run.generation else Standing()
    manifest.check(run.checkpoint(standing.champion))
    if not (run.folder / "best").exists():  # killed while a new champion took its place
        run.promote(standing.champion, read_card(run.checkpoint(standing.champion)))
    return learner, replay, standing
