"""A larger network begins with the answers of a smaller one."""

from dataclasses import replace

import pytest
import torch

from tengen import games, nets
from tengen.errors import UserError
from tengen.games import symmetry
from tengen.nets import growing
from tengen.nets.net import Net, Output
from tests.nets.test_policy import Anything

SMALL: dict[str, int | str] = {"channels": 8, "blocks": 3}
GROWN: list[dict[str, int | str]] = [
    {"channels": 8, "blocks": 3},
    {"channels": 40, "blocks": 3},  # the policy head has more than its least 16 features
    {"channels": 8, "blocks": 6},  # one more block that pools, and two that do not
    {"channels": 72, "blocks": 4, "value": "wdl"},
]


def trained(name: str, settings: dict[str, int | str]) -> Net:
    """A network whose weights and statistics are all different from those of a new one."""
    net = nets.make("anysize", games.find(name), settings, seed=1)
    random = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for tensor in net.state_dict().values():
            if tensor.is_floating_point():
                tensor.add_(0.1 * torch.rand(tensor.shape, generator=random))
    return net.eval()


def answers(net: Net, name: str) -> Output:
    random = torch.Generator().manual_seed(3)
    planes = torch.rand(16, len(net.planes), *size_of(name), generator=random) < 0.3
    with torch.no_grad():
        output: Output = net.eval()(planes.float())
    return output


@pytest.mark.parametrize("name", ["gomoku9", "connect4", "othello6"])  # cells, columns, and a pass
@pytest.mark.parametrize("settings", GROWN)
def test_it_answers_like_the_smaller_one_and_learns_with_all_its_weights(
    name: str, settings: dict[str, int | str]
) -> None:
    small = trained(name, SMALL | {key: settings[key] for key in settings if key == "value"})
    net = nets.make("anysize", games.find(name), settings, seed=4)
    growing.begin(net, small)
    ours, theirs = answers(net, name), answers(small, name)
    assert torch.allclose(ours.logits, theirs.logits, atol=1e-4)
    assert torch.allclose(ours.value, theirs.value, atol=1e-5)
    zeros = [weights == 0 for weights in net.parameters()]
    for _ in range(3):  # weights behind a zero have a gradient only after the first step
        output = net.train()(torch.rand(8, len(net.planes), *size_of(name)))
        assert output.plies_left is not None
        net.zero_grad()
        loss = (
            output.logits.square().mean() + output.value.square().mean() + output.plies_left.square().mean()
        )
        loss.backward()
        with torch.no_grad():
            for parameter in net.parameters():
                if parameter.grad is not None:
                    parameter.sub_(0.1 * parameter.grad)
    still = sum(int((was & (now == 0)).sum()) for was, now in zip(zeros, net.parameters(), strict=True))
    assert still <= sum(int(was.sum()) for was in zeros) // 10  # some only behind units that are never active


def size_of(name: str) -> tuple[int, int]:
    return games.find(name).rows, games.find(name).cols


@pytest.mark.parametrize(
    ("large", "small", "tensor"),
    [
        ({"channels": 8, "blocks": 3}, {"channels": 16, "blocks": 3}, "first.0.0.weight is (16, "),
        ({"channels": 8, "blocks": 2}, {"channels": 8, "blocks": 3}, "trunk.2"),
    ],
)
def test_a_network_that_does_not_fit_is_refused_unchanged(
    large: dict[str, int | str], small: dict[str, int | str], tensor: str
) -> None:
    net = nets.make("anysize", games.find("gomoku9"), large)
    before = {name: weights.clone() for name, weights in net.state_dict().items()}
    with pytest.raises(UserError) as error:
        growing.begin(net, trained("gomoku9", small))
    assert tensor in str(error.value)
    assert all(torch.equal(weights, before[name]) for name, weights in net.state_dict().items())


def test_a_value_of_another_kind_begins_with_random_weights_and_the_rest_with_the_same_answers() -> None:
    small = trained("connect4", SMALL)
    net = nets.make("anysize", games.find("connect4"), {"channels": 16, "blocks": 4, "value": "wdl"}, seed=4)
    before = net.state_dict()["value.2.weight"].clone()
    growing.begin(net, small)
    assert torch.allclose(answers(net, "connect4").logits, answers(small, "connect4").logits, atol=1e-4)
    assert torch.equal(net.state_dict()["value.2.weight"], before)


def test_a_head_for_one_board_does_not_grow() -> None:
    game = replace(games.find("tictactoe"), moves=Anything(), num_actions=20,
                   symmetries=symmetry.identity(9, 20))  # fmt: skip
    small, large = (nets.make("anysize", game, {"channels": channels}) for channels in (8, 40))
    with pytest.raises(UserError, match=r"policy\.out\.weight"):
        growing.begin(large, small)
