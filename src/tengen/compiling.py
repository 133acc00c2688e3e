"""While Numba compiles: a line on stderr after a second, summed over all kernels; less garbage collection.

It is enough to import this module before the first kernel. Kernels that are found in the cache are not
compiled and print nothing.
"""

import gc
import threading
import time

from numba.core import event

from tengen import notices

PATIENCE = 1.0  # seconds of compiling, in this process, before the message
OBJECTS = 100_000  # between two garbage collections: with Python's 700, compiling takes a tenth longer
TEXT = "compiling for this machine, up to a minute (once; for a game from a file, each time) …"


class _Compiling(event.Listener):
    """Counts the seconds that Numba compiles. Compilations are nested; only the outermost one counts."""

    def __init__(self) -> None:
        self._depth = 0
        self._began = 0.0
        self._seconds = 0.0
        self._timer: threading.Timer | None = None
        self._threshold = gc.get_threshold()

    def on_start(self, event: event.Event) -> None:
        self._depth += 1
        if self._depth == 1:
            self._began = time.monotonic()
            self._timer = threading.Timer(max(0.0, PATIENCE - self._seconds), notices.say_once, (TEXT,))
            self._timer.daemon = True
            self._timer.start()
            self._threshold = gc.get_threshold()
            gc.set_threshold(max(OBJECTS, self._threshold[0]), *self._threshold[1:])

    def on_end(self, event: event.Event) -> None:
        self._depth -= 1
        if self._depth == 0 and self._timer is not None:
            self._timer.cancel()
            gc.set_threshold(*self._threshold)
            self._seconds += time.monotonic() - self._began


event.register("numba:compile", _Compiling())
