"""How strong a network is: the rates and matches that a generation's line holds."""

import numpy as np
import pytest

from tengen import games, nets
from tengen.evaluators.card import Card
from tengen.evaluators.network import Network
from tengen.nets.export import to_onnx
from tengen.players.zero import Zero
from tengen.training.config import Measure
from tengen.training.measure import measure


def network_for(name: str) -> Network:
    """A small one with random weights."""
    game = games.find(name)
    net = nets.make("anysize", game, {"channels": 8, "blocks": 2}).eval()
    planes = np.zeros((2, *game.planes_shape), np.float32)
    return Network(Card(name, {}, net.planes, 0, 0.97, "fp32"), to_onnx(net, planes))


def test_connect4_is_measured_against_the_truth() -> None:
    game = games.find("connect4")
    network = network_for("connect4")
    settings = Measure(positions=60, simulations=200, games=0)
    with Zero.of(game, network, 2) as before:
        found = measure(settings, game, network, before)
    assert list(found) == ["alone", "sims=200"]
    alone, searched = found["alone"], found["sims=200"]
    assert alone["perfect"]["n"] == 60 and 0 <= alone["perfect"]["low"] < alone["perfect"]["rate"] < 1
    assert searched["good"]["rate"] > alone["good"]["rate"], "even of random weights a search makes more"


def test_other_games_are_measured_by_matches() -> None:
    game = games.find("tictactoe")
    network = network_for("tictactoe")
    settings = Measure(positions=60, simulations=30, opponents="uniform uct:sims=300", games=10)
    with Zero.of(game, network, 30) as before:
        found = measure(settings, game, network, before)
    assert list(found) == ["uniform", "uct:sims=300", "before"]
    for match in found.values():
        assert match["wins"] + match["draws"] + match["losses"] == 10
        assert match["score"] == (match["wins"] + match["draws"] / 2) / 10
    assert found["uniform"]["score"] > 0.5 and found["uniform"]["elo"] > 0
    assert found["before"]["score"] == 0.5 and found["before"]["elo"] == pytest.approx(0), "against itself"
