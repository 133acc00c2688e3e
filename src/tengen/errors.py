"""Errors for mistakes of the user and failures of the machine; the command line shows each in one line."""

import errno

DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EFBIG}
PATH_ERRORS = {errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EISDIR}
PROCESS_ERRORS = {errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN}
ALLOCATION_FAILED = ("bad_alloc", "t allocate memory", "to allocate memory", "out of memory")


class UserError(ValueError):
    """A user's mistake, in one line: what was expected, what came, what to do."""


class MissingExtraError(UserError):
    """A command needs an optional package that is not installed."""

    def __init__(self, command: str, extra: str) -> None:
        super().__init__(f"{command} needs the {extra} extra: pip install '.[{extra}]' in the clone")


class MachineError(Exception):
    """The machine failed: no more memory, disk or processes, or it killed a worker. One line says which."""


def mistaken_path(error: BaseException) -> str | None:
    """What is wrong with a path, in one line, if no such file can exist; else None."""
    if isinstance(error, OSError) and error.errno in PATH_ERRORS and error.filename is not None:
        name = str(error.filename)
        return f"{name if len(name) <= 80 else name[:80] + '…'}: {error.strerror}: give another path"
    return None


def machine_failure(error: BaseException) -> str | None:
    """What the machine lacks (memory, disk, processes), in one line, if that caused an error; else None."""
    if isinstance(error, MachineError):
        return str(error)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename is not None else ""
        if error.errno in DISK_ERRORS:
            return f"{where}{error.strerror}: free some space, or choose a folder that can be written"
        if error.errno in PROCESS_ERRORS:
            return f"{where}{error.strerror}: use fewer workers, or close other programs"
        return None
    # PyTorch and ONNX Runtime raise their own errors when they get no memory.
    is_memory = isinstance(error, MemoryError) or any(
        words in str(error).lower() for words in ALLOCATION_FAILED
    )
    if not is_memory:
        return None
    detail = " ".join(str(error).split())[:120]
    said = f" ({detail})" if detail else ""
    return f"out of memory{said}: use fewer simulations, games or workers, or close other programs"
