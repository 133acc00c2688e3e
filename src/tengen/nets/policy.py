"""The policy heads of anysize: one for each kind of actions (games/coordinates.py).

    cells     a number for every cell
    columns   a number for every column, from the means and maxima over it
    kinds     a plane for every kind of move: a number for every cell and kind
    pairs     from · to, dot products of the features of two cells: a number for every pair of cells; its
              weights fit every size, but its angles are for one size, so its export is too
    general   a linear layer from the whole board to all actions; its weights fit only one board size

If there is one more action, it is the pass, computed from the whole board. Every head takes the output of the
trunk for each cell [B, C, H, W] and for the whole board [B, 2C], and returns logits [B, A].
"""

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import torch
from torch import Tensor, nn

from tengen.games.game import Game
from tengen.nets.net import conv

PAIR_FEATURES = 64  # of a cell, as the start or the end of a move
LONGEST_WAVE = 32.0  # cells: more than the width of any board


def policy_head(channels: int, game: Game) -> "Head":
    """The head for the actions of a game."""
    num_cells = game.rows * game.cols
    num_moves = {
        "cells": num_cells,
        "columns": game.cols,
        "kinds": game.num_actions // num_cells * num_cells,
        "pairs": num_cells**2,
        "general": game.num_actions,
    }[game.action_kind]
    has_pass = game.num_actions == num_moves + 1
    assert has_pass or game.num_actions == num_moves, f"{game.num_actions} actions, not {game.action_kind}"
    heads: dict[str, Callable[[int, Game, bool], Head]] = {
        "cells": Planes,
        "columns": Columns,
        "kinds": Planes,
        "pairs": Pairs,
        "general": General,
    }
    return heads[game.action_kind](channels, game, has_pass)


class Head(nn.Module):
    """The common part of the heads: a few features of each cell, and the pass."""

    fits_any_size: ClassVar[bool] = True  # after export

    def __init__(self, channels: int, game: Game, has_pass: bool) -> None:
        super().__init__()
        self.hidden = max(16, channels // 2)
        self.cells = nn.Sequential(conv(channels, self.hidden, size=1), nn.ReLU())
        self.add_out(game)
        self.has_pass = has_pass
        if has_pass:
            self.pass_move = nn.Linear(2 * channels, 1)

    @abstractmethod
    def add_out(self, game: Game) -> None:
        """Adds the last layers."""

    @abstractmethod
    def logits(self, y: Tensor) -> Tensor:
        """The logits of all actions except the pass."""

    def forward(self, x: Tensor, pooled: Tensor) -> Tensor:
        logits = self.logits(self.cells(x))
        return torch.cat((logits, self.pass_move(pooled)), dim=1) if self.has_pass else logits


class Planes(Head):
    """A plane for every kind of move: action = cell · kinds + kind."""

    def add_out(self, game: Game) -> None:
        self.out = nn.Conv2d(self.hidden, game.num_actions // (game.rows * game.cols), 1)

    def logits(self, y: Tensor) -> Tensor:
        planes: Tensor = self.out(y)
        return planes.permute(0, 2, 3, 1).flatten(1)


class Columns(Head):
    """A logit per column, from means and maxima over it."""

    def add_out(self, game: Game) -> None:
        self.out = nn.Linear(2 * self.hidden, 1)

    def logits(self, y: Tensor) -> Tensor:
        columns = torch.cat((y.mean(dim=2), y.amax(dim=2)), dim=1)  # [B, 2C, W]
        logits: Tensor = self.out(columns.transpose(1, 2)).squeeze(2)
        return logits


class Pairs(Head):
    """A logit per pair of cells. Each cell has features as the start and as the end of a move."""

    fits_any_size = False

    def add_out(self, game: Game) -> None:
        self.out = nn.Conv2d(self.hidden, 2 * PAIR_FEATURES, 1)
        self.products = PairProducts(game.rows, game.cols)

    def logits(self, y: Tensor) -> Tensor:
        logits: Tensor = self.products(self.out(y))
        return logits


class PairProducts(nn.Module):
    """logits[from, to] = q(from) · k(to) / √d, so that a logit depends on both cells.

    Features are rotated by angles that grow along the board (rotary embeddings, Su et al. 2021): the product
    then depends on the distance and direction of the move, in the same way everywhere and for any board size.
    """

    cosines: Tensor
    sines: Tensor

    def __init__(self, rows: int, cols: int) -> None:
        super().__init__()
        angles = _angles(rows, cols)
        self.register_buffer("cosines", angles.cos(), persistent=False)
        self.register_buffer("sines", angles.sin(), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """[B, 2F, H, W] → [B, (H·W)²]"""
        begin, end = (self._turned(part) for part in x.chunk(2, dim=1))
        return (begin @ end.transpose(1, 2) / math.sqrt(PAIR_FEATURES)).flatten(1)

    def _turned(self, x: Tensor) -> Tensor:
        """[B, F, H, W] → [B, H·W, F]: the features (a, b) become (a cos - b sin, b cos + a sin)."""
        features = x.flatten(2).transpose(1, 2)
        a, b = features.chunk(2, dim=2)
        # A difference, not a sum: sums would be rounded to 8 bits in an int8 network (export.py).
        return features * self.cosines - torch.cat((b, -a), dim=2) * self.sines


class General(Head):
    """A linear layer from the features of all cells to all actions."""

    fits_any_size = False

    def add_out(self, game: Game) -> None:
        self.out = nn.Linear(self.hidden * game.rows * game.cols, game.num_actions)

    def logits(self, y: Tensor) -> Tensor:
        logits: Tensor = self.out(y.flatten(1))
        return logits


def _angles(rows: int, cols: int) -> Tensor:
    """The angle of each cell and feature: rows, columns and diagonals, waves of 2 to 32 cells;  [H·W, F]"""
    waves = PAIR_FEATURES // 8
    turns = math.pi * (2 / LONGEST_WAVE) ** (torch.arange(waves) / (waves - 1))
    row, col = torch.arange(rows).repeat_interleave(cols), torch.arange(cols).repeat(rows)
    ways = torch.stack((row, col, row + col, row - col), dim=1)
    half = (ways[:, :, None] * turns).flatten(1)
    return torch.cat((half, half), dim=1)
