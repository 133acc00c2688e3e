"""Boards as text for a terminal and as SVG pictures: one drawing for all games, from their cells.

    4 . . . .      X first player's, O second player's, # empty but forbidden (renju), other pieces by their
    3 . O(X).      number; the last move's stone in parentheses, and : where it came from. In colour the same
    2 : X . .      characters become discs on a board with its own background, so it looks the same on
    1 . . . .      dark and light terminals.
      a b c d

In Hex the first player connects top and bottom, the second left and right.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from tengen.games.coordinates import LETTERS, BoardMoves, Columns
from tengen.games.game import LAST_ACTION, TO_MOVE, Game, Look, State

MARKS = ".XO#"  # by the value of the cell
FORBIDDEN = 3
CELL, MARGIN = 40, 28  # pixels of a picture
HEX_EDGE = CELL / math.sqrt(3)

Point = tuple[float, float]  # x to the right, y down, in pixels


@dataclass(frozen=True)
class Style:
    """The colours of a board; gradients are (light, dark)."""

    name: str
    board: tuple[str, str]  # a gradient; the coordinates are written on it
    field: str  # what a cell is filled with
    line: str
    label: str
    stones: tuple[tuple[str, str], tuple[str, str]]  # a gradient for each player
    last: str  # the mark on the last stone
    radius: float  # of a stone, in pixels
    terminal: dict[str, int]  # 256-colour codes: the board, the last stone's place, lines, marks


BLACK_AND_WHITE = (("#6b6b6b", "#0c0c0c"), ("#ffffff", "#cfcdc6"))
RED_AND_YELLOW = (("#ff6b62", "#d3231f"), ("#ffe566", "#eab308"))
RED_AND_BLUE = (("#f2685f", "#c92a2a"), ("#5b9bf0", "#1c5fc4"))

# fmt: off
WOOD = Style(
    "wood", board=("#edc98a", "#d9a85b"), field="none", line="#6b4a1f", label="#5a3d18",
    stones=BLACK_AND_WHITE, last="#e5383b", radius=18.5,
    terminal={"board": 179, "last": 137, "line": 94, "X": 16, "O": 231, "#": 124},
)
FELT = Style(
    "felt", board=("#24593f", "#1b4631"), field="#3b9465", line="#1f5a3e", label="#d5e8dc",
    stones=BLACK_AND_WHITE, last="#e5383b", radius=16,
    terminal={"board": 29, "last": 72, "line": 23, "X": 16, "O": 231, "#": 124},
)
PLASTIC = Style(
    "plastic", board=("#2f74d8", "#1d55ab"), field="#133c7c", line="#17489a", label="#dbe8fb",
    stones=RED_AND_YELLOW, last="#1b2a4a", radius=17,
    terminal={"board": 25, "last": 18, "line": 67, "X": 203, "O": 220, "#": 16},
)
PAPER = Style(
    "paper", board=("#f7f4ec", "#e9e4d7"), field="#fffdf8", line="#b5ae9e", label="#5c574c",
    stones=RED_AND_BLUE, last="#262320", radius=15,
    terminal={"board": 254, "last": 222, "line": 245, "X": 160, "O": 26, "#": 16},
)
# fmt: on

STYLES: dict[Look, Style] = {"points": WOOD, "squares": FELT, "columns": PLASTIC, "hexagons": PAPER}


def text(game: Game, state: State, *, color: bool = False) -> str:
    """The board for a terminal, and a last line that says who is to move or who won."""
    columns = [_column_name(game, col) for col in range(game.cols)]
    pitch = 1 + max(map(len, columns))
    header = "".join(name.rjust(pitch) for name in columns)
    names = [_row_name(game, row) for row in range(game.rows)]
    board = [_text_row(game, state, row, pitch) for row in range(game.rows)]
    if game.look == "hexagons":
        header, names, board = " " + header, ["", *(name + " " for name in names), ""], _with_sides(board)
    if color:
        board = [_paint(game, line) for line in board]
    gutter = max(map(len, names))
    lines = [name.rjust(gutter) + line for name, line in zip(names, board, strict=True)]
    lines.insert(0 if _row_one_is_top(game) else len(lines), " " * gutter + header)
    if game.look == "hexagons":  # each line half a cell further to the right
        lines = [" " * i + line for i, line in enumerate(lines)]
    players = [f"{_paint(game, f' {mark} ')} {mark}" if color else mark for mark in "XO"]
    return "\n".join(line.rstrip() for line in [*lines, _status(game, state, players)])


def svg(game: Game, state: State) -> str:
    """The board as a self-contained SVG picture."""
    drawn = picture(game, state)
    ET.indent(drawn, " ")
    return ET.tostring(drawn, encoding="unicode") + "\n"


def picture(game: Game, state: State) -> ET.Element:
    """The board as the elements of an SVG picture.

    A stone is a <g class="stone" data-move="h8" data-player="1">; see also class "last", "from", "forbidden".
    """
    style = _style(game)
    right, bottom = _center(game, game.rows - 1, game.cols - 1)
    width, height = math.ceil(right + CELL / 2 + MARGIN), math.ceil(bottom + CELL / 2 + MARGIN)
    drawn = ET.Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}")
    drawn.attrib |= {"width": str(width), "height": str(height), "font-family": "sans-serif"}
    players = ["first player", "second player"]
    _add(drawn, "title").text = f"{game.name}: {_status(game, state, players)}"
    _add_gradients(game, drawn)
    _add(drawn, "rect", width=width, height=height, rx=8, fill=f"url(#{style.name}-board)")
    _add_board(game, drawn)
    _add_coordinates(game, drawn)
    for cell, value in enumerate(state[game.cells]):
        if value in (1, 2):
            _add_stone(game, drawn, cell, int(value))
        elif value == FORBIDDEN:
            x, y = _center(game, *divmod(cell, game.cols))
            cross = f"M{x - 5:g} {y - 5:g}l10 10m0 -10l-10 10"
            _add(drawn, "path", class_="forbidden", d=cross, stroke="#c92a2a", stroke_width=2.5)
    for cell in _last_cells(game, state)[:-1]:
        x, y = _center(game, *divmod(cell, game.cols))
        _add(drawn, "circle", class_="from", cx=x, cy=y, r=5, fill="none", stroke=style.last, stroke_width=2)
    for cell in _last_cells(game, state)[-1:]:
        x, y = _center(game, *divmod(cell, game.cols))
        _add(drawn, "circle", class_="last", cx=x, cy=y, r=5, fill=style.last)
    return drawn


# Shared by text and picture.


def _style(game: Game) -> Style:
    return PAPER if _is_noughts_and_crosses(game) else STYLES[game.look]


def _is_noughts_and_crosses(game: Game) -> bool:
    """Is the board so small that it is drawn with crosses and circles, as on paper?"""
    return game.look == "squares" and max(game.rows, game.cols) <= 3


def _column_name(game: Game, col: int) -> str:
    is_number = isinstance(game.moves, Columns) or game.cols > len(LETTERS)
    return str(col + 1) if is_number else LETTERS[col]


def _row_name(game: Game, row: int) -> str:
    if isinstance(game.moves, Columns):
        return ""
    return str(row + 1 if _row_one_is_top(game) else game.rows - row)


def _row_one_is_top(game: Game) -> bool:
    return isinstance(game.moves, BoardMoves) and game.moves.row_one == "top"


def _last_cells(game: Game, state: State) -> tuple[int, ...]:
    """The cells of the last move, its end last; empty after a pass or an action of unknown kind."""
    action, cells = int(state[LAST_ACTION]), state[game.cells]
    if action < 0:
        return ()
    if isinstance(game.moves, BoardMoves):
        return game.moves.touched(action)
    if game.action_kind == "columns":
        return tuple(cell for cell in range(action, len(cells), game.cols) if cells[cell])[:1]
    return (action,) if game.action_kind == "cells" and action < len(cells) else ()


def _status(game: Game, state: State, players: list[str]) -> str:
    """Who is to move or who won, and the last move."""
    is_over, value = game.outcome(state)
    me = int(state[TO_MOVE])
    if not is_over:
        status = f"{players[me - 1]} to move"
    elif value == 0:
        status = "draw"
    else:
        status = f"{players[me - 1 if value > 0 else 2 - me]} wins"
    last = int(state[LAST_ACTION])
    return status if last < 0 else f"{status}, last move {game.moves.name(last)}"


# The parts of the text.


def _text_row(game: Game, state: State, row: int, pitch: int) -> str:
    cells = state[game.cells][row * game.cols : (row + 1) * game.cols]
    line = "".join(_mark(int(cell)).rjust(pitch) for cell in cells) + " "
    touched = _last_cells(game, state)
    for cell in touched:
        at = cell % game.cols * pitch + pitch - 1
        if cell // game.cols == row and cell == touched[-1]:
            line = f"{line[: at - 1]}({line[at]}){line[at + 2 :]}"
        elif cell // game.cols == row and line[at] == ".":
            line = f"{line[:at]}:{line[at + 1 :]}"
    return line


def _mark(cell: int) -> str:
    return MARKS[cell] if 0 <= cell < len(MARKS) else str(cell)[-1]


def _with_sides(board: list[str]) -> list[str]:
    r"""The rows of Hex between the sides to connect: X ---- above and below, O \\\\ left and right."""
    rows = [f"\\{line}\\" for line in board]
    rows[len(rows) // 2] = f"O{board[len(rows) // 2]}O"
    side = " " + " X ".center(len(board[0]), "-") + " "
    return [side, *rows, side]


def _paint(game: Game, line: str) -> str:
    """A part of the board in ANSI colours."""
    colors = _style(game).terminal
    inks = {mark: colors[mark] for mark in "XO#"} | {"-": colors["X"], "\\": colors["O"]}
    glyphs = {"X": "●", "O": "●", ".": "·", ":": "·", "#": "×", "(": " ", ")": " "}
    painted, ground = "", colors["board"]
    for char in line:
        ground = colors["last"] if char == "(" else ground
        under = colors["last"] if char == ":" else ground
        painted += f"\x1b[38;5;{inks.get(char, colors['line'])};48;5;{under}m{glyphs.get(char, char)}"
        ground = colors["board"] if char == ")" else ground
    return painted + "\x1b[0m"


# The parts of the picture.


def _center(game: Game, row: float, col: float) -> Point:
    """The middle of a cell, on the board or beside it."""
    if game.look == "hexagons":
        return MARGIN + CELL * (col + row / 2 + 0.5), MARGIN + CELL / 2 + HEX_EDGE * 1.5 * row
    return MARGIN + CELL * (col + 0.5), MARGIN + CELL * (row + 0.5)


def _add(parent: ET.Element, tag: str, **attributes: float | str) -> ET.Element:
    """A new element inside another: class_="last", stroke_width=2 → class="last" stroke-width="2"."""
    element = ET.SubElement(parent, tag)
    for key, value in attributes.items():
        element.set(key.strip("_").replace("_", "-"), value if isinstance(value, str) else _number(value))
    return element


def _number(value: float) -> str:
    return f"{round(value, 2):g}"


def _points(points: Iterable[Point]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _add_gradients(game: Game, picture: ET.Element) -> None:
    style = _style(game)
    definitions = _add(picture, "defs")
    board = _add(definitions, "linearGradient", id=f"{style.name}-board", x2=1, y2=1)
    first = _add(definitions, "radialGradient", id=f"{style.name}-1", cx=0.35, cy=0.3, r=0.7)
    second = _add(definitions, "radialGradient", id=f"{style.name}-2", cx=0.35, cy=0.3, r=0.7)
    for gradient, (light, dark) in zip((board, first, second), (style.board, *style.stones), strict=True):
        _add(gradient, "stop", offset=0, stop_color=light)
        _add(gradient, "stop", offset=1, stop_color=dark)


def _add_board(game: Game, picture: ET.Element) -> None:
    style = _style(game)
    if game.look == "points":
        _add_lines(game, picture)
        return
    if game.look == "hexagons":
        _add_sides(game, picture)
    cells = _add(picture, "g", fill=style.field, stroke=style.line)
    for row in range(game.rows):
        for col in range(game.cols):
            x, y = _center(game, row, col)
            if game.look == "hexagons":
                _add(cells, "polygon", points=_points(_corner(game, row, col, k) for k in range(6)))
            elif game.look == "columns":
                _add(cells, "circle", cx=x, cy=y, r=style.radius)
            else:
                _add(cells, "rect", x=x - CELL / 2, y=y - CELL / 2, width=CELL, height=CELL)


def _add_lines(game: Game, picture: ET.Element) -> None:
    """The lines of a wooden board, and its star points if it is square and has a centre."""
    line = WOOD.line
    (left, top), (right, bottom) = _center(game, 0, 0), _center(game, game.rows - 1, game.cols - 1)
    path = "".join(f"M{left:g} {top + CELL * row:g}H{right:g}" for row in range(game.rows))
    path += "".join(f"M{left + CELL * col:g} {top:g}V{bottom:g}" for col in range(game.cols))
    _add(picture, "path", d=path, stroke=line, stroke_linecap="square")
    size = game.rows
    if size != game.cols or size < 9 or size % 2 == 0:
        return
    near, middle = 2 if size < 13 else 3, size // 2
    for row in (near, middle, size - 1 - near):
        for col in (near, middle, size - 1 - near):
            if (row == middle) == (col == middle) or size == 19:
                x, y = _center(game, row, col)
                _add(picture, "circle", cx=x, cy=y, r=3.5, fill=line)


def _corner(game: Game, row: int, col: int, number: float) -> Point:
    """A corner of a hexagon, clockwise from 0 at the top; 0.5 is the middle of the edge from 0 to 1."""
    x, y = _center(game, row, col)
    angle, distance = number * math.pi / 3, HEX_EDGE if number % 1 == 0 else CELL / 2
    return x + distance * math.sin(angle), y - distance * math.cos(angle)


def _add_sides(game: Game, picture: ET.Element) -> None:
    """The sides of Hex in the players' colours; at the blunt corners they meet in the middle of an edge."""
    end_row, end_col = game.rows - 1, game.cols - 1
    top = [_corner(game, 0, col, k) for col in range(game.cols) for k in (5, 0)]
    right = [_corner(game, row, end_col, k) for row in range(game.rows) for k in (1, 2)]
    bottom = [_corner(game, end_row, col, k) for col in range(end_col, -1, -1) for k in (2, 3)]
    left = [_corner(game, row, 0, k) for row in range(end_row, -1, -1) for k in (4, 5)]
    upper, lower = _corner(game, 0, end_col, 0.5), _corner(game, end_row, 0, 3.5)
    sides = ([*top, upper], [upper, *right], [*bottom, lower], [lower, *left])
    for side, (_, color) in zip(sides, PAPER.stones * 2, strict=True):
        _add(picture, "polyline", points=_points(side), fill="none", stroke=color, stroke_width=10)


