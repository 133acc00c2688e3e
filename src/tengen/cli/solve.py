"""`tengen solve connect4 MOVES`: the exact score of every move."""

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.progress import SECONDS_A_FRAME, SECONDS_A_LINE
from tengen.terminal import has_color

if TYPE_CHECKING:
    from tengen.games.position import Position
    from tengen.tactics.connect4_solver import Solver, Solving

STOPPED = 130  # exit code after Ctrl-C
FEW_STONES = 8  # with fewer, and without a book, solving can take minutes
EMPTY, FIRST, SECOND = ".0-_", "1xX", "2oO"  # the characters that --cells accepts


def solve(
    game: Annotated[str, typer.Argument(help="connect4.")],
    moves: Annotated[list[str] | None, typer.Argument(help="Moves from the start: 4435")] = None,
    cells: Annotated[
        str | None,
        typer.Option(help="A board instead: 42 cells from the top row, . or 0 empty, 1 or X, 2 or O."),
    ] = None,
    weak: Annotated[bool, typer.Option("--weak", help="Only win, draw or loss: faster.")] = False,
    book: Annotated[Path | None, typer.Option(help="An opening book made by --make-book.")] = None,
    make_book: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Make a book, or continue one. Ctrl-C keeps it.")
    ] = None,
    plies: Annotated[int, typer.Option(min=1, max=12, help="Depth of --make-book, from the position.")] = 6,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Solve a position of Connect 4: the score of every column and the best line."""
    from tengen.errors import UserError
    from tengen.games.position import Position
    from tengen.tactics.connect4_book import read_book
    from tengen.tactics.connect4_solver import Solver, bitboards

    if cells is not None and moves:
        raise UserError("give the moves or --cells, not both")
    if cells is None:
        position = Position.from_moves(game, " ".join(moves or []))
    else:
        position = _from_cells(game, cells)
    _, taken = bitboards(position)
    if make_book is not None:
        _make_book(make_book, plies, position)
        return
    if book is None and taken.bit_count() < FEW_STONES:
        print("few stones: this can take minutes (--book makes it fast)", file=sys.stderr)
    solver = Solver(book=read_book(book) if book else None)
    began, line = time.perf_counter(), list[str]()
    solving = solver.begin(position, "every", weak)
    try:
        _watch(solving, solver)
        if not weak:
            line = [position.game.moves.name(column) for column in solver.best_line(position)]
    except KeyboardInterrupt:
        print("\ntengen: stopped; the result so far:", file=sys.stderr)
    seconds = time.perf_counter() - began
    if as_json:
        print(json.dumps(_as_json(position, solving, line, solver.nodes, seconds)))
    else:
        print(position.text(color=has_color(sys.stdout)) + "\n")
        _print_columns(position, solving)
        if line:
            print(f"\nbest line  {' '.join(line)}")
        print(f"{'' if line else chr(10)}{solver.nodes:,} nodes, {seconds:.3f} s")
    if not solving.is_done or (not line and not weak):
        raise typer.Exit(STOPPED)


def _watch(solving: "Solving", solver: "Solver") -> None:
    """Solves, with progress on stderr: one changing line in a terminal, else a line from time to time."""
    from rich.console import Console

    began = time.monotonic()
    console = Console(stderr=True)
    with console.status("solving") as shown:
        last = began
        while not solving.run(SECONDS_A_FRAME):
            now = time.monotonic()
            text = _progress(solving, solver.nodes, now - began)
            if console.is_terminal:
                shown.update(text)
            elif now - last >= SECONDS_A_LINE:
                last = now
                print(text, file=sys.stderr, flush=True)


def _progress(solving: "Solving", nodes: int, seconds: float) -> str:
    known = sum(lower == upper for lower, upper in solving.bounds.values())
    lower, upper = solving.score_bounds
    score = f"score {lower:+}" if lower == upper else f"score {lower:+} to {upper:+}"
    speed = f"{nodes / seconds / 1e6:.1f} million nodes per second"
    return f"{score}, {known}/{len(solving.bounds)} columns solved, {seconds:.0f} s, {speed}"


def _as_json(
    position: "Position", solving: "Solving", line: list[str], nodes: int, seconds: float
) -> dict[str, object]:
    """The result as JSON. A column is null if it is full, or not solved at Ctrl-C: then see `bounds`."""
    names = position.game.moves.name
    lower, upper = solving.score_bounds
    return {
        "moves": position.moves,
        "to_move": position.to_move,
        "weak": solving.weak,
        "score": lower if lower == upper else None,
        "columns": {names(column): score for column, score in enumerate(solving.scores)},
        "bounds": {names(column): bounds for column, bounds in sorted(solving.bounds.items())},
        "line": line,
        "nodes": nodes,
        "seconds": round(seconds, 6),
    }


def _print_columns(position: "Position", solving: "Solving") -> None:
    best, best_possible = solving.score_bounds
    for column, score in enumerate(solving.scores):
        name = position.game.moves.name(column)
        if score is not None:
            mark = " *" if score == best == best_possible else "  "
            print(f"{name:>3}{score:>+5}{mark} {in_words(score, solving.weak)}")
        elif column in solving.bounds:
            lower, upper = solving.bounds[column]
            print(f"{name:>3}       between {lower:+} and {upper:+}")
        else:
            print(f"{name:>3}       full")


def in_words(score: int, weak: bool) -> str:
    """What a score means for the player to move: a win of n comes with stone 22 - n of the winner's 21."""
    if score == 0:
        return "draw"
    if weak:
        return "wins" if score > 0 else "loses"
    stone = _ordinal(22 - abs(score))
    return f"wins with its {stone} stone" if score > 0 else f"loses to the opponent's {stone} stone"


def _ordinal(number: int) -> str:
    return f"{number}{'th' if 10 < number < 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _from_cells(game: str, text: str) -> "Position":
    from tengen.errors import UserError
    from tengen.games.position import Position

    cells = []
    for letter in "".join(text.replace("/", " ").split()):
        for stone, letters in enumerate((EMPTY, FIRST, SECOND)):
            if letter in letters:
                cells.append(stone)
                break
        else:
            raise UserError(f"--cells: a cell is . or 0, 1 or X, 2 or O, got '{letter}'")
    stones = sum(cell != 0 for cell in cells)
    return Position.from_cells(game, cells, to_move=1 + stones % 2)


def _make_book(file: Path, plies: int, position: "Position") -> None:
    """Makes the book, with a progress bar on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from tengen import files
    from tengen.tactics.connect4_book import make_book
    from tengen.tactics.connect4_solver import Solver

    files.check_can_write(file)
    columns = (
        TextColumn("positions"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    began = time.monotonic()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=None, rate="")
        first: list[int] = []  # number of positions that were done before

        def show(done: int, of: int) -> None:
            first[:] = first or [done]
            rate = (done - first[0]) / max(time.monotonic() - began, 1e-9)
            bar.update(task, completed=done, total=of, rate=f"{rate:,.1f} per second")

        total = make_book(file, plies, position, Solver(), show)
    print(f"{file}: {total:,} positions searched, up to {plies} plies after the given position")
