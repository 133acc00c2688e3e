"""A search that can be read and stopped while it runs.

    analysis = player.analyse(position, Limit(seconds=5))
    for snapshot in analysis:            # immutable, about ten per second; the last one is final
        print(snapshot.to_text())
    analysis.stop()                      # from any thread: the search ends within 50 ms
    analysis.best                        # the move; runs the search to its end first

Nothing runs in the background: the thread that iterates, or asks for the best move, runs the search, slice
by slice. So there is no thread to leak and no lock on a tree. A server gives each analysis a thread.
"""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tengen.games.position import Position
from tengen.players.limit import Limit
from tengen.players.player import Choice, Player

if TYPE_CHECKING:
    from tengen.search.snapshot import Snapshot

SLICE = 0.01  # seconds between two checks of the clock and of stop()


class Analysis:
    """One search of one position by one player."""

    def __init__(self, player: Player, position: Position, limit: Limit, every: float = 0.1) -> None:
        self._began = time.perf_counter()
        self.position, self.limit = position, limit
        self._every = every
        self._stopped = threading.Event()
        self._turn = threading.Lock()  # one slice at a time, even if two threads ask
        seconds = limit.thinking_seconds
        self._ends = None if seconds is None else self._began + seconds
        self._seconds = 0.0  # of searching, once it is over
        self._is_over = False
        self._thinking = player.begin(position, limit)

    def stop(self) -> None:
        """Ends the search after the current slice. From any thread; may be called more than once."""
        self._stopped.set()

    @property
    def is_over(self) -> bool:
        return self._is_over

    @property
    def seconds(self) -> float:
        """The search time so far, or in total once it is over."""
        return self._seconds if self._is_over else time.perf_counter() - self._began

    @property
    def best(self) -> Choice:
        """The move to play, once the limit is reached, stop() was called, or nothing is left to find."""
        while not self._is_over:
            self._run_slice()
        with self._turn:
            return self._thinking.choice()

    @property
    def snapshot(self) -> "Snapshot":
        """What has been found so far."""
        with self._turn:
            found = self._thinking.snapshot()
            return replace(found, seconds=round(self.seconds, 6), is_final=self._is_over)

    def tree_text(self, depth: int) -> str:
        """The search tree to a depth, as text; UserError if the player has none to show."""
        with self._turn:
            return self._thinking.tree_text(depth)

    def _repr_html_(self) -> str:
        """How a notebook shows it: what has been found so far, above the board."""
        return f"{self.snapshot._repr_html_()}{self.position.svg()}"

    def __iter__(self) -> "Iterator[Snapshot]":
        following = self._began + self._every
        while not self._is_over:
            self._run_slice()
            now = time.perf_counter()
            if now >= following and not self._is_over:
                following = now + self._every
                yield self.snapshot
        yield self.snapshot

    def _run_slice(self) -> None:
        with self._turn:
            if self._is_over:
                return
            left = SLICE if self._ends is None else min(SLICE, self._ends - time.perf_counter())
            is_done = self._stopped.is_set() or left <= 0 or self._thinking.run(left)
            if is_done or (self._ends is not None and time.perf_counter() >= self._ends):
                self._seconds = time.perf_counter() - self._began
                self._is_over = True
