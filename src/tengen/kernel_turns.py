"""Compiling by turns: a process that needs a kernel which another one is compiling waits, and then loads it.

Eight workers that start on a machine need the same kernels. Without turns each would compile all of them.
"""

import os
import time
from contextlib import suppress
from dataclasses import dataclass

from numba.core import event

from tengen.system_locks import try_lock

LOOK_SECONDS = 0.01
PATIENCE = 60.0  # seconds; whoever compiles may hang, or be suspended: then we compile too


@dataclass(frozen=True)
class _Turn:
    """A kernel that this process is compiling: a locked file."""

    file: int
    path: str
    depth: int  # of nested compilations, before its own


class Turns(event.Listener):
    """The turns of this process; compilations are nested, so the last turn is the first to end."""

    def __init__(self) -> None:
        self._turns: list[_Turn] = []
        self._depth = 0

    def begin(self, kernel: str) -> None:
        """Waits while another process compiles the kernel with this path, at most PATIENCE. Where no file can
        be locked, nobody waits."""
        self._end_from(self._depth)  # a compilation that failed has left its turn
        path, end = f"{kernel}.turn", time.monotonic() + PATIENCE
        file = -1
        with suppress(OSError):  # kernel_files.py says so when it saves the kernel
            os.makedirs(os.path.dirname(path), exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            while not try_lock(file) and time.monotonic() < end:
                time.sleep(LOOK_SECONDS)
        self._turns.append(_Turn(file, path, self._depth))

    def end(self) -> None:
        """The last turn ends: its kernel is saved, or was found."""
        turn = self._turns.pop()
        if turn.file >= 0:
            with suppress(OSError):  # removed by another process, or open there
                os.unlink(turn.path)
            os.close(turn.file)

    def on_start(self, event: event.Event) -> None:
        self._depth += 1

    def on_end(self, event: event.Event) -> None:
        self._end_from(self._depth)  # those of failed compilations inside
        self._depth -= 1

    def _end_from(self, depth: int) -> None:
        while self._turns and self._turns[-1].depth >= depth:
            self.end()


TURNS = Turns()
event.register("numba:compile", TURNS)
