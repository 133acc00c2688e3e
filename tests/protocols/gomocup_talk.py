"""A manager for tests: conversations as text, with a Gomocup engine in this process."""

import queue
import re
import threading
import time
from collections.abc import Iterator

from tengen.protocols.gomocup import Gomocup

PATIENCE = 30.0  # seconds until an answer is missing; kernels may have to be compiled
TALK = ("MESSAGE", "DEBUG")


class Manager:
    """Sends lines to an engine and reads its answers; leaves by END."""

    def __init__(self, player: str | None = "greedy", seed: int = 0) -> None:
        self._to_engine: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._said: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.engine = Gomocup(self._lines(), self._said.put, player, seed)
        self._thread = threading.Thread(target=self.engine.run)
        self._thread.start()

    def __enter__(self) -> "Manager":
        return self

    def __exit__(self, *_: object) -> None:
        self.send("END")
        self.wait()

    def wait(self) -> None:
        """Until the engine has ended."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "it did not end"

    def _lines(self) -> Iterator[bytes]:
        while (line := self._to_engine.get()) is not None:
            yield line

    def send(self, *lines: str | bytes) -> None:
        for line in lines:
            self._to_engine.put(line if isinstance(line, bytes) else line.encode() + b"\r")

    def close(self) -> None:
        """Nothing more will be sent."""
        self._to_engine.put(None)

    def heard(self) -> str:
        """The next line, whatever it is."""
        return self._said.get(timeout=PATIENCE)

    def answer(self) -> str:
        """The next line that is not talk."""
        while (line := self.heard()).startswith(TALK):
            pass
        return line

    def move(self, *lines: str) -> tuple[int, int]:
        """The engine's answer to lines that ask for a move."""
        self.send(*lines)
        found = re.fullmatch(r"(\d+),(\d+)", line := self.answer())
        assert found, f"expected a move, got {line}"
        return int(found[1]), int(found[2])

    def timed_move(self, *lines: str) -> tuple[tuple[int, int], float]:
        """The same, and the seconds that it took."""
        began = time.monotonic()
        return self.move(*lines), time.monotonic() - began


def converse(script: str, player: str | None = "greedy") -> None:
    """Plays a script: lines `> START 15` are sent, `< OK` is expected next. `…` stands for any text, a line
    `< MESSAGE …` for talk; other talk is skipped."""
    with Manager(player) as manager:
        for number, line in enumerate(script.strip().splitlines(), 1):
            direction, _, text = line.strip().partition(" ")
            if direction == ">":
                manager.send(text)
            elif direction == "<":
                got = manager.heard() if text.startswith(TALK) else manager.answer()
                pattern = ".*".join(re.escape(part) for part in text.split("…"))
                assert re.fullmatch(pattern, got), f"line {number}: expected {text}, got {got}"
