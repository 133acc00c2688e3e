"""Trains several runs at the same time, each by a `tengen train` in a process of its own.

for progress in train_all(runs, at_once=2): ...     # the mean over the runs, from 0 to 1

A run that is finished is left alone, one that was stopped is continued.
"""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import IO

from tengen.errors import MachineError, UserError
from tengen.games import LOADED_FILES
from tengen.training.ablation import AblationRun

MISTAKE = 2  # exit code of a command that was refused
SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_TO_STOP = 30.0  # for a process that was told to stop


def train_all(runs: Sequence[AblationRun], at_once: int) -> Iterator[float]:
    """The progress of all runs, about every second, until they are finished. Ends their processes if it is
    left early, or if one of them fails (UserError, MachineError)."""
    waiting = [run for run in runs if not run.is_finished]
    training: list[_Training] = []
    with ExitStack() as stack:
        while waiting or training:
            while waiting and len(training) < at_once:
                training.append(stack.enter_context(_Training(waiting.pop(0))))
            time.sleep(SECONDS_BETWEEN_LOOKS)
            training = [one for one in training if not one.has_ended()]
            yield sum(run.done() for run in runs) / len(runs)


class _Training:
    """A process that trains a run."""

    def __init__(self, run: AblationRun) -> None:
        self._run = run
        self._process: subprocess.Popen[bytes] | None = None
        self._messages: IO[bytes] | None = None

    def __enter__(self) -> "_Training":
        files = [word for source in LOADED_FILES for word in ("--games", str(source.path))]
        self._messages = TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tengen", *files, *self._run.arguments()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._messages,
            start_new_session=True,  # Ctrl-C reaches this process alone, which ends the others
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None and self._messages is not None
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(SECONDS_TO_STOP)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._messages.close()

    def has_ended(self) -> bool:
        """Is it complete? UserError if the process refused to train, MachineError if it failed."""
        assert self._process is not None and self._messages is not None
        code = self._process.poll()
        if code is None:
            return False
        if code != 0:
            self._messages.seek(0)
            lines = self._messages.read().decode(errors="replace").strip().splitlines()
            said = lines[-1].removeprefix("tengen: ") if lines and code > 0 else f"exit code {code}"
            error = UserError if code == MISTAKE else MachineError
            raise error(f"{self._run.folder} could not be trained: {said}")
        return True
