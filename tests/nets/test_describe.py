"""Layers, counts and pictures of networks, against values worked out by hand and by PyTorch's own counter."""

import io
import sys
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.flop_counter import FlopCounterMode

from tengen import games, nets
from tengen.errors import UserError
from tengen.evaluators.samples import random_planes
from tengen.games.game import Game
from tengen.nets.describe import Description, describe, fitting
from tengen.nets.drawing import Box, Drawing, Line, Text, to_png, to_svg
from tengen.nets.net import Net
from tengen.nets.picture import COLOURS, draw

GAMES = ("connect4", "othello6", "tictactoe")  # columns, cells and a pass, cells


def described(name: str, game_name: str, **settings: object) -> Description:
    game = games.find(game_name)
    return describe(made(name, game, **settings), random_planes(game, 8))


def made(name: str, game: Game, **settings: object) -> Net:
    return fitting(name, game, {key: str(value) for key, value in settings.items()})[0]


def rows(description: Description) -> list[tuple[str, tuple[int, ...], int, int]]:
    return [(one.name, one.shape, one.parameters, one.multiply_adds) for one in description.layers]


def test_gomoku_by_hand() -> None:
    cells = 8 * 8
    assert rows(described("gomoku", "gomoku8")) == [
        ("conv 3×3, ReLU", (32, 8, 8), 9 * 4 * 32 + 32, cells * 9 * 4 * 32),
        ("conv 3×3, ReLU", (64, 8, 8), 9 * 32 * 64 + 64, cells * 9 * 32 * 64),
        ("conv 3×3, ReLU", (128, 8, 8), 9 * 64 * 128 + 128, cells * 9 * 64 * 128),
        ("conv 1×1, ReLU", (4, 8, 8), 128 * 4 + 4, cells * 128 * 4),
        ("linear", (64,), 256 * 64 + 64, 256 * 64),
        ("conv 1×1, ReLU", (2, 8, 8), 128 * 2 + 2, cells * 128 * 2),
        ("linear, ReLU", (64,), 128 * 64 + 64, 128 * 64),
        ("linear", (1,), 65, 64),
    ]


def test_connect4_by_hand() -> None:
    """Batch normalisation adds two parameters a channel, and convolutions without padding shrink the board."""
    assert rows(described("connect4", "connect4")) == [
        ("conv 3×3, batch norm, ReLU", (64, 6, 7), 9 * 2 * 64 + 128, 42 * 9 * 2 * 64),
        ("conv 3×3, batch norm, ReLU", (64, 6, 7), 9 * 64 * 64 + 128, 42 * 9 * 64 * 64),
        ("conv 3×3, batch norm, ReLU", (64, 4, 5), 9 * 64 * 64 + 128, 20 * 9 * 64 * 64),
        ("conv 3×3, batch norm, ReLU", (64, 2, 3), 9 * 64 * 64 + 128, 6 * 9 * 64 * 64),
        ("max pool", (64, 2, 3), 0, 0),
        ("linear, batch norm, ReLU", (128,), 384 * 128 + 128 + 256, 384 * 128),
        ("linear, batch norm, ReLU", (64,), 128 * 64 + 64 + 128, 128 * 64),
        ("linear", (7,), 64 * 7 + 7, 64 * 7),
        ("linear", (1,), 65, 64),
    ]


def test_anysize_by_hand() -> None:
    description = described("anysize", "connect4", channels=32, blocks=2)
    block, pooling = 2 * (9 * 32 * 32 + 64), 64 * 32 + 32
    assert rows(description) == [
        ("conv 7×7, batch norm, ReLU", (32, 6, 7), 49 * 3 * 32 + 64, 42 * 49 * 3 * 32),
        ("residual block 1", (32, 6, 7), block, 42 * 2 * 9 * 32 * 32),
        ("pooling block 2", (32, 6, 7), block + pooling, 42 * 2 * 9 * 32 * 32 + 64 * 32),
        ("means and maxima of the board", (64,), 0, 0),
        ("linear, ReLU", (64,), 64 * 64 + 64, 64 * 64),
        ("linear", (2,), 130, 128),
        ("conv 1×1, batch norm, ReLU", (16, 6, 7), 32 * 16 + 32, 42 * 32 * 16),
        ("means and maxima of the columns", (7, 32), 0, 0),
        ("linear", (7, 1), 33, 7 * 32),
    ]
    assert description.says_plies and description.num_actions == 7 and description.input_shape == (3, 6, 7)
    names = [one.name for one in description.layers[2].inside]
    convolution = "conv 3×3, batch norm"
    assert names == [f"{convolution}, ReLU", "means and maxima of the board", "linear", convolution]
    assert [one.source for one in description.layers[2].inside] == [-1, 0, 1, 2]


