"""A command of ours as another program uses it: lines in, lines out, through pipes."""

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from tengen import compiling

PATIENCE = 60.0  # seconds for one line; a busy machine may have to compile first
REPOSITORY = Path(__file__).parents[2]


class Talk:
    """A process that is talked to. Its stdout is read by a thread, so that nothing can hang for ever."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tengen", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=REPOSITORY,
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._errors: list[bytes] = []
        self._threads = [threading.Thread(target=self._read_out), threading.Thread(target=self._read_errors)]
        for thread in self._threads:
            thread.start()

    def send(self, *lines: str | bytes) -> None:
        assert self.process.stdin
        for line in lines:
            self.process.stdin.write((line.encode() if isinstance(line, str) else line) + b"\n")
        self.process.stdin.flush()

    def line(self) -> str:
        """The next line; fails if the process has ended or says nothing."""
        line = self._lines.get(timeout=PATIENCE)
        assert line is not None, f"it has ended: {self.errors}"
        return line

    def rest(self) -> list[str]:
        """Ends its input; what it says until it ends."""
        assert self.process.stdin
        self.process.stdin.close()
        return list(self._until_the_end())

    def _until_the_end(self) -> Iterator[str]:
        while (line := self._lines.get(timeout=PATIENCE)) is not None:
            yield line

    @property
    def errors(self) -> str:
        """Its stderr so far, without the line about compiling."""
        said = b"".join(self._errors).decode("utf-8", "replace")
        return said.replace(f"tengen: {compiling.TEXT}\n", "")

    def close(self) -> int:
        """Its exit code. It is killed if it does not end."""
        assert self.process.stdin
        self.process.stdin.close()
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            for thread in self._threads:
                thread.join()

    def _read_out(self) -> None:
        assert self.process.stdout
        with self.process.stdout as out:
            for line in out:
                self._lines.put(line.decode("utf-8").removesuffix("\n"))
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr
        with self.process.stderr as errors:
            self._errors.extend(errors)


def answered(arguments: list[str], said: bytes, seconds: float = 100.0) -> tuple[str, str]:
    """What a process answers to a whole input, and its stderr; its exit code must be 0."""
    done = subprocess.run(
        [sys.executable, "-m", "tengen", *arguments],
        input=said,
        capture_output=True,
        timeout=seconds,
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},  # the protocols do not depend on it
    )
    errors = done.stderr.decode("utf-8", "replace").replace(f"tengen: {compiling.TEXT}\n", "")
    assert done.returncode == 0, errors
    assert "Traceback" not in errors, errors
    return done.stdout.decode("utf-8"), errors
