"""Our default: a residual network whose weights fit boards of every size.

Nothing in it knows the size: the policy is a convolution, and what concerns the whole board (how full it is,
a fight far away) reaches every cell by global pooling: means and maxima over the board, added to each cell.
The first convolution reaches three cells, so that a row of five along an edge is seen at once.
"""

import torch
from torch import Tensor, nn

from tengen.errors import UserError
from tengen.games.game import Game
from tengen.nets.net import Net, Output, ResidualBlock, conv

LAST_MOVE = 2  # the plane it does without: a position is worth the same however it came about
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
        self.planes = tuple(plane for plane in range(game.num_planes) if plane != LAST_MOVE)
        self.first = nn.Sequential(conv(len(self.planes), channels, size=7), nn.ReLU())
        self.trunk = nn.Sequential(
            *(
                PoolingBlock(channels) if i % pool_every == pool_every - 1 else ResidualBlock(channels)
                for i in range(blocks)
            )
        )
        self.policy = PolicyHead(channels, game)
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


class PolicyHead(nn.Module):
    """Logits for each kind of action: cells; columns, by pooling each; and a pass beside the cells."""

    def __init__(self, channels: int, game: Game) -> None:
        super().__init__()
        num_cells = game.rows * game.cols
        self.by_columns = game.num_actions == game.cols != num_cells
        self.has_pass = game.num_actions == num_cells + 1
        assert self.by_columns or game.num_actions in (num_cells, num_cells + 1), "unknown kind of actions"
        hidden = max(16, channels // 2)
        self.cells = nn.Sequential(conv(channels, hidden, size=1), nn.ReLU())
        self.out = nn.Linear(2 * hidden, 1) if self.by_columns else nn.Conv2d(hidden, 1, 1)
        if self.has_pass:
            self.pass_move = nn.Linear(2 * channels, 1)

    def forward(self, x: Tensor, pooled: Tensor) -> Tensor:
        y = self.cells(x)
        if self.by_columns:
            columns = torch.cat((y.mean(dim=2), y.amax(dim=2)), dim=1)  # [B, 2C, W]
            logits: Tensor = self.out(columns.transpose(1, 2)).squeeze(2)
            return logits
        logits = self.out(y).flatten(1)
        return torch.cat((logits, self.pass_move(pooled)), dim=1) if self.has_pass else logits


def pool(x: Tensor) -> Tensor:
    """Means and maxima over the board;  [B, C, H, W] → [B, 2C]"""
    return torch.cat((x.mean(dim=(2, 3)), x.amax(dim=(2, 3))), dim=1)
