"""Shared by the commands that play games: options, progress, and Ctrl-C."""

import math
import sys
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.progress import progress
from tengen.errors import UserError

if TYPE_CHECKING:
    from tengen.arena.openings import Openings
    from tengen.arena.played import PlayedGame
    from tengen.games.game import Game

MAX_SECONDS = 1_000_000

GameName = Annotated[str, typer.Argument(help="A game.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed plays the same games.")]
OpeningPlies = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=100,
        help="Random moves at the start; 0: none. Without: the game's book of balanced openings, if any.",
    ),
]
OpeningFile = Annotated[
    Path | None,
    typer.Option("--openings", metavar="FILE", help="A file of openings: one list of moves per line."),
]
Undecided = Annotated[
    int,
    typer.Option(
        min=0,
        max=10_000_000,
        help="Random openings, but skip those whose result UCT can prove with this many simulations.",
    ),
]
OpeningRule = Annotated[
    str | None,
    typer.Option(
        metavar="swap2",
        help="The players make the opening. swap2: one puts stones, the other chooses a colour.",
    ),
]
Time = Annotated[
    str | None,
    typer.Option(metavar="60+1", help="Clocks: seconds per game for each side, and seconds added per move."),
]
Workers = Annotated[
    int | None, typer.Option(min=1, max=1024, help="Number of processes; default: one per core.")
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Keep the games in this folder; the same command continues where it stopped."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]


def clock(text: str | None) -> tuple[float, float] | None:
    """(60, 1) for the text 60+1; UserError if it is something else."""
    if text is None:
        return None
    seconds, _, increment = text.partition("+")
    try:
        found = float(seconds), float(increment or 0)
    except ValueError:
        found = math.nan, math.nan
    if not (0 < found[0] <= MAX_SECONDS and 0 <= found[1] <= MAX_SECONDS):
        raise UserError(f"--time is seconds per game + seconds per move, such as 60+1, got '{text[:40]}'")
    return found


def openings(
    game: "Game", seed: int, plies: int | None, file: Path | None, undecided: int, rule: str | None
) -> "Openings":
    from tengen.arena.openings import Openings

    return Openings(game, seed, plies, file, undecided, rule or "")


def watch(
    games: "Generator[PlayedGame, None, None]",
    total: int,
    status: "Callable[[list[PlayedGame]], str] | None" = None,
) -> tuple[list["PlayedGame"], int]:
    """(The games, the exit code): plays with a progress bar. 130 after Ctrl-C, 1 if the machine failed."""
    from tengen.errors import MachineError

    played: list[PlayedGame] = []
    try:
        with closing(games):
            for game in progress(games, total, "games", lambda: status(played) if status else ""):
                played.append(game)
    except KeyboardInterrupt:
        print("tengen: stopped; the result so far:", file=sys.stderr)
        return played, 130
    except MachineError as error:
        print(f"tengen: {error}; the result so far:", file=sys.stderr)
        return played, 1
    return played, 0
