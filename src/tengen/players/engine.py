"""Any external Gomocup engine as a player: `engine:seconds=2,cmd=./pbrain-x --flag`. The manager's side.

    we                                    the engine
    START 15 (RECTSTART 9,7)              OK
    INFO rule 0 …                         nothing
    ABOUT                                 name="Rapfi", …
    INFO time_left …                      nothing
    BEGIN, or BOARD x,y,who … DONE        MESSAGE and DEBUG lines, then x,y

x is the column and y the row, from 0 at the top left. The whole board is sent before every move: positions
may come in any order. An engine fails if it hangs, crashes, answers nonsense, plays an illegal move or uses
too much memory. Then it is killed with all its children, and started again for the next move.
"""

import math
import os
import queue
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, NoReturn

from tengen.errors import UserError
from tengen.games import mnk
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.decision import Decider
from tengen.players.limit import Limit
from tengen.players.player import Choice, PlayerFailedError

RULE_NUMBERS = {"freestyle": 0, "standard": 1, "renju": 4, "caro": 8, "caro-exact": 9}
UNLIMITED_MS = 2147483647
AGAINST_AN_ENGINE = 1  # a game_type
MEBIBYTE = 1 << 20

START_SECONDS = 30.0  # to answer START: engines load large networks then
ABOUT_SECONDS = 5.0  # to say its name; an engine that does not can still play
GRACE_SECONDS = 0.5  # added to its time limit, for the pipes and a busy machine
END_SECONDS = 0.5  # to exit by itself
LOOK_SECONDS = 0.25  # between two checks of its memory

LINE_BYTES, WAITING_LINES = 10_000, 1_000  # an engine with endless output has to wait for us
MOVE = re.compile(r"\s*(-?[0-9]{1,6})\s*,\s*(-?[0-9]{1,6})\s*")
TALK = re.compile(r"(?i)(MESSAGE|DEBUG)\b")
REMARK = re.compile(r"(?i)(MESSAGE|DEBUG|ERROR|UNKNOWN)\b")  # not an answer to a request for a move
NAME = re.compile(r'(?i)\bname\s*=\s*"([^"]+)"')


class Engine(Decider):
    """One process, from the first request for a move until close."""

    summary = "an outside Gomocup engine (cmd=./pbrain-x, before it: seconds=1, match, memory=350)"

    def __init__(
        self,
        game: Game,
        cmd: str = "",
        seconds: float = 1.0,  # per move
        match: float = 0.0,  # seconds for all its moves of a game; 0 = no limit
        memory: int = 350,  # mebibytes, of the process and its children; 0 = no limit
    ) -> None:
        super().__init__(game)
        self._told = seconds  # the time per move that was sent to the engine
        if not mnk.is_five_in_a_row(game):
            raise UserError(f"player 'engine' plays five in a row, which {game.name} is not")
        for key, value in (("seconds", seconds), ("match", match), ("memory", memory)):
            if not 0 <= value <= 1_000_000:
                raise UserError(f"player 'engine': {key} is from 0 to 1,000,000, got {value}")
        self._command = _command(cmd)
        self._seconds, self._match, self._memory = seconds, match, memory
        self._process: _Process | None = None
        self.name = Path(self._command[0]).name  # until the engine says its name
        self.new_game(0)

    def new_game(self, seed: int) -> None:
        """Tells the engine at its next move. Its random numbers are its own: it takes no seed."""
        self._is_new_game = True
        self._left = self._match if self._match > 0 else math.inf

    def prepare(self, limit: Limit | None = None) -> None:
        """Starts the engine, which loads what it needs, and tells it about the game."""
        self._ready()

    def decide(self, position: Position, limit: Limit) -> Choice:
        """The engine's move. We tell it the time per move and what is left on its clock."""
        turn, left = self._seconds, self._left
        if limit.is_timed:
            turn = math.inf if limit.seconds is None else limit.seconds
            left = math.inf if limit.clock is None else limit.clock.left
        try:
            process = self._ready()
            if turn != self._told:
                process.send(f"INFO timeout_turn {_milliseconds(turn)}")
                self._told = turn
            process.send(f"INFO time_left {_milliseconds(left)}", *_request(position))
            allowed = min(turn, max(left, 0.0))
            began = time.perf_counter()
            answer = process.answer(allowed + GRACE_SECONDS, "made no move")
            self._left -= time.perf_counter() - began
            message = next((text[8:] for text in reversed(process.remarks) if text[:8] == "MESSAGE "), "")
            return Choice(self._legal(position, answer), note=message or self.name)
        except BaseException:  # Ctrl-C too: a late answer would be read as the next one
            self._kill()
            raise

    def close(self) -> None:
        if self._process is not None:
            self._process.ask_to_leave()
        self._kill()

    def _ready(self) -> "_Process":
        """The running engine, which knows the game."""
        if self._process is None:
            self._process, self._is_new_game = _Process(self._command, self._memory), True
            # Also killed if this player is never closed: when it is garbage-collected, or when Tengen exits.
            self._finalizer = weakref.finalize(self, self._process.kill)
        process = self._process
        if self._is_new_game:
            rows, cols, _, rule = self.game.header
            process.send(f"START {rows}" if rows == cols else f"RECTSTART {cols},{rows}")
            answer = process.answer(START_SECONDS, "did not answer START", TALK)
            if answer.upper() != "OK":
                _fail(f"said {_quoted(answer)} to START instead of OK")
            process.send(
                f"INFO timeout_turn {_milliseconds(self._seconds)}",
                f"INFO timeout_match {_milliseconds(self._match)}",
                f"INFO max_memory {self._memory * MEBIBYTE}",
                f"INFO game_type {AGAINST_AN_ENGINE}",
                f"INFO rule {RULE_NUMBERS[mnk.RULES[rule]]}",
                "ABOUT",
            )
            name = NAME.search(process.read(ABOUT_SECONDS) or "")
            self.name = name[1] if name else self.name
            self._is_new_game, self._told = False, self._seconds
        return process

    def _legal(self, position: Position, answer: str) -> int:
        """The action that an answer means."""
        found = MOVE.fullmatch(answer)
        if not found:
            _fail(f"said {_quoted(answer)} instead of a move x,y")
        x, y = int(found[1]), int(found[2])
        if not (0 <= x < self.game.cols and 0 <= y < self.game.rows):
            _fail(f"played {_quoted(answer)}, off the board of {self.game.rows}×{self.game.cols}")
        action = y * self.game.cols + x
        if not position.legal_mask[action]:
            move, why = self.game.moves.name(action), position.why_illegal(action)
            _fail(f"played {_quoted(answer)}, which is {move}: {why}")
        return action

    def _kill(self) -> None:
        if self._process is not None:
            self._finalizer()
            self._process = None


