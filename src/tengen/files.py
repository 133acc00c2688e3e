"""Writes files completely or not at all: to a temporary file in the same folder, which is then renamed.

Devices and pipes (/dev/stdout) are written directly: a rename would replace them by a file."""

import json
import os
import re
import secrets
from pathlib import Path
from typing import Any

from tengen.errors import UserError


def write_text(path: Path | str, text: str) -> None:
    """Writes a text file; a reader sees the old or the new file, never a part."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path | str, data: bytes) -> None:
    """Writes a file; a reader sees the old or the new file, never a part."""
    file = Path(path)
    if not file.name:
        raise UserError(f"cannot write {file}: it is a folder")
    try:
        if _is_device(file):
            file.write_bytes(data)
            return
        partial = _partial(file)
        try:
            partial.write_bytes(data)
            os.replace(partial, file)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror}") from error


def check_can_write(*paths: Path | str | None) -> None:
    """UserError if one of these files cannot be written: now, not after hours of work."""
    for path in paths:
        if path is None:
            continue
        file = Path(path)
        try:
            if file.is_dir():
                raise UserError(f"cannot write {file}: it is a folder")
            if not _is_device(file):
                trial = _partial(file)
                trial.touch()
                trial.unlink()
        except OSError as error:
            raise UserError(f"cannot write {file}: {error.strerror}") from error


def remove_partial(folder: Path) -> None:
    """Removes what processes that were killed while they wrote have left behind, in all folders below."""
    for file in folder.rglob(".*"):
        if re.fullmatch(r"\..+\.[0-9a-f]{8}", file.name) and file.is_file():
            file.unlink(missing_ok=True)


def _partial(file: Path) -> Path:
    """A temporary file beside this one."""
    return file.with_name(f".{file.name}.{secrets.token_hex(4)}")


def _is_device(file: Path) -> bool:
    """True if it exists and is neither a file nor a folder."""
    return file.exists() and not (file.is_file() or file.is_dir())


def check_can_make(folder: Path) -> None:
    """UserError if this new folder, with its parents, cannot be created."""
    missing = folder.absolute()
    while not missing.parent.exists() and missing.parent != missing:
        missing = missing.parent
    check_can_write(missing)


def read_bytes(path: Path | str) -> bytes:
    """The contents of a file."""
    file = Path(path)
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise UserError(f"no such file: {file}") from None
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from error


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text; ValueError if it is not JSON, or is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
