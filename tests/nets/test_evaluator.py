"""Networks by PyTorch: they say what ONNX says, on the CPU; devices and weights are found or refused in words."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tengen import games, nets
from tengen.errors import UserError
from tengen.evaluators.card import Card
from tengen.evaluators.evaluator import Evaluation
from tengen.evaluators.network import Network
from tengen.evaluators.samples import random_planes
from tengen.games.game import Game, Mask, State
from tengen.nets.checkpoint import load_net
from tengen.nets.evaluator import TorchEvaluator, find_device
from tengen.nets.export import to_onnx
from tengen.nets.net import Net, Output
from tengen.training.config import LearnerConfig
from tengen.training.learner import Learner
from tests.nets.test_nets import trained_a_little

CPU = find_device("cpu")
SMALL: dict[str, Any] = {"channels": 16, "blocks": 2}
WDL = SMALL | {"value": "wdl", "discount": 0.98}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Where other tests run too, threads only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def some_positions(game: Game, count: int, seed: int = 2) -> tuple[State, Mask]:
    """Of random games, with both players to move."""
    random = np.random.default_rng(seed)
    states: list[State] = []
    while len(states) < count:
        state = game.new_state()
        while not game.outcome(state)[0]:
            states.append(state)
            state = game.after(state, int(random.choice(np.flatnonzero(game.legal_mask(state)))))
    chosen = np.stack(states[:count])
    return chosen, np.stack([game.legal_mask(state) for state in chosen])


def assert_close(a: Evaluation, b: Evaluation) -> None:
    np.testing.assert_allclose(a.logits, b.logits, rtol=0, atol=1e-4)
    np.testing.assert_allclose(a.values, b.values, rtol=0, atol=1e-4)
    assert (a.plies_left is None) == (b.plies_left is None)
    if a.plies_left is not None and b.plies_left is not None:
        np.testing.assert_allclose(a.plies_left, b.plies_left, rtol=0, atol=1e-4)


class Counting(Net):
    """Says what can be counted by hand: a stone is a logit of 1 or 2; who has more; how many cells are left."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.planes = (3, 1, 0)  # does the first player move, the opponent's stones, mine

    def forward(self, planes: Tensor) -> Output:
        first, theirs, mine = planes.unbind(dim=1)
        count = mine.sum(dim=(1, 2)) + theirs.sum(dim=(1, 2))
        value = (2 * first[:, 0, 0] - 1) / 2 + (mine - theirs).sum(dim=(1, 2)) / 10
        return Output((mine + 2 * theirs).flatten(1), value, self.rows * self.cols - count)


@pytest.mark.parametrize(
    ("game_name", "name", "settings"),
    [("connect4", "anysize", SMALL), ("othello6", "anysize", WDL), ("tictactoe", "gobang", {})],
)
def test_torch_says_what_onnx_says(game_name: str, name: str, settings: dict[str, Any]) -> None:
    game = games.find(game_name)
    planes = random_planes(game, 64)
    net = trained_a_little(nets.make(name, game, settings), planes)
    by_torch = TorchEvaluator(game, net, CPU)
    card = Card(game_name, {}, net.planes, 0, 1.0, "fp32")
    by_onnx = Network(card, to_onnx(net, planes)).direct(game)
    states, legal = some_positions(game, 300)
    assert set(states[:, -1]) == {1, 2}
    for rows in (slice(7, 8), slice(300), slice(41, 42), slice(100, 160)):  # rooms are made, and used again
        found = by_torch.evaluate(states[rows], legal[rows])
        assert_close(found, by_onnx.evaluate(states[rows], legal[rows]))
        assert len(found.values) == len(states[rows]) and np.ptp(found.logits) > 0.01
        assert (found.plies_left is not None) == (name == "anysize")
        for array in (found.logits, found.values):  # other arrays would have every kernel compiled again
            assert array.dtype == np.float32 and array.flags.c_contiguous and array.flags.writeable


def test_answers_are_those_of_the_player_to_move_and_of_the_right_actions() -> None:
    game = games.find("tictactoe")
    states, legal = some_positions(game, 40)
    found = TorchEvaluator(game, Counting(game), CPU).evaluate(states, legal)
    assert found.plies_left is not None
    for b, state in enumerate(states):
        cells, me = state[game.cells], state[-1]
        mine, theirs = int((cells == me).sum()), int((cells == 3 - me).sum())
        assert ((found.logits[b] == 0) == legal[b]).all()
        assert (found.logits[b] == 1).sum() == mine and (found.logits[b] == 2).sum() == theirs
        assert found.values[b] == pytest.approx((0.5 if me == 1 else -0.5) + (mine - theirs) / 10)
        assert found.plies_left[b] == 9 - mine - theirs


