"""A lock, so that only one process at a time works on a run: a system lock on a file in its folder.

The system releases it when the process ends, even by a crash. The file may remain; without the lock it means
nothing.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tengen.errors import UserError
from tengen.system_locks import try_lock

FILE = ".lock"  # contains the id of the process that has the lock, or had it last


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keeps other processes away from the run during the with statement; UserError if one works on it."""
    path = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise UserError(f"cannot create {path}: {error.strerror}") from error
    try:
        if not _try_lock(file, path):
            holder = os.read(file, 20).decode("ascii", "replace").strip()
            raise UserError(
                f"{folder} is being trained by process {holder or 'unknown'}: wait for it, or stop it first"
            )
        try:
            os.ftruncate(file, 0)
            os.write(file, f"{os.getpid()}\n".encode())
        except OSError as error:  # a full disk, or something else than a file
            raise UserError(f"cannot write {path}: {error.strerror}") from error
        yield
    finally:
        os.close(file)  # releases the lock


def _try_lock(file: int, path: Path) -> bool:
    try:
        return try_lock(file)
    except OSError as error:  # a file system without locks
        raise UserError(f"cannot lock {path}: {error.strerror}") from error
