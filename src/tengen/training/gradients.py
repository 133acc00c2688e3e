"""The gradients of a batch, computed in parts: each part by one process with one thread.

Threads that share one computation wait for each other in busy loops: if another program uses a core, a step
can take 25 times as long. Processes that wait on a pipe use no processor time, so next to two busy programs a
step takes about twice as long, which is its fair share (`tengen bench learner`).

                ┌─ weights, part 0 ─► process ─► gradients, statistics ─┐
    learner ────┤                                                       ├──► sums, in the order of the parts
                └─ weights, part 1 ─► process ─► gradients, statistics ─┘

Batch normalisation uses the statistics of its own part; the running statistics are averaged. So the result
depends on the number of parts, which is a setting of the run, and not on the number of processes: one process
takes exactly the same steps, bit for bit, as two.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from tengen import games, nets
from tengen.nets.anysize import DISTANCES
from tengen.nets.net import PLIES_SCALE, Net, Output

PLIES_WEIGHT = 0.05  # of the plies-left loss in the total
RESULT_WEIGHT = 0.25  # of the cross-entropy of the final result, beside the squared error of the value

Floats = npt.NDArray[np.float32]


class Batch(NamedTuple):
    """B positions to learn from."""

    planes: Floats  # [B, C, H, W], only the planes that the network uses
    policies: Floats  # [B, A]
    values: Floats  # [B]
    outcomes: Floats  # [B, 3]
    plies_left: Floats  # [B]

    def split(self, num_parts: int) -> list["Batch"]:
        """The batch in equal parts, in order; the first ones have one more if it does not divide evenly."""
        columns = zip(*(np.array_split(column, num_parts) for column in self), strict=True)
        return [Batch(*columns_of_part) for columns_of_part in columns]


@dataclass(frozen=True)
class GradientTask:
    """One part of a batch, and the current weights of the network."""

    weights: Floats  # [P + Q], see flatten
    batch: Batch


@dataclass(frozen=True)
class Gradients:
    """The result for one part of a batch."""

    gradients: Floats  # [P], of all parameters, one after another
    statistics: Floats  # [Q], running statistics of batch normalisation after this part
    losses: Floats  # [3]: policy, value, plies left; means over the part


ComputeGradients = Callable[[Iterable[GradientTask]], Iterable[tuple[int, Gradients]]]


@dataclass(frozen=True)
class GradientWork:
    """Computes the gradients of parts, with a copy of the network that takes its weights from each task."""

    game: str
    network: str
    settings: dict[str, Any]  # of the network
    precision: str = "fp32"  # or bf16
    num_threads: int = 1

    @contextmanager
    def open(self) -> Iterator[Callable[[GradientTask], Gradients]]:
        copy = nets.make(self.network, games.find(self.game), self.settings)
        copy.to(memory_format=layout_on(torch.device("cpu")))  # type: ignore[call-overload]

        def compute(task: GradientTask) -> Gradients:
            torch.set_num_threads(self.num_threads)
            unflatten(task.weights, [*copy.parameters(), *statistics_of(copy)])
            return gradients_of(copy, task.batch, self.precision)

        yield compute


def gradients_of(net: Net, batch: Batch, precision: str = "fp32") -> Gradients:
    """The gradients of the mean loss over the batch; updates the network's running statistics.

    In bf16, the network computes with less precise numbers where PyTorch considers it safe; the losses, the
    weights and their gradients stay float32."""
    net.train()
    device = next(net.parameters()).device
    planes, *targets = (torch.from_numpy(np.ascontiguousarray(column)).to(device) for column in batch)
    with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16"):
        output = net(planes.to(memory_format=layout_on(device)))
    losses = losses_of(output.in_float32(), *targets)
    net.zero_grad(set_to_none=True)
    (losses[0] + losses[1] + PLIES_WEIGHT * losses[2]).backward()  # type: ignore[no-untyped-call]
    return Gradients(
        flatten([_gradient(parameter) for parameter in net.parameters()]),
        flatten(statistics_of(net)),
        np.array([float(loss.detach()) for loss in losses], np.float32),
    )


def losses_of(
    output: Output, policies: Tensor, values: Tensor, outcomes: Tensor, plies_left: Tensor
) -> list[Tensor]:
    """The losses of policy, value and plies left, means over the batch.

    The chances of win, draw and loss are learned from the final result, which mistakes of both players have
    made twice as inexact as the value targets (targets.py): so their combined value learns from these too.
    """
    policy = functional.cross_entropy(output.logits, policies)
    value = functional.mse_loss(output.value, values)
    if output.outcomes is not None and output.distances is not None:
        value = value + RESULT_WEIGHT * functional.cross_entropy(output.outcomes, outcomes)
        return [policy, value, functional.cross_entropy(output.distances, shares_of(plies_left))]
    if output.plies_left is None:
        return [policy, value, torch.zeros(())]
    scaled = output.plies_left / PLIES_SCALE, plies_left / PLIES_SCALE
    return [policy, value, functional.smooth_l1_loss(*scaled)]


def shares_of(plies_left: Tensor) -> Tensor:
    """Plies as shares of the two nearest numbers of DISTANCES, whose mean they are;  [B] → [B, K]"""
    distances = torch.tensor(DISTANCES, device=plies_left.device)
    plies = plies_left.clamp(distances[0], distances[-1])
    above = torch.searchsorted(distances, plies).clamp(min=1)
    below = above - 1
    share = (plies - distances[below]) / (distances[above] - distances[below])
    shares = torch.zeros(len(plies), len(distances), device=plies.device)
    return shares.scatter(1, above[:, None], share[:, None]).scatter(1, below[:, None], 1 - share[:, None])


def combined(parts: Sequence[tuple[int, Gradients]]) -> Gradients:
    """The weighted means over the parts of a batch, each with its number of positions; summed in order."""
    total = sum(size for size, _ in parts)

    def mean(columns: Iterator[Floats]) -> Floats:
        shares = (np.float32(size / total) for size, _ in parts)
        weighted = [share * column for share, column in zip(shares, columns, strict=True)]
        result = weighted[0]
        for column in weighted[1:]:
            result += column
        return result

    return Gradients(
        mean(part.gradients for _, part in parts),
        mean(part.statistics for _, part in parts),
        mean(part.losses for _, part in parts),
    )


def layout_on(device: torch.device) -> torch.memory_format:
    """Channels last: 1.2 × as fast on a CPU; wrong answers on Apple's GPUs (PyTorch's issue 174345)."""
    return torch.contiguous_format if device.type == "mps" else torch.channels_last


def statistics_of(net: Net) -> list[Tensor]:
    """The running means and variances of batch normalisation."""
    return [buffer for name, buffer in net.named_buffers() if name.endswith(("running_mean", "running_var"))]


def flatten(tensors: Sequence[Tensor]) -> Floats:
    """All tensors in one vector, one after another."""
    if not tensors:
        return np.empty(0, np.float32)
    flat: Floats = torch.cat([tensor.detach().reshape(-1) for tensor in tensors]).cpu().numpy()
    return flat


@torch.no_grad()
def unflatten(flat: Floats, tensors: Sequence[Tensor]) -> None:
    """Copies a vector made by `flatten` back into the tensors."""
    values, begin = torch.from_numpy(flat), 0
    for tensor in tensors:
        tensor.copy_(values[begin : begin + tensor.numel()].view(tensor.shape))
        begin += tensor.numel()


def _gradient(parameter: Tensor) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
