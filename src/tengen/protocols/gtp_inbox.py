"""The lines that a program sends, read ahead by a thread, so that a new line can end an analysis."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

MAX_WAITING = 1000  # lines; then the program has to wait


class Inbox:
    def __init__(self, lines: Iterable[bytes]) -> None:
        self._waiting: deque[bytes | None] = deque()  # None: the end
        self._changed = threading.Condition()
        self._stop: Callable[[], None] | None = None
        threading.Thread(target=self._read, args=(lines,), daemon=True, name="tengen-reader").start()

    def __iter__(self) -> Iterator[bytes]:
        """The lines, as they arrive."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                line = self._waiting.popleft()
                self._changed.notify_all()
            if line is None:
                return
            yield line

    @property
    def has_more(self) -> bool:
        """Has another line arrived, or the end?"""
        return bool(self._waiting)

    def wait(self) -> None:
        """Returns when another line has arrived, or the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting)

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Iterator[None]:
        """Inside this context, the next line that arrives calls `stop`; also one that waits already."""
        with self._changed:
            self._stop = stop
            if self._waiting:
                stop()
        try:
            yield
        finally:
            with self._changed:
                self._stop = None

    def _read(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self._add(line)
        self._add(None)

    def _add(self, line: bytes | None) -> None:
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < MAX_WAITING)
            self._waiting.append(line)
            self._changed.notify_all()
            if self._stop is not None:
                self._stop()
