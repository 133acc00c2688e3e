"""`tengen gtp [GAME]`: an engine for programs that speak GTP, such as Sabaki and LizzieYzy."""

import sys
from typing import Annotated

import typer

from tengen.errors import UserError


def gtp(
    game: Annotated[str, typer.Argument(help="A game whose moves are points or columns.")] = "gomoku15",
    player: Annotated[
        str | None,
        typer.Option(metavar="SPEC", help="Who plays. Without: the nearest bundled network, else uct."),
    ] = None,
) -> None:
    """Be an engine for programs that speak GTP, such as Sabaki and LizzieYzy (docs/gtp.md)."""
    from functools import partial

    from tengen import games, players
    from tengen.players import warming
    from tengen.protocols.gtp import Gtp
    from tengen.protocols.lines import read_lines, write_text

    name = "zero" if player is None else players.name_of(player)
    if name == "human":
        raise UserError(
            "--player human needs a keyboard, but stdin belongs to the program: name another player"
        )
    rules = games.find(game)
    if name == "zero":
        warming.ahead(rules)
    Gtp(rules, player, read_lines(sys.stdin), partial(write_text, sys.stdout)).run()
