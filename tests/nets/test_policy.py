"""The heads for every kind of actions: each action's logit comes from its cells, on boards of any size."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from tengen import games, nets
from tengen.errors import UserError
from tengen.evaluators.evaluator import Evaluator
from tengen.evaluators.network import Network, open_network
from tengen.evaluators.samples import random_planes
from tengen.evaluators.zoo import ZOO, game_of
from tengen.games import symmetry
from tengen.games.coordinates import BoardMoves, FromTo, Kinds, Steps
from tengen.games.game import Game
from tengen.nets.checkpoint import load_net
from tengen.nets.describe import describe
from tengen.nets.drawing import Text
from tengen.nets.evaluator import TorchEvaluator
from tengen.nets.export import to_onnx
from tengen.nets.net import Net
from tengen.nets.picture import draw
from tengen.nets.policy import policy_head
from tests.nets.test_nets import trained_a_little

SMALL = {"channels": 16, "blocks": 1}
KING = tuple((down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right)


class Anything:
    """Names of actions that are nothing special."""

    def name(self, action: int) -> str:
        return str(action)

    def action(self, text: str) -> int:
        return int(text)

    def split(self, text: str) -> list[str]:
        return text.split()


def with_moves(moves: BoardMoves) -> Game:
    """Othello's planes on a board, with other actions: enough to make a network for."""
    game = games.find("othello6")
    group = symmetry.square(moves.rows).for_moves(moves)
    size = 4 + moves.num_cells
    return replace(game, rows=moves.rows, cols=moves.cols, state_size=size, header=(moves.rows,),
                   num_actions=moves.num_actions, moves=moves, symmetries=group)  # fmt: skip


MOVES = [
    Steps(5, 5, steps=KING),
    Steps(5, 5, with_pass=True, steps=KING),
    Kinds(5, 5, kinds=("small", "large")),
    FromTo(5, 5),
    FromTo(5, 5, with_pass=True),
]


