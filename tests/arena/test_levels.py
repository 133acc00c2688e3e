"""The table of levels: differences between neighbours add up, and so do their uncertainties."""

import math

import pytest

from tengen import games
from tengen.arena.levels import level_table, level_tournament
from tengen.arena.played import PlayedGame

GAME = games.find("tictactoe")


def played(stronger_points: dict[int, list[float]]) -> list[PlayedGame]:
    """Games of level n + 1 against level n, with the points of level n + 1."""
    found = []
    for level, points in stronger_points.items():
        for i, point in enumerate(points):
            a, b = f"level:n={level + 1}", f"level:n={level}"
            index = 1000 * level + i
            is_first = index % 2 == 0
            result = "1/2" if point == 0.5 else "1-0" if (point == 1) == is_first else "0-1"
            found.append(
                PlayedGame(index, "tictactoe", (a, b) if is_first else (b, a), 0, (), result, "", (), 0)
            )
    return found


def test_differences_add_up_and_squares_of_errors_too() -> None:
    points = [1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.5] * 10
    table = level_table(level_tournament(GAME), played(dict.fromkeys(range(1, 10), points)))
    first, second, third = table.levels[:3]
    assert (first.elo, first.low, first.high) == (0, 0, 0)
    score = 5.5 / 8
    assert second.elo == pytest.approx(400 * math.log10(score / (1 - score)), abs=1)
    assert second.elo is not None and second.low is not None and third.low is not None
    assert third.elo is not None and abs(third.elo - 2 * second.elo) <= 1
    assert third.elo - third.low == pytest.approx(math.sqrt(2) * (second.elo - second.low), abs=2)
    assert table.matches[0].a == "level:n=2" and table.matches[0].score == score
    assert len(table.to_text().splitlines()) == 12


def test_levels_above_a_match_without_games_or_losses_have_no_elo() -> None:
    table = level_table(level_tournament(GAME), played({1: [1.0, 0.5] * 20, 2: [1.0] * 40}))
    assert table.levels[1].elo is not None
    assert all(level.elo is None for level in table.levels[2:])
    assert "?" in table.to_text()
