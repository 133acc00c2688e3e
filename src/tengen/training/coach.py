"""The loop: play, remember, learn, measure, again.

checkpoint g ── self-play ──► shards ──► replay ──► learner ──► checkpoint g + 1 ──► measure
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

import numpy as np

from tengen import games, nets
from tengen.evaluators.card import Card, Precision, read_card
from tengen.games.batch import lift
from tengen.games.game import Game, Planes
from tengen.nets.export import agreement, to_int8, to_onnx
from tengen.training import replay as positions_files
from tengen.training.config import Config
from tengen.training.learner import Learner
from tengen.training.measure import measure
from tengen.training.record import Positions
from tengen.training.replay import Replay
from tengen.training.run import Run, settings_of
from tengen.training.shards import ShardTask

PlayShards = Callable[[Iterable[ShardTask]], Iterable[tuple[int, dict[str, Any]]]]
Show = Callable[[dict[str, Any]], None]

CALIBRATION = 1024  # positions for int8
MOST_RISE = 4  # times the simulations


def train(run: Run, play_shards: PlayShards, progress: Callable[[int], float], show: Show) -> None:
    """Goes on with a run until progress(generation) is 1. `play_shards` has the shards played, somewhere."""
    config = run.config
    game = games.find(config.game)
    learner, replay = start_or_resume(run, config, game)
    generation = run.generation + 1
    while progress(generation) < 1:
        began = time.perf_counter()
        stats, shards = play(run, config, generation, play_shards)
        replay.add(shards)
        played = time.perf_counter()
        steps = max(1, round(config.learner.passes * sum(map(len, shards)) / config.learner.batch_size))
        losses = learner.learn(replay.positions(), steps, progress(generation), [config.seed, generation, 1])
        learned = time.perf_counter()
        card, networks, export = checkpoint(run, config, game, learner, replay, generation)
        strength = measure(config, game, networks, card) if generation % config.measure.every == 0 else {}
        run.save_checkpoint(generation, networks, card)
        run.promote(generation, card)
        metrics = {
            "generation": generation,
            "selfplay": stats | {"seconds": round(played - began, 2)},
            "learner": asdict(losses) | {"steps": steps, "seconds": round(learned - played, 2)},
            "replay": {"window": len(replay.positions()), "total": replay.total},
            "export": export,
            "strength": strength,
        }
        run.log(metrics)
        show(metrics)
        generation += 1


def start_or_resume(run: Run, config: Config, game: Game) -> tuple[Learner, Replay]:
    """The learner and the window as the last complete generation left them."""
    settings = {k: v for k, v in settings_of(config).items() if k != "name"}
    learner = Learner(game, nets.make(config.network.name, game, settings, config.seed), config.learner)
    replay = Replay(config.replay)
    if run.generation < 0:
        card, networks, _ = checkpoint(run, config, game, learner, replay, generation=0)
        run.save_checkpoint(0, networks, card)
        return learner, replay
    learner.load(run.checkpoint(run.generation) / "weights.safetensors")
    for generation in range(1, run.generation + 1):
        count = -(-config.selfplay.games // config.selfplay.games_a_shard)
        replay.add([positions_files.load(run.shard(generation, number)) for number in range(count)])
    return learner, replay


def play(
    run: Run, config: Config, generation: int, play_shards: PlayShards
) -> tuple[dict[str, Any], list[Positions]]:
    """The shards of a generation; those that are on disk already are not played again."""
    settings = config.selfplay
    rise = 1 + settings.simulations_rise * (generation - 1) / settings.simulations
    simulations = round(settings.simulations * min(rise, MOST_RISE))
    count = -(-settings.games // settings.games_a_shard)
    tasks = [
        ShardTask(
            checkpoint=run.checkpoint(generation - 1),
            precision=precision_of(run, generation - 1),
            simulations=simulations,
            games=min(settings.games_a_shard, settings.games - number * settings.games_a_shard),
            seed=(config.seed, generation, 0, number),
            file=run.shard(generation, number),
        )
        for number in range(count)
    ]
    missing = [task for task in tasks if not task.file.is_file()]
    results = [result for _, result in play_shards(missing)]
    stats = {key: sum(result[key] for result in results) for key in results[0]} if results else {}
    if results:
        stats["hit_rate"] = round(stats["hit_rate"] / len(results), 3)
        stats["simulations_a_move"] = simulations
    return stats, [positions_files.load(task.file) for task in tasks]


def checkpoint(
    run: Run, config: Config, game: Game, learner: Learner, replay: Replay, generation: int
) -> tuple[Card, dict[str, bytes], dict[str, Any]]:
    """What is kept of a generation: the weights, the two exports, and how far they agree."""
    folder = run.checkpoint(generation)
    folder.mkdir(parents=True, exist_ok=True)
    learner.save(folder / "weights.safetensors")
    planes = sample_planes(game, replay, [config.seed, generation, 2])
    net = learner.player
    fp32 = to_onnx(net, planes[:256])
    seen = np.ascontiguousarray(planes[:, net.planes])
    int8 = to_int8(fp32, seen)
    agrees = agreement(fp32, int8, seen)
    precision: Precision = "int8" if config.selfplay.precision == "int8" and agrees.is_close else "fp32"
    card = Card(
        game=game.name,
        network=settings_of(config),
        planes=net.planes,
        generation=generation,
        discount=config.selfplay.discount,
        precision=precision,
        c_scale=config.selfplay.c_scale,
    )
    return card, {"fp32": fp32, "int8": int8}, asdict(agrees) | {"precision": precision}


def precision_of(run: Run, generation: int) -> Precision:
    return read_card(run.checkpoint(generation)).precision


def sample_planes(game: Game, replay: Replay, seed: list[int]) -> Planes:
    """Planes of positions like those that will be met."""
    random = np.random.default_rng(seed)
    if replay.total:
        positions = replay.positions()
        states = positions.states[random.integers(len(positions), size=CALIBRATION)]
    else:
        states = np.stack([_wander(game, random) for _ in range(CALIBRATION)])
    planes = np.zeros((len(states), *game.planes_shape), np.float32)
    lift(game).planes(states, planes)
    return planes


def _wander(game: Game, random: np.random.Generator) -> np.ndarray[Any, np.dtype[np.int16]]:
    """A position somewhere in a random game."""
    state, length = game.new_state(), int(random.integers(game.rows * game.cols))
    for _ in range(length):
        after = game.after(state, int(random.choice(np.flatnonzero(game.legal_mask(state)))))
        if game.outcome(after)[0]:
            break
        state = after
    return state
