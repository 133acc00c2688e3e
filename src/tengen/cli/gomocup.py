"""`tengen gomocup`, and the script `pbrain-tengen`: Tengen in the tools that speak the Gomocup protocol."""

import sys
from typing import Annotated

import typer


def gomocup(
    player: Annotated[
        str | None,
        typer.Option(metavar="SPEC", help="Who plays. Without: the nearest bundled network, else alphabeta."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of openings and equal moves. Without: any.")
    ] = None,
) -> None:
    """Speak the Gomocup protocol on stdin and stdout, for managers and boards that start engines."""
    from tengen.protocols.gomocup import serve

    serve(player, seed)


def main() -> None:
    """The script pbrain-tengen: the command with the same options."""
    from tengen import cli

    sys.argv.insert(1, "gomocup")
    cli.main()
