"""A bounded pool of threads for everything that takes time: replies, hints, analyses, reviews, files.

    lane = Lane("reply", num_threads=4, num_waiting=64)
    choice = await lane.run(lambda search: search.choose(player, position), seconds=30)

Work runs in a thread and talks to its `Search`. Whoever awaits it may be cancelled (the page has gone, the
position has changed): then the search stops within a slice of 10 ms, and the thread is free again. When the
time is up, a search stops too, and its best move so far counts. A full lane raises ServerFullError at once.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from tengen.errors import UserError
from tengen.games.position import Position
from tengen.players.analysis import Analysis
from tengen.players.limit import Limit
from tengen.players.player import Choice, Player
from tengen.search.snapshot import Snapshot

Result = TypeVar("Result")


class ServerFullError(UserError):
    """Too much is going on already; the message is for people."""


class CancelledSearchError(Exception):
    """Nobody waits for this search any more. It ends the work in its thread."""


class Search:
    """One piece of work: its thread asks it to search, the event loop cancels it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._is_cancelled, self._is_late = threading.Event(), threading.Event()
        self._analysis: Analysis | None = None

    def cancel(self) -> None:
        """Nobody waits for the result any more. From any thread."""
        self._is_cancelled.set()
        self._stop()

    def expire(self) -> None:
        """The time is up: what was found so far is the result. From any thread."""
        self._is_late.set()
        self._stop()

    def _stop(self) -> None:
        analysis = self._analysis
        if analysis is not None:
            analysis.stop()

    # In the thread.

    def perform(self, work: "Callable[[Search], Result]") -> Result:
        self.check()
        return work(self)

    def check(self) -> None:
        """Ends the work if it was cancelled."""
        if self._is_cancelled.is_set():
            raise CancelledSearchError

    @property
    def is_late(self) -> bool:
        return self._is_late.is_set()

    def choose(self, player: Player, position: Position, limit: Limit | None = None) -> Choice:
        """A player's move; the best so far if the time is up."""
        try:
            choice = self._begin(player, position, limit).best
        finally:
            self._analysis = None
        self.check()
        return choice

    def snapshots(
        self, player: Player, position: Position, limit: Limit | None, every: float = 0.1
    ) -> Iterator[Snapshot]:
        """What a search finds, about every `every` seconds; the last snapshot is final."""
        try:
            for snapshot in self._begin(player, position, limit, every):
                self.check()
                yield snapshot
        finally:
            self._analysis = None

    def tell(self, function: Callable[..., None], *arguments: Any) -> None:
        """Calls a function in the event loop, unless the search is cancelled by then."""

        def deliver() -> None:
            if not self._is_cancelled.is_set():
                function(*arguments)

        self.check()
        try:
            self._loop.call_soon_threadsafe(deliver)
        except RuntimeError:  # the event loop has ended
            raise CancelledSearchError from None

    def _begin(self, player: Player, position: Position, limit: Limit | None, every: float = 0.1) -> Analysis:
        self.check()
        self._analysis = analysis = player.analyse(position, limit, every)
        if self._is_cancelled.is_set() or self.is_late:  # meanwhile
            analysis.stop()
        return analysis


class Lane:
    """Threads for one kind of work, and a queue of limited length before them."""

    def __init__(self, name: str, num_threads: int, num_waiting: int) -> None:
        self._executor = ThreadPoolExecutor(num_threads, thread_name_prefix=f"tengen-{name}")
        self._most = num_threads + num_waiting
        self._searches: set[Search] = set()
        self._changed = threading.Condition()

    @property
    def num_searches(self) -> int:
        """Running and waiting."""
        return len(self._searches)

    async def run(self, work: Callable[[Search], Result], seconds: float | None) -> Result:
        """The result of some work, which is done in a thread of this lane.

        seconds: from now on; then its search stops, also if it has waited for a thread all this time. None:
        the search has its own limit."""
        loop = asyncio.get_running_loop()
        search = Search(loop)
        with self._changed:
            if len(self._searches) >= self._most:
                raise ServerFullError("too many people are asking at the moment: try again a little later")
            self._searches.add(search)
        job = self._executor.submit(search.perform, work)
        job.add_done_callback(lambda _: self._leave(search))
        timer = None if seconds is None else loop.call_later(seconds, search.expire)
        try:
            return await asyncio.wrap_future(job)
        except asyncio.CancelledError:
            search.cancel()
            raise
        finally:
            if timer is not None:
                timer.cancel()

    def wait_until_idle(self, seconds: float) -> bool:
        """Waits until nothing runs. Not in the event loop."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._searches, seconds)

    def close(self) -> None:
        """Cancels everything, and waits for the threads."""
        with self._changed:
            searches = list(self._searches)
        for search in searches:
            search.cancel()
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _leave(self, search: Search) -> None:
        with self._changed:
            self._searches.discard(search)
            self._changed.notify_all()


class Searches:
    """The lanes of a server: what is short never waits behind what is long."""

    def __init__(self, num_threads: int) -> None:
        self.files = Lane("files", 2, num_waiting=64)  # game files, and rules that may have to be compiled
        self.short = Lane("short", num_threads, num_waiting=64)  # replies, hints, tries
        self.long = Lane("long", num_threads, num_waiting=2 * num_threads)  # analyses, reviews

    @property
    def lanes(self) -> tuple[Lane, Lane, Lane]:
        return self.files, self.short, self.long

    def close(self) -> None:
        for lane in self.lanes:
            lane.close()
