"""`tengen config [GAME]`: every setting of a training run, with its unit and its reason."""

from typing import Annotated

import typer


def config(
    game: Annotated[
        str | None, typer.Argument(help="A game; default: the settings shared by all games.")
    ] = None,
    preset: Annotated[str | None, typer.Option(help="minutes, hour, night or gpu.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="SECTION.KEY=VALUE", help="May be repeated.")
    ] = None,
) -> None:
    """Print the complete config that `tengen train GAME` would use, as TOML."""
    from tengen import games
    from tengen.training.config_files import load, to_toml

    if game is not None:
        games.find(game)
    print(to_toml(load(game or "", settings or [], preset=preset)), end="")
