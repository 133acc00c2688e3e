"""The command line: `tengen <verb> <game> …`. A command parses its arguments, calls the library and prints.

Results go to stdout, progress and errors to stderr. A user's mistake gives one line and exit code 2. If the
machine runs out of memory or disk, or kills a worker: one line and exit code 1. Any other exception is a bug
in Tengen: it shows its traceback, and the exit code is 1.
Large packages are imported only when a command needs them, so that --help is fast.
"""

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

import tengen
from tengen.cli import (
    ablate,
    analyse,
    analysis,
    bench,
    blunders,
    check,
    config,
    demo,
    export,
    games,
    gomocup,
    gtp,
    kaggle,
    levels,
    match,
    net,
    openings,
    perft,
    play,
    reference,
    report,
    runs,
    serve,
    show,
    solve,
    sprt,
    tournament,
    train,
    warm,
)
from tengen.cli.command import Command, help_without_a_command
from tengen.errors import UserError, machine_failure, mistaken_path
from tengen.terminal import make_streams_safe

MISTAKE, FAILURE, STOPPED = 2, 1, 130  # exit codes
LONG_WORD, LONG_LINE = 200, 1000  # characters

app = typer.Typer(
    name="tengen",
    help="AlphaZero for board games that runs on the machine you have.",
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(cls=Command)(games.games)
app.command(cls=Command)(show.show)
app.command(cls=Command)(analyse.analyse)
app.command(cls=Command)(analysis.analysis)
app.command(cls=Command)(blunders.blunders)
app.command(cls=Command)(solve.solve)
app.command(cls=Command)(play.play)
app.command(cls=Command)(serve.serve)
app.command(cls=Command)(gomocup.gomocup)
app.command(cls=Command)(gtp.gtp)
app.command(cls=Command)(train.train)
app.command(cls=Command)(config.config)
app.command(cls=Command)(report.report)
app.command(cls=Command)(export.export)
app.command(cls=Command)(net.net)
app.command(cls=Command)(ablate.ablate)
app.command(cls=Command)(match.match)
app.command(cls=Command)(tournament.tournament)
app.command(cls=Command)(sprt.sprt)
app.command(cls=Command)(levels.levels)
app.command(cls=Command)(check.check)
app.command(cls=Command)(perft.perft)
app.command(cls=Command)(warm.warm)
app.command(cls=Command)(demo.demo)
app.add_typer(openings.app, name="openings")
app.add_typer(runs.app, name="runs")
app.add_typer(reference.app, name="reference")
app.add_typer(kaggle.app, name="kaggle")
app.add_typer(bench.app, name="bench")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tengen {tengen.__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    game_files: Annotated[
        list[Path] | None,
        typer.Option("--games", metavar="FILE", help="A Python file with your own game. May be repeated."),
    ] = None,
) -> None:
    """Options that come before the command."""
    help_without_a_command(context)
    if game_files:
        from tengen.games import load_file

        for file in game_files:
            load_file(file)


def main() -> None:
    """The console script."""
    for name in ("SIGTERM", "SIGHUP"):  # leave through the with statements, which close external engines
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda number, _: sys.exit(128 + number))
    make_streams_safe()
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:  # reported already; Python would flush again at exit, and report it differently
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """The exit code of a command line, which is run here. Errors are reported on stderr."""
    try:
        return _invoke(arguments)
    except typer.TyperException as error:  # wrong options or arguments
        _say(_usage(error))
        return MISTAKE
    except UserError as error:
        _say(str(error))
        return MISTAKE
    except (KeyboardInterrupt, typer.Abort):
        print(file=sys.stderr)
        _say("stopped")
        return STOPPED
    except BrokenPipeError:  # the reader, for example `head`, stopped reading
        return FAILURE
    except Exception as error:  # noqa: BLE001  (reported below, whatever it is)
        if mistake := mistaken_path(error) or _mistake_in_rules(error):
            _say(mistake)
            return MISTAKE
        failure = machine_failure(error)
        if failure is None:
            traceback.print_exception(error)
            failure = "this is a bug in Tengen, not your mistake: please report it with the lines above"
        _say(failure)
        return FAILURE


def _invoke(arguments: Sequence[str]) -> int:
    command, code = typer.main.get_command(app), 0
    try:
        with command.make_context("tengen", list(arguments)) as context:
            command.invoke(context)
    except typer.Exit as end:
        code = end.exit_code
    sys.stdout.flush()  # raises OSError here if the disk is full
    return code


def _mistake_in_rules(error: Exception) -> str | None:
    """The mistake in a user's game file, if it caused this error; else None."""
    games_module = sys.modules.get("tengen.games")  # without it no file was loaded
    found: str | None = games_module.mistake_in_rules(error) if games_module else None
    return found


def _say(text: str) -> None:
    """Prints one readable line on stderr, even if the text quotes long words or control characters."""
    words = (word if len(word) <= LONG_WORD else word[: LONG_WORD // 2] + "…" for word in text.split(" "))
    shown = "".join(character if character.isprintable() else "?" for character in " ".join(words))
    if len(shown) > LONG_LINE:  # keep the end, which says what to do
        shown = f"{shown[: LONG_LINE // 2]} … {shown[-LONG_LINE // 2 :]}"
    with suppress(OSError):
        print(f"tengen: {shown}", file=sys.stderr)


def _given(error: typer.TyperException) -> str | None:
    """The value given for an option, if Typer could not parse it (Pydantic's error contains it)."""
    details = getattr(error.__cause__, "errors", None)
    given = details()[0].get("input") if callable(details) else None
    return given[:60] if isinstance(given, str) else None


def _usage(error: typer.TyperException) -> str:
    """What is wrong with a command line, its usage, and where to find help."""
    message = " ".join(error.format_message().split()).rstrip(".").replace("Value error, ", "")
    given = _given(error)
    if given is not None and repr(given) not in message:
        message += f", got {given!r}"
    context = getattr(error, "ctx", None)
    if context is None:
        return message
    usage = " ".join(context.get_usage().split())
    return f"{message}. {usage} (more: {context.command_path} --help)"
