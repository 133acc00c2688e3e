"""How strong a network is: the rates and matches that a generation's line holds."""

import numpy as np
import pytest

from tengen import games, nets
from tengen.evaluators.card import Card
from tengen.nets.export import to_onnx
from tengen.training.checkpoint import Checkpoint
from tengen.training.config import MeasureConfig
from tengen.training.measure import measure
from tengen.workers.local import LocalWorkers


def network_for(name: str) -> Checkpoint:
    """A small one with random weights."""
    game = games.find(name)
    net = nets.make("anysize", game, {"channels": 8, "blocks": 2}).eval()
    planes = np.zeros((2, *game.planes_shape), np.float32)
    return Checkpoint(Card(name, {}, net.planes, 0, 0.97, "fp32"), {"fp32": to_onnx(net, planes)})


def test_connect4_is_measured_against_the_truth() -> None:
    game = games.find("connect4")
    network = network_for("connect4")
    config = MeasureConfig(positions=60, simulations=200, games=0)
    with LocalWorkers(1) as run_tasks:
        found = measure(config, game, network, run_tasks, before=network)
    assert list(found) == ["alone", "sims=200"]
    alone, searched = found["alone"], found["sims=200"]
    assert alone["perfect"]["n"] == 60 and 0 <= alone["perfect"]["low"] < alone["perfect"]["rate"] < 1
    assert searched["good"]["rate"] > alone["good"]["rate"], "even of random weights a search makes more"


def test_other_games_are_measured_by_matches() -> None:
    game = games.find("tictactoe")
    network = network_for("tictactoe")
    config = MeasureConfig(positions=60, simulations=30, opponents="uniform uct:sims=300", games=10)
    with LocalWorkers(1) as run_tasks:
        found = measure(config, game, network, run_tasks, before=network)
    assert list(found) == ["uniform", "uct:sims=300", "before"]
    for match in found.values():
        assert match["wins"] + match["draws"] + match["losses"] == 10
        assert match["score"] == (match["wins"] + match["draws"] / 2) / 10
    assert found["uniform"]["score"] > 0.5 and found["uniform"]["elo"] > 0
    assert found["before"]["score"] == 0.5 and found["before"]["elo"] == pytest.approx(0), "against itself"


def test_two_workers_measure_the_same_as_one() -> None:
    """Scored positions and matches alike: what is played depends on its task alone."""
    for name in ("tictactoe", "connect4"):
        game, network = games.find(name), network_for(name)
        config = MeasureConfig(positions=120, simulations=8, opponents="uct:sims=20 uniform", games=6)
        found = []
        for processes in (1, 2):
            with LocalWorkers(processes) as run_tasks:
                found.append(measure(config, game, network, run_tasks, before=network))
        assert found[0] == found[1]
