"""The score of a match with a confidence interval, from pairs of games.

The two games of an opening are not independent: if it favours one colour, each player wins one game. So the
unit is the pair, whose mean score for A is 0, ¼, ½, ¾ or 1 ("pentanomial", as in chess engine testing). The
log-likelihood of a score s, given that pair result i occurred nᵢ times, is

    L(s) = max Σ nᵢ log pᵢ   over all p with mean score s

Everything else follows from L: the estimate is its maximum, the 95 % interval contains all s with
2 (max L - L(s)) ≤ t² (Owen 1988, empirical likelihood; t is Student's, for the few pairs of a short match),
and the test in sprt.py compares L at two scores. Unlike a normal approximation, the interval stays within 0
and 1, and is sensible even if every game was won.
"""

import math
from collections.abc import Iterable, Sequence

from tengen.arena.interval import Z95
from tengen.arena.played import PlayedGame

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
UNSEEN = 1e-3  # added to the count of each of the five results, so that every score stays possible
ALMOST = 1e-9


def elo_of(score: float) -> float:
    """The difference in Elo that gives this score, from -∞ to ∞."""
    if not 0 < score < 1:
        return math.copysign(math.inf, score - 0.5)
    return 400 * math.log10(score / (1 - score))


def score_of(elo: float) -> float:
    """The score that a difference in Elo gives."""
    return 1 / (1 + 10 ** (-elo / 400))


def pair_counts(played: Iterable[PlayedGame]) -> list[int]:
    """The numbers of pairs that gave A 0, ½, 1, 1½ and 2 points. An incomplete pair does not count."""
    points: dict[int, list[float]] = {}
    for game in played:
        points.setdefault(game.index // 2, []).append(game.points_of_a)
    counts = [0] * 5
    for pair in points.values():
        if len(pair) == 2:
            counts[round(2 * sum(pair))] += 1
    return counts


def log_likelihood(counts: Sequence[int], score: float) -> float:
    """L(score): the largest log-likelihood of the pairs with this mean score; 0 < score < 1.

    The best p are pᵢ = nᵢ / (N (1 + λ (aᵢ - s))), where λ makes their mean s: one unknown, by bisection.
    """
    weights = [count + UNSEEN for count in counts]
    above = [pair - score for pair in PAIR_SCORES]
    low, high = -1 / (1 - score), 1 / score  # between them every p is positive
    for _ in range(60):
        middle = (low + high) / 2
        slope = sum(w * a / (1 + middle * a) for w, a in zip(weights, above, strict=True))
        low, high = (middle, high) if slope > 0 else (low, middle)
    total = sum(weights)
    tilt = (low + high) / 2
    return sum(
        w * math.log(w / (total * (1 + tilt * a) + 1e-300)) for w, a in zip(weights, above, strict=True)
    )


def interval(counts: Sequence[int]) -> tuple[float, float]:
    """The 95 % confidence interval of the score of A against B."""
    pairs = sum(counts)
    if pairs == 0:
        return 0.0, 1.0
    weights = [count + UNSEEN for count in counts]
    best = sum(w * s for w, s in zip(weights, PAIR_SCORES, strict=True)) / sum(weights)
    least = log_likelihood(counts, best) - _student(pairs - 1) ** 2 / 2

    def edge(bound: float) -> float:
        """The end of the interval on the side of this bound."""
        if log_likelihood(counts, abs(bound - ALMOST)) >= least:
            return bound
        inside, outside = best, abs(bound - ALMOST)
        for _ in range(40):
            middle = (inside + outside) / 2
            is_inside = log_likelihood(counts, middle) >= least
            inside, outside = (middle, outside) if is_inside else (inside, middle)
        return inside

    return edge(0.0), edge(1.0)


def _student(freedom: int) -> float:
    """97.5 % quantile of Student's t: the series in 1 / freedom (Abramowitz & Stegun 26.7.5)."""
    f, z = max(freedom, 1), Z95
    return (
        z
        + (z**3 + z) / (4 * f)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * f**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * f**3)
    )
