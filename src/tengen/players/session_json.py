"""A GameSession as plain values, for JSON: everything a page needs to show a game.

game        name          rows, cols     the board, cells row by row from the top
look        "points", "squares", "columns" or "hexagons": how people draw this board
cells       of the position being viewed: 0 empty, 1, 2, in renju 3 empty but forbidden for black
moves       that led to it               last_move      the last of them, or null
to_move     1 or 2                       legal_moves    by name; none if the position is over
winning     numbers of the cells of the finished row or chain, if this position is won
nodes       all moves as a tree: id, parent, move, and if present comment, value (for the first
            player), judgement. A parent comes before its children, and its children in their order,
            the one of the main line first. The root has the parent null and the move null
current     id of the node being viewed  tip            id of the game's current node
seats       of the first and the second player: name, is_person
clocks      null without clocks; else first and second, each null or left and increment in seconds,
            and running: 1, 2 or null
result      "1-0", "0-1", "1/2" or "*", of the game
ending      null if not over; else winner (1, 2, null), reason ("board", "resigned", "time", "failed")
            and detail
status      the same in words
"""

from dataclasses import asdict
from typing import TYPE_CHECKING

from tengen.games.winning_line import winning_cells

if TYPE_CHECKING:
    from tengen.players.session import GameSession


def describe(session: "GameSession") -> dict[str, object]:
    position, game, ending = session.position, session.game, session.ending
    seats = zip(session.names, session.seats, strict=True)
    return {
        "game": game.name,
        "rows": game.rows,
        "cols": game.cols,
        "look": game.look,
        "cells": position.state[game.cells].tolist(),
        "moves": position.moves,
        "last_move": session.variations.node.move,
        "to_move": position.to_move,
        "legal_moves": [] if position.is_over else position.legal_moves,
        "winning": list(winning_cells(position)),
        "nodes": [node.to_dict() for node in session.variations],
        "current": session.variations.current,
        "tip": session.tip,
        "seats": [{"name": name, "is_person": player is None} for name, player in seats],
        "clocks": _clocks(session),
        "result": session.result,
        "ending": None if ending is None else asdict(ending),
        "status": session.status,
    }


def _clocks(session: "GameSession") -> dict[str, object] | None:
    clocks = [session.clocks.clock(side) for side in (1, 2)]
    if clocks == [None, None]:
        return None
    first, second = (
        None if clock is None else {"left": round(max(0.0, clock.left), 3), "increment": clock.increment}
        for clock in clocks
    )
    return {"first": first, "second": second, "running": session.clocks.running}
