"""The Gomocup protocol (piskvork, "pbrain"), the engine's side: `pbrain-tengen`.

    the manager                             we
    START 15 · RECTSTART 20,15 · RESTART    OK, or ERROR and why
    BEGIN · TURN 7,7 · BOARD … DONE         MESSAGE and DEBUG lines, then our move: 8,7
    SWAP2BOARD … DONE                       three points · SWAP · one point
    TAKEBACK 7,7 · PLAY 7,7                 OK · 7,7
    INFO key value                          nothing
    ABOUT · END                             name="Tengen", … · exit
    YXBOARD … DONE · YXSHOWFORBID · STOP    nothing · FORBID 0708. · our move at once
    anything else                           UNKNOWN and what it was

Three threads: one reads lines, one thinks (gomocup_thinking.py), and this one knows the game and answers. So
END, STOP and INFO are heard while a move is thought about. All other lines wait until it is made: a manager
takes any line but MESSAGE and DEBUG for our move. This thread imports nothing large and compiles nothing: if
the player is not ready in time, it makes a move by itself (gomocup_quick.py).
"""

import os
import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from tengen.protocols.gomocup_commands import Commands
from tengen.protocols.gomocup_player import Wanted
from tengen.protocols.gomocup_quick import Quick
from tengen.protocols.gomocup_thinking import NOT_READY, Answered, Event, Ready, Remark, Request, Thinker
from tengen.protocols.lines import read_lines, write_text

PATIENCE = 1.2  # seconds until START is answered, ready or not
GRACE = 0.3  # seconds that a search may take longer than planned
STOP_GRACE = 0.5  # seconds in which a search that was stopped answers
LAST_SECONDS = 3.0  # of a move when nothing more can be read
MOST_WAITING = 1000  # lines that were read and not answered
STARTUP, MOST_STARTUP = 0.2, 1.5  # seconds
STOPPED = 130  # exit code after Ctrl-C


@dataclass(frozen=True)
class Line:
    """A line of the manager; None: there are no more."""

    text: str | None


@dataclass
class Due:
    """A request that is being thought about; times are those of time.monotonic()."""

    request: Request
    stop_at: float | None = None  # then the search is stopped
    quick_at: float | None = None  # then the answer comes without it


