"""Gradients of a batch in parts: what autograd says of each part, whoever computes them."""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest
import torch

from tengen import games, nets
from tengen.nets.anysize import DISTANCES
from tengen.nets.net import Net
from tengen.training.config import LearnerConfig
from tengen.training.gradients import (
    PLIES_WEIGHT,
    RESULT_WEIGHT,
    Batch,
    Gradients,
    GradientTask,
    GradientWork,
    combined,
    flatten,
    gradients_of,
    losses_of,
    shares_of,
    statistics_of,
)
from tengen.training.learner import Learner, Losses
from tengen.training.record import Samples
from tengen.workers.local import LocalWorkers

GAME = games.find("tictactoe")
SIZES = {"channels": 8, "blocks": 2}


def network(seed: int = 1) -> Net:
    return nets.make("anysize", GAME, SIZES, seed)


def samples(count: int) -> Samples:
    """Openings of a few random moves, with random targets."""
    random = np.random.default_rng(0)
    states = []
    for number in range(count):
        state = GAME.new_state()
        for _ in range(number % 5):
            state = GAME.after(state, int(random.choice(np.flatnonzero(GAME.legal_mask(state)))))
        states.append(state)
    policies = random.dirichlet(np.ones(9), count).astype(np.float32)
    outcomes = random.dirichlet(np.ones(3), count).astype(np.float32)
    values = random.uniform(-1, 1, count).astype(np.float32)
    plies_left, is_proven = np.full(count, 4, np.float32), np.zeros(count, np.bool_)
    return Samples(np.stack(states), policies, values, outcomes, plies_left, is_proven)


def batch(count: int) -> Batch:
    found = samples(count)
    planes = np.random.default_rng(1).random((count, 4, 3, 3)).astype(np.float32)
    return Batch(planes, found.policies, found.values, found.outcomes, found.plies_left)


def weights(net: Net) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return flatten([*net.parameters(), *statistics_of(net)])


def by_autograd(net: Net, part: Batch) -> dict[str, torch.Tensor]:
    """The gradient of each parameter, by PyTorch alone."""
    net.train()
    planes, *targets = (torch.from_numpy(np.ascontiguousarray(column)) for column in part)
    policy, value, plies_left = losses_of(net(planes), *targets)
    parameters = dict(net.named_parameters())
    found = torch.autograd.grad(policy + value + PLIES_WEIGHT * plies_left, list(parameters.values()))
    return dict(zip(parameters, found, strict=True))


def by_name(net: Net, found: Gradients) -> Iterator[tuple[str, torch.Tensor]]:
    begin = 0
    for name, parameter in net.named_parameters():
        part = found.gradients[begin : begin + parameter.numel()]
        yield name, torch.from_numpy(part).view(parameter.shape)
        begin += parameter.numel()


@pytest.mark.parametrize(("rows", "num_parts"), [(24, 1), (24, 2), (25, 2), (25, 3)])
def test_gradients_are_the_mean_over_all_positions_of_each_part(rows: int, num_parts: int) -> None:
    parts = batch(rows).split(num_parts)
    assert sum(len(part.values) for part in parts) == rows
    with GradientWork("tictactoe", "anysize", SIZES).open() as compute:
        tasks = [GradientTask(weights(network()), part) for part in parts]
        found = combined([(len(task.batch.values), compute(task)) for task in tasks])
    expected = {name: torch.zeros_like(tensor) for name, tensor in network().named_parameters()}
    for part in parts:
        for name, gradient in by_autograd(network(), part).items():
            expected[name] += gradient * len(part.values) / rows
    for name, gradient in by_name(network(), found):
        torch.testing.assert_close(gradient, expected[name], rtol=1e-4, atol=1e-6)


def test_running_statistics_are_averaged_over_the_parts() -> None:
    parts = batch(24).split(2)
    found = combined([(12, gradients_of(network(), part)) for part in parts])
    alone = []
    for part in parts:
        net = network()
        by_autograd(net, part)
        alone.append(flatten(statistics_of(net)))
    expected = (alone[0] + alone[1]) / 2
    assert len(expected) > 0 and not np.allclose(alone[0], alone[1])
    np.testing.assert_allclose(found.statistics, expected, rtol=1e-5, atol=1e-7)


def test_one_process_takes_the_same_steps_as_two() -> None:
    ends, seen = [], []
    for processes in (1, 2):
        learner = Learner(GAME, network(), LearnerConfig(batch_size=32, parts=2))
        steps: list[Losses] = []
        with LocalWorkers(processes) as run_tasks:
            compute = partial(run_tasks, GradientWork("tictactoe", "anysize", SIZES))
            mean = learner.learn(samples(100), 5, 0.0, [7], math.inf, compute, steps.append)
        assert mean.policy == pytest.approx(sum(step.policy for step in steps) / 5)
        ends.append(weights(learner.net))
        seen.append(steps)
    assert np.array_equal(ends[0], ends[1]) and seen[0] == seen[1]
    assert not np.array_equal(ends[0], weights(network()))


def test_another_number_of_parts_is_another_run() -> None:
    """Batch normalisation sees a part only: so the number is a setting and not a matter of the machine."""
    ends = []
    for parts in (1, 2):
        learner = Learner(GAME, network(), LearnerConfig(batch_size=32, parts=parts))
        with LocalWorkers(1) as run_tasks:
            compute = partial(run_tasks, GradientWork("tictactoe", "anysize", SIZES))
            learner.learn(samples(100), 3, 0.0, [7], math.inf, compute, lambda _: None)
        ends.append(weights(learner.net))
    assert not np.array_equal(ends[0], ends[1])
    np.testing.assert_allclose(ends[0], ends[1], atol=0.1)  # but not far from it


def test_plies_become_shares_of_the_two_nearest_distances() -> None:
    plies = torch.tensor([0.0, 1.0, 7.0, 20.0, 115.0, 400.0])
    shares = shares_of(plies)
    assert shares.shape == (6, len(DISTANCES)) and torch.allclose(shares.sum(dim=1), torch.ones(6))
    assert bool(((shares > 0).sum(dim=1) <= 2).all())
    means = shares @ torch.tensor(DISTANCES)
    assert torch.allclose(means, plies.clamp(max=DISTANCES[-1]), atol=1e-4)


def test_chances_and_distances_are_learned_by_cross_entropy_and_their_value_by_squared_error() -> None:
    net = nets.make("anysize", GAME, {**SIZES, "value": "wdl", "discount": 0.97}, 1)
    parts = batch(16)
    output = net.train()(torch.from_numpy(parts.planes))
    assert output.outcomes is not None and output.distances is not None
    _, value, plies = losses_of(output, *(torch.from_numpy(part) for part in parts[1:]))
    logs = output.outcomes.log_softmax(dim=1)
    results = -(torch.from_numpy(parts.outcomes) * logs).sum(dim=1).mean()
    errors = (torch.from_numpy(parts.values) - output.value).square().mean()
    assert torch.allclose(value, errors + RESULT_WEIGHT * results)
    logs = output.distances.log_softmax(dim=1)
    assert torch.allclose(plies, -(shares_of(torch.from_numpy(parts.plies_left)) * logs).sum(dim=1).mean())
