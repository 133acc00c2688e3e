"""The interface: evaluate(states, legal) → logits, values. For the player to move, as everywhere.

An evaluator may also know things for certain, as a search for forced fours does: that a position is won or
lost and in how many plies, and which moves surely lose. A search treats that like a result by the rules.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tengen.games.game import Mask, State

Floats = npt.NDArray[np.float32]
Int8s = npt.NDArray[np.int8]
Int16s = npt.NDArray[np.int16]


@dataclass(frozen=True)
class Evaluation:
    """The evaluation of B states."""

    logits: Floats  # [B, A]; only legal actions count, and only differences matter
    values: Floats  # [B], from -1 (lost) to 1 (won) for the player to move
    plies_left: Floats | None = None  # [B], until the end of the game, if the evaluator knows
    # Certain knowledge, all three or none. A win has its move as the highest logit; the logits and the value
    # of a loss are as good as the evaluator can tell, for a player who has to choose all the same.
    proven: Int8s | None = None  # [B], UNKNOWN, WIN or LOSS
    distance: Int16s | None = None  # [B], plies to that end, at most; if UNKNOWN, of the moves left out below
    playable: Mask | None = None  # [B, A], the legal actions without those that surely lose; of a loss: all


class Evaluator(Protocol):
    """Anything that evaluates positions: a network, rollouts, nothing at all."""

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        """states int16[B, S], legal bool[B, A]. The next call may overwrite the arrays this one returns."""
