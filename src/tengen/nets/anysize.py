"""Our default: a residual network whose weights fit boards of every size.

Nothing in it knows the size: the policy is made of convolutions (policy.py), and what concerns the whole
board (how full it is, a fight far away) reaches every cell by global pooling: means and maxima over the
board, added to each cell. So its export plays every size too, except for two kinds of actions (policy.py).
The first convolution reaches three cells, so that a row of five along an edge is seen at once.
"""

import torch
from torch import Tensor, nn

from tengen.errors import UserError
from tengen.games.game import LAST_MOVE, Game
from tengen.nets.net import Net, Output, ResidualBlock, conv, pool
from tengen.nets.policy import policy_head

PLIES_SCALE = 20.0  # the plies left are learned in units of this


class AnySize(Net):
    """Width and depth as you like."""

    def __init__(
        self,
        game: Game,
        channels: int = 64,
        blocks: int = 5,
        pool_every: int = 2,
        value: str = "scalar",
        discount: float = 1.0,
    ) -> None:
        """pool_every: every so many blocks, one pools over the whole board. value: scalar, learned with the
        discount in it; or wdl, the chances of win, draw and loss, made one value by

            v = (P(win) - P(loss)) · discount ^ (plies left)          so that a search prefers the sooner win
        """
        super().__init__(game)
        if value not in ("scalar", "wdl"):
            raise UserError(f"network 'anysize': value is scalar or wdl, got '{value}'")
        self.is_wdl, self.discount = value == "wdl", discount
        # A position is worth the same however it came about: it does without the last move.
        self.planes = tuple(i for i, name in enumerate(game.plane_names) if name != LAST_MOVE)
        self.first = nn.Sequential(conv(len(self.planes), channels, size=7), nn.ReLU())
        self.trunk = nn.Sequential(
            *(
                PoolingBlock(channels) if i % pool_every == pool_every - 1 else ResidualBlock(channels)
                for i in range(blocks)
            )
        )
        self.policy = policy_head(channels, game)
        self.fits_any_size = self.policy.fits_any_size
        numbers = 4 if self.is_wdl else 2  # the value, or three chances; and the plies left
        self.value = nn.Sequential(nn.Linear(2 * channels, 64), nn.ReLU(), nn.Linear(64, numbers))

    def forward(self, planes: Tensor) -> Output:
        x = self.trunk(self.first(planes))
        pooled = pool(x)
        heads = self.value(pooled)
        plies_left = nn.functional.softplus(heads[:, -1]) * PLIES_SCALE
        if not self.is_wdl:
            return Output(self.policy(x, pooled), torch.tanh(heads[:, 0]), plies_left)
        chances = heads[:, :3].softmax(dim=1)
        value = (chances[:, 0] - chances[:, 2]) * self.discount**plies_left
        return Output(self.policy(x, pooled), value, plies_left, heads[:, :3])


class PoolingBlock(nn.Module):
    """A residual block in which a summary of the whole board is added to every cell."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.before = nn.Sequential(conv(channels, channels), nn.ReLU())
        self.summary = nn.Linear(2 * channels, channels)
        self.after = conv(channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        y = self.before(x)
        y = nn.functional.relu(y + self.summary(pool(y))[:, :, None, None])
        return nn.functional.relu(x + self.after(y))
