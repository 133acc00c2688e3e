"""Locks of the operating system on an open file. The system releases them when the file is closed or the
process ends, even by a crash."""

import os
import sys

if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 30  # a Windows lock prevents reading, so lock a byte far after any content

    def try_lock(file: int) -> bool:
        """Locks a file; False if another process has the lock, OSError if the file system has no locks."""
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

    def try_lock(file: int) -> bool:
        """Locks a file; False if another process has the lock, OSError if the file system has no locks."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False
