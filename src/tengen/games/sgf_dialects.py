"""How SGF writes each game: its number, its moves and its cells. The game that a file is about.

    GM    game          a move                   a cell (AB, AW, AE)
    4     m,n,k         hh                       hh
    2     Othello       f5                       f5
    11    Hex           c3                       c3
    0     all others    our name: 4, b2-b3       hh

`hh` is as in Go a letter for the column and one for the row, from the top left. We read both `hh` and `h8`
wherever a move is a cell: Little Golem writes `hh` in Hex. Our own property TENGEN[hex7] names the game.

- The standard has no numbers for other games. A file without GM is Go, so we write GM[0]: programs that look
  at it know that it is none of their games.
- Othello begins with the four stones (AB, AW), as Edax, Cassio and OthelloTk write it. They write a pass as
  `[PA]`, as `[@@@@]`, or not at all; ours is `[]`, in every game.
- Hex programs (HexGui, PlayHex) may write `swap-pieces`, which our rules do not have, or `resign`, a result.
"""

import re

from tengen import games
from tengen.errors import UserError
from tengen.games import hex, mnk, othello
from tengen.games.coordinates import LETTERS, MAX_SIDE, BoardMoves, Cells
from tengen.games.game import Game
from tengen.games.reading import at_line, check_size, five_in_a_row, rule_named, shown
from tengen.games.sgf_syntax import Property

NAME = "TENGEN"  # the property with our name for the game
FIVE_IN_A_ROW, OTHELLO, HEX, NOT_NUMBERED = "4", "2", "11", "0"  # GM
DEFAULT_SIZES = {OTHELLO: "8", HEX: "11"}  # SZ
SIZE = re.compile(r"\s*([0-9]{1,3})\s*(?::\s*([0-9]{1,3})\s*)?")

OTHELLO_PASSES = ("", "tt", "pa", "pass", "--", "@@@@")
HEX_SWAPS = ("swap", "swap-pieces", "swap-sides")
HEX_RESIGNATIONS = ("resign", "forfeit")


def number(game: Game) -> str:
    """The number of a game in SGF."""
    if mnk.is_mnk(game):
        return FIVE_IN_A_ROW
    if game.play is othello.play:
        return OTHELLO
    return HEX if game.play is hex.play else NOT_NUMBERED


# Which game.


def find_game(first: dict[str, Property], game: str | None) -> Game:
    """The game asked for, else the one that TENGEN names, else what GM, SZ and RU say."""
    gm = first["GM"].values[0].strip() if "GM" in first else "none"
    size = first.get("SZ", Property(1, "SZ", (DEFAULT_SIZES.get(gm, "15"),)))
    sides = SIZE.fullmatch(size.values[0])
    if not sides:
        raise UserError(f"line {size.line}: expected SZ[15] or SZ[9:7], got SZ[{shown(size.values[0])}]")
    cols, rows = int(sides[1]), int(sides[2] or sides[1])
    line = size.line
    if game is None and NAME in first:
        game, line = " ".join(first[NAME].values[0].split()), first[NAME].line
    elif game is None and gm == FIVE_IN_A_ROW:
        game = five_in_a_row(rows, cols, _rule(first))
    elif game is None and gm == OTHELLO:
        game = _sized("othello", rows)
    elif game is None and gm == HEX:
        game = _sized("hex", rows)
    elif game is None:
        line = first["GM"].line if "GM" in first else 1
        known = "GM[4], five in a row, GM[2], Othello, GM[11], Hex, or TENGEN[NAME OF A GAME]"
        raise UserError(f"line {line}: expected {known}, got {shown(gm)}")
    with at_line(line):
        found = games.find(game)
        if "SZ" in first:
            check_size(found, rows, cols)
    return found


def _rule(first: dict[str, Property]) -> str:
    named = first.get("RU", Property(1, "RU", ("freestyle",)))
    rule = rule_named(named.values[0])
    if rule is None:
        raise UserError(f"line {named.line}: unknown rule '{shown(named.values[0])}': name the game yourself")
    return rule


def _sized(family: str, size: int) -> str:
    """Our name for a game on a square board: `hex11`, or `hex:size=13` if it has no name."""
    return f"{family}{size}" if f"{family}{size}" in games.names() else f"{family}:size={size}"


# Moves.


def write_move(game: Game, action: int) -> str:
    """A move as the value of B or W."""
    if mnk.is_mnk(game):
        return _letters(game, action)
    name = game.moves.name(action)
    return "" if name == "pass" and _has_pass(game) else name


def read_move(game: Game, value: str) -> str:
    """Our name for the move that a value of B or W means."""
    text = re.sub(r"\s", " ", value).strip()
    if not isinstance(game.moves, BoardMoves):
        return text
    move = text.lower()
    if number(game) == HEX and move in HEX_SWAPS:
        raise UserError(f"'{move}' cannot be read: there is no swap rule in {game.name}")
    if _has_pass(game) and move in (OTHELLO_PASSES if number(game) == OTHELLO else ("", "pass")):
        return "pass"
    is_point = isinstance(game.moves, Cells) and re.fullmatch("[a-z]{2}", move)
    return game.moves.name(_cell_of_letters(game, move)) if is_point else move


def is_resignation(game: Game, value: str) -> bool:
    """Does a value of B or W give the game up? Only Hex has such moves."""
    return number(game) == HEX and value.strip().lower() in HEX_RESIGNATIONS


def _has_pass(game: Game) -> bool:
    return isinstance(game.moves, BoardMoves) and game.moves.with_pass


# Cells.


def write_cell(game: Game, cell: int) -> str:
    """A cell as a value of AB, AW or AE."""
    return game.moves.name(cell) if number(game) in (OTHELLO, HEX) else _letters(game, cell)


def read_cells(game: Game, value: str) -> list[int]:
    """The cells that a value of AB, AW or AE means: one, or all of a rectangle, `aa:cc`."""
    corners = [_read_cell(game, corner.strip().lower()) for corner in value.split(":")[:2]]
    rows, cols = zip(*(divmod(cell, game.cols) for cell in corners), strict=True)
    return [
        row * game.cols + col
        for row in range(min(rows), max(rows) + 1)
        for col in range(min(cols), max(cols) + 1)
    ]


def _read_cell(game: Game, point: str) -> int:
    if re.fullmatch("[a-z]{2}", point):
        return _cell_of_letters(game, point)
    match = re.fullmatch("([a-z])([0-9]{1,3})", point)
    if match and isinstance(game.moves, BoardMoves):
        return game.moves.cell(match[1], match[2])
    raise UserError(f"'{shown(point)}' is no point of the board")


def _letters(game: Game, cell: int) -> str:
    if max(game.rows, game.cols) > MAX_SIDE:
        raise UserError(f"SGF has points for boards up to {MAX_SIDE}×{MAX_SIDE}: {game.name} is larger")
    return LETTERS[cell % game.cols] + LETTERS[cell // game.cols]


def _cell_of_letters(game: Game, point: str) -> int:
    col, row = LETTERS.index(point[0]), LETTERS.index(point[1])
    if col >= game.cols or row >= game.rows:
        raise UserError(f"'{point}' is not on a board of {game.rows}×{game.cols}")
    return row * game.cols + col
