"""Lines drawn by hand for every rule of the m,n,k family, in every direction, for both colours."""

import pytest

from tengen import games
from tengen.games.game import Game
from tengen.games.position import Position

SIZE = 15
RULES = {
    "freestyle": "gomoku15",
    "standard": "standard15",
    "renju": "renju15",
    "caro": "caro15",
    "caro-exact": "caro15-exact",
}

# X the player, O the opponent, | the edge of the board. For each rule what the last stone of the line
# does, whichever of the X it is: w wins, . nothing, x may not be played. Renju: black, then white.
#
#   line          freestyle  standard  renju  caro  caro-exact
TABLE = """
    OXXXXXO       w          w         ww     .     .
    OXXXXX.       w          w         ww     w     w
    |XXXXXO       w          w         ww     w     w
    |XXXXX.       w          w         ww     w     w
    .XXXXX.       w          w         ww     w     w
    OXXXXX.O      w          w         ww     w     w
    OXXXXX.X      w          w         ww     w     w
    OXXXXXXO      w          .         xw     w     .
    .XXXXXX.      w          .         xw     w     .
    |XXXXXX.      w          .         xw     w     .
    |XXXXXXO      w          .         xw     w     .
    OXXXXXXXO     w          .         xw     w     .
    OXXXXXXXXXO   w          .         xw     w     .
    .XXXX.        .          .         ..     .     .
    OXXXXO        .          .         ..     .     .
    |XXXXO        .          .         ..     .     .
    XXXOXX        .          .         ..     .     .
"""
LINES = {line: outcomes for line, *outcomes in (row.split() for row in TABLE.strip().splitlines())}

# A direction and the point at the edge where a line drawn in it begins.
WAYS = {
    "→": (0, 1, 7, 0),
    "←": (0, -1, 7, 14),
    "↓": (1, 0, 0, 7),
    "↑": (-1, 0, 14, 7),
    "↘": (1, 1, 0, 2),
    "↖": (-1, -1, 14, 12),
    "↙": (1, -1, 0, 12),
    "↗": (-1, 1, 14, 2),
}


def drawn(line: str, way: str, me: int) -> tuple[list[int], list[int]]:
    """The cells of a board with this line on it, and where on the board its X are."""
    down, right, row, col = WAYS[way]
    if not line.startswith("|"):  # away from the edge
        row, col = row + down, col + right
    cells, mine = [0] * SIZE * SIZE, []
    for at in line.strip("|"):
        point = row * SIZE + col
        if at != ".":
            cells[point] = me if at == "X" else 3 - me
        if at == "X":
            mine.append(point)
        row, col = row + down, col + right
    return cells, mine


def is_decided_before(line: str, last: int) -> bool:
    """Would five in a row remain if the X of this number had not been played yet?"""
    numbers = [i for i, at in enumerate(line) if at == "X"]
    without = line[: numbers[last]] + "." + line[numbers[last] + 1 :]
    return "XXXXX" in without