def test_the_network_may_go_on_learning() -> None:
    game = games.find("tictactoe")
    net = nets.make("mnk", game).train()
    states, legal = some_positions(game, 20)
    evaluator = TorchEvaluator(game, net, CPU)
    before = evaluator.evaluate(states, legal)
    assert net.training
    statistics = {name: buffer.clone() for name, buffer in net.named_buffers()}
    evaluator.evaluate(states, legal)  # with the means of batch normalisation, which do not move
    assert all(torch.equal(buffer, statistics[name]) for name, buffer in net.named_buffers())
    for parameter in net.parameters():
        parameter.data += 1
    after = evaluator.evaluate(states, legal)
    assert (before.logits == after.logits).all() and (before.values == after.values).all()


def test_half_precision_is_for_cuda() -> None:
    game = games.find("tictactoe")
    with pytest.raises(UserError, match=r"^bf16 is for cuda, and the device is cpu: leave it out$"):
        TorchEvaluator(game, Counting(game), CPU, autocast="bf16")


def pretend(monkeypatch: pytest.MonkeyPatch, num_gpus: int, has_mps: bool) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: num_gpus > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: num_gpus)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: has_mps)


@pytest.mark.parametrize(
    ("num_gpus", "has_mps", "name", "found"),
    [
        (0, False, "auto", "cpu"), (0, True, "auto", "mps"), (1, False, "auto", "cuda"), (2, True, "cpu", "cpu"),
        (1, False, "cuda", "cuda"), (2, False, "cuda:1", "cuda:1"), (2, False, "cuda:01", "cuda:1"), (1, False, "cuda:0", "cuda:0"), (0, True, "mps", "mps"),
    ],
)  # fmt: skip
def test_devices_are_found(
    monkeypatch: pytest.MonkeyPatch, num_gpus: int, has_mps: bool, name: str, found: str
) -> None:
    pretend(monkeypatch, num_gpus, has_mps)
    assert find_device(name) == torch.device(found)


@pytest.mark.parametrize(
    ("num_gpus", "name", "message"),
    [
        (0, "cuda", "device cuda was given, but PyTorch finds no GPU: use cpu"),
        (0, "cuda:1", "device cuda:1 was given, but PyTorch finds no GPU: use cpu"),
        (2, "cuda:2", "device cuda:2 was given, but the last GPU that PyTorch finds is cuda:1"),
        (2, "mps", "device mps was given, but PyTorch finds no Apple GPU: use cuda"),
        (0, "mps", "device mps was given, but PyTorch finds no Apple GPU: use cpu"),
    ]
    + [
        (1, name, f"unknown device '{name}': expected auto, cpu, cuda, cuda:1 or mps")
        for name in ("", "gpu", "CUDA", "cuda:", "cuda:x", "cuda:-1", "cuda:1:2", "cpu:0", "mps:0", "auto:1", "cuda:²")
    ],
)  # fmt: skip
def test_devices_that_are_not_there_are_refused(
    monkeypatch: pytest.MonkeyPatch, num_gpus: int, name: str, message: str
) -> None:
    pretend(monkeypatch, num_gpus, has_mps=False)
    with pytest.raises(UserError) as error:
        find_device(name)
    assert str(error.value) == message


def make_checkpoint(folder: Path) -> Learner:
    """As a run does it, of a learner whose average is not what it learns with."""
    game = games.find("othello6")
    learner = Learner(game, nets.make("anysize", game, WDL, seed=3), LearnerConfig())
    trained_a_little(learner.player, random_planes(game, 64))
    (folder / "weights.safetensors").write_bytes(learner.to_bytes())
    card = Card("othello6", {"name": "anysize"} | WDL, learner.player.planes, 3, 0.99, "fp32")
    (folder / "card.json").write_text(card.to_text())
    return learner


def test_the_network_that_plays_is_loaded(tmp_path: Path) -> None:
    learner = make_checkpoint(tmp_path)
    net = load_net(tmp_path)
    assert not net.training
    expected, other, found = (each.state_dict() for each in (learner.player, learner.net, net))
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)
    assert not all(torch.equal(other[name], found[name]) for name in other)


def test_checkpoints_that_are_not_whole_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no network in"):
        load_net(tmp_path)
    make_checkpoint(tmp_path)
    card = json.loads((tmp_path / "card.json").read_text())
    for network, message in [
        ({"name": "anysize", "channels": 8, "blocks": 2}, "weights.safetensors does not fit the network that its card"),
        ({"name": "gobang"}, "weights.safetensors does not fit the network that its card describes: {'name': 'gobang'}$"),
        ({"channels": 8}, "unknown network ''"),
        ({"name": "anysize", "width": 8}, "network 'anysize' has no setting 'width'"),
    ]:  # fmt: skip
        (tmp_path / "card.json").write_text(json.dumps(card | {"network": network}))
        with pytest.raises(UserError, match=message):
            load_net(tmp_path)
    (tmp_path / "card.json").write_text(json.dumps(card))
    (tmp_path / "weights.safetensors").write_bytes(b"rubbish")
    with pytest.raises(UserError, match="is damaged"):
        load_net(tmp_path)
    (tmp_path / "weights.safetensors").unlink()
    with pytest.raises(
        UserError, match=r"no weights in .*: a run keeps only those of its newest networks and its champion$"
    ):
        load_net(tmp_path)
