"""Muon: momentum in which every direction has the same weight.  Jordan et al. 2024.

The gradient of a layer is a matrix in which a few directions are much larger than all others, and plain
momentum follows only those. Muon replaces the singular values of the momentum by about 1:

    M ← β M + (1 - β) G,      W ← W - η · √(the longer side) · orthogonal(M),

which moves each weight by about η, in the root mean square. `orthogonal` uses five Newton-Schulz iterations
instead of a singular value decomposition. PyTorch has a Muon too, but only for matrices, not for
convolutions, and it computes in bfloat16, which not every processor supports.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # of the polynomial that raises small singular values fastest
ROUNDS = 5


class Muon(torch.optim.Optimizer):
    """An optimiser for the weights of linear and convolutional layers; not for biases and other vectors."""

    def __init__(
        self, weights: Iterable[Tensor], lr: float, weight_decay: float = 0.0, momentum: float = 0.95
    ) -> None:
        super().__init__(weights, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        assert closure is None, "takes the gradients that are there"
        for group in self.param_groups:
            for weights in group["params"]:
                if weights.grad is None:
                    continue
                memory = self.state[weights]
                if not memory:
                    memory["momentum"] = torch.zeros_like(weights)
                mean = memory["momentum"].lerp_(weights.grad, 1 - group["momentum"])
                direction = orthogonal(weights.grad.lerp(mean, group["momentum"]).flatten(1))  # Nesterov's
                weights.mul_(1 - group["lr"] * group["weight_decay"])
                length = max(direction.shape) ** 0.5
                weights.add_(direction.reshape(weights.shape), alpha=-group["lr"] * length)


def orthogonal(matrix: Tensor) -> Tensor:
    """The matrix with the same singular vectors, all singular values 0.7 to 1.2 (or almost 0);  [M, N]"""
    a, b, c = COEFFICIENTS
    is_tall = matrix.shape[0] > matrix.shape[1]
    x: Tensor = matrix.T if is_tall else matrix
    x = x / x.norm().clamp(min=1e-7)
    for _ in range(ROUNDS):
        square = x @ x.T
        x = a * x + (b * square + c * square @ square) @ x
    return x.T if is_tall else x
