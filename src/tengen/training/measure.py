"""How strong is a network? On Connect 4, against our own scored positions: alone and with a small search."""

from dataclasses import asdict
from typing import Any

from tengen.arena import reference
from tengen.evaluators.card import Card
from tengen.evaluators.onnx import NetworkFile
from tengen.games.game import Game
from tengen.players.zero import Zero
from tengen.training.config import Config


def measure(config: Config, game: Game, networks: dict[str, bytes], card: Card) -> dict[str, Any]:
    """{"alone": {"perfect": …, "good": …}, "sims=64": …}; nothing for games without a solver."""
    if game.name != reference.GAME:
        return {}
    positions = reference.read(reference.OWN_SET)[: config.measure.positions]
    found = {}
    for name, sims in (("alone", 1), (f"sims={config.measure.simulations}", config.measure.simulations)):
        network = NetworkFile(networks[card.precision], card.planes)
        with Zero.of(game, network, card, sims=sims) as player:
            score = reference.score(reference.ask(player, positions))
        found[name] = {"perfect": asdict(score.perfect), "good": asdict(score.good)}
    return found
