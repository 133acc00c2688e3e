"""The first position of an SGF file: the game's own, or one set up by hand.

AB[hh][ig] and AW[ii] are black and white stones, AE[aa] empties a cell, PL[W] says who is to move. They come
before the first move.
"""

from tengen.errors import UserError
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.games.reading import at_line, shown
from tengen.games.sgf_dialects import HEX, OTHELLO, number, read_cells, write_cell
from tengen.games.sgf_syntax import Property, SyntaxNode, head, main_line, written

SET_UP = ("AB", "AW", "AE")


# Writing.


def write_start(start: Position) -> str:
    """The properties that set up a first position; none for the game's own, except in Othello."""
    game = start.game
    is_set_up = start != Position.start(game)
    if is_set_up:
        _check_can_set_up(start)
    elif number(game) != OTHELLO:  # its programs expect the four stones
        return ""
    text, stones = "", stones_of(start)
    for name, player in (("AB", 1), ("AW", 2)):
        cells = [write_cell(game, cell) for cell, stone in stones.items() if stone == player]
        text += written(name, *cells) if cells else ""
    if is_set_up and not stones and stones_of(Position.start(game)):
        text += written("AE", write_cell(game, 0))  # an empty board, in a game that begins with stones
    return text + (written("PL", "BW"[start.to_move - 1]) if is_set_up else "")


def _check_can_set_up(start: Position) -> None:
    """UserError if the stones and the player to move do not describe the whole position."""
    again = _with_stones(start.game, stones_of(start), start.to_move)
    if (again.legal_moves, again.outcome) != (start.legal_moves, start.outcome):
        raise UserError(f"this position of {start.game.name} cannot be set up from its stones alone")


# Reading.


def read_start(game: Game, nodes: list[SyntaxNode]) -> Position:
    """The first position: the game's own, or the one that AB, AW, AE and PL set up before the first move."""
    properties = [found for node in head(nodes) for found in node.properties]
    set_up = [found for found in properties if found.name in SET_UP]
    turn = next((found for found in _before_moves(properties) if found.name == "PL"), None)
    start = Position.start(game)
    stones = _read_stones(game, set_up) if set_up else stones_of(start)
    to_move = start.to_move
    if turn is not None:
        with at_line(turn.line):
            to_move = _colour(turn.values[0])
    elif stones != stones_of(start) or number(game) == HEX:  # in Hex, white may begin
        to_move = _turn_without_pl(stones, main_line(nodes))
    if stones == stones_of(start) and to_move == start.to_move:
        return start
    lines = [found.line for found in (turn, *set_up) if found is not None]
    with at_line(lines[0] if lines else 1):
        return _with_stones(game, stones, to_move)


def check_no_set_up(game: Game, properties: list[Property]) -> None:
    """UserError if stones are set up that are not those of the game's own first position."""
    set_up = [found for found in properties if found.name in SET_UP]
    if set_up and _read_stones(game, set_up) != stones_of(Position.start(game)):
        raise UserError(f"line {set_up[0].line}: only games from the start can be read, not stones set up")


def stones_of(position: Position) -> dict[int, int]:
    """The stones on the board: {cell: player}."""
    cells = position.state[position.game.cells]
    return {cell: int(stone) for cell, stone in enumerate(cells) if stone in (1, 2)}


def _read_stones(game: Game, set_up: list[Property]) -> dict[int, int]:
    """The stones that AB, AW and AE leave on an empty board: {cell: player}."""
    stones: dict[int, int] = {}
    for found in set_up:
        with at_line(found.line):
            for value in found.values:
                stones |= dict.fromkeys(read_cells(game, value), "EBW".index(found.name[1]))
    return {cell: stone for cell, stone in stones.items() if stone}


def _with_stones(game: Game, stones: dict[int, int], to_move: int) -> Position:
    """The position with these stones; UserError if no game can continue from it."""
    num_cells = game.rows * game.cols
    for cell in stones if game.look == "columns" else ():
        if cell + game.cols < num_cells and cell + game.cols not in stones:
            raise UserError(f"stones fall in {game.name}: there is none below {write_cell(game, cell)}")
    position = Position.from_cells(game, [stones.get(cell, 0) for cell in range(num_cells)], to_move)
    if not (position.is_over or position.legal_mask.any()):
        raise UserError(f"this position of {game.name} has no legal move, and it is not over")
    return position


def _before_moves(properties: list[Property]) -> list[Property]:
    moves = [i for i, found in enumerate(properties) if found.is_move]
    return properties[: moves[0]] if moves else properties


def _turn_without_pl(stones: dict[int, int], properties: list[Property]) -> int:
    """The player to move if there is no PL: the one who moves first, else black unless it has more stones."""
    for found in properties:
        if found.is_move:
            return found.player
    placed = list(stones.values())
    return 2 if placed.count(1) > placed.count(2) else 1


def _colour(value: str) -> int:
    player = " BW".find(value.strip().upper()[:1] or "?")
    if player < 1:
        raise UserError(f"expected PL[B] or PL[W], got PL[{shown(value)}]")
    return player
