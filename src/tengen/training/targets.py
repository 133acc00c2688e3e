"""The learning targets of a position: its search's policy, and a value between its search's and the result.

The value of a position with a full search is, for the player to move at ply t,

    G(t) = (1 - λ) · (the search's value) + λ · (the discounted, signed G(t + 1)),      λ = td_lambda

and after the last move the final result (TD(λ), Sutton 1988). λ = 1 uses the final result alone, as in
AlphaZero: it has no bias, but every position is blamed for the mistakes played after it. A proven result is
exact: then nothing later counts.
"""

import numpy as np
import numpy.typing as npt

from tengen.search.result import Result
from tengen.search.tree import DRAW, LOSS, UNKNOWN, WIN

Floats = npt.NDArray[np.float32]


def policies(result: Result) -> Floats:
    """The policy targets: the search's policy or, if the root is proven, equal shares of all best moves;
    [B, A]"""
    proven, distance = result.proven, result.distance.astype(np.int32)
    root = result.root_proven[:, None]
    fastest = np.where(proven == WIN, distance, np.iinfo(np.int32).max)
    slowest = np.where(proven == LOSS, distance, -1)
    is_best = np.where(
        root == WIN,
        (proven == WIN) & (fastest == fastest.min(axis=1, keepdims=True)),
        np.where(
            root == LOSS,
            (proven == LOSS) & (slowest == slowest.max(axis=1, keepdims=True)),
            (proven == DRAW) & (root == DRAW),
        ),
    )
    shares = is_best / np.maximum(is_best.sum(axis=1, keepdims=True), 1)
    return np.where(root == UNKNOWN, result.policy, shares).astype(np.float32)


def root_values(result: Result, policy: Floats) -> Floats:
    """The value of each search: the mean of the moves' values, weighted by the policy;  [B]

    The plain mean over all visits is too low: half of a Gumbel search goes to moves that it then drops.
    """
    weights = np.where(result.visits > 0, policy, 0)
    total = weights.sum(axis=1)
    means = (weights * result.q).sum(axis=1) / np.maximum(total, 1e-9)
    use = (result.root_proven == UNKNOWN) & (total > 0)
    return np.where(use, means, result.values).astype(np.float32)


def outcomes(end: float, last_to_move: int, to_move: npt.NDArray[np.int16]) -> Floats:
    """The result of a game for the player to move at each ply: one of win, draw and loss is 1;  [T, 3]"""
    results = np.where(to_move == last_to_move, end, -end)
    return np.stack((results > 0, results == 0, results < 0), axis=1).astype(np.float32)


def values(
    thought: Floats,
    is_full: npt.NDArray[np.bool_],
    is_proven: npt.NDArray[np.bool_],
    to_move: npt.NDArray[np.int16],
    end: float,
    last_to_move: int,
    discount: float,
    td_lambda: float,
) -> Floats:
    """The value targets G of every ply of a game;  [T]. `end`: its result for `last_to_move`, the player to
    move after the last ply. Plies with a fast search only pass on the discounted later value."""
    targets = np.empty(len(thought), np.float32)
    later, later_to_move = end, last_to_move
    for t in reversed(range(len(thought))):
        later = discount * (later if later_to_move == to_move[t] else -later)
        if is_proven[t]:
            later = float(thought[t])
        elif is_full[t]:
            later = (1 - td_lambda) * float(thought[t]) + td_lambda * later
        targets[t], later_to_move = later, int(to_move[t])
    return targets
