"""Patterns: drawn lines, the rules' own fives, and the incremental board against a slow one."""

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from tengen.games import find
from tengen.games.mnk import HEADER, RULES
from tengen.games.renju import FORBIDDEN
from tengen.tactics.lines import (
    FIVE,
    FOUR,
    NAMES,
    ONE_FOUR,
    OPEN_FOUR,
    OPEN_THREE,
    WINS,
    WINS_IN_TWO,
    WORTH,
    Lines,
    clear,
    count,
    line_reach,
    line_table,
    new_lines,
    peek,
    place,
    rank,
    remove,
    set_up,
)

GAMES = [
    "gomoku15", "gomoku6", "tictactoe", "standard15", "caro15", "caro15-exact", "renju15",
    "mnk:rows=5,cols=9,k=4,rule=standard", "mnk:rows=9,cols=4,k=4,rule=caro",
    "mnk:rows=7,cols=8,k=3,rule=caro-exact", "mnk:rows=8,cols=10,k=6",
]  # fmt: skip


# X plays at *, O is the opponent, | the edge; outside the drawing everything is empty.
DRAWN = """
freestyle   .XX*X.          open four
freestyle   OXX*X.          four
freestyle   |XX*X.          four
freestyle   OXX*XO          none
freestyle   XX*.X           four
freestyle   X.X*X.X         open four
freestyle   XXX.*.XXX       open four
freestyle   XX*XX           five
freestyle   XX*XXX          five
freestyle   OXX*XXO         five
freestyle   .XX*.           open three
freestyle   .X.X*.          open three
freestyle   .X*.X.          open three
freestyle   OX.X*.          three
freestyle   OXX*.           three
freestyle   |.XX*.|         three
freestyle   O.XX*.O         three
freestyle   O.XX*..         open three
freestyle   X..X*           three
freestyle   X...*           two
freestyle   .X*.            open two
freestyle   ..X.*..         open two
freestyle   OX*.            two
freestyle   |X*.            two
freestyle   *               none
freestyle   O*O             none
freestyle4  .X*.            open three
freestyle4  .XX*.           open four
freestyle4  XX*X            five
freestyle4  |XX*.           four
freestyle4  *               open two
freestyle4  |.X*.|          three
standard    XX*XX           five
standard    XX*XXX          none
standard    .XX*X.          open four
standard    X.XX*X.         four
standard    X.XX*X.X        none
standard    .XX*.           open three
standard    X.XX*..         four
standard    X.XX*..         four
standard    OXX*XXO         five
caro        OXX*XXO         none
caro        OXX*XX.         five
caro        |XX*XXO         five
caro        OXX*XXXO        five
caro        .XX*XXX.        five
caro        .XX*X.          open four
caro        O.XX*X.O        four
caro        OXX*X.          four
caro        OXX*X.O         none
caro        |XX*X.O         four
caro-exact  OXX*XXO         none
caro-exact  OXX*XX.         five
caro-exact  |XX*XXO         five
caro-exact  OXX*XXXO        none
caro-exact  .XX*XXX.        none
caro-exact  .XX*X.          open four
renju       XX*XXX          none
renju       .XX*X.          open four
renju       X.XX*X.X        none
"""


@pytest.mark.parametrize("drawn", [line for line in DRAWN.splitlines() if line])
@pytest.mark.parametrize("me", [1, 2])
@pytest.mark.parametrize("is_turned", [False, True])
def test_drawn_lines(drawn: str, me: int, is_turned: bool) -> None:
    rule, line, name = drawn.split(maxsplit=2)
    k = 4 if rule.endswith("4") else 5
    number = RULES.index(rule.removesuffix("4"))
    if rule == "renju" and me == 2:
        number = RULES.index("renju")
        name = {"XX*XXX": "five", ".XX*X.": "open four", "X.XX*X.X": "open four"}[line]
    if is_turned:
        line = line[::-1]
    reach = line_reach(k, number)
    digits = {".": 0, "X": me, "O": 3 - me, "|": 3}
    centre, code = line.index("*"), 0
    for away in [*range(-reach, 0), *range(1, reach + 1)]:
        at = centre + away
        inside = min(max(at, 0), len(line) - 1)
        cell = line[at] if at == inside else ("|" if line[inside] == "|" else ".")
        code |= digits[cell] << 2 * (away + reach if away < 0 else away + reach - 1)
    found = int(line_table(k, number)[code]) >> 3 * (me - 1) & 7
    assert NAMES[found] == name


@lru_cache(maxsize=500_000)
def slow_pattern(line: str, k: int, rule: str, me: int) -> int:
    """What the stone * makes in a line of `.XO`: by trying what comes next, on strings."""
    if slow_five(line, k, rule, me):
        return FIVE
    centre = line.index("*")
    best = 0
    empty = [at for at, cell in enumerate(line) if cell == "." and abs(at - centre) <= k]
    for at in empty:
        best = max(best, slow_pattern(line[:at] + "X" + line[at + 1 :], k, rule, me))
    if best == FIVE:
        replies = [line[:at] + "O" + line[at + 1 :] for at in empty]
        return OPEN_FOUR if all(slow_pattern(reply, k, rule, me) >= FOUR for reply in replies) else FOUR
    return max(0, best - 2) if best >= 3 else 0


