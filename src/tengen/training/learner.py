"""The learner: it steps down the gradients of its losses (gradients.py); L2 by weight decay."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.optim.swa_utils import AveragedModel

from tengen.games.batch import lift
from tengen.games.game import LAST_ACTION, Game
from tengen.nets import growing
from tengen.nets.checkpoint import (
    load_tensors,
    optimizer_tensors,
    restore_optimizer,
    to_bytes,
    with_prefix,
    without_prefix,
)
from tengen.nets.evaluator import find_device
from tengen.nets.net import Net
from tengen.training.config import LearnerConfig
from tengen.training.gradients import (
    Batch,
    ComputeGradients,
    Gradients,
    GradientTask,
    combined,
    flatten,
    gradients_of,
    layout_on,
    statistics_of,
    unflatten,
)
from tengen.training.muon import Muon
from tengen.training.record import Samples

FEWEST_ROWS = 5  # of a matrix that Muon updates: the last layer of a head has fewer
OPTIMIZERS = ("optimizer", "optimizer2")  # names of their states in a file; some settings need only one
WARM_UP = 10  # in step s the decay of the average is at most (1 + s) / (10 + s)
RISE = 300  # steps in which the learning rate of a network that was trained before rises from 0


@dataclass(frozen=True)
class Losses:
    """Mean losses over one or more steps."""

    policy: float
    value: float
    plies_left: float
    steps: int = 1


class Learner:
    """A network that learns, and the average of its weights, which plays."""

    def __init__(self, game: Game, net: Net, settings: LearnerConfig, is_trained: bool = False) -> None:
        """is_trained: the run begins with a trained network (`begin_with`), which must not be forgotten."""
        self.game, self.settings, self._is_trained = game, settings, is_trained
        self._device = find_device(settings.device)
        self.net: Net = net.to(self._device, memory_format=layout_on(self._device))  # type: ignore[call-overload]
        self._optimizers = optimizers_for(net, settings)
        self._average = AveragedModel(
            net,
            multi_avg_fn=average_with(settings.average, 0 if is_trained else WARM_UP),
            use_buffers=True,
        )
        self._rules = lift(game)

    @property
    def player(self) -> Net:
        """The network with the averaged weights, which plays."""
        module = self._average.module
        assert isinstance(module, Net)
        return module

    def learn(
        self,
        samples: Samples,
        steps: int,
        progress: float,
        seed: list[int],
        deadline: float,
        compute: ComputeGradients,
        after_step: Callable[[Losses], None],
    ) -> Losses:
        """The mean losses after learning from random samples.

        progress   the share of the run that is over; it sets the learning rate
        deadline   on the clock of time.perf_counter(); learning stops there even if steps are left
        compute    computes the gradients of the parts of a batch, in any process
        """
        torch.set_num_threads(1)  # more threads would wait for each other in busy loops
        rate = self.settings.learning_rate * self._share(progress)
        sums, done = np.zeros(3), 0
        for batch in self._batches(samples, steps, np.random.default_rng(seed)):
            self._set_rate(rate)
            found = self._gradients(batch.split(self.settings.parts), compute)
            self._step(found)
            sums, done = sums + found.losses, done + 1
            after_step(_losses(found.losses, 1))
            if time.perf_counter() >= deadline:
                break
        return _losses(sums / max(done, 1), done)

    def _set_rate(self, rate: float) -> None:
        """Sets the learning rate of the next step; it is lower in the first steps of a trained network."""
        if self._is_trained:
            rate *= min(1.0, (int(self._average.n_averaged) + 1) / RISE)
        for group in (group for one in self._optimizers for group in one.param_groups):
            group["lr"] = rate

    def _gradients(self, parts: list[Batch], compute: ComputeGradients) -> Gradients:
        """The gradients of the whole batch."""
        if self._device.type != "cpu":  # a GPU needs no processes
            found = [gradients_of(self.net, part, self.settings.precision) for part in parts]
        else:
            weights = flatten([*self.net.parameters(), *statistics_of(self.net)])
            results = dict(compute(GradientTask(weights, part) for part in parts))
            found = [results[number] for number in range(len(parts))]
        return combined([(len(part.values), one) for part, one in zip(parts, found, strict=True)])

    def _step(self, found: Gradients) -> None:
        parameters = list(self.net.parameters())
        for parameter in parameters:
            parameter.grad = torch.empty_like(parameter)
        unflatten(found.gradients, [parameter.grad for parameter in parameters if parameter.grad is not None])
        unflatten(found.statistics, statistics_of(self.net))
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.settings.clip)
        for optimizer in self._optimizers:
            optimizer.step()
        self._average.update_parameters(self.net)

    def begin_with(self, other: Net) -> None:
        """Begins with the weights of another network, which may be smaller or for another board size."""
        growing.begin(self.net, other)
        self.player.load_state_dict(self.net.state_dict())

    def to_bytes(self) -> bytes:
        """Everything needed to continue learning, as the bytes of a safetensors file."""
        tensors = with_prefix("net", self.net.state_dict())
        tensors |= with_prefix("average", self._average.state_dict())
        for name, optimizer in zip(OPTIMIZERS, self._optimizers, strict=False):
            tensors |= with_prefix(name, optimizer_tensors(optimizer))
        return to_bytes(tensors)

    def load(self, path: Path) -> None:
        tensors = load_tensors(path)
        self.net.load_state_dict(without_prefix("net", tensors))
        self._average.load_state_dict(without_prefix("average", tensors))
        for name, optimizer in zip(OPTIMIZERS, self._optimizers, strict=False):
            restore_optimizer(optimizer, without_prefix(name, tensors))

    def _share(self, progress: float) -> float:
        """The factor of the learning rate: 1, then falling linearly to 1/20 at the end of the run."""
        left = (1 - progress) / max(self.settings.final_share, 1e-9)
        return float(np.clip(left, 0.05, 1.0))

    def _batches(self, samples: Samples, steps: int, random: np.random.Generator) -> Iterator[Batch]:
        """Batches of random positions, each transformed by a random symmetry."""
        symmetries, cells = self.game.symmetries, self.game.cells
        planes = np.zeros((self.settings.batch_size, *self.game.planes_shape), np.float32)
        for _ in range(steps):
            rows = random.integers(len(samples), size=len(planes))
            turns = random.integers(len(symmetries), size=len(planes))
            states = samples.states[rows]
            np.put_along_axis(
                turned := np.empty_like(states[:, cells]),
                symmetries.cells[turns].astype(np.int64),
                states[:, cells],
                axis=1,
            )
            states[:, cells] = turned
            last = states[:, LAST_ACTION]
            states[:, LAST_ACTION] = np.where(last >= 0, symmetries.actions[turns, np.maximum(last, 0)], last)
            policies = np.empty((len(rows), self.game.num_actions), np.float32)
            np.put_along_axis(
                policies, symmetries.actions[turns].astype(np.int64), samples.policies[rows], axis=1
            )
            self._rules.planes(states, planes)
            yield Batch(
                planes[:, self.net.planes],
                policies,
                samples.values[rows],
                samples.outcomes[rows],
                samples.plies_left[rows],
            )


def optimizers_for(net: Net, settings: LearnerConfig) -> list[torch.optim.Optimizer]:
    """The optimisers. With Muon: for weight matrices with enough rows, and AdamW for the rest. Biases have no
    weight decay."""
    decay = settings.weight_decay
    matrices = [weights for weights in net.parameters() if weights.ndim > 1]
    others = [weights for weights in net.parameters() if weights.ndim <= 1]
    groups = [{"params": matrices, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]
    if settings.optimizer == "sgd":
        return [torch.optim.SGD(groups, lr=settings.learning_rate, momentum=0.9, nesterov=True)]
    if settings.optimizer == "adamw":
        return [torch.optim.AdamW(groups, lr=settings.learning_rate)]
    hidden = [weights for weights in matrices if min(weights.shape[0], weights[0].numel()) >= FEWEST_ROWS]
    groups[0]["params"] = [weights for weights in matrices if all(weights is not one for one in hidden)]
    return [
        Muon(hidden, settings.learning_rate, decay),
        torch.optim.AdamW([group for group in groups if group["params"]], lr=settings.learning_rate),
    ]


def _losses(means: npt.NDArray[np.floating], steps: int) -> Losses:
    policy, value, plies_left = (float(mean) for mean in means)
    return Losses(policy, value, plies_left, steps)


def average_with(
    decay: float, warm_up: int = WARM_UP
) -> Callable[[Sequence[Tensor], Sequence[Tensor], Tensor | int], None]:
    """A function that moves the averages towards the weights after each step; faster at first, so that
    random first weights are soon forgotten. warm_up = 0: not faster at first."""

    def update(averages: Sequence[Tensor], weights: Sequence[Tensor], steps: Tensor | int) -> None:
        share = 1 - (min(decay, (1 + int(steps)) / (warm_up + int(steps))) if warm_up else decay)
        for average, new in zip(averages, weights, strict=True):
            if average.is_floating_point():
                average.lerp_(new, share)
            else:
                average.copy_(new)  # batch normalisation counts its batches

    return update
