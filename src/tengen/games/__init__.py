"""The games: each registered by one line, found by name or by spec.

Games from outside the package come from an entry point of the group `tengen.games`, or from a file
given to `load_file` (`tengen --games FILE`).
"""

import hashlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.machinery import SourceFileLoader
from importlib.metadata import entry_points
from pathlib import Path
from typing import NoReturn

from numba.core.errors import NumbaError

from tengen import compiling, files, kernel_files  # noqa: F401  (compiling must know Numba before a kernel)
from tengen.errors import UserError
from tengen.games import connect4, hex, mnk, othello
from tengen.games.game import Game
from tengen.games.numba_errors import essence
from tengen.games.spec import did_you_mean, parse_spec

REGISTRY: dict[str, Callable[..., Game]] = {
    "tictactoe": partial(mnk.game, rows=3, cols=3, k=3),
    "gomoku6": partial(mnk.game, rows=6, cols=6, k=4),
    "gomoku8": partial(mnk.game, rows=8, cols=8, k=5),
    "gomoku9": partial(mnk.game, rows=9, cols=9, k=5),
    "gomoku11": partial(mnk.game, rows=11, cols=11, k=5),
    "gomoku13": partial(mnk.game, rows=13, cols=13, k=5),
    "gomoku15": partial(mnk.game, rows=15, cols=15, k=5),
    "gomoku20": partial(mnk.game, rows=20, cols=20, k=5),
    "standard15": partial(mnk.game, rows=15, cols=15, k=5, rule="standard"),
    "caro15": partial(mnk.game, rows=15, cols=15, k=5, rule="caro"),
    "caro19": partial(mnk.game, rows=19, cols=19, k=5, rule="caro"),
    "caro15-exact": partial(mnk.game, rows=15, cols=15, k=5, rule="caro-exact"),
    "renju15": partial(mnk.game, rows=15, cols=15, k=5, rule="renju"),
    "connect4": partial(connect4.game, rows=6, cols=7, k=4),
    "othello6": partial(othello.game, size=6),
    "othello8": partial(othello.game, size=8),
    "hex7": partial(hex.game, size=7),
    "hex9": partial(hex.game, size=9),
    "hex11": partial(hex.game, size=11),
}

# Families take their sizes in the spec: mnk:rows=7,cols=9,k=5,rule=standard
FAMILIES: dict[str, Callable[..., Game]] = {
    "mnk": mnk.game,
    "connect": connect4.game,
    "othello": othello.game,
    "hex": hex.game,
}

UNKNOWN = ": tengen games lists them; a game of your own needs its file, tengen --games FILE …"
LOADED_FILES: "list[GameSource]" = []  # by load_file; sent to workers, so that they know the same games


def names() -> list[str]:
    """The names of all registered games, including games from outside the package."""
    _load_entry_points()
    return list(REGISTRY)


@lru_cache(maxsize=256)
def find(spec: str) -> Game:
    """The game a spec names: `gomoku15`, `mnk:rows=7,cols=9,k=5,rule=standard`."""
    parsed = parse_spec(spec)
    if parsed.name not in REGISTRY and parsed.name not in FAMILIES:
        _load_entry_points()
    make = REGISTRY.get(parsed.name) or FAMILIES.get(parsed.name)
    if make is None:
        hint = did_you_mean(parsed.name, [*REGISTRY, *FAMILIES])
        raise UserError(f"unknown game '{parsed.name}'{hint or UNKNOWN}")
    if parsed.path is not None:
        raise UserError(f"a game takes settings as key=value, got '{parsed.path}'")
    parameters = inspect.signature(make).parameters
    settings: dict[str, int | str] = {}
    for key, text in parsed.settings.items():
        if key not in parameters or key == "name":
            known = [name for name in parameters if name != "name"]
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise UserError(f"{parsed.name} has no setting '{key}'{did_you_mean(key, known) or ': ' + takes}")
        settings[key] = _whole_number(parsed.name, key, text) if parameters[key].annotation is int else text
    return make(name=spec.strip(), **settings)


