"""How strong is a network? Against exact truth (Connect 4), a fixed ladder of players, and its own past."""

from dataclasses import asdict
from typing import Any

from tengen import players
from tengen.arena import reference
from tengen.arena.duel import play_duel
from tengen.arena.score import elo_of
from tengen.evaluators.network import Network
from tengen.games.game import Game
from tengen.players.player import Player
from tengen.players.zero import Zero
from tengen.training.config import Config, Measure
from tengen.training.exporting import Exports
from tengen.training.run import Run


def strength_of(
    run: Run, config: Config, game: Game, generation: int, exports: Exports, is_last: bool
) -> dict[str, Any]:
    """Every few generations, and of the last, how strong the network is; {} in between."""
    every = config.measure.every
    if every == 0 or (generation % every and not is_last):
        return {}
    with run.player(max(0, generation - every), game, config.measure.simulations) as before:
        return measure(config.measure, game, exports.playing, before)


def measure(settings: Measure, game: Game, network: Network, before: Zero | None = None) -> dict[str, Any]:
    """{"alone": {"perfect": …, "good": …}, "sims=64": …} on our own scored positions of Connect 4;
    {"uct:sims=400": {"score": …, "elo": …}} for each opponent; {"before": …} for the network `before`."""
    found: dict[str, Any] = {}
    if game.name == reference.GAME and settings.positions:
        positions = reference.read(reference.OWN_SET)[: settings.positions]
        for name, sims in (("alone", 1), (f"sims={settings.simulations}", settings.simulations)):
            with Zero.of(game, network, sims=sims) as player:
                score = reference.score(reference.ask(player, positions))
            found[name] = {"perfect": asdict(score.perfect), "good": asdict(score.good)}
    if settings.games:
        with Zero.of(game, network, sims=settings.simulations) as player:
            for spec in settings.opponents.split():
                with players.find(spec, game) as opponent:
                    found[spec] = _match(game, player, opponent, settings.games)
            if before is not None:
                found["before"] = _match(game, player, before, settings.games)
    return found


def _match(game: Game, one: Player, other: Player, num_games: int) -> dict[str, Any]:
    match = play_duel(game, one, other, num_games, seed=0)
    points = match.score * match.games
    smoothed = (points + 0.5) / (match.games + 1)  # finite, even if every game was won
    return asdict(match) | {"score": match.score, "elo": round(elo_of(smoothed), 1)}
