"""The command line: `tengen <verb> <game> …`. A command parses, calls the library, prints.

Results go to stdout, progress and errors to stderr. A user's mistake is one line and exit code 2.
Nothing heavy is imported before a command runs, so that help is instant.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

import tengen
from tengen.cli import (
    analyse,
    bench,
    check,
    demo,
    export,
    games,
    match,
    net,
    perft,
    play,
    reference,
    report,
    runs,
    show,
    solve,
    sprt,
    tournament,
    train,
)
from tengen.errors import UserError

app = typer.Typer(
    name="tengen",
    help="AlphaZero for board games that runs on the machine you have.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(games.games)
app.command()(show.show)
app.command()(analyse.analyse)
app.command()(solve.solve)
app.command()(play.play)
app.command()(train.train)
app.command()(report.report)
app.command()(export.export)
app.command()(net.net)
app.command()(match.match)
app.command()(tournament.tournament)
app.command()(sprt.sprt)
app.command()(check.check)
app.command()(perft.perft)
app.command()(demo.demo)
app.add_typer(runs.app, name="runs")
app.add_typer(reference.app, name="reference")
app.add_typer(bench.app, name="bench")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tengen {tengen.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    game_files: Annotated[
        list[Path] | None,
        typer.Option("--games", metavar="FILE", help="A Python file with a game of yours (may be repeated)."),
    ] = None,
) -> None:
    """Options that come before the command."""
    if game_files:
        from tengen.games import load_file

        for file in game_files:
            load_file(file)


def main() -> None:
    """The console script."""
    for name in ("SIGTERM", "SIGHUP"):  # leave by the with statements: outside engines are closed there
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda number, _: sys.exit(128 + number))
    try:
        app()
    except UserError as error:
        print(f"tengen: {error}", file=sys.stderr)
        sys.exit(2)
    except SystemExit as end:
        if isinstance(getattr(end.__context__, "__cause__", None), KeyboardInterrupt):  # made so by Typer
            print("\ntengen: stopped", file=sys.stderr)
        raise
    except BrokenPipeError:  # the reader, `head` perhaps, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
