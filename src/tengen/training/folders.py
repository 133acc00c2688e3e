"""The folders of runs: ./runs/NAME."""

import re
from pathlib import Path

from tengen.errors import UserError

RUNS = Path("runs")
NAME = re.compile(r"\w(?:[\w .+-]{0,98}[\w+-])?")  # safe as a folder's name and in a player's spec


def run_folder(name: str) -> Path:
    """The folder of a run, from its name or its path."""
    path = Path(name)
    return path if (path / "config.toml").is_file() else RUNS / name


def new_folder(name: str | None, game: str) -> Path:
    """The folder for a new run: in ./runs, with the given name or else the game's."""
    return RUNS / plain(name if name is not None else re.sub(r"[^\w.+-]+", "-", game).strip("-"))


def plain(name: str) -> str:
    """The name of a run; UserError if it could lead to another folder, or cannot be written in a spec."""
    if not NAME.fullmatch(name):
        raise UserError(
            "a run's name has letters, digits, spaces, . _ + and -, and begins with a letter or a digit; "
            f"got '{name}'"
        )
    return name
