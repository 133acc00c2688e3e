"""One process at a time works on a run: a lock of the operating system on a file in its folder.

The kernel releases it when the process ends, however it ends; the file may stay, it means nothing by itself.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tengen.errors import UserError

FILE = ".lock"  # holds the number of the process that has the lock, or had it last


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keeps other processes from the run while the with statement lasts; UserError if one has it."""
    path = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise UserError(f"cannot make {path}: {error.strerror}") from error
    try:
        if not _try_lock(file, path):
            holder = os.read(file, 20).decode("ascii", "replace").strip()
            raise UserError(
                f"{folder} is being trained by process {holder or 'unknown'}: wait for it, or stop it first"
            )
        os.ftruncate(file, 0)
        os.write(file, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(file)  # and with it goes the lock


if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 30  # locks of Windows keep others from reading: not the bytes of the number

    def _try_lock(file: int, path: Path) -> bool:
        os.lseek(file, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
            return True
        except OSError:
            return False
        finally:
            os.lseek(file, 0, os.SEEK_SET)
else:
    import fcntl

    def _try_lock(file: int, path: Path) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False
        except OSError as error:  # a file system without locks
            raise UserError(f"cannot lock {path}: {error.strerror}") from error
