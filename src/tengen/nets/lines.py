"""A network of lines, for games in which stones in line decide, such as five in a row.

What a cell sees in one direction is a line: its own stone and those within five cells on both sides. There
are only 397,488 different lines (three states of each cell, shorter lines near an edge). So whatever the
network computes of a line alone, however deep, is a table of features when it plays (evaluators/lookup.py):

    a line       convolution over its 11 cells, then three layers     ──►  C features, by a table
    a cell       the sum of its four lines, and of its other planes
    around it    a 3×3 convolution of each feature alone, added
    the board    means and maxima of all cells   ──►  value, plies left, a weight for each feature
    a move       the features of its cell, times these weights        ──►  its logit

If moves are not cells, it has the policy head of anysize instead, and no table. An evaluation of 15×15 takes
some 20 µs on one core, a tenth of what a small residual network takes in int8.

The idea is that of Mixnet, the network of the gomoku engine Rapfi (Jin, Duan, Hang 2025, arXiv 2503.13178): a
table of lines filled by a network, and weights of the policy made from the whole board. Tables of lines that
are learned entry by entry are older: n-tuple networks (Lucas 2008).
"""

from typing import TypeGuard

import numpy as np
import torch
from torch import Tensor, nn

from tengen.evaluators.evaluator import Floats
from tengen.evaluators.lookup import DIRECTIONS, REACH, Layers
from tengen.games.game import LAST_MOVE, MINE, THEIRS, Game
from tengen.nets.net import PLIES_SCALE, Net, Output, pool
from tengen.nets.policy import policy_head

HIDDEN = 32  # features of a line before the last layer
SUMMARY = 64  # features of the whole board


class Lines(Net):
    """The network, with any number of features (channels)."""

    needs = (MINE, THEIRS)

    def __init__(self, game: Game, channels: int = 64) -> None:
        super().__init__(game)
        self.channels = channels
        stones = game.planes_named(*self.needs)
        others = [i for i, name in enumerate(game.plane_names) if name not in (*self.needs, LAST_MOVE)]
        self.planes = (*stones, *others)
        self.lines = LineFeatures(channels)
        self.others = nn.Conv2d(len(self.planes) - 2, channels, 1, bias=False) if others else None
        self.cell = nn.BatchNorm2d(channels)
        self.around = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, groups=channels, bias=False), nn.BatchNorm2d(channels)
        )
        self.summary = nn.Sequential(
            nn.Linear(2 * channels, SUMMARY), nn.ReLU(), nn.Linear(SUMMARY, SUMMARY), nn.ReLU()
        )
        self.value = nn.Linear(SUMMARY, 2)  # the value and the plies left
        self.moves_are_cells = game.action_kind == "cells" and game.num_actions == game.rows * game.cols
        head = policy_head(channels, game)
        self.policy = nn.Linear(SUMMARY, channels) if self.moves_are_cells else head
        self.fits_any_size = self.moves_are_cells or head.fits_any_size

    def forward(self, planes: Tensor) -> Output:
        x = self.lines(planes[:, :2])
        if self.others is not None:
            x = x + self.others(planes[:, 2:])
        x = nn.functional.relu(self.cell(x))
        x = nn.functional.relu(x + self.around(x))
        pooled = pool(x)
        summary = self.summary(pooled)
        heads = self.value(summary)
        if self.moves_are_cells:
            logits = (x * self.policy(summary)[:, :, None, None]).sum(dim=1).flatten(1)
        else:
            logits = self.policy(x, pooled)
        return Output(logits, torch.tanh(heads[:, 0]), nn.functional.softplus(heads[:, 1]) * PLIES_SCALE)

    def layers(self) -> Layers:
        """The layers from which evaluators/lookup.py makes its table, with batch normalisation folded in."""
        of = {name: tensor.detach().cpu().float().numpy() for name, tensor in self.state_dict().items()}

        def folded(norm: str) -> tuple[Floats, Floats]:
            """Batch normalisation as scale · x + shift."""
            mean, variance = of[f"{norm}.running_mean"], of[f"{norm}.running_var"]
            scale = of[f"{norm}.weight"] / np.sqrt(variance + nn.BatchNorm2d(1).eps)
            return scale, of[f"{norm}.bias"] - scale * mean

        none = np.zeros((self.channels, 0, 1, 1), np.float32)
        first_scale, first_shift = folded("lines.first.1")
        cell_scale, cell_shift = folded("cell")
        around_scale, around_shift = folded("around.1")
        mine, theirs, board = (of["lines.first.0.weights"] * first_scale[:, None, None]).transpose(1, 2, 0)
        return Layers(
            first=np.stack((board, board + mine, board + theirs), axis=1),
            first_bias=first_shift,
            inner=np.stack((of["lines.inner.0.weight"], of["lines.inner.2.weight"]))[:, :, :, 0, 0],
            inner_bias=np.stack((of["lines.inner.0.bias"], of["lines.inner.2.bias"])),
            last=of["lines.last.weight"][:, :, 0, 0].T * cell_scale,
            others=of.get("others.weight", none)[:, :, 0, 0].T * cell_scale,
            cell_bias=cell_shift + len(DIRECTIONS) * of["lines.last.bias"] * cell_scale,
            around=of["around.0.weight"].reshape(self.channels, -1).T * around_scale,
            around_bias=around_shift,
            summary=of["summary.0.weight"].T,
            summary_bias=of["summary.0.bias"],
            deeper=of["summary.2.weight"].T,
            deeper_bias=of["summary.2.bias"],
            value=of["value.weight"].T,
            value_bias=of["value.bias"],
            policy=of["policy.weight"].T,
            policy_bias=of["policy.bias"],
        )


