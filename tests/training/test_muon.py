"""Muon: every direction of a gradient counts the same, and what it remembers survives being saved."""

from typing import Literal

import numpy as np
import pytest
import torch
from torch import nn

from tengen import games, nets
from tengen.nets.checkpoint import optimizer_tensors, restore_optimizer
from tengen.training.config import LearnerConfig
from tengen.training.learner import optimizers_for
from tengen.training.muon import Muon, orthogonal


def matrix(rows: int, cols: int, smallest: float, seed: int) -> torch.Tensor:
    """Of full rank, with singular values from 1 down to the smallest."""
    random = np.random.default_rng(seed)
    u, _, v = np.linalg.svd(random.normal(size=(rows, cols)), full_matrices=False)
    return torch.tensor(u * np.geomspace(1, smallest, min(rows, cols)) @ v, dtype=torch.float32)


@pytest.mark.parametrize("shape", [(32, 288), (32, 32), (64, 16), (5, 7)])
def test_orthogonal_makes_singular_values_one_and_keeps_their_vectors(shape: tuple[int, int]) -> None:
    before = matrix(*shape, smallest=0.05, seed=sum(shape))
    after = orthogonal(before)
    values = torch.linalg.svdvals(after)
    assert values.min() > 0.6 and values.max() < 1.3
    u, _, v = torch.linalg.svd(before, full_matrices=False)
    inner = u.T @ after @ v.T  # diagonal, if the vectors are the same
    assert (inner - torch.diag(inner.diagonal())).abs().max() < 1e-3 and inner.diagonal().min() > 0.6


def test_a_step_moves_weights_by_about_the_learning_rate() -> None:
    weights = nn.Parameter(torch.zeros(32, 32, 3, 3))
    weights.grad = 1000 * matrix(32, 288, 0.3, 1).view(32, 32, 3, 3)  # its size does not count
    Muon([weights], lr=0.01).step()
    assert 0.006 < weights.detach().square().mean().sqrt() < 0.013


def test_small_directions_are_learned_as_fast_as_large_ones() -> None:
    """Inputs of very different sizes: gradient descent on them crawls along the small ones."""
    torch.manual_seed(0)
    inputs = torch.randn(256, 16) * torch.logspace(0, -1.5, 16)
    wanted = inputs @ torch.randn(16, 16)

    def loss_after(steps: int, make: type[Muon | torch.optim.SGD], rate: float) -> float:
        layer = nn.Linear(16, 16, bias=False)
        nn.init.zeros_(layer.weight)
        optimizer = make(layer.parameters(), lr=rate)
        for _ in range(steps):
            loss = (layer(inputs) - wanted).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return float(loss.detach())

    best_descent = min(loss_after(100, torch.optim.SGD, rate) for rate in (0.1, 1.0, 5.0))
    assert loss_after(100, Muon, 0.05) < best_descent / 2


def test_every_weight_has_one_optimiser() -> None:
    net = nets.make("anysize", games.find("connect4"), {"channels": 8, "blocks": 2})
    kinds: list[Literal["muon", "adamw", "sgd"]] = ["muon", "adamw", "sgd"]
    for kind in kinds:
        optimizers = optimizers_for(net, LearnerConfig(optimizer=kind))
        taken = [id(p) for one in optimizers for group in one.param_groups for p in group["params"]]
        assert sorted(taken) == sorted(id(p) for p in net.parameters())


def test_what_it_remembers_survives_saving() -> None:
    def layer() -> nn.Parameter:
        return nn.Parameter(matrix(8, 72, 0.5, 3).view(8, 8, 3, 3))

    one, other = layer(), layer()
    first, second = Muon([one], 0.01), Muon([other], 0.01)
    for step in range(4):
        for weights in (one, other):
            weights.grad = matrix(8, 72, 0.1, 10 + step).view(8, 8, 3, 3)
        first.step()
        second.step()
        fresh = Muon([other], 0.01)
        restore_optimizer(fresh, optimizer_tensors(second))
        second = fresh
    assert torch.equal(one, other)
