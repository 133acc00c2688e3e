"""`tengen analysis`: analyses for other programs, as JSON lines on stdin and stdout."""

import sys
from typing import Annotated

import typer


def analysis(
    player: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="Who thinks, if a query does not say. Without: the nearest bundled network, else uct.",
        ),
    ] = None,
    threads: Annotated[int, typer.Option(min=1, max=64, help="Queries that are searched at once.")] = 4,
    memory: Annotated[
        int, typer.Option(min=256, max=1_000_000, help="MiB for all searches together.")
    ] = 1024,
    quit_without_waiting: Annotated[
        bool, typer.Option("--quit-without-waiting", help="When stdin ends, end all queries at once.")
    ] = False,
) -> None:
    """Serve analyses to other programs: queries as JSON lines on stdin, results on stdout (docs/analysis.md).
    To look at one position yourself, use tengen analyse."""
    import asyncio
    from functools import partial

    from tengen import players
    from tengen.errors import UserError
    from tengen.protocols.analysis_service import AnalysisService
    from tengen.protocols.lines import read_lines, write_text

    if player is not None and players.name_of(player) == "human":
        raise UserError(
            "--player human needs a keyboard, but stdin belongs to the program: name another player"
        )
    write = partial(write_text, sys.stdout)
    service = AnalysisService(write, player, threads, memory, is_patient=not quit_without_waiting)
    asyncio.run(service.run(read_lines(sys.stdin)))
