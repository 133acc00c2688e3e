"""`tengen openings make GAME`: a book of balanced openings for matches."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.command import Command, help_without_a_command

if TYPE_CHECKING:
    from tengen.arena.book import Balanced

app = typer.Typer(invoke_without_command=True)


@app.callback()
def openings(context: typer.Context) -> None:
    """Make a book of balanced openings for matches."""
    help_without_a_command(context)


@app.command(cls=Command)
def make(
    game: Annotated[str, typer.Argument(help="A game.")],
    count: Annotated[int, typer.Option("-n", min=1, max=100_000, help="Number of openings.")] = 300,
    player: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="Who values the positions. Without: the nearest bundled network, in Connect 4 the solver.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed makes the same book.")] = 0,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write it; without: GAME-openings.txt.")
    ] = None,
) -> None:
    """Make a book of balanced openings, for --openings FILE. Ctrl-C keeps what was found, the same command
    continues."""
    from dataclasses import replace

    from tengen import files, games
    from tengen.arena.book import Book, Judge, check_continues, make_book, spread
    from tengen.cli.progress import progress
    from tengen.errors import UserError

    rules = games.find(game)
    file = out or Path(f"{game}-openings.txt")
    files.check_can_write(file)
    with Judge.by_player(player, rules) if player else Judge.usual(rules) as judge:
        book = Book(rules.name, judge.name, seed, judge.options)
        if file.exists():
            try:
                book = Book.from_text(rules, files.read_bytes(file).decode("utf-8", "replace"))
                check_continues(book, judge.name, seed)
                book = replace(book, options=judge.options)
            except UserError as error:
                raise UserError(f"cannot continue {file}: {error}: choose another file") from None

        books, code = [book], 0

        def found() -> "Iterator[Balanced]":
            """The openings as they are found, those of the file first."""
            yield from book.openings
            for longer in make_book(book, count, judge):
                files.write_text(file, longer.to_text())
                books.append(longer)
                yield from longer.openings[len(books[-2].openings) :]

        try:
            for _ in progress(found(), count, "openings"):
                pass
        except KeyboardInterrupt:
            print("tengen: stopped; the same command continues", file=sys.stderr)
            code = 130
    kept = books[-1].openings
    if not kept and not code:
        raise UserError(f"no balanced opening of {game} was found: choose another --player")
    fewer = "" if len(kept) >= count or code else f"; {count} were asked for, there are no more"
    if kept:
        print(f"{len(kept)} openings of {game} in {file}: {spread(kept)}{fewer}")
    raise typer.Exit(code)
