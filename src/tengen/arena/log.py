"""A folder that keeps the games of a match, so that the match can continue after any interruption.

    NAME.json      the settings; it is an error to continue with others
    games.jsonl    one game per line, in the order they finished

One file with lines, not one file per game: a game is safe once its line is written and synced, and a line
that was cut short is easy to detect and drop.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from tengen import files
from tengen.errors import UserError


class Indexed(Protocol):
    @property
    def index(self) -> int: ...


Game = TypeVar("Game", bound=Indexed)


class GameLog(Generic[Game]):
    """The games of one folder: reads them and adds new ones."""

    def __init__(self, folder: Path, name: str, settings: dict[str, object]) -> None:
        self._file = folder / "games.jsonl"
        card = folder / f"{name}.json"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"cannot create the folder {folder}: {error.strerror}") from error
        if card.exists():
            _check(card, settings)
        elif self._file.exists():
            raise UserError(f"{folder} contains games, but not of a {name}: choose another folder")
        else:
            files.write_text(card, json.dumps(settings, indent=2, ensure_ascii=False) + "\n")

    def read(self, from_line: Callable[[str], Game]) -> dict[int, Game]:
        """The games in the file, by index. A last line that was cut short is removed, also from the file."""
        if not self._file.exists():
            return {}
        data = files.read_bytes(self._file)
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.truncate(self._file, whole)
        found: dict[int, Game] = {}
        for number, line in enumerate(data[:whole].splitlines(), start=1):
            try:
                game = from_line(line.decode("utf-8"))
            except (ValueError, TypeError) as error:
                raise UserError(f"{self._file} line {number} is not a game ({error}): remove it") from None
            found[game.index] = game
        return found

    def append(self, line: str) -> None:
        """Adds a game; when this returns, it is on disk."""
        try:
            with self._file.open("ab") as file:
                file.write(line.encode("utf-8") + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UserError(f"cannot write {self._file}: {error.strerror}") from error


def _check(card: Path, settings: dict[str, object]) -> None:
    try:
        before = files.parse_json(files.read_bytes(card))
        different = [key for key in settings if before.get(key) != settings[key]]
    except (ValueError, AttributeError):
        raise UserError(f"{card} is not a file of settings: choose another folder") from None
    if different:
        key = different[0]
        raise UserError(
            f"{card.parent} was started with {key} {_shown(before.get(key))}, not {_shown(settings[key])}: "
            f"choose another folder, or the same {key}"
        )


def _shown(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
