"""A Connect 4 network: four convolutions and four fully connected layers, the last two of them the heads."""

import torch
from torch import Tensor, nn

from tengen.games.game import MINE, THEIRS, Game
from tengen.nets.net import Net, Output, conv

CHANNELS = 64


class Connect4(Net):
    """Two convolutions keep the board's size; two without padding shrink it by two cells each."""

    needs = (MINE, THEIRS)

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.planes = game.planes_named(*self.needs)
        rows, cols = max(1, game.rows - 4), max(1, game.cols - 4)
        shrink = [(3 if game.rows > 4 else 1, 3 if game.cols > 4 else 1)] * 2
        self.trunk = nn.Sequential(
            conv(2, CHANNELS), nn.ReLU(),
            conv(CHANNELS, CHANNELS), nn.ReLU(),
            nn.Conv2d(CHANNELS, CHANNELS, shrink[0], bias=False), nn.BatchNorm2d(CHANNELS), nn.ReLU(),
            nn.Conv2d(CHANNELS, CHANNELS, shrink[1], bias=False), nn.BatchNorm2d(CHANNELS), nn.ReLU(),
            nn.AdaptiveMaxPool2d((rows, cols)),
            nn.Flatten(),
            nn.Linear(CHANNELS * rows * cols, 128), nn.BatchNorm1d(128), nn.ReLU(),
            nn.Linear(128, 64), nn.BatchNorm1d(64), nn.ReLU(),
        )  # fmt: skip
        self.policy, self.value = nn.Linear(64, game.num_actions), nn.Linear(64, 1)

    def forward(self, planes: Tensor) -> Output:
        x = self.trunk(planes)
        return Output(self.policy(x), torch.tanh(self.value(x)).squeeze(1))
