"""`tengen export RUN FOLDER`: the champion of a run to share, with its strength on its card."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tengen.command_line import command
from tengen.errors import MissingExtraError, UserError


def export(
    name: Annotated[str, typer.Argument(metavar="RUN", help="A run: tengen runs lists them.")],
    folder: Annotated[Path, typer.Argument(help="A new folder.")],
    simulations: Annotated[
        int, typer.Option("--sims", min=2, help="Simulations per move of the measurement.")
    ] = 64,
    positions: Annotated[int, typer.Option(min=0, help="Scored positions to measure on (Connect 4).")] = 1000,
    opponents: Annotated[
        str | None, typer.Option(help="Players to play against, separated by spaces; default: the run's.")
    ] = None,
    games: Annotated[int, typer.Option(min=0, help="Games against each opponent.")] = 40,
    weights: Annotated[
        bool, typer.Option(help="Include the weights, so that other runs can start from them.")
    ] = True,
) -> None:
    """Measure a run's champion and write it to a folder: zero:FOLDER plays it, without the run."""
    from tengen.cli.train import can_train

    if not can_train():
        raise MissingExtraError("tengen export", "train")

    from tengen import files
    from tengen import games as rules
    from tengen.arena.referee import check_players
    from tengen.evaluators.zoo import find_network
    from tengen.training import checkpoint
    from tengen.training.config import MeasureConfig
    from tengen.training.folders import run_folder
    from tengen.training.measure import measure
    from tengen.training.run import Run
    from tengen.workers.local import LocalWorkers, available_cores

    run = Run.open(run_folder(name))
    if folder.exists():
        raise UserError(f"{folder} exists already: give a new folder")
    files.check_can_make(folder)
    source = find_network(str(run.folder))
    network, game = checkpoint.read(source), rules.find(run.config.game)
    card = network.card
    against = run.config.measure.opponents if opponents is None else opponents
    check_players(game, against.split())
    config = MeasureConfig(positions=positions, simulations=simulations, opponents=against, games=games)
    print(f"measuring generation {card.generation} of {name}", file=sys.stderr)
    with LocalWorkers(available_cores()) as run_tasks:
        strength = measure(config, game, network, run_tasks)
    kept = network.average(source) if weights else None
    checkpoint.write(folder, replace(network, card=replace(card, strength=strength), weights=kept))
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{folder}: {game.name}, generation {card.generation}, {size / 1e6:.1f} MB")
    for group, numbers in strength.items():
        shares = (
            f"{what} {100 * (found['rate'] if isinstance(found, dict) else found):.1f} %"
            for what, found in numbers.items()
            if isinstance(found, dict) or what == "score"
        )
        print(f"  {group}: {', '.join(shares)}")
    print(f"play it: {command('play', game.name, '--opponent', f'zero:{folder}')}", file=sys.stderr)