def _command(cmd: str) -> list[str]:
    """The command as a list of words, to start without a shell."""
    words = shlex.shlex(cmd, posix=True)
    words.whitespace_split, words.commenters = True, ""
    if sys.platform == "win32":
        words.escape = ""  # on Windows a backslash is part of a path
    try:
        command = list(words)
    except ValueError as error:
        raise UserError(f"player 'engine': cmd={cmd}: {error}") from None
    if not command:
        raise UserError("player 'engine' needs a command: engine:cmd=./pbrain-x --flag")
    if shutil.which(command[0]) is None:
        raise UserError(f"player 'engine': there is no program '{command[0]}' that can be started")
    return command


def _request(position: Position) -> list[str]:
    """The lines that ask for a move. Stones are in the order played, if it is known: renju needs it."""
    cols, cells = position.game.cols, position.state[position.game.cells]
    stones = [cell for cell in range(len(cells)) if cells[cell] in (1, 2)]
    if not stones:
        return ["BEGIN"]
    if len(position.actions) == len(stones):
        stones = position.actions
    owners = [1 if cells[cell] == position.to_move else 2 for cell in stones]  # 1 the engine's, 2 the other's
    lines = [f"{cell % cols},{cell // cols},{who}" for cell, who in zip(stones, owners, strict=True)]
    return ["BOARD", *lines, "DONE"]


def _milliseconds(seconds: float) -> int:
    return int(min(seconds * 1000, UNLIMITED_MS))


def _fail(reason: str) -> NoReturn:
    raise PlayerFailedError(f"the engine {reason}")


def _quoted(text: str) -> str:
    printable = "".join(letter if letter.isprintable() else "?" for letter in text[:60])
    return f"'{printable}'" if len(text) <= 60 else f"'{printable}…'"


