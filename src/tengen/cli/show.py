"""`tengen show GAME [MOVES…]`: a position, as text or as a picture."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.terminal import has_color

if TYPE_CHECKING:
    from tengen.games.position import Position


def show(
    game: Annotated[str, typer.Argument(help="A game, or a record of one: .sgf .psq .txt")],
    moves: Annotated[list[str] | None, typer.Argument(help="Moves from the start: h8 h9 i8, or 4435")] = None,
    svg: Annotated[Path | None, typer.Option(help="Write the board as an SVG picture.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the game as a record: .sgf .psq .txt")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show a position: in colour in a terminal, plain when piped."""
    from tengen import files
    from tengen.games import records
    from tengen.games.position import Position

    files.check_can_write(svg, save)
    if Path(game).suffix in (".sgf", ".psq", ".txt"):
        position = records.read(Path(game)).position()
    else:
        position = Position.start(game)
    for move in position.game.moves.split(" ".join(moves or [])):
        position = position.play(move)

    if svg is not None:
        files.write_text(svg, position.svg())
    if save is not None:
        records.write(records.Record.from_position(position), save)
    if as_json:
        print(json.dumps(_facts(position), indent=2))
    else:
        print(position.text(color=has_color(sys.stdout)))


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