@pytest.mark.parametrize("me", [1, 2], ids=["black", "white"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("line", LINES)
def test_line(line: str, rule: str, me: int) -> None:
    outcomes = LINES[line][list(RULES).index(rule)]
    expected = outcomes[me - 1] if rule == "renju" else outcomes
    game = games.find(RULES[rule])
    tried = 0
    for way in WAYS:
        cells, mine = drawn(line, way, me)
        for number, last in enumerate(mine):
            if is_decided_before(line, number):
                continue
            before = [0 if point == last else cell for point, cell in enumerate(cells)]
            assert what_happens(game, before, last, me) == expected, f"{way} {line} completed by X {number}"
            tried += 1
    assert tried >= 8


def what_happens(game: Game, cells: list[int], last: int, me: int) -> str:
    """w if this stone wins, . if the game goes on, x if it may not be played."""
    state = game.set_up(cells, to_move=me)
    if not game.legal_mask(state)[last]:
        return "x"
    after = game.after(state, last)
    is_over, value = game.outcome(after)
    if not is_over:
        assert game.legal_mask(after).any()
        return "."
    assert value == -1.0  # for the player to move, who has lost
    assert not game.legal_mask(after).any()
    return "w"


@pytest.mark.parametrize(
    ("spec", "moves"),
    [
        ("tictactoe", [0, 3, 1, 4, 2]),
        ("tictactoe", [8, 0, 7, 1, 5, 2]),
        ("mnk:rows=4,cols=6,k=4", [0, 1, 6, 7, 12, 13, 18]),
        ("connect4", [3, 0, 3, 0, 3, 0, 3]),
        ("connect4", [3, 0, 3, 0, 3, 0, 6, 0]),
    ],
)
def test_a_win_is_minus_one_for_the_player_to_move(spec: str, moves: list[int]) -> None:
    game = games.find(spec)
    state = game.new_state()
    for move in moves:
        assert game.outcome(state) == (False, 0.0)
        state = game.after(state, move)
    assert game.outcome(state) == (True, -1.0)


def test_standard_goes_on_after_an_overline() -> None:
    """Black makes six, which counts as nothing; white, then black, makes five elsewhere."""
    position = Position.from_moves("standard15", "c8 a1 d8 b1 e8 c1 g8 a3 h8 b3 f8")
    assert not position.is_over
    assert position.play("d1").play("f9").play("e1").winner == 2
    longer = position.play("a15").play("i8")
    assert not longer.is_over  # seven
    for move in ("a14", "f9", "a13", "f10", "a7", "f11", "b7"):
        longer = longer.play(move)
    assert not longer.is_over
    assert longer.play("f12").winner == 1  # f8 to f12


def test_a_five_wins_in_standard_though_the_same_stone_makes_an_overline() -> None:
    cells, mine = drawn("XXXXXX", "→", 1)
    last = mine[2]
    for step in (1, 2, 3, 4):
        cells[last + step * SIZE] = 1
    cells[last] = 0
    assert Position.from_cells("standard15", cells, to_move=1).play(last).winner == 1


@pytest.mark.parametrize("rule", ["caro", "caro-exact"])
def test_caro_goes_on_after_a_blocked_five(rule: str) -> None:
    """And the blocked five is not looked at again, whatever is played next to it."""
    cells, mine = drawn("OXXXXXO", "→", 1)
    cells[mine[4]] = 0
    position = Position.from_cells(RULES[rule], cells, to_move=1).play(mine[4])
    for point in (mine[0] - SIZE, mine[0] + SIZE, mine[2] + SIZE, mine[4] + SIZE):
        assert not position.is_over
        position = position.play(point)
    assert not position.is_over


@pytest.mark.parametrize("rule", ["caro", "caro-exact"])
def test_caro_needs_only_one_open_line(rule: str) -> None:
    """One stone completes a blocked five and an open one."""
    cells, mine = drawn("OXXXXXO", "→", 1)
    last = mine[2]
    for step in (1, 2, 3, 4):
        cells[last + step * SIZE] = 1
    cells[last] = 0
    assert Position.from_cells(RULES[rule], cells, to_move=1).play(last).winner == 1


def test_a_full_board_is_a_draw() -> None:
    position = Position.from_moves("tictactoe", [0, 1, 2, 4, 3, 5, 7, 6])
    assert not position.is_over
    full = position.play(8)
    assert full.is_over
    assert full.winner is None
    assert full.game.outcome(full.state.copy()) == (True, 0.0)
    assert full.legal_moves == []


def test_the_last_stone_of_a_full_board_can_win() -> None:
    assert Position.from_moves("tictactoe", [0, 2, 1, 3, 4, 6, 5, 7, 8]).winner == 1


@pytest.mark.parametrize("rule", ["standard", "caro-exact", "caro", "freestyle"])
def test_a_full_board_of_another_size_is_a_draw(rule: str) -> None:
    """Pairs of columns take turns, so that nobody has five in a row."""
    rows, cols = 6, 7
    cells = [1 + (col // 2 + row) % 2 for row in range(rows) for col in range(cols)]
    last = cells.index(1)
    cells[last] = 0
    position = Position.from_cells(f"mnk:rows={rows},cols={cols},k=5,rule={rule}", cells, to_move=1)
    assert not position.is_over
    full = position.play(last)
    assert full.is_over
    assert full.winner is None


def test_renju_is_drawn_when_black_has_no_legal_move() -> None:
    """OOOXXXX.XOO: the one empty point would be an overline."""
    position = Position.from_moves("mnk:rows=1,cols=11,k=5,rule=renju", [3, 0, 4, 1, 5, 2, 6, 9, 8])
    assert not position.is_over
    stuck = position.play(10)
    assert stuck.to_move == 1
    assert stuck.is_over
    assert stuck.winner is None
    assert stuck.game.outcome(stuck.state.copy()) == (True, 0.0)
    assert stuck.legal_moves == []


def test_renju_goes_on_while_only_white_can_move() -> None:
    """The same board, but the last empty point is white's to take."""
    cells = [(0, 1, 2)[".XO".index(at)] for at in "OOXXXX.XOO"]
    white = Position.from_cells("mnk:rows=1,cols=10,k=5,rule=renju", cells, to_move=2)
    assert white.legal_actions == [6]
    assert white.play(6).is_over
    assert Position.from_cells("mnk:rows=1,cols=10,k=5,rule=renju", cells, to_move=1).is_over
