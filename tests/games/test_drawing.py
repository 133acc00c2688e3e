"""Boards drawn: text against golden files, pictures by their stones, and every game at all times."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tengen import games
from tengen.games import drawing, symmetry
from tengen.games.game import LAST_ACTION, Game, State
from tengen.games.position import Position

SVG = "{http://www.w3.org/2000/svg}"

# Double-threes at h10 and h6, a double-four at f3, an overline at f13; white keeps to the edges.
RENJU_BLACK = "h8 h9 i10 j10 c3 d3 e3 f4 f5 f6 c13 d13 e13 g13 h13"
RENJU_WHITE = "a1 c1 e1 g1 i1 k1 m1 o1 a15 c15 e15 g15 i15 k15 m15"
RENJU = " ".join(f"{b} {w}" for b, w in zip(RENJU_BLACK.split(), RENJU_WHITE.split(), strict=True))

GAMES = {
    "tictactoe": "b2 a1 c3 a3 a2 c2 b1 b3 c1",
    "gomoku9": "e5 e6 f5 d5 f6 f4 g5",
    "renju15": RENJU,
    "connect4": "443543251",
    "othello8": "d3 c3 c4 e3 f4",
    "hex7": "d4 c5 e3 d3 c6",
}


@pytest.mark.parametrize("name", GAMES)
def test_text_is_as_reviewed(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"drawing/{name}.txt", Position.from_moves(name, GAMES[name]).text() + "\n")


@pytest.mark.parametrize("name", GAMES)
def test_color_shows_what_the_plain_text_shows(name: str) -> None:
    position = Position.from_moves(name, GAMES[name])
    board = [without_color(line).rstrip() for line in position.text(color=True).splitlines()[:-1]]
    painted = str.maketrans("XO.#()", "●●·×  ")
    assert board == [line.translate(painted).rstrip() for line in position.text().splitlines()[:-1]]


def test_color_tells_the_players_apart_and_marks_the_last_stone() -> None:
    text = Position.from_moves("gomoku9", "e5 e6").text(color=True)
    wood = drawing.WOOD.terminal
    assert f"\x1b[38;5;{wood['X']};48;5;{wood['board']}m●" in text
    assert f"\x1b[38;5;{wood['O']};48;5;{wood['last']}m●" in text
    assert without_color(text).endswith("●  X to move, last move e6")


def test_wide_column_names_keep_the_grid() -> None:
    lines = Position.from_moves("connect:rows=4,cols=12,k=4", "12 1").text().splitlines()
    assert lines[-3:-1] == [
        " (O) .  .  .  .  .  .  .  .  .  .  X",
        "  1  2  3  4  5  6  7  8  9 10 11 12",
    ]


@pytest.mark.parametrize(
    ("name", "moves", "last_line"),
    [
        ("gomoku9", "", "X to move"),
        ("gomoku9", "e5", "O to move, last move e5"),
        ("tictactoe", "a1 b1 a2 b2 a3", "X wins, last move a3"),
        ("tictactoe", "a1 b1 a2 b2 c3 b3", "O wins, last move b3"),
        ("tictactoe", GAMES["tictactoe"], "draw, last move c1"),
    ],
)
def test_last_line_says_how_it_stands(name: str, moves: str, last_line: str) -> None:
    assert Position.from_moves(name, moves).text().splitlines()[-1] == last_line


@pytest.mark.parametrize("name", games.names())
def test_every_game_can_be_drawn_at_any_time(name: str) -> None:
    game = games.find(name)
    played = random_game(game)
    for state in (played[0], played[len(played) // 2], played[-1]):
        for text in (drawing.text(game, state), drawing.text(game, state, color=True)):
            assert not any(line != line.rstrip() for line in text.splitlines())
        stones = find_all(picture(game, state), "stone")
        cells = state[game.cells]
        assert len(stones) == np.isin(cells, (1, 2)).sum()
        assert sum(stone.get("data-player") == "2" for stone in stones) == (cells == 2).sum()


def test_a_picture_needs_nothing_else() -> None:
    game = games.find("renju15")
    state = Position.from_moves(game, RENJU).state.copy()
    root = picture(game, state)
    assert root.tag == f"{SVG}svg"
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    assert root.findtext(f"{SVG}title") == "renju15: first player to move, last move m15"
    assert not {f"{SVG}script", f"{SVG}style", f"{SVG}image"} & {element.tag for element in root.iter()}
    source = drawing.svg(game, state)
    assert source.count("http") == 1 and "href" not in source  # the name of the format itself
    assert source == drawing.svg(game, state)


def test_names_are_escaped_in_pictures() -> None:
    game = replace(games.find("tictactoe"), name="<&>")
    assert picture(game, game.new_state()).findtext(f"{SVG}title") == "<&>: first player to move"


def test_stones_stand_where_their_moves_say() -> None:
    stones = places("gomoku9", "e5 e6 f5")
    assert {move: place for move, (_, place) in stones.items()} == {
        "e5": (208, 208),  # the middle of 9 cells of 40 pixels in a margin of 28
        "e6": (208, 168),
        "f5": (248, 208),
    }
    assert [player for player, _ in stones.values()] == ["2", "1", "1"]  # from the top row down


def test_row_one_is_at_the_top_in_othello() -> None:
    stones = places("othello8", "d3")
    assert stones["d3"][1][1] < stones["d4"][1][1] < stones["d5"][1][1]


def test_columns_fill_from_below() -> None:
    root = ET.fromstring(Position.from_moves("connect4", "44").svg())
    upper, lower = (center(stone) for stone in find_all(root, "stone"))
    assert upper[0] == lower[0] and upper[1] == lower[1] - drawing.CELL


def test_rows_of_hex_shift_by_half_a_cell() -> None:
    stones = places("hex7", "a1 a2 a3")
    assert [stones[move][1][0] for move in ("a1", "a2", "a3")] == [48, 68, 88]


@pytest.mark.parametrize("name", GAMES)
def test_last_stone_is_marked(name: str) -> None:
    position = Position.from_moves(name, GAMES[name])
    root = ET.fromstring(position.svg())
    (mark,) = find_all(root, "last")
    at_mark = [stone for stone in find_all(root, "stone") if center(stone) == center(mark)]
    assert [stone.get("data-move") for stone in at_mark] == [position.last_move]


def test_forbidden_points_are_crossed() -> None:
    root = ET.fromstring(Position.from_moves("renju15", RENJU).svg())
    crosses = {center(cross) for cross in find_all(root, "forbidden")}
    assert crosses == {(248, 128), (328, 248), (328, 408), (248, 528)}  # f13 h10 h6 f3


def test_a_pass_marks_nothing() -> None:
    game = games.find("othello8")
    state = game.new_state()
    state[LAST_ACTION] = game.rows * game.cols
    assert find_all(picture(game, state), "last") == []
    assert "(" not in drawing.text(game, state)
    assert drawing.text(game, state).endswith("last move pass")


@dataclass(frozen=True)
class Numbers:
    """Moves of a game from outside, named by numbers."""

    def name(self, action: int) -> str:
        return f"#{action}"

    def action(self, text: str) -> int:
        return int(text[1:])

    def split(self, text: str) -> list[str]:
        return text.split()


def test_actions_that_are_no_cells_mark_nothing() -> None:
    symmetries = symmetry.identity(num_cells=9, num_actions=20)
    game = replace(games.find("tictactoe"), moves=Numbers(), num_actions=20, symmetries=symmetries)
    state = game.after(game.new_state(), 0)
    assert drawing.text(game, state).splitlines() == [
        "3 X . .",
        "2 . . .",
        "1 . . .",
        "  a b c",
        "O to move, last move #0",
    ]
    assert find_all(picture(game, state), "last") == []


def random_game(game: Game) -> list[State]:
    """The states of a game of random moves."""
    random = np.random.default_rng(1)
    states = [game.new_state()]
    while not game.outcome(states[-1])[0]:
        states.append(game.after(states[-1], int(random.choice(np.flatnonzero(game.legal_mask(states[-1]))))))
    return states


def without_color(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def picture(game: Game, state: State) -> ET.Element:
    return ET.fromstring(drawing.svg(game, state))


def find_all(root: ET.Element, name: str) -> list[ET.Element]:
    """The elements of a class, in the order they are drawn."""
    return [element for element in root.iter() if element.get("class") == name]


def center(element: ET.Element) -> tuple[float, float]:
    """The middle of a circle, of a stone (drawn after its shadow), or of a cross."""
    shape = list(element.iter())[-1]
    if "cx" in shape.attrib:
        return float(shape.attrib["cx"]), float(shape.attrib["cy"])
    x, y, stroke = re.findall(r"[-0-9.]+", shape.attrib["d"])[:3]
    return float(x) + float(stroke) / 2, float(y) + float(stroke) / 2


def places(name: str, moves: str) -> dict[str, tuple[str, tuple[float, float]]]:
    """Each stone of a picture by its move: the player and the place."""
    root = ET.fromstring(Position.from_moves(name, moves).svg())
    return {s.attrib["data-move"]: (s.attrib["data-player"], center(s)) for s in find_all(root, "stone")}