def logits(net: Net, planes: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        found: torch.Tensor = net.eval()(planes).logits
    return found


@pytest.mark.parametrize("moves", MOVES, ids=lambda moves: f"{type(moves).__name__} {moves.num_actions}")
def test_a_logit_belongs_to_the_cells_of_its_action(moves: BoardMoves) -> None:
    """What a cell says reaches only the moves that begin there, or end there, and shifts with the board."""
    game, size = with_moves(replace(moves, rows=9, cols=9)), 9
    head, features = policy_head(16, game).eval(), torch.randn(1, 16, size, size)
    named, pooled = game.moves, torch.zeros(1, 32)
    assert isinstance(named, BoardMoves)
    with torch.no_grad():
        before = head(features, pooled)[0]
        shifted = head(features.roll((1, 2), (2, 3)), pooled)[0]
        features[0, :, 4, 5] += 1
        changed = torch.nonzero(before != head(features, pooled)[0]).flatten().tolist()
    is_pair = named.kind == "pairs"
    shift = (size + 2) * (1 + size**2) if is_pair else (size + 2) * (named.num_moves // size**2)
    touches = [named.touched(action) for action in range(named.num_moves)]
    reached = [a for a, cells in enumerate(touches) if 41 in (cells if is_pair else cells[:1])]
    assert set(changed) <= set(reached) and len(changed) > 0.9 * len(reached)
    inside = [a for a, cells in enumerate(touches) if all(c // 9 < 8 and c % 9 < 7 for c in cells)]
    assert torch.allclose(before[inside], shifted[[a + shift for a in inside]], atol=1e-4)


@pytest.mark.parametrize("moves", MOVES, ids=lambda moves: f"{type(moves).__name__} {moves.num_actions}")
def test_weights_fit_another_board_and_the_export_says_the_same(moves: BoardMoves) -> None:
    small, large = with_moves(moves), with_moves(replace(moves, rows=7, cols=7))
    one, other = nets.make("anysize", small, SMALL), nets.make("anysize", large, SMALL, seed=1)
    other.load_state_dict(one.state_dict())
    planes = np.random.default_rng(0).integers(0, 2, (16, *small.planes_shape)).astype(np.float32)
    assert to_onnx(trained_a_little(one, planes), planes)  # raises if they differ


@pytest.mark.parametrize("moves", MOVES, ids=lambda moves: f"{type(moves).__name__} {moves.num_actions}")
def test_a_head_is_described_counted_and_drawn(moves: BoardMoves) -> None:
    game = with_moves(moves)
    net = nets.make("anysize", game, SMALL)
    planes = np.random.default_rng(0).integers(0, 2, (8, *game.planes_shape)).astype(np.float32)
    description = describe(net, planes)
    with FlopCounterMode(display=False) as counter:
        logits(net, torch.from_numpy(np.ascontiguousarray(planes[:1, net.planes])))
    assert description.multiply_adds == counter.get_total_flops() // 2
    assert sum(layer.parameters for layer in description.layers) == net.num_parameters
    shown = [shape.text for shape in draw(description, "", "").shapes if isinstance(shape, Text)]
    assert f"{moves.num_actions} logits" in shown
    assert ("from · to, by pairs" in shown) == (moves.kind == "pairs")


def test_a_pair_is_judged_by_where_it_leads() -> None:
    """On an empty board all cells say the same, and the logits still differ: by how far the move goes."""
    net = nets.make("anysize", with_moves(FromTo(5, 5)), {"channels": 16, "blocks": 1})
    pairs = logits(net, torch.zeros(1, len(net.planes), 5, 5)).reshape(25, 25)
    assert len(set(pairs[12].tolist())) > 20


def test_actions_of_no_known_kind_have_a_head_for_one_size() -> None:
    game = replace(games.find("tictactoe"), moves=Anything(), num_actions=20,
                   symmetries=symmetry.identity(9, 20))  # fmt: skip
    assert game.action_kind == "general"
    net = nets.make("anysize", game, SMALL)
    assert logits(net, torch.zeros(2, 4, 3, 3)).shape == (2, 20)


def test_what_an_action_is_comes_from_its_names_or_its_number() -> None:
    kinds = {name: games.find(name).action_kind for name in ("gomoku9", "othello6", "connect4")}
    assert kinds == {"gomoku9": "cells", "othello6": "cells", "connect4": "columns"}
    connect4 = games.find("connect4")
    assert replace(connect4, moves=Anything()).action_kind == "columns"
    assert replace(games.find("othello6"), moves=Anything()).action_kind == "cells"
    with pytest.raises(UserError, match="num_actions is 625 with FromTo, got 75"):
        replace(with_moves(FromTo(5, 5)), num_actions=75)


def test_anysize_leaves_out_the_plane_named_last_move_wherever_it_is() -> None:
    connect4 = games.find("connect4")
    assert nets.make("anysize", connect4, SMALL).planes == (0, 1, 3)
    moved = replace(connect4, plane_names=("last move", "mine", "second stone of the turn", "theirs"))
    assert nets.make("anysize", moved, SMALL).planes == (1, 2, 3)
    assert nets.make("mnk", moved).planes == (1, 3)
    assert moved.shows_last_move((2, 0)) and not moved.shows_last_move((1, 2, 3))
    with pytest.raises(UserError, match="sees plane 4, the last of connect4 is 3: it was trained before"):
        connect4.shows_last_move((0, 4))


ZOO_NETS = [path.parent.name for path in sorted(ZOO.glob("*/weights.safetensors"))]


@pytest.mark.parametrize("name", ZOO_NETS)
def test_the_bundled_weights_say_what_their_export_says(name: str) -> None:
    """The exports are older than this code: weights that loaded into other places would say something else."""
    game, folder = games.find(game_of(name)), Path(ZOO / name)
    net = load_net(folder)
    network = open_network(folder, "fp32")
    assert net.planes == network.card.planes
    states = np.stack([game.new_state()] * 2)
    states[1] = game.after(states[0], int(np.flatnonzero(game.legal_mask(states[0]))[3]))
    masks = np.stack([game.legal_mask(state) for state in states])
    evaluators: list[Evaluator] = [
        TorchEvaluator(game, net, torch.device("cpu")),
        network.direct(game),
        Network(network.card, to_onnx(net, random_planes(game, 8)), "fp32").direct(game),
    ]
    answers = [one.evaluate(states, masks) for one in evaluators]
    for answer in answers[1:]:
        assert answer.logits == pytest.approx(answers[0].logits, abs=1e-3)
        assert answer.values == pytest.approx(answers[0].values, abs=1e-4)
