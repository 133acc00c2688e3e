"""Scores and their intervals."""

import math

import numpy as np
import pytest

from tengen.arena.score import PAIR_SCORES, elo_of, interval, log_likelihood, score_of


def test_elo_and_score_are_inverse() -> None:
    assert elo_of(0.75) == pytest.approx(190.85, abs=0.01)
    assert score_of(elo_of(0.31)) == pytest.approx(0.31)
    assert elo_of(1.0) == math.inf and elo_of(0.0) == -math.inf and elo_of(0.5) == 0


@pytest.mark.parametrize("score", [0.3, 0.5, 0.66])
def test_the_likelihood_agrees_with_a_search_over_all_distributions(score: float) -> None:
    counts = [3, 2, 6, 4, 5]
    random = np.random.default_rng(0)
    best = -math.inf
    p = np.full(5, 0.2)
    for step in np.geomspace(0.3, 1e-3, 1500):  # a random walk that keeps the mean by tilting
        q = p * np.exp(step * random.normal(size=5))
        low, high = -60.0, 60.0
        for _ in range(60):
            tilt = (low + high) / 2
            tilted = q * np.exp(tilt * np.array(PAIR_SCORES))
            tilted /= tilted.sum()
            low, high = (tilt, high) if tilted @ PAIR_SCORES < score else (low, tilt)
        here = float(np.array(counts) @ np.log(tilted))
        if here > best:
            best, p = here, tilted
    assert log_likelihood(counts, score) == pytest.approx(best, abs=0.02)


@pytest.mark.parametrize("pairs", [10, 40])
@pytest.mark.parametrize(
    "chances", [[0.05, 0.15, 0.4, 0.25, 0.15], [0.01, 0.04, 0.1, 0.2, 0.65], [0.5, 0, 0, 0, 0.5]]
)
def test_intervals_hold_the_truth_19_times_in_20(pairs: int, chances: list[float]) -> None:
    random = np.random.default_rng(1)
    truth = float(np.dot(chances, PAIR_SCORES))
    held = 0
    for _ in range(150):
        low, high = interval(random.multinomial(pairs, chances).tolist())
        held += low <= truth <= high
    assert held / 150 >= 0.91


def test_pairs_that_always_split_leave_less_doubt_than_pairs_of_luck() -> None:
    split, luck = interval([0, 0, 50, 0, 0]), interval([12, 0, 26, 0, 12])
    assert split[1] - split[0] < 0.05 < luck[1] - luck[0]
    assert split[0] < 0.5 < split[1]


def test_winning_everything_is_bounded_from_below_only() -> None:
    low, high = interval([0, 0, 0, 0, 20])
    assert 0.85 < low < 0.95 and high == 1.0
    assert interval([20, 0, 0, 0, 0]) == pytest.approx((0.0, 1 - low))


def test_no_pair_and_one_pair_say_nothing() -> None:
    assert interval([0, 0, 0, 0, 0]) == (0.0, 1.0)
    assert interval([0, 0, 0, 0, 1]) == (0.0, 1.0)
