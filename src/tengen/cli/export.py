"""`tengen export NAME FOLDER`: a network to share, with its strength on its card."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tengen.command_line import command
from tengen.errors import MissingExtraError, UserError

if TYPE_CHECKING:
    from tengen.training.checkpoint import Checkpoint
    from tengen.training.config import MeasureConfig


def export(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="A run (tengen runs lists them), or a bundled network: zoo/…"),
    ],
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
    license_name: Annotated[
        str, typer.Option("--license", help="The licence of the network, for the model card.")
    ] = "mit",
) -> None:
    """Write a network to a folder that can be uploaded to Hugging Face as it is: zero:FOLDER plays it.

    The champion of a run is measured first. Of a bundled network, the card says how strong it is.
    """
    from tengen.cli.train import can_train

    if not can_train():
        raise MissingExtraError("tengen export", "train")

    from tengen import files
    from tengen.evaluators.zoo import find_network
    from tengen.training import checkpoint
    from tengen.training.config import MeasureConfig
    from tengen.training.folders import run_folder
    from tengen.training.run import Run
    from tengen.training.sharing import Shared

    is_bundled = name.startswith("zoo/")
    run = None if is_bundled else Run.open(run_folder(name))
    source = find_network(name if run is None else str(run.folder))
    if folder.exists():
        raise UserError(f"{folder} exists already: give a new folder")
    files.check_can_make(folder)
    network = checkpoint.read(source)
    if run is not None:
        against = run.config.measure.opponents if opponents is None else opponents
        config = MeasureConfig(positions=positions, simulations=simulations, opponents=against, games=games)
        print(f"measuring generation {network.card.generation} of {name}", file=sys.stderr)
        strength = _measured(network, config)
        network = replace(network, card=replace(network.card, strength=strength))
    average = network.average(source) if weights else None
    shared = Shared(folder.absolute().name, network, average, license_name)
    checkpoint.write_files(folder, shared.contents())
    card, size = network.card, sum(file.stat().st_size for file in folder.iterdir())
    print(f"{folder}: {card.game}, generation {card.generation}, {size / 1e6:.1f} MB")
    for group, numbers in card.strength.items():
        shares = (
            f"{what} {100 * (found['rate'] if isinstance(found, dict) else found):.1f} %"
            for what, found in numbers.items()
            if isinstance(found, dict) or what == "score"
        )
        print(f"  {group}: {', '.join(shares)}")
    print(f"play it: {command('play', card.game, '--opponent', f'zero:{folder}')}", file=sys.stderr)


def _measured(network: "Checkpoint", config: "MeasureConfig") -> dict[str, Any]:
    """How strong a network is; UserError if an opponent cannot play."""
    from tengen import games
    from tengen.arena.referee import check_players
    from tengen.training.measure import measure
    from tengen.workers.local import LocalWorkers, available_cores

    game = games.find(network.card.game)
    check_players(game, config.opponents.split())
    with LocalWorkers(available_cores()) as run_tasks:
        return measure(config, game, network, run_tasks)
