"""Other systems (peers) for comparison: programs that run in the environment made by `make peers`.

The peer reads one JSON request per line and answers with one JSON line, so that both sides can be measured
alternately in one run: on a noisy machine, only the ratio of neighbouring measurements is meaningful.
"""

import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from tengen.errors import UserError

PROGRAMS = Path(__file__).parent / "peers"


class Peer:
    """A running peer program; use it in a `with` statement."""

    def __init__(self, environment: Path, program: str) -> None:
        python = environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        if not python.exists():
            raise UserError(f"no peers in {environment}: run `make peers` first, or pass --peers none")
        self._process = subprocess.Popen(
            [str(python), str(PROGRAMS / program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        """The peer's answer to one request."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the peer ended with exit code {self._process.wait()} at {request}")
        return json.loads(answer)  # type: ignore[no-any-return]

    def __enter__(self) -> "Peer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