class Gomocup:
    """One engine: reads lines, calls `say` with its own, returns from `run` at END."""

    def __init__(
        self, lines: Iterable[bytes], say: Callable[[str], None], spec: str | None = None, seed: int = 0
    ) -> None:
        """spec: the player; None: the best one for the game."""
        self._lines, self._say = lines, say
        self._events: queue.SimpleQueue[Line | Event] = queue.SimpleQueue()
        self._room = threading.Semaphore(MOST_WAITING)
        self.thinker = Thinker(self._events.put, spec, seed)
        self._commands = Commands(say, self._ask, self._start, self.thinker.prepare)
        self._ok_at: float | None = None  # START is answered then, if not before
        # Seconds before the first line. They count if the manager asks for a move before we say OK: it may
        # have stopped this process (SIGSTOP) since it was started. We know only how long it has computed.
        self._startup = min(STARTUP + 3 * time.process_time(), MOST_STARTUP)
        self._due: Due | None = None
        self._waiting: deque[str] = deque()  # lines that came while a request was due
        self._is_over = False

    @property
    def wanted(self) -> Wanted:
        """What the player must be able to play."""
        return self._commands.wanted

    def run(self) -> None:
        """Returns at END, or when nothing more can be read and everything is answered."""
        threading.Thread(target=self._read, name="reader", daemon=True).start()
        while not self._is_over:
            times = [self._ok_at, *((self._due.stop_at, self._due.quick_at) if self._due else ())]
            following = min((at for at in times if at is not None), default=None)
            left = None if following is None else max(0.0, following - time.monotonic())
            with suppress(queue.Empty):
                self._hear(self._events.get(timeout=left))
            self._check_times()

    def _read(self) -> None:
        try:
            for line in self._lines:
                self._room.acquire()
                self._events.put(Line(line.decode("ascii", "replace")))
        finally:
            self._events.put(Line(None))

    def _hear(self, event: Line | Event) -> None:
        if isinstance(event, Line):
            self._hear_line(event.text)
        elif isinstance(event, Answered | Remark):
            if self._due is None or event.request is not self._due.request:
                return  # it was answered without the player
            if isinstance(event, Answered):
                self._finish(event)
            else:
                self._commands.message(event.text)
        elif event.wanted == self.wanted and self._ok_at is not None:
            self._ok_at, self._startup = None, 0.0
            if isinstance(event, Ready):
                self._say("OK")
            else:
                self._commands.error(event.reason)

    def _hear_line(self, text: str | None) -> None:
        if text is None:
            self._hear_the_end()
            return
        word = text.split(None, 1)[0].upper() if text.strip() else ""
        if word == "END":
            self._end()
        elif self._due is None:
            self._handle(text)
        elif word in ("STOP", "YXSTOP"):
            self._stop(self._due)
        elif word == "INFO" and not self._waiting:
            self._commands.inform(text)
        else:
            self._waiting.append(text)
            return
        self._room.release()

    def _hear_the_end(self) -> None:
        """Nothing more can be read: everything is answered soon, and then it is over."""
        if self._due is None:
            self._end()
            return
        last = time.monotonic() + LAST_SECONDS
        self._due.stop_at, self._due.quick_at = last - STOP_GRACE, min(last, self._due.quick_at or last)
        self._waiting.append("END")

    def _handle(self, text: str) -> None:
        """A line while no request is due."""
        word = text.split(None, 1)[0].upper() if text.strip() else ""
        if word == "INFO":
            self._commands.inform(text)
        elif word == "END":
            self._end()
        elif word:
            self._confirm_start()
            self._commands.obey(text)

    def _start(self, wanted: Wanted) -> None:
        """START is answered when the player is ready, before anything else is, and soon in any case."""
        self._ok_at = time.monotonic() + PATIENCE
        self.thinker.prepare(wanted)

    def _confirm_start(self) -> None:
        if self._ok_at is not None:
            self._ok_at = None
            self._say("OK")

    def _ask(self, request: Request) -> None:
        request.began -= self._startup
        self._startup = 0.0
        self._due = Due(request)
        if request.kind != "forbid":
            self._due.quick_at = request.began + request.settings.latest
        self.thinker.ask(request)

    def _stop(self, due: Due) -> None:
        """The move is made now."""
        self.thinker.stop(due.request)
        due.stop_at, due.quick_at = None, time.monotonic() + STOP_GRACE

    def _check_times(self) -> None:
        now, due = time.monotonic(), self._due
        if self._ok_at is not None and now >= self._ok_at:
            self._confirm_start()
            self._startup = 0.0
        if due is not None and due.stop_at is not None and now >= due.stop_at:
            self._stop(due)
        elif due is not None and due.quick_at is not None and now >= due.quick_at:
            if due.request.has_begun and not due.request.is_stopped:  # a search, which is a little late
                self.thinker.stop(due.request)
                due.quick_at = now + GRACE
            else:
                due.request.is_given_up = True
                self._finish(Answered(due.request, problem=NOT_READY))

    def _finish(self, answered: Answered) -> None:
        """Answers the request that is due, then the lines that waited for it."""
        request, self._due = answered.request, None
        for text in answered.remarks:
            self._commands.message(text)
        if not answered.problem:
            self._commands.answer(answered)
        elif request.kind == "forbid":
            self._commands.error(answered.problem)
        else:
            self._commands.message(answered.problem)
            self._commands.answer(_quick_answer(request))
        while self._waiting and self._due is None and not self._is_over:
            self._handle(self._waiting.popleft())
            self._room.release()

    def _end(self) -> None:
        self._confirm_start()
        if self._due is not None:
            self.thinker.stop(self._due.request)
        self._is_over = True


def _quick_answer(request: Request) -> Answered:
    """An answer without the player."""
    view = request.view
    quick = Quick(view.rows, view.cols, view.cells, request.settings.rule or "")
    if request.kind == "swap2":
        return Answered(request, () if view.stones else tuple(quick.opening()))
    cell = quick.best_cell(view.own_color)
    assert cell is not None, "nobody asks for a move on a full board"
    return Answered(request, (cell,))


def serve(spec: str | None = None, seed: int | None = None) -> None:
    """Speaks the protocol on stdin and stdout until END. UserError if there is no such player.

    The process ends here if the player is still busy: a search or the compiler cannot be interrupted."""

    def say(text: str) -> None:
        write_text(sys.stdout, text + "\n")

    brain = Gomocup(read_lines(sys.stdin), say, spec, int.from_bytes(os.urandom(4)) if seed is None else seed)
    if spec is not None:
        from tengen import games, players

        game = games.find(brain.wanted.game)
        brain.thinker.use(players.find(spec, game))
    code = STOPPED
    try:
        brain.run()
        code = 0
    except BrokenPipeError:  # the manager is gone
        code = 0
    finally:  # also after Ctrl-C
        brain.thinker.close()
        if brain.thinker.is_busy:
            os._exit(code)