def _add_coordinates(game: Game, picture: ET.Element) -> None:
    """The names of the columns beside row one, the names of the rows at the left."""
    beside = -0.9 if _row_one_is_top(game) else game.rows - 0.1
    names = [(_center(game, beside, col), _column_name(game, col)) for col in range(game.cols)]
    names += [(_center(game, row, -0.9), _row_name(game, row)) for row in range(game.rows)]
    labels = _add(picture, "g", fill=_style(game).label, font_size=13, text_anchor="middle")
    for (x, y), name in names:
        if name:
            _add(labels, "text", x=x, y=y + 4.5).text = name


def _add_stone(game: Game, picture: ET.Element, cell: int, player: int) -> None:
    style = _style(game)
    row, col = divmod(cell, game.cols)
    x, y = _center(game, row, col)
    move = _column_name(game, col) + _row_name(game, row)
    stone = _add(picture, "g", class_="stone", data_move=move, data_player=player)
    if not _is_noughts_and_crosses(game):
        _add(stone, "circle", cx=x + 1, cy=y + 1.5, r=style.radius, fill_opacity=0.3)
        _add(stone, "circle", cx=x, cy=y, r=style.radius, fill=f"url(#{style.name}-{player})")
        return
    _, ink = style.stones[player - 1]
    stone.attrib |= {"stroke": ink, "stroke-width": "5", "stroke-linecap": "round", "fill": "none"}
    if player == 1:
        _add(stone, "path", d=f"M{x - 10:g} {y - 10:g}l20 20m0 -20l-20 20")
    else:
        _add(stone, "circle", cx=x, cy=y, r=11)
