"""`tengen show GAME [MOVES…]`: a position, as text or as a picture."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.terminal import has_color

if TYPE_CHECKING:
    from tengen.games.position import Position
    from tengen.games.variations import Node, Variations


def show(
    game: Annotated[str, typer.Argument(help="A game, or a record of one: .sgf .psq .txt")],
    moves: Annotated[list[str] | None, typer.Argument(help="Moves from the start: h8 h9 i8, or 4435")] = None,
    svg: Annotated[Path | None, typer.Option(help="Write the board as an SVG picture.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the game as a record: .sgf .psq .txt")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show a position, in colour in a terminal, and the variations and comments of a record."""
    from tengen import files
    from tengen.games import records
    from tengen.games.position import Position
    from tengen.games.variations import Variations

    files.check_can_write(svg, save)
    notes = []  # what could not be read or written
    if Path(game).suffix in (".sgf", ".psq", ".txt"):
        variations, note = records.read_variations(Path(game))
        notes.append(note)
    else:
        variations = Variations(Position.start(game))
    for move in variations.node.position.game.moves.split(" ".join(moves or [])):
        variations.play(move)
    if moves:  # they are the game now, and its result is not that of the file
        variations.promote(variations.current)
        variations.facts = replace(variations.facts, result="*")
    position = variations.node.position

    if svg is not None:
        files.write_text(svg, position.svg())
    if save is not None:
        notes.append(records.write_variations(variations, save, end=variations.current))
    if as_json:
        print(json.dumps(_facts(position) | _tree(variations), indent=2))
    else:
        print(position.text(color=has_color(sys.stdout)))
        print(_notes(variations), end="")
    for note in filter(None, notes):
        print(note, file=sys.stderr)


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


def _tree(variations: "Variations") -> dict[str, object]:
    return {"nodes": [node.to_dict() for node in variations], "current": variations.current}


def _notes(variations: "Variations") -> str:
    """The moves, if there are others than those that led here, and the comments; one line each."""
    text = ""
    if len(variations) > len(variations.path(variations.current)):
        text += f"moves: {variations.to_text(marked=variations.current)}\n"
    for node in variations:
        if node.comment:
            text += f"{_name(variations, node)}: {_one_line(node.comment)}\n"
    return text


def _name(variations: "Variations", node: "Node") -> str:
    """`3 c1`: the number of a move and the move."""
    return "start" if node.move is None else f"{len(variations.path(node.id)) - 1} {node.move}"


def _one_line(comment: str) -> str:
    """A comment without line breaks, and without characters that would change the terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in " ".join(comment.split()))
