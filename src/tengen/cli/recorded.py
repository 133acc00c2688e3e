"""Shared by the commands that take a position: from moves, or from a file with a game in it."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tengen.arena.archive import Archived
    from tengen.games.position import Position

GameOrFile = Annotated[
    str, typer.Argument(help="A game, or a file with one: .sgf .psq .txt, or games.jsonl.")
]
GameNumber = Annotated[int | None, typer.Option("--game", min=1, help="Which game of games.jsonl, from 1.")]
MoveNumber = Annotated[
    int | None,
    typer.Option(
        "--move", min=1, help="Of a file: the position in which this move was played. Without: the last one."
    ),
]


def position_of(
    game: str, moves: list[str] | None, game_number: int | None, move_number: int | None
) -> "tuple[Position, Archived | None]":
    """The position that arguments name, with the moves played on; and the game, if it is in a file."""
    from tengen.arena import archive
    from tengen.errors import UserError
    from tengen.games.position import Position

    archived = None
    if archive.is_record(game):
        archived = archive.read_game(game, game_number)
        position = archived.before(move_number)
    elif game_number is not None or move_number is not None:
        raise UserError(f"--game and --move are for a file with a game in it, such as game.sgf; got {game}")
    else:
        position = Position.start(game)
    for move in position.game.moves.split(" ".join(moves or [])):
        position = position.play(move)
    return position, archived
