"""Alpha Gobang Zero's network: a convolution and five residual blocks of 128; two heads."""

import torch
from torch import Tensor, nn

from tengen.games.game import Game
from tengen.nets.net import Net, Output, ResidualBlock, conv

CHANNELS, BLOCKS = 128, 5


class Gobang(Net):
    """Policy by 2 filters and a layer to all actions; value by 1 filter and 128 hidden units."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.planes = tuple(range(game.num_planes))
        cells = game.rows * game.cols
        self.trunk = nn.Sequential(
            conv(game.num_planes, CHANNELS), nn.ReLU(), *(ResidualBlock(CHANNELS) for _ in range(BLOCKS))
        )
        self.policy = nn.Sequential(
            conv(CHANNELS, 2, size=1), nn.ReLU(), nn.Flatten(), nn.Linear(2 * cells, game.num_actions)
        )
        self.value = nn.Sequential(
            conv(CHANNELS, 1, size=1), nn.ReLU(), nn.Flatten(),
            nn.Linear(cells, 128), nn.ReLU(), nn.Linear(128, 1),
        )  # fmt: skip

    def forward(self, planes: Tensor) -> Output:
        x = self.trunk(planes)
        return Output(self.policy(x), torch.tanh(self.value(x)).squeeze(1))
