"""Files that are written whole or not at all: beside their name, then renamed.

Devices and pipes (/dev/stdout) are written to as they are: a rename would put a file in their place."""

import json
import os
import secrets
from pathlib import Path
from typing import Any

from tengen.errors import UserError


def write_text(path: Path | str, text: str) -> None:
    """Writes a text file; whoever reads it meanwhile sees the old one."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path | str, data: bytes) -> None:
    """Writes a file; whoever reads it meanwhile sees the old one."""
    file = Path(path)
    if not file.name:
        raise UserError(f"cannot write {file}: it is a folder")
    try:
        if _is_device(file):
            file.write_bytes(data)
            return
        partial = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
        try:
            partial.write_bytes(data)
            os.replace(partial, file)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror}") from error


def check_can_write(*paths: Path | str | None) -> None:
    """UserError if one of these files could not be written: better now than after hours of work."""
    for path in paths:
        if path is None:
            continue
        file = Path(path)
        try:
            if file.is_dir():
                raise UserError(f"cannot write {file}: it is a folder")
            if not _is_device(file):
                trial = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
                trial.touch()
                trial.unlink()
        except OSError as error:
            raise UserError(f"cannot write {file}: {error.strerror}") from error


def _is_device(file: Path) -> bool:
    """Is it there, and neither a file nor a folder?"""
    return file.exists() and not (file.is_file() or file.is_dir())


def check_can_make(folder: Path) -> None:
    """UserError if this new folder could not be made, its parents included."""
    missing = folder.absolute()
    while not missing.parent.exists() and missing.parent != missing:
        missing = missing.parent
    check_can_write(missing)


def read_bytes(path: Path | str) -> bytes:
    """The whole file."""
    file = Path(path)
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise UserError(f"no such file: {file}") from None
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from error


def parse_json(text: str | bytes) -> Any:
    """What a JSON text means; ValueError if it is none, or is nested too deeply to read."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
