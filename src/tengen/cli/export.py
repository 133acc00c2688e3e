"""`tengen export RUN FOLDER`: the champion of a run to give away, with its strength on its card."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tengen.command_line import command
from tengen.errors import MissingExtraError, UserError

AVERAGE = "average."  # of the names of the weights that play


def export(
    name: Annotated[str, typer.Argument(metavar="RUN", help="A run: tengen runs lists them.")],
    folder: Annotated[Path, typer.Argument(help="A new folder.")],
    sims: Annotated[int, typer.Option(min=2, help="Simulations a move, to measure with.")] = 64,
    positions: Annotated[int, typer.Option(min=0, help="Scored positions to measure on (Connect 4).")] = 1000,
    opponents: Annotated[
        str | None, typer.Option(help="Players to meet, apart by spaces; without, the run's.")
    ] = None,
    games: Annotated[int, typer.Option(min=0, help="Against each of them.")] = 40,
    weights: Annotated[bool, typer.Option(help="With the weights, to begin other runs with.")] = True,
) -> None:
    """Measure a run's champion and write it to a folder: zero:FOLDER plays it, without the run."""
    from tengen.cli.train import can_train

    if not can_train():
        raise MissingExtraError("tengen export", "train")

    from tengen import files
    from tengen import games as rules
    from tengen.arena.referee import check_players
    from tengen.cli.runs import run_folder
    from tengen.evaluators.card import FILES, read_card
    from tengen.evaluators.network import open_network
    from tengen.evaluators.zoo import find_network
    from tengen.training.config import Measure
    from tengen.training.measure import measure
    from tengen.training.run import WEIGHTS, Run

    run = Run.open(run_folder(name))
    if folder.exists():
        raise UserError(f"{folder} is there already: give a new folder")
    files.check_can_make(folder)
    source = find_network(str(run.folder))
    card, game = read_card(source), rules.find(run.config.game)
    against = run.config.measure.opponents if opponents is None else opponents
    check_players(game, against.split())
    settings = Measure(positions=positions, simulations=sims, opponents=against, games=games)
    print(f"measuring generation {card.generation} of {name}", file=sys.stderr)
    strength = measure(settings, game, open_network(source, card.precision))
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise UserError(f"cannot make {folder}: {error.strerror}") from error
    for precision in card.hashes:
        files.write_bytes(folder / FILES[precision], files.read_bytes(source / FILES[precision]))
    if weights:
        _copy_average(source / WEIGHTS, folder / WEIGHTS)
    files.write_text(folder / "card.json", replace(card, strength=strength).to_text())
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


def _copy_average(source: Path, target: Path) -> None:
    """The weights that play, without the learner's memory, which is three times as large."""
    import safetensors.numpy

    from tengen import files, sealed
    from tengen.errors import UserError

    data = files.read_bytes(source)
    sealed.check(source, data, "put a copy back if you have one, or export with --no-weights")
    try:
        tensors = safetensors.numpy.load(data)
    except safetensors.SafetensorError as error:
        raise UserError(f"{source} is damaged ({error}): export with --no-weights") from None
    kept = {name: tensor for name, tensor in tensors.items() if name.startswith(AVERAGE)}
    files.write_bytes(target, sealed.seal(safetensors.numpy.save(kept, {"sha256": sealed.BLANK})))
