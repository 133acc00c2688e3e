"""AlphaZero_Gomoku's network: three convolutions of 32, 64 and 128; two heads; four planes."""

import torch
from torch import Tensor, nn

from tengen.games.game import FIRST_TO_MOVE, LAST_MOVE, MINE, THEIRS, Game
from tengen.nets.net import Net, Output


class Gomoku(Net):
    """Policy by 4 filters and a layer to all actions; value by 2 filters and 64 hidden units."""

    needs = (MINE, THEIRS, LAST_MOVE, FIRST_TO_MOVE)

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.planes = game.planes_named(*self.needs)
        cells = game.rows * game.cols
        self.trunk = nn.Sequential(
            nn.Conv2d(4, 32, 3, padding=1), nn.ReLU(),
            nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
            nn.Conv2d(64, 128, 3, padding=1), nn.ReLU(),
        )  # fmt: skip
        self.policy = nn.Sequential(
            nn.Conv2d(128, 4, 1), nn.ReLU(), nn.Flatten(), nn.Linear(4 * cells, game.num_actions)
        )
        self.value = nn.Sequential(
            nn.Conv2d(128, 2, 1), nn.ReLU(), nn.Flatten(),
            nn.Linear(2 * cells, 64), nn.ReLU(), nn.Linear(64, 1),
        )  # fmt: skip

    def forward(self, planes: Tensor) -> Output:
        x = self.trunk(planes)
        return Output(self.policy(x), torch.tanh(self.value(x)).squeeze(1))
