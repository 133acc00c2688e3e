"""Measures the strength of a network: on exact scores (Connect 4), against players and older networks."""

from dataclasses import asdict
from typing import Any

from tengen.arena import reference
from tengen.arena.match import Match, Tally, play_quick_matches
from tengen.arena.score import elo_of
from tengen.games.game import Game
from tengen.training.checkpoint import Checkpoint
from tengen.training.config import MeasureConfig
from tengen.training.run import Run
from tengen.workers.tasks import RunTasks


def strength_of(
    run: Run, config: MeasureConfig, game: Game, network: Checkpoint, is_last: bool, run_tasks: RunTasks
) -> dict[str, Any]:
    """How strong the network is: every `config.every` generations and after the last one; else {}."""
    generation, every = network.card.generation, config.every
    if every == 0 or (generation % every and not is_last):
        return {}
    return measure(config, game, network, run_tasks, run.load_checkpoint(max(0, generation - every)))


def measure(
    config: MeasureConfig,
    game: Game,
    network: Checkpoint,
    run_tasks: RunTasks,
    before: Checkpoint | None = None,
) -> dict[str, Any]:
    """How strong a network is: {"alone": {"perfect": …, "good": …}, "sims=64": …} on our own scored positions
    of Connect 4; {"uct:sims=400": {"score": …, "elo": …}} for each opponent; {"before": …} for the network
    `before`."""
    found: dict[str, Any] = {}
    if game.name == reference.GAME and config.positions:
        positions = reference.read(reference.OWN_SET)[: config.positions]
        for name, simulations in (("alone", 1), (f"sims={config.simulations}", config.simulations)):
            score = reference.score(reference.ask(network.player(name, simulations), positions, run_tasks))
            found[name] = {"perfect": asdict(score.perfect), "good": asdict(score.good)}
    opponents = config.opponents.split() + ["before"] * (before is not None)
    if config.games and opponents:
        new = network.player("network", config.simulations)
        old = () if before is None else (before.player("before", config.simulations),)
        matches = [Match(game, new.name, opponent) for opponent in opponents]
        results = play_quick_matches(matches, config.games, run_tasks, (new, *old))
        found |= {name: _to_line(result) for name, result in zip(opponents, results, strict=True)}
    return found


def _to_line(match: Tally) -> dict[str, Any]:
    smoothed = (match.points + 0.5) / (match.games + 1)  # finite, even if every game was won
    return asdict(match) | {"score": match.score, "elo": round(elo_of(smoothed), 1)}
