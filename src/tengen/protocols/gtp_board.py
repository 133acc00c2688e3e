"""Points and boards in GTP: letters without I, rows from the bottom, black moves first. For every game.

4 . . . .
3 . O X .      The points of Othello and Hex therefore have other names here than elsewhere in Tengen.
2 . X . .      In Connect 4 a move is the point where the stone comes to rest.
1 . . . .
  A B C D
"""

import re
from collections.abc import Iterable

import numpy as np

from tengen import games
from tengen.errors import UserError
from tengen.games import connect4, hex, mnk, othello
from tengen.games.coordinates import Cells, Columns
from tengen.games.game import Game
from tengen.games.position import Position

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
MAX_SIDE = len(LETTERS)
PASS = "pass"
COLORS = {"b": 1, "black": 1, "w": 2, "white": 2}


def check_game(game: Game) -> None:
    """UserError if the moves of a game cannot be written as points."""
    if not isinstance(game.moves, Cells | Columns):
        raise UserError(f"GTP names one point per move, and a move of {game.name} is something else")
    if game.cols > MAX_SIDE or game.rows > MAX_SIDE:
        raise UserError(f"GTP knows boards of up to {MAX_SIDE}×{MAX_SIDE}, got {game.rows}×{game.cols}")


def side_of(color: str) -> int:
    """1 for black, the first player; 2 for white."""
    if color.lower() not in COLORS:
        raise UserError(f"a colour is black, white, b or w, got '{color[:20]}'")
    return COLORS[color.lower()]


def vertices(position: Position, actions: Iterable[int]) -> list[str]:
    """The points of some moves that are played one after the other."""
    game, cells = position.game, stones(position)
    found = []
    for action in actions:
        cell = action
        if isinstance(game.moves, Columns):
            cell = _resting(game, cells, action)
            cells[cell] = 1
        found.append(PASS if cell == game.rows * game.cols else _name(game, cell))
    return found


def vertex(position: Position, action: int) -> str:
    """The point of a move."""
    return vertices(position, [action])[0]


def action_at(position: Position, text: str) -> int:
    """The move that a point means; it may still be illegal."""
    game = position.game
    if text.lower() == PASS:
        if isinstance(game.moves, Cells) and game.moves.with_pass:
            return game.moves.num_moves
        raise UserError(f"there is no pass in {game.name}")
    match = re.fullmatch(r"([A-HJ-Z])([0-9]{1,2})", text.upper())
    if not match:
        raise UserError(f"a point is a letter and a number such as '{_name(game, 0)}', got '{text[:20]}'")
    col, row = LETTERS.index(match[1]), game.rows - int(match[2])
    if col >= game.cols or not 0 <= row < game.rows:
        last = f"{LETTERS[game.cols - 1]}{game.rows}"
        raise UserError(f"'{text}' is not on the board: points are A1 to {last}, without I")
    if isinstance(game.moves, Cells):
        return row * game.cols + col
    cells = stones(position)
    if cells[col]:
        raise UserError(f"column {LETTERS[col]} is full")
    if row * game.cols + col != _resting(game, cells, col):
        raise UserError(f"a stone in column {LETTERS[col]} falls to {vertex(position, col)}, got '{text}'")
    return col


def with_turn(position: Position, side: int) -> Position:
    """The same board with this side to move: in GTP a side may move twice."""
    if position.to_move == side or position.is_over:
        return position
    if position.legal_moves == [PASS]:
        return position.play(PASS)
    return Position.from_cells(position.game, stones(position), side)


def stones(position: Position) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    """int16[cells], row by row from the top: 0 empty, 1 black, 2 white."""
    cells = position.state[position.game.cells].copy()
    cells[cells > 2] = 0  # renju's forbidden points
    return cells


def board_text(position: Position) -> str:
    """The board, as `showboard` shows it."""
    game = position.game
    marks = [".XO"[cell] for cell in stones(position)]
    rows = [
        f"{game.rows - row:>2} " + " ".join(marks[row * game.cols : (row + 1) * game.cols])
        for row in range(game.rows)
    ]
    turn = f"{'XO'[position.to_move - 1]} to move" if not position.is_over else str(position.outcome)
    return "\n".join([*rows, "   " + " ".join(LETTERS[: game.cols]), turn])


def score(position: Position) -> str:
    """`B+12`: by stones in Othello; `W+1` in games that are just won; `0` for a draw."""
    if not position.is_over:
        raise UserError("cannot score: the game is not over")
    if position.winner is None:
        return "0"
    by = 1
    if position.game.play is othello.play:
        cells = stones(position)
        by = abs(int((cells == 1).sum()) - int((cells == 2).sum()))
    return f"{'BW'[position.winner - 1]}+{by}"


def resized(game: Game, rows: int, cols: int) -> Game:
    """The same game on a board of another size; UserError if there is none."""
    if (game.rows, game.cols) == (rows, cols):
        return game
    if mnk.is_mnk(game):
        _, _, k, rule = game.header
        spec = f"mnk:rows={rows},cols={cols},k={k},rule={mnk.RULES[rule]}"
    elif game.play is connect4.play:
        spec = f"connect:rows={rows},cols={cols},k={game.header[2]}"
    elif game.play in (othello.play, hex.play) and rows == cols:
        spec = f"{'othello' if game.play is othello.play else 'hex'}:size={rows}"
    else:
        raise UserError(f"{game.name} has no board of {rows}×{cols}")
    made = games.find(spec)
    check_game(made)
    named = (games.find(name) for name in games.names())
    return next((one for one in named if one.play is made.play and one.header == made.header), made)


def _name(game: Game, cell: int) -> str:
    row, col = divmod(cell, game.cols)
    return f"{LETTERS[col]}{game.rows - row}"


def _resting(game: Game, cells: np.ndarray[tuple[int], np.dtype[np.int16]], col: int) -> int:
    """The lowest empty cell of a column."""
    empty = int((cells[col :: game.cols] == 0).sum())
    return (empty - 1) * game.cols + col
