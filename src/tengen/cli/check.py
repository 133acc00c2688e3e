"""`tengen check GAME|all`: tests whether a game's functions are correct, and whether it can be trained."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.command_line import command

if TYPE_CHECKING:
    from tengen.games.check import Finding


def check(
    game: Annotated[str, typer.Argument(help="A game; or all: every game, without training.")],
    positions: Annotated[int, typer.Option(min=1, help="Random positions to check.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random games.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Check a game: indices, purity, legality, symmetries, drawing, compiled equals interpreted, training."""
    from rich.console import Console

    from tengen.games import find, names
    from tengen.games.check import check_game

    console = Console(highlight=False, soft_wrap=True)
    report: dict[str, list[dict[str, object]]] = {}
    broken = 0
    for name in names() if game == "all" else [game]:
        rules = find(name)
        if not as_json:
            console.print(f"[bold]{name}[/bold]  {rules.summary}")
        findings = check_game(rules, positions, seed) if game == "all" else _check(name, positions, seed)
        for finding in findings:
            broken += not finding.ok
            report.setdefault(name, []).append(
                {
                    "check": finding.check,
                    "positions": finding.positions,
                    "problem": finding.problem,
                    "note": finding.note,
                }
            )
            if not as_json:
                mark = "[green]ok[/green]    " if finding.ok else "[red]BROKEN[/red]"
                console.print(f"  {mark} {finding.check} [dim]({finding.positions})[/dim]")
            for line in (finding.problem, finding.note and f"note: {finding.note}"):
                if line and not as_json:
                    console.print(f"         {line}", markup=False)
        if not as_json and game != "all":
            console.print(_next(name, broken), markup=False)
    if as_json:
        print(json.dumps(report, indent=2))
    if broken:
        raise typer.Exit(1)


def _check(name: str, positions: int, seed: int) -> Iterator["Finding"]:
    """The findings: uncompiled, then the contract, then training; each only if those before are ok."""
    from tengen.cli.train import can_train
    from tengen.games import find
    from tengen.games.check import Finding, check_game
    from tengen.games.rehearsal import rehearse

    met, problem = rehearse(name, positions, seed)
    yield Finding("uncompiled, every index is inside its array", met, problem)
    if problem:
        return
    is_sound = True
    for finding in check_game(find(name), positions, seed):
        is_sound = is_sound and finding.ok
        yield finding
    if is_sound and can_train():
        from tengen import notices
        from tengen.training.trial import try_training

        notices.say_once("a few games of self-play with a small network, up to a minute …")
        yield from try_training(find(name), seed)


def _next(name: str, broken: int) -> str:
    """The last line of the output: what to do next."""
    from tengen.cli.train import can_train

    if broken:
        return "fix the first BROKEN, then check again: it often causes the others"
    if not can_train():
        return "not checked: training, which needs the train extra: pip install '.[train]' in the clone"
    return f"all checks passed; next: {command('train', name, '--minutes', '5')}"
