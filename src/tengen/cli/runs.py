"""`tengen runs`: a table of all runs and their progress. `tengen runs rm NAME` removes one."""

import json
import shutil
import sys
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tengen.cli.command import Command
from tengen.command_line import command
from tengen.errors import UserError
from tengen.training.folders import RUNS, plain

if TYPE_CHECKING:
    from tengen.training.config import NetworkConfig

app = typer.Typer(invoke_without_command=True)

MARKS = ("config.toml", "metrics.jsonl", "checkpoints")  # a folder with one of these is a run, maybe damaged


@dataclass(frozen=True)
class Summary:
    """A run in the table."""

    name: str
    game: str
    network: str
    generations: int
    minutes: float
    most_generations: int  # its length; 0: no limit
    most_minutes: float
    is_finished: bool
    positions: int
    losses: dict[str, float]  # of the last generation
    strength: dict[str, Any]  # as last measured
    written: str  # time of the last change


@app.callback()
def runs(
    context: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False
) -> None:
    """List the training runs in ./runs, or remove one."""
    if context.invoked_subcommand is None:
        _list(as_json)


@app.command(cls=Command)
def rm(
    name: Annotated[str, typer.Argument(help="A run in ./runs.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
) -> None:
    """Remove a run: its games, its networks, its metrics."""
    from tengen.training.lock import locked

    folder = RUNS / plain(name)
    if not _is_run(folder):
        raise UserError(f"no run in {folder}: {command('runs')} lists all runs")
    with locked(folder):  # not while it is being trained
        if not yes:
            _confirm(folder)
        try:
            shutil.rmtree(folder)
        except OSError as error:
            raise UserError(f"cannot remove {error.filename}: {error.strerror}") from error
    print(f"removed {folder}")


def _confirm(folder: Path) -> None:
    """Asks for confirmation in a terminal; exits if the answer is no."""
    if not sys.stdin.isatty():
        raise UserError(
            f"cannot ask outside a terminal: {command('runs', 'rm', folder.name, '--yes')} removes it"
        )
    try:
        one = summary(folder)
        about = f"{one.game}, {one.generations} generations, {one.minutes:.1f} minutes of work"
    except UserError:
        about = "damaged"
    if input(f"Remove {folder} ({about})? [y/N] ").strip().lower() not in ("y", "yes"):
        print(f"{folder} was not removed")
        raise typer.Exit(1)


def _is_run(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in MARKS)


def _list(as_json: bool) -> None:
    found: list[Summary] = []
    damaged: dict[str, str] = {}
    for folder in sorted(RUNS.iterdir()) if RUNS.is_dir() else []:
        if _is_run(folder):
            try:
                found.append(summary(folder))
            except UserError as error:
                damaged[folder.name] = str(error)
    if as_json:
        rows = [asdict(one) for one in found]
        rows += [{"name": name, "damaged": text} for name, text in damaged.items()]
        print(json.dumps(rows, indent=2))
    elif not (found or damaged):
        print(f"no runs in ./{RUNS}: {command('train', 'connect4', '--minutes', '20')} starts one")
    else:
        _print(found, damaged)


def summary(folder: Path) -> Summary:
    """A run for the table; UserError if the folder is damaged."""
    from tengen.training.run import Run

    if not (folder / "config.toml").is_file():
        raise UserError("config.toml is missing")
    run = Run.open(folder)
    config, lines = run.config, run.metrics()
    length, generation = config.length, max(0, run.generation)
    measured = [line["strength"] for line in lines if line["strength"]]
    return Summary(
        name=folder.name,
        game=config.game,
        network=network_text(config.network),
        generations=generation,
        minutes=round(run.elapsed / 60, 2),
        most_generations=length.generations,
        most_minutes=length.minutes,
        is_finished=run.is_finished,
        positions=lines[-1]["replay"]["total"] if lines else 0,
        losses={key: lines[-1]["learner"][key] for key in ("policy", "value")} if lines else {},
        strength=measured[-1] if measured else {},
        written=datetime.fromtimestamp(_last_written(folder)).isoformat(" ", "seconds"),
    )


def network_text(network: "NetworkConfig") -> str:
    """The network in short: anysize 48×5."""
    return (
        f"{network.name} {network.channels}×{network.blocks}" if network.name == "anysize" else network.name
    )


def _last_written(folder: Path) -> float:
    return max((folder / mark).stat().st_mtime for mark in MARKS if (folder / mark).exists())


def _print(found: list[Summary], damaged: dict[str, str]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if Console().is_terminal else 120, highlight=False)
    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("run", "game"):
        table.add_column(title, no_wrap=True)
    table.add_column("network")
    for title in ("gen.", "minutes", "positions", "loss", "strength", "ago"):
        table.add_column(title, justify="right")
    table.add_column("done")
    for one in found:
        table.add_row(
            one.name,
            one.game,
            one.network,
            f"{one.generations}/{one.most_generations or '∞'}",
            f"{one.minutes:.1f}/{f'{one.most_minutes:g}' if one.most_minutes else '∞'}",
            f"{one.positions:,}",
            " ".join(f"{loss:.3f}" for loss in one.losses.values()),
            _headline(one),
            _ago(one.written),
            "yes" if one.is_finished else "no",
        )
    if found:
        console.print(table)
    if damaged:
        console.print("damaged:")
    for name, text in damaged.items():
        console.print(f"  {name}  {text}", markup=False, style="red")


def _ago(moment: str) -> str:
    """The time since then, as text."""
    seconds = max(0.0, (datetime.now() - datetime.fromisoformat(moment)).total_seconds())
    for unit, size in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def _headline(one: Summary) -> str:
    """The strength in one number: with a search on scored positions, else against the first opponent."""
    from tengen.training.watch import strengths

    shares = [
        (f"{group} {name} {share}", share.low < share.high)
        for group, names in strengths({"strength": one.strength}).items()
        for name, share in names.items()
    ]
    scored = [text for text, has_interval in shares if has_interval]
    return scored[-1] if scored else shares[0][0] if shares else ""
