"""Where runs are: folders in ./runs, by name."""

import re
from pathlib import Path

from tengen.errors import UserError

RUNS = Path("runs")
NAME = re.compile(r"\w(?:[\w .+-]{0,98}[\w+-])?")  # a plain name, for a folder and for a player's spec


def run_folder(name: str) -> Path:
    """Where a run is, by its name or its path."""
    path = Path(name)
    return path if (path / "config.toml").is_file() else RUNS / name


def new_folder(name: str | None, game: str) -> Path:
    """Where a new run goes: in ./runs, by its name, else by the game's."""
    return RUNS / plain(name if name is not None else re.sub(r"[^\w.+-]+", "-", game).strip("-"))


def plain(name: str) -> str:
    """The name of a run; UserError if it could lead elsewhere, or not be said in a player's spec."""
    if not NAME.fullmatch(name):
        raise UserError(
            "a run's name has letters, digits, spaces, . _ + and -, and begins with a letter or a digit; "
            f"got '{name}'"
        )
    return name
