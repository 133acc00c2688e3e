"""`tengen train GAME`: from nothing to strong."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from tengen.training.run import Run

RUNS = Path("runs")


def train(
    game: Annotated[str | None, typer.Argument(help="A game; not with --resume.")] = None,
    name: Annotated[str | None, typer.Option("-n", "--name", help="Of the run; without, the game's.")] = None,
    minutes: Annotated[float | None, typer.Option(min=0.01, help="Stop after this long.")] = None,
    generations: Annotated[int | None, typer.Option(min=1, help="Stop after so many.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="SECTION.KEY=VALUE", help="May be repeated.")
    ] = None,
    resume: Annotated[str | None, typer.Option(metavar="NAME", help="Go on with a run.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; without, one a core.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed, the same run.")] = 0,
) -> None:
    """Train a network from random weights and the rules alone."""
    from importlib.util import find_spec

    from tengen.errors import MissingExtraError, UserError

    if find_spec("torch") is None or find_spec("onnx") is None:
        raise MissingExtraError("tengen train", "train")

    from tengen.training import config as configs
    from tengen.training.coach import train as coach
    from tengen.training.run import Run
    from tengen.training.shards import SelfPlayWork
    from tengen.workers.local import Pool, available_cores

    if resume is not None:
        run = Run.open(RUNS / resume)
    elif game is None:
        raise UserError("which game? tengen train connect4, or tengen train --resume NAME")
    else:
        run = Run.create(RUNS / (name or game), configs.load(game, settings or [], seed))
    config = run.config
    ends = _Ends(run, minutes, generations)
    print(
        f"{run.folder}: {config.game}, {ends}; Ctrl-C stops, tengen train --resume goes on", file=sys.stderr
    )
    with Pool(SelfPlayWork(config.game, config.selfplay), workers or available_cores()) as pool:
        coach(run, pool.run, ends.progress, _show)


class _Ends:
    """When a run is over: after minutes of this command, or at a generation."""

    def __init__(self, run: "Run", minutes: float | None, generations: int | None) -> None:
        self._seconds = None if minutes is None else 60 * minutes
        self._generations = generations if generations or minutes else 100
        self._began = time.monotonic()

    def __str__(self) -> str:
        return f"{self._seconds / 60:g} minutes" if self._seconds else f"{self._generations} generations"

    def progress(self, generation: int) -> float:
        """The share of the run that is over when this generation begins."""
        if self._seconds is not None:
            return (time.monotonic() - self._began) / self._seconds
        assert self._generations is not None
        return (generation - 1) / self._generations


def _show(metrics: dict[str, Any]) -> None:
    """A generation as a line."""
    played, learned = metrics["selfplay"], metrics["learner"]
    parts = [f"generation {metrics['generation']}"]
    if "games" in played:
        rate = played["games"] / max(played["seconds"], 1e-9)
        parts.append(
            f"{played['games']} games, {rate:.1f}/s, {played['moves'] / played['games']:.0f} moves each"
        )
    parts.append(f"loss policy {learned['policy']:.3f} value {learned['value']:.3f}")
    parts.append(f"{played['seconds']:.0f} + {learned['seconds']:.0f} s")
    for name, rates in metrics["strength"].items():
        parts.append(f"{name}: perfect {rates['perfect']['rate']:.1%} good {rates['good']['rate']:.1%}")
    print(", ".join(parts), flush=True)
