"""`tengen analysis`: queries in JSON come in line by line, results go out; several are searched at once.

    reader thread  →  lines  →  event loop: reads messages, starts and ends queries  →  outbox  →  writer
                                    ↓  ↑ snapshots
                                a lane of threads (searches.py), one per query that is being searched

The event loop never waits for a search or for the program that reads the results. All searches share one
network (evaluators/network.py) and one amount of memory (kept_players.py). docs/analysis.md is for users.
"""

import asyncio
import math
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tengen import __version__, players
from tengen.errors import UserError, machine_failure, mistaken_path
from tengen.games.game import Game
from tengen.players.player import Player, PlayerFailedError
from tengen.protocols.analysis_messages import MessageError
from tengen.protocols.analysis_service_messages import (
    Action,
    Id,
    ServiceQuery,
    check_player,
    error_message,
    id_of,
    no_results_message,
    read_request,
    read_values,
    result_message,
)
from tengen.protocols.kept_players import KeptPlayer, PlayerStore
from tengen.protocols.outbox import Outbox
from tengen.protocols.searches import CancelledSearchError, Lane, Search, ServerFullError

NUM_THREADS = 4  # more than most machines have cores for: a network answers several searches at once
MEMORY = 1024  # MiB
MAX_WAITING = 10_000  # queries that no thread has begun
MAX_IDLE = 64  # players that wait for their next query
LINES_AHEAD = 100  # that are read before they are understood

Write = Callable[[str], None]


