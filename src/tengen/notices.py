"""Notices for the person at the terminal: one line on stderr, each said once.

A worker process sends its notices to the process that started it, so that eight workers say a thing once,
and a panel or a bar that is drawn on stderr stays whole.
"""

import os
import sys
from collections.abc import Callable

WORKER = "TENGEN_WORKER"  # in the environment of a process that has a parent to send its notices to

_said: set[str] = set()
_held: list[str] = []  # of a worker that does not know its parent's pipe yet


def say_once(text: str) -> None:
    """Says `tengen: TEXT` on stderr, unless it was said before."""
    if text not in _said:
        _said.add(text)
        _speak(text)


def send_through(speak: Callable[[str], None]) -> None:
    """From now on notices of this process go this way: a worker's go to its parent."""
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
