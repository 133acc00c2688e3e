"""What the commands that play games share: options, progress, and what happens at Ctrl-C."""

import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tengen.arena.openings import Openings
    from tengen.arena.referee import PlayedGame
    from tengen.games.game import Game

GameName = Annotated[str, typer.Argument(help="A game.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed plays the same games.")]
OpeningPlies = Annotated[
    int | None,
    typer.Option(min=0, max=100, help="Random moves at the start, each opening with both colours; 0: none."),
]
OpeningFile = Annotated[
    Path | None, typer.Option("--openings", metavar="FILE", help="Openings to play: a list of moves a line.")
]
Workers = Annotated[int | None, typer.Option(min=1, max=1024, help="Processes; left out, one a core.")]
Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Keep the games here; the same command goes on where it stopped."),
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]

SECONDS_A_FRAME = 0.2  # of the progress bar
SECONDS_A_LINE = 10.0  # of progress, where there is no terminal to draw on


def openings(game: "Game", seed: int, plies: int | None, file: Path | None) -> "Openings":
    from tengen.arena.openings import Openings

    return Openings(game, seed, plies, file)


def processes(workers: int | None) -> int:
    from tengen.workers.local import available_cores

    return workers or available_cores()


def watch(
    games: "Generator[PlayedGame, None, None]",
    total: int,
    status: "Callable[[list[PlayedGame]], str] | None" = None,
) -> tuple[list["PlayedGame"], int]:
    """Plays with a progress bar. (The games, the exit code: 130 if Ctrl-C stopped it, 1 if a worker died)"""
    from tengen.workers.local import WorkerDiedError

    played: list[PlayedGame] = []
    try:
        with closing(games), progress(total) as show:
            for game in games:
                played.append(game)
                show(len(played), lambda: status(played) if status else "")
    except KeyboardInterrupt:
        print("tengen: stopped; the result so far:", file=sys.stderr)
        return played, 130
    except WorkerDiedError as error:
        print(f"tengen: {error}; the result so far:", file=sys.stderr)
        return played, 1
    return played, 0


@contextmanager
def progress(total: int) -> Iterator[Callable[[int, Callable[[], str]], None]]:
    """A function to call with the number of games done and a status, which is asked for only when shown.

    Draws a bar in a terminal, else a line now and then.
    """
    if not sys.stderr.isatty():
        yield _Lines(total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[status]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total, rate="", status="")
        began = shown = time.monotonic()

        def show(done: int, status: Callable[[], str]) -> None:
            nonlocal shown
            now = time.monotonic()
            if now - shown >= SECONDS_A_FRAME:
                shown = now
                bar.update(task, completed=done, rate=_rate(done, now - began), status=status())

        yield show


class _Lines:
    """Progress as lines of text, for logs."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._began = self._shown = time.monotonic()

    def __call__(self, done: int, status: Callable[[], str]) -> None:
        now = time.monotonic()
        if now - self._shown < SECONDS_A_LINE:
            return
        self._shown = now
        left = timedelta(seconds=round((now - self._began) / done * (self._total - done)))
        parts = [
            f"{done}/{self._total} games",
            _rate(done, now - self._began),
            f"about {left} left",
            status(),
        ]
        print(", ".join(part for part in parts if part), file=sys.stderr, flush=True)


def _rate(done: int, seconds: float) -> str:
    rate = done / max(seconds, 1e-9)
    return f"{rate:.1f} games/s" if rate >= 0.5 else f"{1 / rate:.0f} s a game"
