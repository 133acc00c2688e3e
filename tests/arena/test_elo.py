"""Ratings: against a slow computation of the same, against simulated truth, and in the extremes."""

import math

import numpy as np
import pytest

from tengen.arena import elo
from tengen.arena.elo import ELO, PRIOR_LOG_DRAWS, PRIOR_LOG_DRAWS_SD, PRIOR_SD, Floats, fit, probabilities
from tengen.arena.score import elo_of

Z = 1.96


def simulate(true: Floats, nu: float, games: int, random: np.random.Generator) -> tuple[Floats, Floats]:
    n = len(true)
    wins, draws = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            wins[i, j], draws[i, j], wins[j, i] = random.multinomial(
                games, probabilities(true[i] - true[j], nu)
            )
            draws[j, i] = draws[i, j]
    return wins, draws


def slow_log_posterior(ratings: list[float], log_nu: float, wins: Floats, draws: Floats) -> float:
    """The model written out, a pair at a time."""
    total = -sum((r / PRIOR_SD) ** 2 for r in ratings) / 2
    total -= ((log_nu - PRIOR_LOG_DRAWS) / PRIOR_LOG_DRAWS_SD) ** 2 / 2
    for i in range(len(ratings)):
        for j in range(i):
            up, level, down = (
                math.exp((ratings[i] - ratings[j]) / 2),
                math.exp(log_nu),
                math.exp((ratings[j] - ratings[i]) / 2),
            )
            norm = up + level + down
            total += wins[i, j] * math.log(up / norm) + draws[i, j] * math.log(level / norm)
            total += wins[j, i] * math.log(down / norm)
    return total


@pytest.mark.parametrize(("won", "drawn", "lost"), [(12, 5, 3), (10, 0, 0), (0, 30, 1), (7, 0, 7)])
def test_two_players_agree_with_a_search_over_a_grid(won: int, drawn: int, lost: int) -> None:
    wins, draws = np.array([[0.0, won], [lost, 0]]), np.array([[0.0, drawn], [drawn, 0]])
    low, high = np.array([-8.0, -8.0]), np.array([8.0, 8.0])
    for _ in range(12):  # ever finer around the best: half the difference, log ν
        best, at = -math.inf, (0.0, 0.0)
        for half in np.linspace(low[0], high[0], 17):
            for log_nu in np.linspace(low[1], high[1], 17):
                here = slow_log_posterior([half, -half], log_nu, wins, draws)
                if here > best:
                    best, at = here, (half, log_nu)
        size = (high - low) / 5
        low, high = np.array(at) - size / 2, np.array(at) + size / 2
    nu = math.exp(at[1])
    found = fit(wins, draws)
    assert found.elo[0] == pytest.approx(at[0] * ELO / (1 + nu / 2), abs=0.1)
    assert found.elo[1] == pytest.approx(-found.elo[0])
    assert found.draws == pytest.approx(nu, rel=1e-3)


def test_intervals_agree_with_the_curvature_of_the_slow_model() -> None:
    random = np.random.default_rng(1)
    wins, draws = simulate(np.array([-90.0, 10.0, 80.0]), 0.8, 30, random)
    found = fit(wins, draws)
    scale = ELO / (1 + found.draws / 2)
    at = np.append(found.elo / scale, math.log(found.draws))  # the prior makes the mean 0 too

    def value(x: Floats) -> float:
        return slow_log_posterior(list(x[:3]), x[3], wins, draws)

    step, unit = 1e-3, np.eye(4)
    curvature = np.empty((4, 4))
    for i in range(4):
        assert value(at) >= value(at + step * unit[i]) and value(at) >= value(at - step * unit[i])
        for j in range(4):
            a, b = step * unit[i], step * unit[j]
            curvature[i, j] = (
                value(at + a + b) - value(at + a - b) - value(at - a + b) + value(at - a - b)
            ) / (4 * step**2)
    covariance = np.linalg.inv(-curvature)[:3, :3]
    off_mean = np.eye(3) - 1 / 3
    errors = Z * scale * np.sqrt(np.diag(off_mean @ covariance @ off_mean))
    assert found.errors == pytest.approx(errors, rel=1e-3)


@pytest.mark.parametrize("nu", [0.0, 0.5, 2.0])
def test_known_ratings_are_recovered_and_intervals_hold_them(nu: float) -> None:
    random = np.random.default_rng(2)
    true = np.array([-200.0, -50.0, 0.0, 80.0, 170.0])
    found = [fit(*simulate(true, nu, 40, random)) for _ in range(200)]
    assert np.mean([one.elo for one in found], axis=0) == pytest.approx(true, abs=15)
    inside = np.mean([np.abs(one.elo - true) <= one.errors for one in found])
    assert 0.93 <= inside <= 0.975


def test_many_games_leave_little_doubt() -> None:
    true = np.array([-120.0, 0.0, 120.0])
    found = fit(*simulate(true, 1.0, 20_000, np.random.default_rng(3)))
    assert found.elo == pytest.approx(true, abs=6) and (found.errors < 6).all()
    assert found.draws == pytest.approx(1.0, rel=0.05)


def test_the_order_of_the_players_does_not_matter() -> None:
    wins, draws = simulate(np.array([-100.0, 0.0, 40.0, 60.0]), 0.6, 10, np.random.default_rng(4))
    order = [2, 0, 3, 1]
    one, other = fit(wins, draws), fit(wins[np.ix_(order, order)], draws[np.ix_(order, order)])
    assert other.elo == pytest.approx(one.elo[order]) and other.errors == pytest.approx(one.errors[order])


@pytest.mark.parametrize(("won", "drawn", "lost"), [(60, 0, 40), (35, 50, 15)])
def test_two_players_differ_by_what_elos_formula_says(won: int, drawn: int, lost: int) -> None:
    found = fit(np.array([[0.0, won], [lost, 0]]), np.array([[0.0, drawn], [drawn, 0]]))
    assert found.elo[0] - found.elo[1] == pytest.approx(elo_of((won + drawn / 2) / 100), rel=0.03)


def test_whoever_wins_everything_stays_finite() -> None:
    few, many = (fit(np.array([[0.0, n], [0, 0]]), np.zeros((2, 2))) for n in (4, 400))
    assert 100 < few.elo[0] < many.elo[0] < 2000
    assert few.errors[0] > 100


def test_no_games_say_nothing() -> None:
    found = fit(np.zeros((3, 3)), np.zeros((3, 3)))
    assert (found.elo == 0).all() and (found.errors > 500).all()


def test_the_anchor_is_zero_and_certain() -> None:
    wins, draws = simulate(np.array([-100.0, 0.0, 100.0]), 0.5, 50, np.random.default_rng(5))
    free, anchored = fit(wins, draws), fit(wins, draws, anchor=0)
    assert anchored.elo[0] == 0 and anchored.errors[0] == pytest.approx(0, abs=1e-6)
    assert anchored.elo == pytest.approx(free.elo - free.elo[0])
    assert anchored.errors[2] > free.errors[2]  # it holds the doubt about the anchor too


def test_probabilities_are_symmetric_and_give_elos_score() -> None:
    for nu in (0.0, 2.0):
        win, draw, loss = elo.probabilities(100, nu)
        assert elo.probabilities(-100, nu) == pytest.approx((loss, draw, win))
        assert elo_of(win + draw / 2) == pytest.approx(100)
