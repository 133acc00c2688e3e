"""`tengen ablate GAME CHANGE …`: what a setting brings, by training with it and without it."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.arena import AsJson, GameName, Workers, watch
from tengen.cli.progress import progress
from tengen.cli.train import can_train
from tengen.errors import MachineError, MissingExtraError, UserError

if TYPE_CHECKING:
    from tengen.arena.played import PlayedGame
    from tengen.training.ablation import Ablation

    Played = dict[tuple[str, int], list[PlayedGame]]  # by change and seed

FAILURE, STOPPED = 1, 130  # exit codes


def ablate(
    game: GameName,
    changes: Annotated[
        list[str],
        typer.Argument(
            metavar="CHANGE...",
            help="What to train without: selfplay.fours=0. Several settings in quotes are one change.",
        ),
    ],
    minutes: Annotated[float | None, typer.Option(min=0.01, help="Length of each run.")] = None,
    generations: Annotated[int | None, typer.Option(min=1, help="Or its length in generations.")] = None,
    seeds: Annotated[str, typer.Option(metavar="1,2", help="Each seed trains every run once.")] = "1,2",
    num_games: Annotated[
        int, typer.Option("-n", "--num-games", help="Games of each match, an even number.")
    ] = 200,
    player: Annotated[
        str, typer.Option(metavar="SETTINGS", help="How the networks play: settings of zero.")
    ] = "sims=64",
    name: Annotated[
        str | None, typer.Option(help="The runs' names begin with it; default: ablation-GAME.")
    ] = None,
    preset: Annotated[str | None, typer.Option(help="Of all runs; see tengen train.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Of all runs.")
    ] = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Train with a setting and without it, on one core each; then a match says what it brings, with Elo and
    95 % intervals. The same command continues where it was stopped."""
    if not can_train():
        raise MissingExtraError("tengen ablate", "train")

    from tengen import games
    from tengen.training.ablation import Ablation, rows_of, to_json, to_text
    from tengen.training.folders import new_folder
    from tengen.training.side_by_side import train_all
    from tengen.training.start import limits
    from tengen.workers.local import available_cores

    rules = games.find(game)
    if (minutes is None) == (generations is None):
        raise UserError("how long is each run? Give --minutes or --generations")
    ablation = Ablation(
        rules,
        name or f"ablation-{new_folder(None, rules.name).name}",
        tuple(changes),
        _seeds(seeds),
        (*(settings or []), *limits(minutes, generations)),
        preset,
        player,
        num_games,
    )
    runs = ablation.runs()
    if num_games < 2 or num_games % 2:
        raise UserError(
            f"each opening is played with both colours: games must be 2, 4, 6, …, got {num_games}"
        )
    at_once = min(workers or available_cores(), len(runs))
    unit, each = ("minutes", minutes) if minutes else ("generations", generations or 0)
    total = max(1, round(len(runs) * each))
    try:
        for _ in progress(_steps(train_all(runs, at_once), total), total, unit, lambda: "training"):
            pass
    except KeyboardInterrupt:
        print("tengen: stopped; the same command continues", file=sys.stderr)
        raise typer.Exit(STOPPED) from None
    except MachineError as error:
        print(f"tengen: {error}; the same command continues", file=sys.stderr)
        raise typer.Exit(FAILURE) from None
    rows = rows_of(ablation, _matches(ablation, workers))
    print(to_json(ablation, rows) if as_json else to_text(ablation, rows))


def _matches(ablation: "Ablation", workers: int | None) -> "Played":
    """The games of all matches. Stopped by Ctrl-C, it exits: they are kept."""
    from tengen.arena.match import match_games
    from tengen.workers.place import Place

    found: Played = {}
    with Place(workers).run_tasks() as run_tasks:
        for change in ablation.changes:
            for seed in ablation.seeds:
                pairing, out = ablation.match(seed, change), ablation.match_folder(seed, change)
                played, code = watch(
                    match_games(pairing, ablation.num_games, run_tasks, out), ablation.num_games
                )
                if code:
                    raise typer.Exit(code)
                found[change, seed] = played
    return found


def _steps(shares: Iterator[float], total: int) -> Iterator[int]:
    """An item whenever another one of `total` equal steps is done."""
    done = 0
    for share in shares:
        while done < int(share * total):
            done += 1
            yield done


def _seeds(text: str) -> tuple[int, ...]:
    """(1, 2) for the text 1,2."""
    try:
        found = tuple(int(word) for word in text.split(","))
    except ValueError:
        found = ()
    if not found or min(found) < 0 or len(set(found)) < len(found):
        raise UserError(f"--seeds are different numbers from 0 on, such as 1,2, got '{text[:40]}'")
    return found
