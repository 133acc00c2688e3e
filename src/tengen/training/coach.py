"""The loop: play, remember, learn, measure, again.

checkpoint g ── self-play ──► shards ──► replay ──► learner ──► checkpoint g + 1 ──► measure
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from tengen import games, nets
from tengen.arena.duel import Duel
from tengen.evaluators.agreement import agreement
from tengen.evaluators.card import Card, Precision, read_card
from tengen.evaluators.onnx import NetworkFile
from tengen.games.batch import lift
from tengen.games.game import Game, Planes
from tengen.games.position import Position
from tengen.nets.export import to_int8, to_onnx
from tengen.players.zero import Zero
from tengen.training import replay as positions_files
from tengen.training.config import Config
from tengen.training.gate import Standing, decide
from tengen.training.learner import Learner
from tengen.training.measure import measure
from tengen.training.record import Positions
from tengen.training.replay import Replay
from tengen.training.run import Run, settings_of
from tengen.training.shards import ShardTask
from tengen.training.watch import Watcher

PlayShards = Callable[[Iterable[ShardTask]], Iterable[tuple[int, dict[str, Any]]]]

CALIBRATION = 1024  # positions for int8
MOST_RISE = 4  # times the simulations


def train(run: Run, play_shards: PlayShards, watcher: Watcher) -> None:
    """Goes on with a run to its end. `play_shards` has the shards played, somewhere; `watcher` looks on."""
    config = run.config
    game = games.find(config.game)
    learner, replay, standing = start_or_resume(run, config, game)
    generation, elapsed = run.generation + 1, run.elapsed
    while (progress := config.length.progress(generation - 1, elapsed)) < 1:
        began = time.perf_counter()
        stats, shards = play(run, config, generation, standing.champion, play_shards, watcher)
        replay.add(shards)
        played = time.perf_counter()
        steps = max(1, round(config.learner.passes * sum(map(len, shards)) / config.learner.batch_size))
        watcher.begin(generation, "learning", steps)
        seed = [config.seed, generation, 1]
        losses = learner.learn(replay.positions(), steps, progress, seed, watcher.learned)
        learned = time.perf_counter()
        watcher.begin(generation, "exporting")
        card, networks, export = checkpoint(run, config, game, learner, replay, generation)
        watcher.begin(generation, "measuring")
        network = NetworkFile(networks[card.precision], card.planes)
        standing, match = judge(run, config, game, standing, generation, network, card)
        strength = strength_of(run, config, game, generation, network, card)
        elapsed += time.perf_counter() - began
        metrics = {
            "generation": generation,
            "elapsed": round(elapsed, 2),
            "selfplay": stats | {"seconds": round(played - began, 2)},
            "learner": asdict(losses) | {"steps": steps, "seconds": round(learned - played, 2)},
            "replay": {"window": len(replay.positions()), "total": replay.total},
            "export": export,
            "gate": asdict(standing) | (asdict(match) | {"score": match.score} if match else {}),
            "strength": strength,
        }
        run.log(metrics)  # before the card: a generation that counts has its line
        standing.save(run.checkpoint(generation))
        run.save_checkpoint(generation, networks, card)
        if standing.champion == generation:
            run.promote(generation, card)
        watcher.finished(metrics)
        generation += 1


def start_or_resume(run: Run, config: Config, game: Game) -> tuple[Learner, Replay, Standing]:
    """The learner, the window and the gate as the last complete generation left them."""
    settings = {k: v for k, v in settings_of(config).items() if k != "name"}
    learner = Learner(game, nets.make(config.network.name, game, settings, config.seed), config.learner)
    replay = Replay(config.replay)
    if run.generation < 0:
        card, networks, _ = checkpoint(run, config, game, learner, replay, generation=0)
        run.save_checkpoint(0, networks, card)
        return learner, replay, Standing()
    learner.load(run.checkpoint(run.generation) / "weights.safetensors")
    for generation in range(1, run.generation + 1):
        count = -(-config.selfplay.games // config.selfplay.games_a_shard)
        replay.add([positions_files.load(run.shard(generation, number)) for number in range(count)])
    standing = Standing.load(run.checkpoint(run.generation)) if run.generation else Standing()
    return learner, replay, standing


def play(
    run: Run, config: Config, generation: int, champion: int, play_shards: PlayShards, watcher: Watcher
) -> tuple[dict[str, Any], list[Positions]]:
    """The shards of a generation; those that are on disk already are not played again."""
    settings = config.selfplay
    rise = 1 + settings.simulations_rise * (generation - 1) / settings.simulations
    simulations = round(settings.simulations * min(rise, MOST_RISE))
    count = -(-settings.games // settings.games_a_shard)
    tasks = [
        ShardTask(
            checkpoint=run.checkpoint(champion),
            precision=read_card(run.checkpoint(champion)).precision,
            simulations=simulations,
            games=min(settings.games_a_shard, settings.games - number * settings.games_a_shard),
            seed=(config.seed, generation, 0, number),
            file=run.shard(generation, number),
        )
        for number in range(count)
    ]
    missing = [task for task in tasks if not task.file.is_file()]
    watcher.begin(generation, "playing", sum(task.games for task in missing))
    results = []
    for _, result in play_shards(missing):
        results.append(result)
        watcher.played(result)
    if results:
        run.save_sample(generation, game_text(config, results[0]["sample"]))
    return summary(results, simulations), [positions_files.load(task.file) for task in tasks]


def summary(results: list[dict[str, Any]], simulations: int) -> dict[str, Any]:
    """What the shards of a generation say together; of those that were not played in an earlier life."""
    if not results:
        return {}
    sums = ("games", "moves", "simulations", "first_wins", "draws", "positions")
    stats = {key: sum(result[key] for result in results) for key in sums}
    for key in ("hit_rate", "entropy"):
        stats[key] = round(sum(result[key] for result in results) / len(results), 3)
    return stats | {"simulations_a_move": simulations}


def game_text(config: Config, actions: Sequence[int]) -> str:
    """A game to look at: its moves and the last board."""
    position = Position.from_moves(config.game, actions)
    return f"{' '.join(position.moves)}\n{position.outcome}\n\n{position}\n"


def judge(
    run: Run, config: Config, game: Game, before: Standing, generation: int, network: NetworkFile, card: Card
) -> tuple[Standing, Duel | None]:
    """Does the new network become the champion?"""
    sims = config.gate.simulations
    new, old = Zero.of(game, network, card, sims), run.player(before.champion, game, sims)
    with new, old:
        return decide(config.gate, game, before, generation, new, old, seed=config.seed + generation)


def strength_of(
    run: Run, config: Config, game: Game, generation: int, network: NetworkFile, card: Card
) -> dict[str, Any]:
    """Every few generations, how strong the network is."""
    every = config.measure.every
    if generation % every:
        return {}
    with run.player(generation - every, game, config.measure.simulations) as before:
        return measure(config.measure, game, network, card, before)


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