class _Process:
    """A running engine: sends lines, reads lines, ends the process."""

    def __init__(self, command: list[str], memory: int) -> None:
        self._memory = memory  # mebibytes
        try:
            # Its own session, so that all its children can be found, and only we receive Ctrl-C.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise PlayerFailedError(f"the engine could not be started: {error.strerror}") from None
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._stdin = self._process.stdin
        if sys.platform != "win32":
            os.set_blocking(self._stdin.fileno(), False)  # an engine that does not read must not block us
        self.remarks: deque[str] = deque(maxlen=100)  # MESSAGE, DEBUG, … since the last request
        self._lines: queue.Queue[str | None] = queue.Queue(WAITING_LINES)  # None: end of output
        self._last_words: deque[str | None] = deque(maxlen=2)  # of stderr, None at its end
        self._readers = [
            _start_reading(self._process.stdout, self._lines.put),
            _start_reading(self._process.stderr, self._last_words.append),
        ]

    def send(self, *lines: str) -> None:
        """Sends a request. Earlier output is not an answer to it."""
        self.remarks.clear()
        with suppress(queue.Empty):
            while self._lines.get_nowait() is not None:
                pass
            self._fail_by_its_end()
        try:
            self._stdin.write("".join(line + "\r\n" for line in lines).encode())
            self._stdin.flush()
        except BlockingIOError:
            _fail("does not read what it is sent")
        except OSError:
            self._fail_by_its_end()

    def read(self, seconds: float, remark: re.Pattern[str] = REMARK) -> str | None:
        """The first line that is not a remark; None if there is none in time."""
        deadline = time.perf_counter() + seconds
        while (left := deadline - time.perf_counter()) > 0:
            try:
                line = self._lines.get(timeout=min(left, LOOK_SECONDS))
            except queue.Empty:
                self._check_memory()
                if self._process.poll() is not None:
                    self._fail_by_its_end()
                continue
            if line is None:
                self._fail_by_its_end()
            if remark.match(line):
                self.remarks.append(line)
            elif line:
                self._check_memory()
                return line
        return None

    def answer(self, seconds: float, complaint: str, remark: re.Pattern[str] = REMARK) -> str:
        """The line that `read` finds; if there is none, the engine has failed."""
        line = self.read(seconds, remark)
        if line is None:
            said = f", it said {_quoted(self.remarks[-1])}" if self.remarks else ""
            _fail(f"{complaint} within {seconds:g} s{said}")
        return line

    def ask_to_leave(self) -> None:
        with suppress(OSError):
            self._stdin.write(b"END\r\n")
            self._stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)

    def kill(self) -> None:
        """Ends the engine and its children. A child that starts its own session (setsid) is not found."""
        leader = self._process.pid
        if sys.platform == "win32":
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(leader)], capture_output=True, check=False)
        else:
            with suppress(ProcessLookupError, PermissionError):  # macOS raises the second for dead processes
                os.killpg(leader, signal.SIGKILL)
            for child in _session(leader):
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
        self._process.wait()
        with suppress(OSError):
            self._stdin.close()
        self._end_readers()

    def _fail_by_its_end(self) -> NoReturn:
        """Fails because the engine closed its output, most likely by a crash."""
        try:
            code = self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            _fail("closed its output")
        self._readers[1].join(END_SECONDS)
        words = next((text for text in reversed(self._last_words) if text), "")
        how = f"was killed ({signal.strsignal(-code)})" if code < 0 else f"exited with code {code}"
        _fail(how + (f": {_quoted(words)}" if words else ""))

    def _check_memory(self) -> None:
        """Fails if the engine uses too much memory. Measures on Linux; elsewhere only tells it the limit."""
        if self._memory == 0:
            return
        used = sum(_session(self._process.pid).values()) / MEBIBYTE
        if used > self._memory:
            _fail(f"takes {used:.0f} MiB of memory, {self._memory} are allowed")

    def _end_readers(self) -> None:
        deadline = time.perf_counter() + END_SECONDS  # a child we did not find may hold the pipe for ever
        while any(reader.is_alive() for reader in self._readers) and time.perf_counter() < deadline:
            with suppress(queue.Empty):
                self._lines.get(timeout=0.01)  # a reader may be waiting for room
        for reader, pipe in zip(self._readers, (self._process.stdout, self._process.stderr), strict=True):
            if pipe and not reader.is_alive():
                pipe.close()


def _start_reading(pipe: IO[bytes], put: Callable[[str | None], None]) -> threading.Thread:
    """A thread that passes on every line, then None. Windows has no other way to wait for a pipe."""

    def read() -> None:
        while line := pipe.readline(LINE_BYTES):
            put(line.decode("utf-8", "replace").strip())
        put(None)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


def _session(leader: int) -> dict[int, int]:
    """{process: bytes of memory} of a process and its children. On Linux; elsewhere empty."""
    found: dict[int, int] = {}
    if sys.platform != "linux":
        return found
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_bytes().rpartition(b")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(fields[3]) == leader:
            found[int(stat.parent.name)] = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    return found
