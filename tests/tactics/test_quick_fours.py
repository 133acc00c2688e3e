"""Fours on the board of patterns: every claim is that of the exact search, threats.py."""

from typing import Any

import numpy as np
import pytest

from tengen.games import find
from tengen.games.position import Position
from tengen.tactics.evaluation import UNKNOWN, settled
from tengen.tactics.lines import WINS, WINS_IN_TWO, Lines, count, new_lines, set_up
from tengen.tactics.quick_fours import LENGTH, NODES, find_fours, mark_defences, new_quick_fours
from tengen.tactics.threats import find_win, new_work
from tests.tactics.test_fours import sharp_positions

GAMES = ("gomoku15", "gomoku9", "standard15", "renju15", "mnk:rows=7,cols=9,k=4")


def is_settled(lines: Lines, me: int) -> bool:
    return bool(settled(lines, me, lines.tally[me - 1], lines.tally[2 - me]) != UNKNOWN)


def threatens_at_once(lines: Lines, me: int) -> bool:
    return bool(count(lines.tally[me - 1], WINS) + count(lines.tally[me - 1], WINS_IN_TWO) > 0)


@pytest.mark.parametrize("name", GAMES)
def test_it_finds_the_wins_that_there_are(name: str) -> None:
    game = find(name)
    lines, fours, work = new_lines(game), new_quick_fours(game), new_work(game)
    num_found = 0
    for position in sharp_positions(game, 500, seed=3):
        set_up(lines, position.state.copy())
        if is_settled(lines, position.to_move):
            continue
        arrays: list[Any] = list(lines)
        before = [array.copy() for array in arrays]
        plies = int(find_fours(lines, fours, position.to_move, 5000))
        assert all(np.array_equal(now, then) for now, then in zip(arrays, before, strict=True))
        exact = find_win(position, game, work=work)
        assert (plies > 0) == (exact.status == "found"), position.text()
        if plies:
            num_found += 1
            assert plies >= len(exact.line) and fours.numbers[LENGTH] <= plies
            me, length = position.to_move, int(fours.numbers[LENGTH])
            for action in fours.line[:length]:
                position = position.play(int(action))
            assert (position.winner == me) == (length == plies)  # it may end with an open four
    assert num_found > 4


@pytest.mark.parametrize("name", ["gomoku15", "gomoku9", "standard15"])
def test_moves_that_are_no_defence_lose(name: str) -> None:
    game = find(name)
    lines, fours, work = new_lines(game), new_quick_fours(game), new_work(game)
    num_threats = 0
    for position in sharp_positions(game, 300, seed=4):
        me = position.to_move
        set_up(lines, position.state.copy())
        if is_settled(lines, me) or threatens_at_once(lines, 3 - me) or find_fours(lines, fours, me, 1000):
            continue
        plies = find_fours(lines, fours, 3 - me, 1000)
        if plies == 0:
            continue
        num_threats += 1
        assert mark_defences(lines, fours, me)
        for action in position.legal_actions:
            if not fours.marks[action]:
                lost = find_win(position.play(action), game, work=work)
                assert lost.status == "found" and len(lost.line) <= plies, position.text()
    assert num_threats > 2


def test_the_number_of_fours_is_limited() -> None:
    game = find("gomoku15")
    lines, fours = new_lines(game), new_quick_fours(game)
    for position in sharp_positions(game, 60, seed=5):
        set_up(lines, position.state.copy())
        if not is_settled(lines, position.to_move):
            find_fours(lines, fours, position.to_move, 3)
            assert fours.numbers[NODES] <= 3


def test_nothing_is_claimed_where_a_four_has_several_replies_or_points_may_be_forbidden() -> None:
    caro = Position.from_moves("caro15", "h8 a1 i8 a3 j8 a5")
    lines = new_lines(caro.game)
    set_up(lines, caro.state.copy())
    assert find_fours(lines, new_quick_fours(caro.game), 1, 1000) == 0
    renju = find("renju15")
    assert not mark_defences(new_lines(renju), new_quick_fours(renju), 1)
