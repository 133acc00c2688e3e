"""The sequential test: its error rates, its bounds, and that it stops."""

import math

import numpy as np
import pytest

from tengen import games
from tengen.arena.match import Match
from tengen.arena.score import PAIR_SCORES, score_of
from tengen.arena.sprt import Sprt, sprt_games, sprt_result
from tengen.errors import UserError
from tengen.workers.tasks import RunTasks

RUNS = 200


@pytest.mark.parametrize("elo", [0.0, 100.0])
def test_errors_are_about_as_rare_as_asked(elo: float) -> None:
    test = Sprt(elo0=0.0, elo1=100.0)
    random = np.random.default_rng(0)
    tilted = np.array([0.15, 0.15, 0.4, 0.15, 0.15])  # pairs, tilted until their mean is the score of elo
    low, high = -5.0, 5.0
    for _ in range(60):
        tilt = (low + high) / 2
        chances = tilted * np.exp(tilt * np.array(PAIR_SCORES))
        chances /= chances.sum()
        low, high = (tilt, high) if chances @ PAIR_SCORES < score_of(elo) else (low, tilt)
    verdicts, lengths = [], []
    for _ in range(RUNS):
        counts = [0] * 5
        while (verdict := test.verdict(counts)) == "undecided":
            counts[random.choice(5, p=chances)] += 1
        verdicts.append(verdict)
        lengths.append(sum(counts))
    wrong = verdicts.count("stronger" if elo == 0 else "not stronger") / RUNS
    assert 0.005 <= wrong <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / RUNS)
    assert np.mean(lengths) < 60


def test_the_sign_and_the_bounds() -> None:
    test = Sprt(elo0=0, elo1=50, alpha=0.05, beta=0.1)
    assert test.bounds == (math.log(0.1 / 0.95), math.log(0.9 / 0.05))
    assert test.llr([0, 0, 0, 0, 0]) == pytest.approx(0, abs=0.01)
    assert test.llr([0, 0, 5, 5, 20]) > 0 > test.llr([20, 5, 5, 0, 0])
    assert (
        test.verdict([0, 0, 10, 20, 60]) == "stronger" and test.verdict([60, 20, 10, 0, 0]) == "not stronger"
    )


def test_it_stops_as_soon_as_it_knows_in_one_process_and_in_two(
    run_tasks: RunTasks, in_two: RunTasks
) -> None:
    test = Sprt(elo0=0, elo1=200)
    pairing = Match(games.find("connect4"), "uct:sims=100", "uniform", seed=3)
    one, two = (list(sprt_games(pairing, test, 400, workers)) for workers in (run_tasks, in_two))
    assert [game.moves for game in one] == [game.moves for game in two] and 4 <= len(one) < 60
    result = sprt_result(pairing, test, one)
    assert result.verdict == "stronger" and result.llr >= test.bounds[1]
    assert "uct:sims=100 is stronger than uniform: +200 Elo, not +0" in result.to_text()
    assert sprt_result(pairing, test, one[:-2]).verdict == "undecided"


def test_it_gives_up_after_the_games_it_was_given(run_tasks: RunTasks) -> None:
    pairing = Match(games.find("tictactoe"), "uniform", "uniform")
    counted = list(sprt_games(pairing, Sprt(elo0=0, elo1=5), 6, run_tasks))
    assert len(counted) == 6
    assert (
        sprt_result(pairing, Sprt(elo0=0, elo1=5), counted)
        .to_text()
        .startswith("after 6 games it is not known")
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"elo0": 5, "elo1": 5}, "sprt: elo0 is below elo1, got 5 and 5"),
        ({"alpha": 0}, "sprt: alpha is between 0 and 0.5, got 0"),
        ({"beta": 0.7}, "sprt: beta is between 0 and 0.5, got 0.7"),
    ],
)
def test_a_test_that_makes_no_sense(settings: dict[str, float], message: str) -> None:
    with pytest.raises(UserError) as error:
        Sprt(**settings)
    assert str(error.value) == message