class AnalysisService:
    """Answers queries until its input ends."""

    def __init__(
        self,
        write: Write,
        player: str | None = None,
        num_threads: int = NUM_THREADS,
        memory: int = MEMORY,
        is_patient: bool = True,
    ) -> None:
        """write: sends some lines; called in a thread. player: the spec for queries that name none; None: the
        nearest bundled network. memory: MiB for all searches together. is_patient: at the end of the input,
        queries that have a limit are still searched to their end."""
        if player is not None:
            check_player(player)
        self._write, self._player, self._is_patient = write, player, is_patient
        self._players = IdlePlayers(PlayerStore(memory), share=1 / (2 * num_threads))
        self._lane = Lane("analysis", num_threads, MAX_WAITING)
        self._queries: dict[Id, Running] = {}

    async def run(self, lines: Iterable[bytes]) -> None:
        """Answers the queries of these lines, which a thread reads. OSError if nobody takes the answers."""
        self._outbox, self._written = Outbox(), asyncio.Event()
        answering, sending = asyncio.create_task(self._answer_all(lines)), asyncio.create_task(self._send())
        try:
            await asyncio.wait({answering, sending}, return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                answering.result()
            await sending
        finally:
            answering.cancel()
            for running in list(self._queries.values()):
                running.task.cancel()
            await asyncio.to_thread(self._lane.close)

    # Lines.

    async def _answer_all(self, lines: Iterable[bytes]) -> None:
        """Understands line after line; then finishes the queries, and closes the outbox."""
        loop, waiting = asyncio.get_running_loop(), asyncio.Queue[bytes | None]()
        ahead = threading.Semaphore(LINES_AHEAD)

        def read() -> None:
            with suppress(RuntimeError):  # the event loop has ended
                for line in lines:
                    ahead.acquire()
                    loop.call_soon_threadsafe(waiting.put_nowait, line)
                loop.call_soon_threadsafe(waiting.put_nowait, None)

        threading.Thread(target=read, daemon=True, name="tengen-reader").start()
        while (line := await waiting.get()) is not None:
            ahead.release()
            if line.strip():
                self._take(line)
            while self._outbox.is_full:  # the program does not read: let it wait as well
                self._written.clear()
                await self._written.wait()
        for running in list(self._queries.values()):
            if not self._is_patient or running.query.is_endless:
                self._terminate(running)
        await asyncio.gather(*(running.task for running in self._queries.values()), return_exceptions=True)
        self._outbox.close()

    async def _send(self) -> None:
        while messages := await self._outbox.take_several():
            await _in_thread(self._write, "\n".join(messages) + "\n")
            self._written.set()

    def _take(self, line: bytes) -> None:
        """Does what a line says, or starts to do it. Every mistake is answered by one line."""
        ident: Id | None = None
        try:
            values = read_values(line)
            ident = id_of(values)
            request = read_request(values)
            if isinstance(request, Action):
                self._act(request)
            else:
                self._start(request)
        except MessageError as error:
            self._outbox.put(error_message(ident, str(error), error.field))
        except Exception as error:  # noqa: BLE001  (the service lives on)
            self._outbox.put(error_message(ident, explained(error), None))

    def _act(self, action: Action) -> None:
        if action.name == "query_version":
            self._outbox.put(action.answer(version=__version__))
            return
        self._outbox.put(action.answer())
        for running in list(self._queries.values()):
            if action.name == "terminate_all" or running.query.id == action.terminate_id:
                self._terminate(running)

    # Queries.

    def _start(self, query: ServiceQuery) -> None:
        if query.id in self._queries:
            raise MessageError(f"query {query.id!r} is not finished: choose another id, or wait", "id")
        running = self._queries[query.id] = Running(query)
        running.task = asyncio.create_task(self._answer(running))

    def _terminate(self, running: "Running") -> None:
        if running.search is not None:
            running.search.expire()  # what was found so far is the result
        else:
            self._finish(running, no_results_message(running.query))
            running.task.cancel()

    def _finish(self, running: "Running", message: dict[str, Any]) -> None:
        """Sends the last message of a query, unless that has been done."""
        if self._queries.get(running.query.id) is running:
            del self._queries[running.query.id]
            self._outbox.put(message, topic=running)

    async def _answer(self, running: "Running") -> None:
        query = running.query
        try:
            message = await self._lane.run(lambda search: self._search(search, running), seconds=None)
        except ServerFullError:
            said = f"{MAX_WAITING} queries wait already: send this one again when some of them are answered"
            message = error_message(query.id, said, None)
        except CancelledSearchError:
            message = no_results_message(query)
        except (UserError, PlayerFailedError) as error:
            message = error_message(query.id, " ".join(str(error).split()), "player")
        except Exception as error:  # noqa: BLE001  (the service lives on)
            message = error_message(query.id, explained(error), None)
        self._finish(running, message)

    def _search(self, search: Search, running: "Running") -> dict[str, Any]:
        """The final result of a query; tells the partial ones. In a thread of the lane."""
        query = running.query
        running.search = search
        game = query.position.game
        with self._players.taken(query.player or self._player or players.analyst(game), game) as player:
            player.new_game(0)  # so that the answer does not depend on earlier queries
            every = query.report_every or math.inf
            for snapshot in search.snapshots(player, query.position, query.limit, every):
                message = result_message(query, snapshot)
                if not snapshot.is_final:
                    search.tell(self._outbox.put, message, running)
        return message


class Running:
    """A query that is searched or waits."""

    task: asyncio.Task[None]

    def __init__(self, query: ServiceQuery) -> None:
        self.query = query
        self.search: Search | None = None  # None: no thread has begun it


class IdlePlayers:
    """Players that no query uses at the moment, kept with their network for the next query. For threads."""

    def __init__(self, store: PlayerStore, share: float) -> None:
        """share: of the store's memory, for each player."""
        self._store, self._share = store, share
        self._idle: OrderedDict[KeptPlayer, None] = OrderedDict()  # used last comes last
        self._lock = threading.Lock()

    @contextmanager
    def taken(self, spec: str, game: Game) -> Iterator[Player]:
        """A player that is ready, for this thread alone. One that failed is not used again."""
        kept = self._take(spec, game)
        try:
            with kept.taken() as ready:
                yield ready
        except BaseException:
            kept.close()
            raise
        with self._lock:
            self._idle[kept] = None
            surplus = [self._idle.popitem(last=False)[0] for _ in range(len(self._idle) - MAX_IDLE)]
        for old in surplus:
            old.close()

    def _take(self, spec: str, game: Game) -> KeptPlayer:
        with self._lock:
            for kept in reversed(self._idle):
                if kept.spec == spec and kept.game.name == game.name:
                    del self._idle[kept]
                    return kept
        return self._store.reserve(spec, game, self._share)


def explained(error: Exception) -> str:
    """One line about an error that is not in the message; a bug of ours also shows its lines on stderr."""
    known = mistaken_path(error) or machine_failure(error)
    if known is None:
        traceback.print_exception(error)
        known = "an error in Tengen: please report it with the lines on stderr"
    return known


def _in_thread(work: Callable[[str], None], text: str) -> asyncio.Future[None]:
    """Some work in a thread that does not keep the process from ending. OSError is its only error."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def finish(error: OSError | None) -> None:
        if done.cancelled():
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    def run() -> None:
        failure: OSError | None = None
        try:
            work(text)
        except OSError as error:
            failure = error
        with suppress(RuntimeError):  # the event loop has ended
            loop.call_soon_threadsafe(finish, failure)

    threading.Thread(target=run, daemon=True, name="tengen-writer").start()
    return done