@dataclass(frozen=True)
class GameSource:
    """A Python file with games, as a value: a worker can load it without having the file."""

    path: str  # absolute, for messages and for Numba's cache
    text: bytes


def load_file(path: Path | str) -> list[str]:
    """Registers the games that a Python file defines at its top level; returns their names."""
    file = Path(path)
    if not file.is_file():
        raise UserError(f"no such game file: {file}")
    if file.suffix != ".py":
        raise UserError(f"{file} is not a Python file")
    known = {source.path: source for source in LOADED_FILES}
    return load_source(known.get(str(file.resolve())) or _read_source(file), shown=str(file))


def load_source(source: GameSource, shown: str = "") -> list[str]:
    """Registers the games of a source, on this machine or another; `shown` is its name in messages."""
    shown = shown or source.path
    # Numba finds the module of a cached kernel by its name, in this process and in later ones.
    name = f"tengen_game_{Path(source.path).stem}_{hashlib.sha256(source.path.encode()).hexdigest()[:8]}"
    if name not in sys.modules:  # not loaded before
        loader = _TextLoader(name, source)
        module_spec = importlib.util.spec_from_file_location(name, source.path, loader=loader)
        assert module_spec is not None
        sys.modules[name] = importlib.util.module_from_spec(module_spec)
        kernel_files.TEXTS[source.path] = source.text
        try:
            loader.exec_module(sys.modules[name])
        except (Exception, SystemExit) as error:  # the user must see any error their file raises
            del sys.modules[name], kernel_files.TEXTS[source.path]
            kind = "" if isinstance(error, UserError) else f"{type(error).__name__}: "
            raise UserError(f"{shown}{_line_of(error, source.path)}: {kind}{error}") from error
    found = [value for value in vars(sys.modules[name]).values() if isinstance(value, Game)]
    if not found:
        raise UserError(f"{shown} defines no game: expected a Game at its top level, as in examples/")
    for game in found:
        register(game)
    if source.path not in {known.path for known in LOADED_FILES}:
        LOADED_FILES.append(source)
    return [game.name for game in found]


class _TextLoader(SourceFileLoader):
    """Imports a module from text that is already in memory, as if it came from its file."""

    def __init__(self, name: str, source: GameSource) -> None:
        super().__init__(name, source.path)
        self._text = source.text

    def get_data(self, path: str) -> bytes:
        return self._text

    def path_stats(self, path: str) -> NoReturn:
        raise OSError("a text has no compiled version on the disk")


def _read_source(file: Path) -> GameSource:
    return GameSource(str(file.resolve()), files.read_bytes(file))


def register(game: Game) -> None:
    """Makes a game known by its name. UserError if another game has that name."""
    known = REGISTRY.get(game.name)
    if known is not None and known() is not game:
        raise UserError(f"there is a game named '{game.name}' already: give yours another name")
    REGISTRY[game.name] = lambda name=game.name: game


def mistake_in_rules(error: Exception) -> str | None:
    """One line that explains an error raised in a file given to load_file; None for any other error."""
    for source in LOADED_FILES:
        if where := _line_of(error, source.path):
            return f"{source.path}{where}: {type(error).__name__}: {error}"
    if isinstance(error, NumbaError) and LOADED_FILES:
        paths = ", ".join(source.path for source in LOADED_FILES)
        return f"{paths}: rules that Numba cannot compile: {essence(str(error)) or type(error).__name__}"
    return None


def _line_of(error: BaseException, path: str) -> str:
    """` line 12`: the line of a file where an error was raised."""
    if isinstance(error, SyntaxError):
        return f" line {error.lineno}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return f" line {frames[-1].lineno}" if frames else ""


@lru_cache(maxsize=1)
def _load_entry_points() -> None:
    for entry in entry_points(group="tengen.games"):
        register(entry.load())


def _whole_number(game: str, key: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UserError(f"{game}: {key} is a whole number, got '{text}'") from None
