"""A network of lines by table: the same answers as PyTorch's and ONNX Runtime's, for every board."""

import numpy as np
import pytest
import torch
from torch import nn

from tengen import games, nets
from tengen.errors import UserError
from tengen.evaluators import lookup
from tengen.evaluators.agreement import answers, compared
from tengen.evaluators.lookup import DIRECTIONS, FIRST_NUMBERS, NUM_LINES, REACH, SIDES, Lookup
from tengen.evaluators.samples import random_planes
from tengen.games.game import Planes
from tengen.nets.export import to_onnx
from tengen.nets.lines import Lines

GAMES = ["gomoku9", "renju15", "caro19", "mnk:rows=7,cols=12,k=5", "tictactoe", "hex7"]


def made(game_name: str, channels: int = 16) -> tuple[Lines, Planes]:
    """A network whose batch normalisation has learned something, and planes of random games."""
    game = games.find(game_name)
    net = nets.make("lines", game, {"channels": channels}, seed=1)
    assert isinstance(net, Lines)
    planes = np.ascontiguousarray(random_planes(game, 40)[:, net.planes])
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.normal_(module.bias, 0, 0.3)
    with torch.inference_mode():
        for _ in range(3):
            net.train()(torch.from_numpy(planes))
    return net.eval(), planes


def by_table(net: Lines) -> Lookup:
    return Lookup.of(lookup.to_bytes(net.layers()))


@pytest.mark.parametrize("game_name", GAMES)
def test_it_says_what_the_network_says(game_name: str) -> None:
    net, planes = made(game_name)
    with torch.inference_mode():
        expected = net(torch.from_numpy(planes))
    logits, values, plies_left = by_table(net).answers(planes)
    assert logits == pytest.approx(expected.logits.numpy(), abs=5e-3)
    assert values == pytest.approx(expected.value.numpy(), abs=1e-3)
    assert expected.plies_left is not None
    assert plies_left == pytest.approx(expected.plies_left.numpy(), abs=2e-2)


def test_it_agrees_with_the_onnx_file_on_other_sizes_too() -> None:
    net, planes = made("gomoku9", channels=64)
    data, table = to_onnx(net, random_planes(games.find("gomoku9"), 8)), by_table(net)
    wider = np.ascontiguousarray(np.pad(planes, ((0, 0), (0, 0), (3, 1), (0, 5))))
    for seen in (planes, wider):
        agreement = compared(answers(data, seen), table.answers(seen))
        assert agreement.kl < 1e-5 and agreement.value_error < 1e-3 and agreement.same_move > 0.9


def test_every_line_has_a_number_of_its_own() -> None:
    """The number of each cell's line, in each direction, read cell by cell, and from all of them the stones."""
    rows, cols = 9, 13
    digits = np.random.default_rng(3).integers(0, 3, rows * cols)
    numbers = np.zeros((rows * cols, 4), np.int64)
    lookup._number(digits, *lookup.board_of(rows, cols), numbers)
    for cell in range(rows * cols):
        for direction, (down, right) in enumerate(DIRECTIONS):
            line = {}
            for i in range(-REACH, REACH + 1):
                row, col = cell // cols + i * down, cell % cols + i * right
                if 0 <= row < rows and 0 <= col < cols:
                    line[i] = int(digits[row * cols + col])
            before, after = -min(line), max(line)
            number = 0
            for i in range(-before, after + 1):
                number = 3 * number + line[i]
            first = sum(3 ** (b + a + 1) for b, a in SIDES[: SIDES.index((before, after))])
            assert numbers[cell, direction] == first + number
    assert FIRST_NUMBERS[-1] == NUM_LINES == 397_488


def test_a_row_does_not_depend_on_the_others() -> None:
    net, planes = made("gomoku9")
    table = by_table(net)
    together = table.answers(planes)
    for i in (0, 7, 39):
        alone = table.answers(planes[i : i + 1])
        assert all((one[0] == many[i]).all() for one, many in zip(alone, together, strict=True))


def test_four_features_at_their_largest_fit_into_16_bits() -> None:
    net, _ = made("gomoku9")
    largest = 4 * np.abs(by_table(net).table.astype(np.int64)).max(axis=0)
    assert (largest <= np.iinfo(np.int16).max).all()
    assert (largest > 0.99 * np.iinfo(np.int16).max).all()  # and no precision is given away


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: b"", "expected the layers of a network of lines"),
        (lambda data: data[:-1], "expected the layers of a network of lines"),
        (
            lambda data: data.replace(b"deeper_bias", b"dreper_bias"),
            "expected the layers of a network of lines",
        ),
    ],
)
def test_damaged_files_are_refused(damage, message: str) -> None:  # type: ignore[no-untyped-def]
    net, _ = made("tictactoe")
    with pytest.raises(UserError, match=message):
        Lookup.of(damage(lookup.to_bytes(net.layers())))


def test_layers_that_do_not_fit_each_other_are_refused() -> None:
    layers = made("tictactoe")[0].layers()
    with pytest.raises(UserError, match=r"expected cell_bias float32\(15,\)|expected last float32"):
        Lookup.of(lookup.to_bytes(layers._replace(cell_bias=layers.cell_bias[1:])))


def test_planes_of_another_game_are_refused() -> None:
    net, planes = made("tictactoe")
    with pytest.raises(UserError, match="planes, got 2"):
        by_table(net).answers(np.ascontiguousarray(planes[:, :2]))
