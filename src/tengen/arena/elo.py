"""Ratings from games between any number of players, with draws (Davidson 1970) and intervals.

Two players, one stronger by d (in natural logarithms), a share of draws ν:

    P(win) : P(draw) : P(loss)  =  exp(d/2) : ν : exp(-d/2)

All probabilities are exponentials of sums of the unknowns (a rating for each player, log ν), so the
log-likelihood is concave: Newton's method finds the one maximum, and the curvature there gives intervals.
A weak prior keeps the rating finite if a player won every game.

Each opening is played with both colours, so the advantage of the first move needs no unknown. Games are
treated as independent: if an opening favours a colour, the intervals are a little too wide.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tengen.arena.interval import Z95

Floats = npt.NDArray[np.float64]

ELO = 400 / math.log(10)  # Elo points of one natural logarithm, without draws
PRIOR_SD = 500 / ELO  # of a rating, 500 Elo: negligible after ten games if not all were won
PRIOR_LOG_DRAWS, PRIOR_LOG_DRAWS_SD = -1.0, 3.0  # of log ν: from one draw in 300 games to almost only draws


@dataclass(frozen=True)
class Ratings:
    """The ratings of all players."""

    elo: Floats  # [players]; the mean is 0, or the anchor's is
    errors: Floats  # [players], half the width of the 95 % interval
    draws: float  # ν: equal players draw with probability ν / (2 + ν)


def fit(wins: Floats, draws: Floats, anchor: int | None = None) -> Ratings:
    """The most likely ratings. Player i won wins[i, j] games against j and drew draws[i, j] = draws[j, i]."""
    n = len(wins)
    first, second = np.triu_indices(n, k=1)
    counts = np.stack([wins[first, second], draws[first, second], wins[second, first]], axis=1)
    # log P = a row of this array · unknowns - log of the sum, so that the three probabilities sum to 1
    rows = np.zeros((len(first), 3, n + 1))  # [pairs, win draw loss, ratings and log ν]
    pairs = np.arange(len(first))
    rows[pairs, 0, first], rows[pairs, 0, second] = 0.5, -0.5
    rows[pairs, 2, first], rows[pairs, 2, second] = -0.5, 0.5
    rows[pairs, 1, n] = 1.0
    centre = np.append(np.zeros(n), PRIOR_LOG_DRAWS)
    precision = np.append(np.full(n, PRIOR_SD**-2), PRIOR_LOG_DRAWS_SD**-2)

    def log_posterior(unknowns: Floats) -> float:
        return float((counts * _log_probabilities(rows, unknowns)).sum()) - float(
            (precision * (unknowns - centre) ** 2).sum() / 2
        )

    unknowns = centre.copy()
    for _ in range(100):
        p = np.exp(_log_probabilities(rows, unknowns))
        games = counts.sum(axis=1, keepdims=True)
        gradient = np.einsum("po,poi->i", counts - games * p, rows) - precision * (unknowns - centre)
        mean = np.einsum("po,poi->pi", p, rows)
        curvature = np.einsum("po,poi,poj->ij", games * p, rows, rows) + np.diag(precision)
        curvature -= np.einsum("p,pi,pj->ij", games[:, 0], mean, mean)
        step = np.linalg.solve(curvature, gradient)
        if gradient @ step < 1e-12:
            break
        before, length = log_posterior(unknowns), 1.0
        while log_posterior(unknowns + length * step) < before and length > 1e-9:  # Newton went too far
            length /= 2
        unknowns = unknowns + length * step

    # Relative to the mean or the anchor: games cannot determine a common shift of all ratings.
    reference = np.full((n, n), 1 / n) if anchor is None else np.tile(np.eye(n)[anchor], (n, 1))
    relative = np.eye(n) - reference
    covariance = relative @ np.linalg.inv(curvature)[:n, :n] @ relative.T
    nu = math.exp(unknowns[n])
    # Draws pull scores together. With this scale, a difference predicts the score of the Elo curve: exactly
    # for ν = 0 and 2 (half of the games drawn), else if the difference is small. BayesElo does the same.
    scale = ELO / (1 + nu / 2)
    errors = Z95 * scale * np.sqrt(np.clip(np.diag(covariance), 0, None))
    return Ratings(scale * (relative @ unknowns[:n]), errors, nu)


def probabilities(difference: float, nu: float) -> tuple[float, float, float]:
    """(win, draw, loss): the probabilities for a player who is better by `difference` Elo."""
    d = difference * (1 + nu / 2) / ELO
    parts = np.array([math.exp(d / 2), nu, math.exp(-d / 2)])
    win, draw, loss = parts / parts.sum()
    return float(win), float(draw), float(loss)


def _log_probabilities(rows: Floats, unknowns: Floats) -> Floats:
    """The logarithms of the probabilities of win, draw and loss;  [pairs, 3]"""
    logs = rows @ unknowns
    top = logs.max(axis=1, keepdims=True)
    shifted = logs - top
    found: Floats = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return found
