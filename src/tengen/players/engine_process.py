"""The process of an outside Gomocup engine: lines to it, lines from it, its memory, its end.

process = EngineProcess(["./pbrain-x"])
process.send("START 15")
process.answer(30.0, "did not answer START", skip=TALK)    # "OK"
process.peak_memory                                        # bytes, of the engine and its children
process.kill()

An engine writes one line after another, and does not say which request a line answers. ABOUT is asked once,
and nobody waits for it: the first line that answers nothing else is its answer, whenever it comes.
"""

import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, NoReturn

from tengen.players.player import PlayerFailedError

END_SECONDS = 0.5  # to exit by itself
LOOK_SECONDS = 0.25  # between two checks of its memory
MEBIBYTE = 1 << 20

LINE_BYTES, WAITING_LINES = 10_000, 1_000  # an engine with endless output has to wait for us
TALK = re.compile(r"(?i)(MESSAGE|DEBUG)\b")
# Not an answer to a request for a move. OK and a name are late answers to earlier requests.
REMARK = re.compile(r"(?i)(MESSAGE|DEBUG|ERROR|UNKNOWN)\b|OK$|name\s*=")
ANSWER = re.compile(r"(?i)OK|SWAP|[-0-9, \t]+")  # to anything but ABOUT
NAME = re.compile(r'(?i)\bname\s*=\s*"([^"]+)"')


class EngineProcess:
    """A running engine: sends lines, reads lines, ends the process."""

    def __init__(self, command: list[str], max_memory: int | None = None) -> None:
        """max_memory: bytes of the engine and its children; it fails if it takes more. None: no limit."""
        self._max_memory, self.peak_memory = max_memory, 0
        self.name = ""  # as its answer to ABOUT says
        self._owes_about = False
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

    def ask_about(self) -> None:
        """Asks for its name and does not wait for it."""
        self.send("ABOUT")
        self._owes_about = True

    def send(self, *lines: str) -> None:
        """Sends a request. Earlier output is not an answer to it."""
        self.remarks.clear()
        with suppress(queue.Empty):
            while (line := self._lines.get_nowait()) is not None:
                self._is_about(line)
            self._fail_by_its_end()
        try:
            self._stdin.write("".join(line + "\r\n" for line in lines).encode())
            self._stdin.flush()
        except BlockingIOError:
            fail("does not read what it is sent")
        except OSError:
            self._fail_by_its_end()

    def read(self, seconds: float, skip: re.Pattern[str] = REMARK) -> str | None:
        """The first line that answers the request; None if there is none in time. skip: lines that do not."""
        deadline = time.perf_counter() + seconds
        while (left := deadline - time.perf_counter()) > 0:
            try:
                line = self._lines.get(timeout=min(left, LOOK_SECONDS))
            except queue.Empty:
                self.check_memory()
                if self._process.poll() is not None:
                    self._fail_by_its_end()
                continue
            if line is None:
                self._fail_by_its_end()
            if self._is_about(line) or skip.match(line):
                self.remarks.append(line)
            elif line:
                self._owes_about = False  # it was asked before: now it will not be answered
                return line
        return None

    def answer(self, seconds: float, complaint: str, skip: re.Pattern[str] = REMARK) -> str:
        """The line that `read` finds; if there is none, the engine has failed."""
        line = self.read(seconds, skip)
        if line is None:
            said = f", it said {quoted(self.remarks[-1])}" if self.remarks else ""
            fail(f"{complaint} within {seconds:g} s{said}")
        return line

    def _is_about(self, line: str) -> bool:
        """Is this line the answer to ABOUT? An engine that does not know it may complain, or say nothing."""
        if not line or TALK.match(line) or ANSWER.fullmatch(line):
            return False
        found, is_owed = NAME.search(line), self._owes_about
        self.name = found[1] if found else self.name
        self._owes_about = False
        return is_owed or found is not None

    def check_memory(self) -> None:
        """Notes how much memory the engine uses; fails if that is too much. Measures on Linux only."""
        used = sum(_session(self._process.pid).values())
        self.peak_memory = max(self.peak_memory, used)
        if self._max_memory is not None and used > self._max_memory:
            allowed = self._max_memory / MEBIBYTE
            fail(f"takes {used / MEBIBYTE:.0f} MiB of memory, {allowed:.0f} are allowed")

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
            fail("closed its output")
        self._readers[1].join(END_SECONDS)
        words = next((text for text in reversed(self._last_words) if text), "")
        how = f"was killed ({signal.strsignal(-code)})" if code < 0 else f"exited with code {code}"
        fail(how + (f": {quoted(words)}" if words else ""))

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


def fail(reason: str) -> NoReturn:
    raise PlayerFailedError(f"the engine {reason}")


def quoted(text: str) -> str:
    """What an engine said, short and printable."""
    printable = "".join(letter if letter.isprintable() else "?" for letter in text[:60])
    return f"'{printable}'" if len(text) <= 60 else f"'{printable}…'"
