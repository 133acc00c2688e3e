"""`tengen check GAME|all`: does a game keep the contract?"""

import json
from typing import Annotated

import typer


def check(
    game: Annotated[str, typer.Argument(help="A game, or all.")],
    positions: Annotated[int, typer.Option(min=1, help="Random positions to check.")] = 2000,
    seed: Annotated[int, typer.Option(help="Of the random games.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Check a game against the contract: purity, legality, symmetries, compiled equals interpreted."""
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
        for finding in check_game(rules, positions, seed):
            broken += not finding.ok
            report.setdefault(name, []).append(
                {"check": finding.check, "positions": finding.positions, "problem": finding.problem}
            )
            if not as_json:
                mark = "[green]ok[/green]    " if finding.ok else "[red]BROKEN[/red]"
                console.print(f"  {mark} {finding.check} [dim]({finding.positions})[/dim]")
            if finding.problem and not as_json:
                console.print(f"         {finding.problem}", markup=False)
    if as_json:
        print(json.dumps(report, indent=2))
    if broken:
        raise typer.Exit(1)
