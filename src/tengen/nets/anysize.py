"""The default network: residual, with weights that fit boards of every size.

No layer depends on the size: the policy is made of convolutions (policy.py), and information about the whole
board (how full it is, a fight far away) reaches every cell by global pooling: means and maxima over the
board, added to each cell. So its export plays every size too, except for two kinds of actions (policy.py).
The first convolution covers three cells in each direction, so that it sees a row of five along an edge.
"""

import torch
from torch import Tensor, nn

from tengen.errors import UserError
from tengen.games.game import LAST_MOVE, Game
from tengen.nets.net import PLIES_SCALE, Net, Output, ResidualBlock, conv, pool
from tengen.nets.policy import policy_head

DISTANCES = tuple(k * (1 + k / 32) for k in range(48))  # plies left: up to 116, the far ones coarse


class AnySize(Net):
    """The network, with any width (channels) and depth (blocks)."""

    distances: Tensor  # [K], plies, as in DISTANCES

    def __init__(
        self,
        game: Game,
        channels: int = 64,
        blocks: int = 5,
        pool_every: int = 2,
        value: str = "scalar",
        discount: float = 1.0,
    ) -> None:
        """pool_every: one of every `pool_every` blocks pools over the whole board. value: scalar, learned
        with the discount included; or wdl, the probabilities of win, draw and loss and of the plies left
        (DISTANCES), combined to one value by

            v = (P(win) - P(loss)) · Σ P(plies) · discount ^ plies     so that a search prefers a faster win
        """
        super().__init__(game)
        if value not in ("scalar", "wdl"):
            raise UserError(f"network 'anysize': value is scalar or wdl, got '{value}'")
        self.channels, self.is_wdl, self.discount = channels, value == "wdl", discount
        # The value of a position does not depend on the moves before it, so the last move is not an input.
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
        numbers = 3 + len(DISTANCES) if self.is_wdl else 2  # the value and the plies left, or logits of both
        self.value = nn.Sequential(nn.Linear(2 * channels, 64), nn.ReLU(), nn.Linear(64, numbers))
        self.register_buffer("distances", torch.tensor(DISTANCES), persistent=False)

    def forward(self, planes: Tensor) -> Output:
        x = self.trunk(self.first(planes))
        pooled = pool(x)
        heads = self.value(pooled)
        if not self.is_wdl:
            plies_left = nn.functional.softplus(heads[:, -1]) * PLIES_SCALE
            return Output(self.policy(x, pooled), torch.tanh(heads[:, 0]), plies_left)
        outcomes, distances = heads[:, :3], heads[:, 3:]
        chances, shares = outcomes.softmax(dim=1), distances.softmax(dim=1)
        value = (chances[:, 0] - chances[:, 2]) * (shares @ self.discount**self.distances)
        return Output(self.policy(x, pooled), value, shares @ self.distances, outcomes, distances)


class PoolingBlock(nn.Module):
    """A residual block that adds means and maxima over the whole board to every cell."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.before = nn.Sequential(conv(channels, channels), nn.ReLU())
        self.summary = nn.Linear(2 * channels, channels)
        self.after = conv(channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        y = self.before(x)
        y = nn.functional.relu(y + self.summary(pool(y))[:, :, None, None])
        return nn.functional.relu(x + self.after(y))
