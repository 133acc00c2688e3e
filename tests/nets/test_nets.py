"""The networks: shapes, the seeds' architectures, and weights that fit other sizes."""

import numpy as np
import onnx
import pytest
import torch
from torch import nn

from tengen import games, nets
from tengen.errors import UserError
from tengen.evaluators.agreement import agreement
from tengen.evaluators.samples import random_planes
from tengen.evaluators.session import new_session
from tengen.games.game import Planes
from tengen.nets.anysize import DISTANCES
from tengen.nets.export import to_int8, to_onnx
from tengen.nets.net import Net


def trained_a_little(net: Net, planes: Planes) -> Net:
    """Batch normalisation that has seen something: else folding it would prove nothing."""
    net.train()
    for _ in range(3):
        net(torch.from_numpy(planes[:, net.planes]))
    return net.eval()


@pytest.mark.parametrize("game_name", ["tictactoe", "connect4", "gomoku9", "othello6", "hex7", "renju15"])
@pytest.mark.parametrize("name", list(nets.REGISTRY))
def test_every_network_fits_every_game(name: str, game_name: str) -> None:
    game = games.find(game_name)
    net = nets.make(name, game).eval()
    planes = torch.from_numpy(random_planes(game, 5)[:, net.planes])
    output = net(planes)
    assert output.logits.shape == (5, game.num_actions) and output.value.shape == (5,)
    assert (output.value.abs() <= 1).all()
    if output.plies_left is not None:
        assert output.plies_left.shape == (5,) and (output.plies_left >= 0).all()


def test_the_seeds_networks_are_as_described() -> None:
    game = games.find("gomoku9")

    def convolutions(name: str) -> list[tuple[int, int]]:
        layers = [layer for layer in nets.make(name, game).modules() if isinstance(layer, nn.Conv2d)]
        return [(layer.in_channels, layer.out_channels) for layer in layers]

    def linear(name: str) -> list[tuple[int, int]]:
        layers = [layer for layer in nets.make(name, game).modules() if isinstance(layer, nn.Linear)]
        return [(layer.in_features, layer.out_features) for layer in layers]

    assert convolutions("gobang") == [(5, 128)] + 10 * [(128, 128)] + [(128, 2), (128, 1)]
    assert linear("gobang") == [(162, 81), (81, 128), (128, 1)]
    assert convolutions("gomoku") == [(4, 32), (32, 64), (64, 128), (128, 4), (128, 2)]
    assert linear("gomoku") == [(324, 81), (162, 64), (64, 1)]
    assert len(convolutions("connect4")) == 4 and len(linear("connect4")) == 4
    assert convolutions("mnk")[:4] == [(2, 64), (64, 64), (64, 64), (64, 64)]
    leaky = [layer for layer in nets.make("mnk", game).modules() if isinstance(layer, nn.LeakyReLU)]
    assert len(leaky) >= 4


@pytest.mark.parametrize(
    ("small", "large"), [("gomoku9", "gomoku11"), ("othello6", "othello8"), ("hex7", "hex9")]
)
def test_weights_of_anysize_fit_another_size(small: str, large: str) -> None:
    settings = {"channels": 16, "blocks": 2}
    a, b = (
        nets.make("anysize", games.find(small), settings),
        nets.make("anysize", games.find(large), settings),
    )
    b.load_state_dict(a.state_dict())
    output = b.eval()(torch.from_numpy(random_planes(games.find(large), 3)[:, b.planes]))
    assert output.logits.shape == (3, games.find(large).num_actions)


@pytest.mark.parametrize("name", list(nets.REGISTRY))
def test_the_export_says_what_the_network_says(name: str) -> None:
    game = games.find("connect4")
    planes = random_planes(game, 64)
    net = trained_a_little(nets.make(name, game), planes)
    data = to_onnx(net, planes)  # raises if they differ by more than 1e-4
    seen = np.ascontiguousarray(planes[:, net.planes])
    close = agreement(data, to_int8(data, seen), seen)
    assert close.is_close and close.kl < 0.01 and close.value_error < 0.03


def test_wrong_names_and_settings_are_refused() -> None:
    game = games.find("connect4")
    with pytest.raises(UserError, match="unknown network 'anysiz', did you mean anysize"):
        nets.make("anysiz", game)
    with pytest.raises(UserError, match="network 'anysize' has no setting 'channel', did you mean channels"):
        nets.make("anysize", game, {"channel": 3})


def test_chances_become_a_value_that_prefers_the_sooner_win() -> None:
    """v = (P(win) - P(loss)) · Σ P(plies) · discount ^ plies, and the export says it too."""
    game = games.find("connect4")
    net = nets.make("anysize", game, {"channels": 8, "blocks": 2, "value": "wdl", "discount": 0.9})
    planes = np.random.default_rng(1).integers(0, 2, (20, *game.planes_shape)).astype(np.float32)
    with torch.inference_mode():
        output = net.eval()(torch.from_numpy(planes[:, net.planes]))
    assert output.outcomes is not None and output.distances is not None and output.plies_left is not None
    chances, shares = output.outcomes.softmax(dim=1), output.distances.softmax(dim=1)
    plies = torch.tensor(DISTANCES)
    expected = (chances[:, 0] - chances[:, 2]) * (shares * 0.9**plies).sum(dim=1)
    assert torch.allclose(output.value, expected, atol=1e-6)
    assert torch.allclose(output.plies_left, (shares * plies).sum(dim=1), atol=1e-4)
    session = new_session(to_onnx(net, planes))
    assert [one.name for one in session.get_outputs()] == ["logits", "value", "plies_left"]
    assert session.run(["value"], {"planes": planes[:, net.planes]})[0] == pytest.approx(
        output.value.numpy(), abs=1e-5
    )


@pytest.mark.parametrize("named", [True, False])
def test_a_new_network_is_int8_in_every_convolution_but_the_first(named: bool) -> None:
    """The biases of fresh batch normalisations are equal; layers that share one would stay in fp32. So would
    all layers, if those without a name were left out together."""
    game = games.find("gomoku8")
    net, planes = nets.make("mnk", game).eval(), random_planes(game, 64)
    fp32 = onnx.load_model_from_string(to_onnx(net, planes))
    if not named:
        for node in fp32.graph.node:
            node.name = ""
    model = onnx.load_model_from_string(
        to_int8(fp32.SerializeToString(), np.ascontiguousarray(planes[:, net.planes]))
    )
    made_by = {output: node.op_type for node in model.graph.node for output in node.output}
    convolutions = [node for node in model.graph.node if node.op_type == "Conv"]
    assert len(convolutions) == 6
    assert "planes" in convolutions[0].input
    for node in convolutions[1:]:
        assert all(made_by.get(name) == "DequantizeLinear" for name in node.input)
