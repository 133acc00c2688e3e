"""Notices for the user: one line on stderr, each printed once.

A worker process sends its notices to the process that started it, so that eight workers print a notice once,
and do not disturb a panel or a progress bar on stderr.
"""

import os
import sys
from collections.abc import Callable

WORKER = "TENGEN_WORKER"  # set in the environment of a worker, which sends its notices to its parent

_said: set[str] = set()
_held: list[str] = []  # notices of a worker before it knows the pipe to its parent


def say_once(text: str) -> None:
    """Prints `tengen: TEXT` on stderr, unless it was printed before."""
    if text not in _said:
        _said.add(text)
        _speak(text)


def send_through(speak: Callable[[str], None]) -> None:
    """Sends the notices of this process through `speak` from now on; workers send them to their parent."""
    global _speak
    _speak = speak
    while _held:
        speak(_held.pop(0))


def _to_stderr(text: str) -> None:
    if WORKER in os.environ:
        _held.append(text)
    else:
        print(f"tengen: {text}", file=sys.stderr, flush=True)


_speak: Callable[[str], None] = _to_stderr
