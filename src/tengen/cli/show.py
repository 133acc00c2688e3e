"""`tengen show GAME [MOVES…]`: a position, as text or as a picture."""

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
    from tengen.games.variations import Node, Variations


def show(
    game: GameOrFile,
    moves: Annotated[list[str] | None, typer.Argument(help="Moves from the start: h8 h9 i8, or 4435")] = None,
    game_number: GameNumber = None,
    move_number: MoveNumber = None,
    svg: Annotated[Path | None, typer.Option(help="Write the board as an SVG picture.")] = None,
    gif: Annotated[
        Path | None, typer.Option(help="Write the game, move by move, as an animated GIF.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Write the game as a record: .sgf .psq .txt")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show a position, in colour in a terminal, and the variations and comments of a record."""
    from tengen import files
    from tengen.cli.recorded import opened
    from tengen.games import records

    files.check_can_write(svg, gif, save)
    found = opened(game, moves, game_number, move_number)
    variations, position, notes = found.variations, found.position, [found.note]
    if svg is not None:
        files.write_text(svg, position.svg())
    if gif is not None:
        files.write_bytes(gif, _animated(variations))
    if save is not None:
        notes.append(records.write_variations(variations, save, end=variations.current))
    if as_json:
        facts = _facts(position) | _tree(variations) | _played(found.archived, move_number)
        print(json.dumps(facts, indent=2))
    else:
        print(position.text(color=has_color(sys.stdout)))
        if found.archived and move_number:
            print(found.archived.describe(move_number))
        else:
            print(_notes(variations), end="")
    for note in filter(None, notes):
        print(note, file=sys.stderr)


def _animated(variations: "Variations") -> bytes:
    from tengen.errors import MissingExtraError

    try:
        from tengen.games import animation
    except ImportError:
        raise MissingExtraError("--gif", "pictures") from None
    return animation.gif([node.position for node in variations.path(variations.current)])


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
