"""Command lines in messages, ready to copy: `.venv/bin/tengen train --resume 'my run'`."""

import os
import shlex
import shutil
import sys
from pathlib import Path


def command(*arguments: str | Path) -> str:
    """The command line that runs Tengen with these arguments, as this process was started: the same program
    and `--games` files, quoted for a shell."""
    from tengen.games import LOADED_FILES  # games may print commands too

    options = [part for source in LOADED_FILES for part in ("--games", _short(Path(source.path)))]
    return shlex.join([*_program(), *options, *map(str, arguments)])


def _program() -> list[str]:
    """The words that start Tengen: its name if PATH leads to this one, else its path."""
    started = Path(sys.argv[0]) if sys.argv and sys.argv[0] else Path("tengen")
    if started.name == "__main__.py":  # python -m tengen
        return [_found_as("python") or _found_as("python3") or _short(Path(sys.executable)), "-m", "tengen"]
    if started.stem != "tengen" or not started.is_file():  # called by another program
        return ["tengen"]
    on_path = shutil.which("tengen")
    return ["tengen"] if on_path and os.path.samefile(on_path, started) else [_short(started)]


def _found_as(name: str) -> str | None:
    """The name, if PATH leads to this interpreter by it. Paths are compared, because environments may link to
    the same interpreter."""
    found = shutil.which(name)
    return name if found and os.path.abspath(found) == os.path.abspath(sys.executable) else None


def _short(path: Path) -> str:
    """The path, relative if it is below the current folder, and with a folder, so that a shell accepts it."""
    absolute = Path(os.path.abspath(path))
    if not absolute.is_relative_to(Path.cwd()):
        return str(absolute)
    relative = absolute.relative_to(Path.cwd())
    return str(relative) if len(relative.parts) > 1 else os.path.join(".", relative)