def test_who_takes_whose_output() -> None:
    """In Othello the pass is judged by what is pooled for the value."""
    layers = described("anysize", "othello6", channels=8, blocks=1).layers
    assert [(one.part, one.name.split(",")[0], one.source) for one in layers] == [
        ("trunk", "conv 7×7", -1),
        ("trunk", "residual block 1", 0),
        ("value", "means and maxima of the board", 1),
        ("value", "linear", 2),
        ("value", "linear", 3),
        ("policy", "conv 1×1", 1),
        ("policy", "conv 1×1", 5),
        ("policy", "linear", 2),
    ]


@pytest.mark.parametrize("game_name", GAMES)
@pytest.mark.parametrize("name", list(nets.REGISTRY))
def test_totals_are_pytorchs(name: str, game_name: str) -> None:
    game = games.find(game_name)
    net, planes = made(name, game), random_planes(game, 8)
    description = describe(net, planes)
    total = sum(parameter.numel() for parameter in net.parameters())
    assert description.parameters == total == sum(one.parameters for one in description.layers)
    counter = FlopCounterMode(display=False)
    with counter:
        net.eval()(torch.from_numpy(np.ascontiguousarray(planes[:1, net.planes])))
    assert 2 * description.multiply_adds == counter.get_total_flops()  # a product and a sum each


def test_nothing_is_left_behind() -> None:
    game = games.find("connect4")
    net = made("anysize", game, channels=8, blocks=2)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    describe(net.train(), random_planes(game, 8))
    assert net.training and not any(one._forward_hooks or one._forward_pre_hooks for one in net.modules())
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())


def test_settings_are_those_given_and_the_defaults() -> None:
    game = games.find("connect4")
    _, settings = fitting("anysize", game, {"blocks": "2", "value": "wdl", "discount": "0.5"})
    assert settings == {"channels": 64, "blocks": 2, "pool_every": 2, "value": "wdl", "discount": 0.5}
    assert fitting("mnk", game, {})[1] == {}


