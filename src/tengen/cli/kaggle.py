"""`tengen kaggle …`: a network as one file for Kaggle's Connect X, and how strong such a file is."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.command import Command, help_without_a_command

app = typer.Typer(invoke_without_command=True)


@app.callback()
def kaggle(context: typer.Context) -> None:
    """Pack a network into one file for Kaggle's Connect X, and measure such a file."""
    help_without_a_command(context)


@app.command(cls=Command)
def pack(
    net: Annotated[str, typer.Option(help="A network for connect4: zoo/connect4, a run, a folder.")] = (
        "zoo/connect4-small"  # numpy computes the larger one four times as slowly
    ),
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write.")] = Path("submission.py"),
) -> None:
    """Write one file that plays Connect X with a network: it needs only numpy."""
    from importlib.util import find_spec

    from tengen import files
    from tengen.errors import MissingExtraError
    from tengen.protocols.kaggle import pack as packed

    if find_spec("safetensors") is None:
        raise MissingExtraError("tengen kaggle pack", "train")
    files.check_can_write(out)
    text = packed(net)
    files.write_text(out, text)
    print(f"{out}: plays Connect X with {net}, {len(text) / 1000:.0f} KB, needs numpy only")


@app.command(cls=Command)
def score(
    submission: Annotated[Path, typer.Argument(metavar="FILE", help="A submission: any, not only ours.")],
    positions: Annotated[int, typer.Option("-n", min=1, help="Number of scored positions.")] = 100,
    seconds: Annotated[float, typer.Option(min=0.01, max=60, help="Seconds per move.")] = 2.0,
    beside: Annotated[
        str | None,
        typer.Option(help="A player to compare with; default: the bundled network with the same time."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Measure how often a submission finds the perfect move, and how often a good one."""
    from tengen import games
    from tengen.arena import reference as scored
    from tengen.arena.referee import check_players
    from tengen.cli.progress import progress
    from tengen.protocols import kaggle
    from tengen.workers.local import LocalWorkers

    other = beside or f"zero:zoo/{scored.GAME}:seconds={seconds:g}"
    check_players(games.find(scored.GAME), [other])
    chosen = scored.read(scored.OWN_SET)[:positions]
    found = {}
    asked = kaggle.ask(submission, chosen, seconds)
    found[str(submission)] = scored.score(list(progress(asked, len(chosen), str(submission))))
    with LocalWorkers(1) as run_tasks:  # one at a time: they are given seconds, not simulations
        answers = progress(scored.ask(other, chosen, run_tasks), len(chosen), other)
        found[other] = scored.score(list(answers))
    if as_json:
        rows = [
            {"player": name, "perfect": asdict(one.perfect), "good": asdict(one.good)}
            for name, one in found.items()
        ]
        print(json.dumps({"positions": len(chosen), "seconds": seconds, "players": rows}))
        return
    width = max(map(len, found))
    print(f"{len(chosen)} positions, {seconds:g} s per move (95 % intervals)\n")
    print(f"{'':<{width}}   {'perfect':<24}good")
    for name, one in found.items():
        print(f"{name:<{width}}   {one.perfect!s:<24}{one.good}")
