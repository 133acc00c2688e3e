"""`tengen games`: a table of the games."""

import json
from typing import Annotated

import typer


def games(as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """List the games."""
    from tengen.games import FAMILIES, find, names

    rows = [find(name) for name in names()]
    if as_json:
        fields = ("name", "summary", "rows", "cols", "num_actions", "num_planes")
        print(json.dumps([{field: getattr(game, field) for field in fields} for game in rows], indent=2))
        return

    from rich.console import Console
    from rich.table import Table

    table = Table("game", "rules", "actions", "symmetries", box=None, header_style="bold", pad_edge=False)
    for game in rows:
        table.add_row(game.name, game.summary, str(game.num_actions), str(len(game.symmetries)))
    console = Console(width=None if Console().is_terminal else 100)
    console.print(table)
    console.print(f"\nAny other size: {', '.join(FAMILIES)}, for example mnk:rows=7,cols=9,k=5,rule=standard")
