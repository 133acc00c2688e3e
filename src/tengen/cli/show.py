"""`tengen show GAME [MOVES…]`, or FILE: a position, as text or as a picture."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.recorded import GameNumber, GameOrFile, MoveNumber
from tengen.terminal import has_color

if TYPE_CHECKING:
    from tengen.arena.archive import Archived
    from tengen.games.position import Position


def show(
    game: GameOrFile,
    moves: Annotated[list[str] | None, typer.Argument(help="Moves from there: h8 h9 i8, or 4435")] = None,
    game_number: GameNumber = None,
    move_number: MoveNumber = None,
    svg: Annotated[Path | None, typer.Option(help="Write the board as an SVG picture.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the game as a record: .sgf .psq .txt")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show a position: in colour in a terminal, plain when piped."""
    from tengen import files
    from tengen.cli.recorded import position_of
    from tengen.games import records

    files.check_can_write(svg, save)
    position, archived = position_of(game, moves, game_number, move_number)
    if svg is not None:
        files.write_text(svg, position.svg())
    if save is not None:
        records.write(records.Record.from_position(position), save)
    if as_json:
        print(json.dumps(_facts(position) | _played(archived, move_number), indent=2))
    else:
        print(position.text(color=has_color(sys.stdout)))
        if archived and move_number:
            print(archived.describe(move_number))


def _played(archived: "Archived | None", number: int | None) -> dict[str, object]:
    """The move that was played in the position, and how it was chosen, if the file says."""
    if archived is None or number is None:
        return {}
    thought = archived.thought(number)
    return {
        "move_number": number,
        "played": archived.record.moves[number - 1],
        "thought": asdict(thought) if thought else None,
    }


def _facts(position: "Position") -> dict[str, object]:
    return {
        "game": position.game.name,
        "moves": position.moves,
        "to_move": position.to_move,
        "is_over": position.is_over,
        "winner": position.winner,
        "legal_moves": position.legal_moves,
        "integer": str(position.integer),
    }