@pytest.mark.parametrize(
    ("name", "changes", "settings", "message"),
    [
        ("gomoku", {"plane_names": ("mine", "theirs", "first to move")}, {},
         "network 'gomoku' does not fit connect4: it needs the plane 'last move', the game has mine, theirs, first to move"),
        ("mnk", {"plane_names": ("mine",)}, {},
         "network 'mnk' does not fit connect4: it needs the plane 'theirs', the game has mine"),
        ("connect4", {"plane_names": ("theirs",)}, {},
         "network 'connect4' does not fit connect4: it needs the plane 'mine', the game has theirs"),
        ("anysize", {}, {"pool_every": "0"}, "pool_every is a whole number from 1 to 4096, got 0"),
        ("anysize", {}, {"channels": "4096"}, "would have 1,.* parameters, at most 100,000,000 are allowed: lower its settings"),
        ("anysize", {}, {"discount": "nan"}, "discount is a number from 0 to 1, got nan"),
        ("anysize", {}, {"value": "x"}, "network 'anysize': value is scalar or wdl, got 'x'"),
        ("anysize", {}, {"depth": "3"}, "network 'anysize' has no setting 'depth'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(
    name: str, changes: dict[str, Any], settings: dict[str, str], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        fitting(name, replace(games.find("connect4"), **changes), settings)


def drawn(name: str, game_name: str, **settings: object) -> Drawing:
    return draw(described(name, game_name, **settings), f"{name} for {game_name}", "")


def texts(drawing: Drawing) -> list[str]:
    return [shape.text for shape in drawing.shapes if isinstance(shape, Text)]


@pytest.mark.parametrize("game_name", ["connect4", "othello6"])
@pytest.mark.parametrize("name", list(nets.REGISTRY))
def test_pictures_show_every_layer_apart(name: str, game_name: str) -> None:
    description = described(name, game_name)
    drawing = draw(description, "", "")
    for layer in (one for outer in description.layers for one in (outer.inside or (outer,))):
        assert layer.name in texts(drawing) and " × ".join(map(str, layer.shape)) in texts(drawing)
    fills = {fill for fill, _ in COLOURS.values()}
    boxes = [shape for shape in drawing.shapes if isinstance(shape, Box) and shape.fill in fills]
    for i, a in enumerate(boxes):
        assert a.x > 0 and a.x + a.width < drawing.width and a.y > 0 and a.y + a.height < drawing.height
        for b in boxes[:i]:
            beside = a.x + a.width <= b.x or b.x + b.width <= a.x
            assert beside or a.y + a.height <= b.y or b.y + b.height <= a.y, (a, b)
    for line in (shape for shape in drawing.shapes if isinstance(shape, Line) and shape.has_head):
        x, y = line.points[-1]  # an arrow ends on the edge of something
        assert any(
            x in (box.x, box.x + box.width) or y in (box.y, box.y + box.height)
            for box in drawing.shapes
            if isinstance(box, Box)
        )


@pytest.mark.parametrize(
    ("blocks", "pool_every", "shown"),
    [
        (4, 9, ["residual block", "× 4"]),
        (5, 2, ["residual block", "pooling block", "× 2", "residual block"]),
        (5, 3, ["residual block", "× 2", "pooling block", "residual block", "× 2"]),
        (7, 3, ["residual block", "residual block", "pooling block", "× 2", "residual block"]),
        (1, 2, ["residual block"]),
    ],
)
def test_blocks_that_repeat_are_drawn_once(blocks: int, pool_every: int, shown: list[str]) -> None:
    found = texts(drawn("anysize", "connect4", channels=8, blocks=blocks, pool_every=pool_every))
    assert [text for text in found if text.endswith("block") or text.startswith("× ")] == shown


def test_the_picture_says_what_a_value_is_made_of() -> None:
    assert "from -1 to 1" in texts(drawn("mnk", "connect4"))
    small = {"channels": 8, "blocks": 1}
    assert "from -1 to 1, and plies left" in texts(drawn("anysize", "connect4", **small))
    assert "win, draw, loss, and plies left" in texts(drawn("anysize", "connect4", value="wdl", **small))


def test_long_texts_stay_in_the_picture() -> None:
    settings = "channels=1024, blocks=40, pool_every=2, value=scalar, discount=0.97"
    description = described("mnk", "renju15")
    drawing = draw(description, "anysize for mnk:rows=26,cols=26,k=5,rule=caro-exact", settings)
    assert settings in texts(drawing)
    for text in (shape for shape in drawing.shapes if isinstance(shape, Text) and shape.anchor == "start"):
        assert text.x + 0.56 * text.size * len(text.text) < drawing.width  # a letter is that wide, about


def test_the_svg_is_well_formed_and_escaped() -> None:
    drawing = Drawing(
        "a < b", 100, 50, (Box(5, 5, 20, 10, "#ffffff", "#000000"), Text(9, 9, "3×3 & more", 12))
    )
    root = ElementTree.fromstring(to_svg(drawing))
    name = "{http://www.w3.org/2000/svg}"
    assert root.attrib["viewBox"] == "0 0 100 50" and len(root.findall(f"{name}rect")) == 2
    assert [one.text for one in root.iter() if one.text and one.text.strip()] == ["a < b", "3×3 & more"]


def test_the_png_shows_boxes_where_they_are() -> None:
    drawing = drawn("gomoku", "gomoku8")
    image = Image.open(io.BytesIO(to_png(drawing)))
    assert image.format == "PNG" and image.size == (2 * round(drawing.width), 2 * round(drawing.height))
    for box in (shape for shape in drawing.shapes if isinstance(shape, Box)):
        inside = (round(2 * (box.x + box.width - 12)), round(2 * (box.y + box.height / 2)))
        assert "#{:02x}{:02x}{:02x}".format(*image.getpixel(inside)) == box.fill  # type: ignore[misc]


def test_a_png_without_pillow_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(UserError, match="a PNG needs Pillow: pip install pillow; or use --svg"):
        to_png(Drawing("", 10, 10, ()))
