"""The interface of networks. Input: planes. Output: logits of all actions, a value, some also the plies left.

Every network is created for one game and one board size, but the weights of anysize fit any size. A value is
from -1 (lost) to 1 (won) for the player to move, as everywhere.
"""

from abc import abstractmethod
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from tengen.games.game import Game

PLIES_SCALE = 20.0  # a network's output for plies left is in units of 20 plies


class Output(NamedTuple):
    """The output of a network for B positions."""

    logits: Tensor  # [B, A]
    value: Tensor  # [B]
    plies_left: Tensor | None = None  # [B], until the end of the game; None if it has no such output
    outcomes: Tensor | None = None  # [B, 3], logits of win, draw, loss, if the value is made of them
    distances: Tensor | None = None  # [B, K], logits of the plies left, if the value is made of them too

    def in_float32(self) -> "Output":
        return Output._make(one if one is None else one.float() for one in self)


class Net(nn.Module):
    """A network for the planes of a game."""

    needs: ClassVar[tuple[str, ...]] = ()  # names of planes that the game must have
    planes: tuple[int, ...]  # the indices of the game's planes that are its input, in this order
    fits_any_size: bool = False  # no layer depends on the board's size: its export plays every size

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.rows, self.cols = game.rows, game.cols
        self.num_actions = game.num_actions

    @abstractmethod
    def forward(self, planes: Tensor) -> Output:
        """The output for planes float32[B, C, H, W]: only those in `self.planes`."""

    @property
    def num_parameters(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())


def conv(channels_in: int, channels_out: int, size: int = 3) -> nn.Sequential:
    """A convolution that keeps the board's size, followed by batch normalisation."""
    return nn.Sequential(
        nn.Conv2d(channels_in, channels_out, size, padding=size // 2, bias=False),
        nn.BatchNorm2d(channels_out),
    )


def pool(x: Tensor) -> Tensor:
    """Means and maxima over the board;  [B, C, H, W] → [B, 2C]"""
    return torch.cat((x.mean(dim=(2, 3)), x.amax(dim=(2, 3))), dim=1)


class ResidualBlock(nn.Module):
    """Two convolutions with a skip connection."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(conv(channels, channels), nn.ReLU(), conv(channels, channels))

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.relu(x + self.layers(x))
