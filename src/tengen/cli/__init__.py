"""The command line: `tengen <verb> <game> …`. A command parses, calls the library, prints.

Results go to stdout, progress and errors to stderr. A user's mistake is one line and exit code 2. A machine
that has no more memory or disk, or kills a worker, is one line and exit code 1. Any other exception is a bug
of ours: its traceback is shown, and the exit code is 1.
Nothing heavy is imported before a command runs, so that help is instant.
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
    analyse,
    bench,
    check,
    config,
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
app.command(cls=Command)(solve.solve)
app.command(cls=Command)(play.play)
app.command(cls=Command)(train.train)
app.command(cls=Command)(config.config)
app.command(cls=Command)(report.report)
app.command(cls=Command)(export.export)
app.command(cls=Command)(net.net)
app.command(cls=Command)(match.match)
app.command(cls=Command)(tournament.tournament)
app.command(cls=Command)(sprt.sprt)
app.command(cls=Command)(check.check)
app.command(cls=Command)(perft.perft)
app.command(cls=Command)(warm.warm)
app.command(cls=Command)(demo.demo)
app.add_typer(runs.app, name="runs")
app.add_typer(reference.app, name="reference")
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
        typer.Option("--games", metavar="FILE", help="A Python file with a game of yours (may be repeated)."),
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
    for name in ("SIGTERM", "SIGHUP"):  # leave by the with statements: outside engines are closed there
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda number, _: sys.exit(128 + number))
    make_streams_safe()
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:  # it was reported; Python would try again at its end, and report it in its own way
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Runs a command line. Whatever happens is said on stderr; the exit code."""
    try:
        return _invoke(arguments)
    except typer.TyperException as error:  # of the command line's form
        _say(_usage(error))
        return MISTAKE
    except UserError as error:
        _say(str(error))
        return MISTAKE
    except (KeyboardInterrupt, typer.Abort):
        print(file=sys.stderr)
        _say("stopped")
        return STOPPED
    except BrokenPipeError:  # the reader, `head` perhaps, has seen enough
        return FAILURE
    except Exception as error:  # noqa: BLE001  (the last line of defence)
        if mistake := mistaken_path(error) or _mistake_in_rules(error):
            _say(mistake)
            return MISTAKE
        failure = machine_failure(error)
        if failure is None:
            traceback.print_exception(error)
            failure = "this is a bug of Tengen, not a mistake of yours: please report it with the lines above"
        _say(failure)
        return FAILURE


def _invoke(arguments: Sequence[str]) -> int:
    command, code = typer.main.get_command(app), 0
    try:
        with command.make_context("tengen", list(arguments)) as context:
            command.invoke(context)
    except typer.Exit as end:
        code = end.exit_code
    sys.stdout.flush()  # a full disk shows here
    return code


def _mistake_in_rules(error: Exception) -> str | None:
    """What is wrong in a game file of the user's, if that is the reason for an error."""
    games_module = sys.modules.get("tengen.games")  # without it no file was loaded
    found: str | None = games_module.mistake_in_rules(error) if games_module else None
    return found


def _say(text: str) -> None:
    """One line that can be read, whatever it quotes."""
    words = (word if len(word) <= LONG_WORD else word[: LONG_WORD // 2] + "…" for word in text.split(" "))
    shown = "".join(character if character.isprintable() else "?" for character in " ".join(words))
    if len(shown) > LONG_LINE:  # what to do stands at its end
        shown = f"{shown[: LONG_LINE // 2]} … {shown[-LONG_LINE // 2 :]}"
    with suppress(OSError):
        print(f"tengen: {shown}", file=sys.stderr)


def _given(error: typer.TyperException) -> str | None:
    """What an option was given, if Typer could not read it: Pydantic tells, by whom it is read."""
    details = getattr(error.__cause__, "errors", None)
    given = details()[0].get("input") if callable(details) else None
    return given[:60] if isinstance(given, str) else None


def _usage(error: typer.TyperException) -> str:
    """What is wrong with a command line, and where to look it up."""
    message = " ".join(error.format_message().split()).rstrip(".").replace("Value error, ", "")
    given = _given(error)
    if given is not None and repr(given) not in message:
        message += f", got {given!r}"
    context = getattr(error, "ctx", None)
    if context is None:
        return message
    usage = " ".join(context.get_usage().split())
    return f"{message}. {usage} (more: {context.command_path} --help)"
