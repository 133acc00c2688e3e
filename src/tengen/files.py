"""Files that are written whole or not at all: beside their name, then renamed."""

import os
import secrets
from pathlib import Path

from tengen.errors import UserError


def write_text(path: Path | str, text: str) -> None:
    """Writes a text file; whoever reads it meanwhile sees the old one."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path | str, data: bytes) -> None:
    """Writes a file; whoever reads it meanwhile sees the old one."""
    file = Path(path)
    if not file.name:
        raise UserError(f"cannot write {file}: it is a folder")
    partial = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        partial.write_bytes(data)
        os.replace(partial, file)
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror}") from error
    finally:
        partial.unlink(missing_ok=True)


def read_bytes(path: Path | str) -> bytes:
    """The whole file."""
    file = Path(path)
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise UserError(f"no such file: {file}") from None
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from error
