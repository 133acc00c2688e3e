"""A network for m,n,k games: four convolutions with batch normalisation and leaky ReLU; two planes."""

import torch
from torch import Tensor, nn

from tengen.games.game import MINE, THEIRS, Game
from tengen.nets.net import Net, Output, conv

CHANNELS = 64


class Mnk(Net):
    """Each head is a 1×1 convolution and fully connected layers."""

    needs = (MINE, THEIRS)

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.planes = game.planes_named(*self.needs)
        cells = game.rows * game.cols
        self.trunk = nn.Sequential(
            conv(2, CHANNELS), nn.LeakyReLU(),
            conv(CHANNELS, CHANNELS), nn.LeakyReLU(),
            conv(CHANNELS, CHANNELS), nn.LeakyReLU(),
            conv(CHANNELS, CHANNELS), nn.LeakyReLU(),
        )  # fmt: skip
        self.policy = nn.Sequential(
            conv(CHANNELS, 2, size=1), nn.LeakyReLU(), nn.Flatten(), nn.Linear(2 * cells, game.num_actions)
        )
        self.value = nn.Sequential(
            conv(CHANNELS, 1, size=1), nn.LeakyReLU(), nn.Flatten(),
            nn.Linear(cells, 20), nn.LeakyReLU(), nn.Linear(20, 1),
        )  # fmt: skip

    def forward(self, planes: Tensor) -> Output:
        x = self.trunk(planes)
        return Output(self.policy(x), torch.tanh(self.value(x)).squeeze(1))
