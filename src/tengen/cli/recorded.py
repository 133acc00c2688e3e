"""Shared by the commands that take a position: from moves, or from a file with a game in it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tengen.arena.archive import Archived
    from tengen.games.position import Position
    from tengen.games.variations import Variations

GameOrFile = Annotated[
    str, typer.Argument(help="A game, or a file with one: .sgf .psq .txt, or games.jsonl.")
]
GameNumber = Annotated[int | None, typer.Option("--game", min=1, help="Which game of games.jsonl, from 1.")]
MoveNumber = Annotated[
    int | None,
    typer.Option(
        "--move",
        min=1,
        help="Of a file: the position in which this move was played. Without: where the game stands.",
    ),
]


@dataclass(frozen=True)
class Opened:
    """The game that the arguments of a command name; it stands at the position that is meant."""

    variations: "Variations"
    archived: "Archived | None" = None  # its moves and thoughts, of games.jsonl and if a move was asked for
    note: str = ""  # what could not be read

    @property
    def position(self) -> "Position":
        return self.variations.node.position


def opened(game: str, moves: list[str] | None, game_number: int | None, move_number: int | None) -> Opened:
    """The game that arguments name, with the moves played on."""
    from tengen.arena import archive
    from tengen.errors import UserError
    from tengen.games import records
    from tengen.games.position import Position
    from tengen.games.variations import Variations

    archived, note = None, ""
    if not archive.is_record(game):
        if game_number is not None or move_number is not None:
            raise UserError(
                f"--game and --move are for a file with a game in it, such as game.sgf; got {game}"
            )
        variations = Variations(Position.start(game))
    elif archive.is_log(game):
        archived = archive.read_game(game, game_number)
        variations = archived.record.variations()
    else:
        variations, note = records.read_variations(Path(game))
        if game_number is not None or move_number is not None:
            archived = archive.read_game(game, game_number)
    if archived is not None and move_number is not None:
        archived.before(move_number)  # UserError if there is no such move
        variations.go_to(variations.main_line()[move_number - 1].id)
    for move in variations.node.position.game.moves.split(" ".join(moves or [])):
        variations.play(move)
    if moves:  # they are the game now, and its result is not that of the file
        variations.promote(variations.current)
        variations.facts = replace(variations.facts, result="*")
    return Opened(variations, archived, note)