def can_look_up(net: Net) -> TypeGuard[Lines]:
    """Can the network play by a table?"""
    return isinstance(net, Lines) and net.moves_are_cells


class LineFeatures(nn.Module):
    """The features of each cell's lines, summed over the four directions."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Sequential(LineConv(HIDDEN), nn.BatchNorm2d(HIDDEN), nn.ReLU())
        self.inner = nn.Sequential(nn.Conv2d(HIDDEN, HIDDEN, 1), nn.ReLU(), nn.Conv2d(HIDDEN, HIDDEN, 1))
        self.last = nn.Conv2d(HIDDEN, channels, 1)

    def forward(self, stones: Tensor) -> Tensor:
        x = self.first(stones)
        x = self.last(nn.functional.relu(x + self.inner(x)))
        horizontal, vertical, falling, rising = x.chunk(4)
        total: Tensor = horizontal + vertical + falling + rising
        return total


class LineConv(nn.Module):
    """One convolution over lines, in four directions;  [B, 2, H, W] → [4 B, C, H, W]

    It sees the player's stones, the opponent's, and where the board is."""

    name = f"conv over lines of {2 * REACH + 1}"
    # For each number of its output, as PyTorch does it: the weights of a diagonal fill a square with zeros.
    multiply_adds = 3 * ((2 * REACH + 1) + (2 * REACH + 1) ** 2) // 2

    def __init__(self, channels: int) -> None:
        super().__init__()
        cells = 2 * REACH + 1
        self.weights = nn.Parameter(torch.randn(channels, 3, cells) * (2 / (3 * cells)) ** 0.5)

    def forward(self, stones: Tensor) -> Tensor:
        board = torch.cat((stones, torch.ones_like(stones[:, :1])), dim=1)
        weights, diagonal = self.weights, torch.eye(2 * REACH + 1, device=self.weights.device)
        kernels = (
            (weights[:, :, None, :], (0, REACH)),  # horizontal
            (weights[:, :, :, None], (REACH, 0)),  # vertical
            (weights[:, :, :, None] * diagonal, (REACH, REACH)),  # down and right
            (weights[:, :, :, None] * diagonal.flip(1), (REACH, REACH)),  # down and left
        )
        return torch.cat([nn.functional.conv2d(board, one, padding=size) for one, size in kernels])
