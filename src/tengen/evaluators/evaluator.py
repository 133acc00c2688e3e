"""The interface: evaluate(states, legal) → logits, values. For the player to move, as everywhere."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tengen.games.game import Mask, State

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Evaluation:
    """The evaluation of B states."""

    logits: Floats  # [B, A]; only legal actions count, and only differences matter
    values: Floats  # [B], from -1 (lost) to 1 (won) for the player to move
    plies_left: Floats | None = None  # [B], until the end of the game, if the evaluator knows


class Evaluator(Protocol):
    """Anything that evaluates positions: a network, rollouts, nothing at all."""

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        """states int16[B, S], legal bool[B, A]. The next call may overwrite the arrays this one returns."""
