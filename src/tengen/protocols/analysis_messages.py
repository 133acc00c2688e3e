"""Analysis as JSON: a position and a limit come in, snapshots go out, errors name the field.

    query      {"game": "connect4", "moves": ["4", "4"], "setup": null, "limit": {"seconds": 5}}
    setup      {"cells": [0, 1, 2, …], "to_move": 1}: a board row by row from the top, instead of the first
               position of the game; the moves are played from there
    limit      seconds, simulations, nodes, depth: each optional, the first one reached counts
    snapshot   as search/snapshot.py says; "exact" are the solver's scores of the columns of Connect 4

Whoever carries these messages (a WebSocket, a pipe) adds an id and a type.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tengen import games
from tengen.errors import UserError
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.limit import Limit
from tengen.search.snapshot import Snapshot

MAX_NAME = 80  # characters of a game's name or spec
MAX_MOVE = 16  # characters
MAX_MOVES = 1000  # of one game; the largest board has fewer cells
MAX_CELLS = 2500
MAX_SECONDS = 3600.0
MAX_COUNT = 100_000_000  # simulations, nodes
MAX_DEPTH = 40


class MessageError(UserError):
    """A message that cannot be understood or obeyed; `field` is the name of the field that is wrong."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field

    def to_json(self) -> dict[str, Any]:
        return {"message": str(self), "field": self.field}


@dataclass(frozen=True)
class Query:
    """What is to be analysed, and for how long."""

    position: Position
    limit: Limit


def read_query(message: object) -> Query:
    """The query of a message; MessageError names the field that is wrong."""
    fields = _fields(message, ("game", "moves", "setup", "limit"), None)
    setup = fields.get("setup")
    if setup is not None:
        setup = _fields(setup, ("cells", "to_move"), "setup")
    position = read_position(fields.get("game"), fields.get("moves", []), setup)
    if position.is_over:
        raise MessageError(f"there is nothing to analyse: the game is over, {position.outcome}", "moves")
    return Query(position, read_limit(fields.get("limit", {})))


def read_position(game: object, moves: object, setup: Mapping[str, Any] | None = None) -> Position:
    """The position after some moves, from the first position or from a board set up by hand."""
    rules = _game(game)
    if not isinstance(moves, list | tuple) or not all(isinstance(move, str) for move in moves):
        raise MessageError("moves is a list of moves as text", "moves")
    if len(moves) > MAX_MOVES:
        raise MessageError(f"at most {MAX_MOVES} moves, got {len(moves)}", "moves")
    if any(len(move) > MAX_MOVE for move in moves):
        raise MessageError(f"a move has at most {MAX_MOVE} characters", "moves")
    position = Position.start(rules) if setup is None else _set_up(rules, setup)
    try:
        for move in moves:
            position = position.play(move)
    except UserError as error:
        raise MessageError(str(error), "moves") from None
    return position


def read_limit(limit: object) -> Limit:
    """How long to search; without any number, until it is stopped."""
    fields = _fields(limit, ("seconds", "simulations", "nodes", "depth"), "limit")
    most = {"seconds": MAX_SECONDS, "simulations": MAX_COUNT, "nodes": MAX_COUNT, "depth": MAX_DEPTH}
    for name, value in fields.items():
        kinds = int | float if name == "seconds" else int
        is_number = isinstance(value, kinds) and not isinstance(value, bool)
        if not is_number or (isinstance(value, float) and not math.isfinite(value)):
            what = "a number" if name == "seconds" else "a whole number"
            raise MessageError(f"limit.{name} is {what}, got {shown(value)}", "limit")
        if value > most[name]:
            raise MessageError(f"limit.{name} is at most {most[name]:g}, got {shown(value)}", "limit")
    try:
        return Limit(**fields)
    except UserError as error:
        raise MessageError(str(error), "limit") from None


def snapshot_message(snapshot: Snapshot, exact: Sequence[int | None] | None = None) -> dict[str, Any]:
    """A snapshot for JSON. exact: the score of each column, None if it is full or not solved yet."""
    message = snapshot.to_json()
    if exact is not None and any(score is not None for score in exact):
        message["exact"] = list(exact)
    return message


def _game(name: object) -> Game:
    if not isinstance(name, str) or not 1 <= len(name) <= MAX_NAME:
        raise MessageError(f"game is a name of 1 to {MAX_NAME} characters, got {shown(name)}", "game")
    try:
        return games.find(name)
    except UserError as error:
        raise MessageError(str(error), "game") from None


def _set_up(game: Game, setup: Mapping[str, Any]) -> Position:
    cells, to_move = setup.get("cells"), setup.get("to_move")
    if not isinstance(cells, list | tuple) or not all(type(cell) is int and 0 <= cell <= 2 for cell in cells):
        raise MessageError("setup.cells is a list of 0, 1 and 2", "setup")
    if len(cells) > MAX_CELLS:
        raise MessageError(f"setup.cells has at most {MAX_CELLS} numbers, got {len(cells)}", "setup")
    if type(to_move) is not int or to_move not in (1, 2):
        raise MessageError(f"setup.to_move is 1 or 2, got {shown(to_move)}", "setup")
    if game.look == "columns" and any(
        upper and not lower for upper, lower in zip(cells, cells[game.cols :], strict=False)
    ):
        raise MessageError("setup.cells: a stone has nothing below it", "setup")
    try:
        return Position.from_cells(game, cells, to_move)
    except UserError as error:
        raise MessageError(str(error), "setup") from None


def _fields(message: object, known: Sequence[str], field: str | None) -> dict[str, Any]:
    """The fields of an object, none of them unknown."""
    if not isinstance(message, Mapping):
        raise MessageError(f"{field or 'a query'} is an object with fields, got {shown(message)}", field)
    for name in message:
        if name not in known:
            where = f"{field}." if field else ""
            raise MessageError(f"unknown field {where}{shown(name)}: known are {', '.join(known)}", field)
    return dict(message)


def shown(value: object) -> str:
    """The beginning of a value, for an error message."""
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "…"
