"""Learns from positions: loss = (z - v)² + cross-entropy of the policy + plies left; L2 by AdamW."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from tengen.games.batch import lift
from tengen.games.game import Game
from tengen.nets.net import Net
from tengen.training.config import Learner as Settings
from tengen.training.record import Positions

PLIES_WEIGHT = 0.05  # of the loss of the plies left
PLIES_SCALE = 20.0


@dataclass
class Losses:
    policy: float
    value: float
    plies: float


class Learner:
    def __init__(self, game: Game, net: Net, settings: Settings, seed: int) -> None:
        self.game, self.net, self.settings = game, net, settings
        decay = [p for p in net.parameters() if p.ndim > 1]
        plain = [p for p in net.parameters() if p.ndim <= 1]
        self.optimizer = torch.optim.AdamW(
            [{"params": decay, "weight_decay": settings.weight_decay}, {"params": plain, "weight_decay": 0.0}],
            lr=settings.learning_rate,
        )
        self.average = torch.optim.swa_utils.AveragedModel(
            net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(settings.average), use_buffers=True
        )
        self.random = np.random.default_rng(seed)
        self._batched = lift(game)

    def learn(self, positions: Positions, steps: int, learning_rate: float) -> Losses:
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        self.net.train()
        sums = np.zeros(3)
        for planes, policies, values, plies in self._batches(positions, steps):
            output = self.net(planes)
            policy_loss = -(policies * torch.log_softmax(output.logits, dim=1)).sum(dim=1).mean()
            value_loss = torch.nn.functional.mse_loss(output.value, values)
            loss = policy_loss + value_loss
            plies_loss = torch.zeros(())
            if output.plies_left is not None:
                plies_loss = torch.nn.functional.smooth_l1_loss(
                    output.plies_left / PLIES_SCALE, plies / PLIES_SCALE
                )
                loss = loss + PLIES_WEIGHT * plies_loss
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.settings.clip)
            self.optimizer.step()
            self.average.update_parameters(self.net)
            sums += [policy_loss.item(), value_loss.item(), plies_loss.item()]
        return Losses(*(sums / max(steps, 1)))

    def _batches(self, positions: Positions, steps: int) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
        """Random positions, each seen through a random symmetry."""
        chances = positions.weights.astype(np.float64)
        chances = np.cumsum(chances) / chances.sum()
        q = np.float32(self.settings.q_share)
        targets = (1 - q) * positions.results + q * positions.root_values
        symmetries = self.game.symmetries
        planes = np.zeros((self.settings.batch_size, *self.game.planes_shape), np.float32)
        for _ in range(steps):
            rows = np.searchsorted(chances, self.random.random(self.settings.batch_size))
            turns = self.random.integers(len(symmetries), size=len(rows))
            states = positions.states[rows]
            cells = states[:, self.game.cells]
            turned = np.empty_like(cells)
            np.put_along_axis(turned, symmetries.cells[turns].astype(np.int64), cells, axis=1)
            states[:, self.game.cells] = turned
            last = states[:, -2]
            states[:, -2] = np.where(last >= 0, symmetries.actions[turns, np.maximum(last, 0)], last)
            policies = np.empty((len(rows), self.game.num_actions), np.float32)
            np.put_along_axis(
                policies, symmetries.actions[turns].astype(np.int64), positions.policies[rows], axis=1
            )
            self._batched.planes(states, planes)
            yield (
                torch.from_numpy(planes[:, self.net.planes]),
                torch.from_numpy(policies),
                torch.from_numpy(targets[rows]),
                torch.from_numpy(positions.plies_left[rows]),
            )