def slow_five(line: str, k: int, rule: str, me: int) -> bool:
    stones = line.replace("*", "X")
    first = last = line.index("*")
    while first > 0 and stones[first - 1] == "X":
        first -= 1
    while last + 1 < len(stones) and stones[last + 1] == "X":
        last += 1
    length = last - first + 1
    ends = stones[max(first - 1, 0) : first] + stones[last + 1 : last + 2]
    if rule == "freestyle" or (rule == "renju" and me == 2):
        return length >= k
    if rule in ("standard", "renju"):
        return length == k
    return (length == k and ends != "OO") or (length > k and rule == "caro")


def slow_shape(cells: np.ndarray, point: tuple[int, int], k: int, rule: str, me: int) -> list[int]:
    """The four patterns of a stone, from the whole lines of the board."""
    rows, cols = cells.shape
    found = []
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        line = ""
        for away in range(-k, k + 1):
            row, col = point[0] + away * down, point[1] + away * right
            if 0 <= row < rows and 0 <= col < cols:
                line += (
                    "*"
                    if away == 0
                    else ".XO"[(0, 1, 2)[cells[row, col]] if me == 1 else (0, 2, 1)[cells[row, col]]]
                )
        found.append(slow_pattern(line, k, rule, me))
    return found


def check_board(lines: Lines) -> None:
    rows, cols, k, rule = (int(number) for number in lines.state[:4])
    cells = lines.state[HEADER : HEADER + rows * cols].reshape(rows, cols)
    worth, tally = [0, 0], np.zeros((2, 7), int)
    for point in np.flatnonzero(cells.ravel() == 0):
        for me in (1, 2):
            shape = int(lines.shapes[point]) >> 12 * (me - 1) & 4095
            slow = slow_shape(cells, divmod(int(point), cols), k, RULES[rule], me)
            assert [shape >> 3 * direction & 7 for direction in range(4)] == slow
            worth[me - 1] += sum(WORTH[pattern] for pattern in slow)
            tally[me - 1, int(rank(lines, lines.shapes[point], me))] += 1
    assert [lines.worth[0] & 0xFFFFFFFF, lines.worth[0] >> 32] == worth
    assert lines.left[0] == (cells == 0).sum()
    for me in (0, 1):
        assert [count(lines.tally[me], i) for i in range(1, 7)] == tally[me, 1:].tolist()


@pytest.mark.parametrize("name", GAMES)
def test_placing_and_removing_keeps_the_board_as_if_made_anew(name: str) -> None:
    game, random = find(name), np.random.default_rng(1)
    lines = new_lines(game)
    stones: list[int] = []
    for turn in range(120):
        fill = min(turn / 60, 0.8) * game.num_actions
        if stones and (len(stones) > fill or random.random() < 0.3):
            remove(lines, stones.pop(random.integers(len(stones))))
        else:
            point = int(random.choice(np.setdiff1d(np.arange(game.num_actions), stones)))
            stone = int(random.integers(1, 3))
            seen = peek(lines, point, stone)
            place(lines, point, stone)
            stones.append(point)
            assert seen == (lines.worth[0], lines.tally[0], lines.tally[1])
        if turn % 20 == 19:
            check_board(lines)
    clear(lines)
    fresh = new_lines(game)
    pairs: list[Any] = list(zip(lines, fresh, strict=True))
    assert all(np.array_equal(mine, theirs) for mine, theirs in pairs)


@pytest.mark.parametrize("name", GAMES)
def test_a_five_in_the_table_is_a_win_by_the_rules(name: str) -> None:
    game, random = find(name), np.random.default_rng(2)
    lines = new_lines(game)
    wins = 0
    for _ in range(40):
        cells = random.choice(3, game.num_actions, p=[0.25, 0.5, 0.25])
        if random.random() < 0.5:
            cells[cells > 0] = 3 - cells[cells > 0]
        state = game.new_state()
        state[game.cells] = cells
        set_up(lines, state)
        for point in np.flatnonzero(cells == 0):
            for me in (1, 2):
                state[-1] = me
                after = game.after(state, int(point))
                is_five = int(rank(lines, lines.shapes[point], me)) == WINS
                assert is_five == (after[-3] == me)
                wins += is_five
    assert wins > 20


def test_two_fours_count_as_an_open_four_but_not_for_black_in_renju() -> None:
    board = ["." * 15 for _ in range(15)]
    board[7] = "....OXXX......."  # a four at (7, 8) …
    for row in (8, 9, 10):
        board[row] = "........X......"  # … and another, downwards
    board[11] = "........O......"
    cells = [".XO".index(cell) for cell in "".join(board)]
    crossing = 7 * 15 + 8
    for name, expected in (("gomoku15", WINS_IN_TWO), ("renju15", 0)):
        game = find(name)
        lines = new_lines(game)
        state = game.set_up(cells, to_move=1)
        set_up(lines, state)
        assert int(rank(lines, lines.shapes[crossing], 1)) == expected
        assert int(rank(lines, lines.shapes[7 * 15 + 9], 1)) == ONE_FOUR
        assert (state[HEADER + crossing] == FORBIDDEN) == (name == "renju15")


def test_open_three_is_the_first_notable_pattern() -> None:
    assert [pattern & 4 > 0 for pattern in range(8)] == [pattern >= OPEN_THREE for pattern in range(8)]
