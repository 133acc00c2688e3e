"""Work that can be done anywhere: what a coach, a match or a measurement asks for, and whoever does it.

    for index, result in run_tasks(work, tasks):     # as they finish; the index is that of the task
        ...

Work, tasks and results are values: small frozen dataclasses and bytes, never paths, because a worker may
have another disk. Only the command line knows where tasks run: it hands in a RunTasks, such as local.py has.
"""

from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from tengen.errors import MachineError

Task = TypeVar("Task")
Result = TypeVar("Result")
TaskIn = TypeVar("TaskIn", contravariant=True)
ResultOut = TypeVar("ResultOut", covariant=True)


class Work(Protocol[TaskIn, ResultOut]):
    """What is to be done with tasks, as a value. It travels once to each worker.

    If it has an attribute `needs_gpu` that is true, a cluster does it where there is a GPU."""

    def open(self) -> AbstractContextManager[Callable[[TaskIn], ResultOut]]:
        """`with work.open() as do: do(task); do(task)`. Holds what is slow to make: a network, players."""


class RunTasks(Protocol):
    """Has tasks done, somewhere. May be called again and again, with the same work and with others."""

    def __call__(
        self, work: Work[Task, Result], tasks: Iterable[Task], /
    ) -> Generator[tuple[int, Result], None, None]:
        """(index of the task, its result) as they finish.

        Tasks are taken from their iterator only when a worker is free, and closing the generator stops
        everything, so "play until we know" needs no more than a `break`."""


class RunBeside(RunTasks, Protocol):
    """Has tasks done beside other work: a second thread calls it, and the first one can stop that call."""

    def stop(self) -> None:
        """Ends the call that another thread is in, and every later one: they raise StoppedError."""


class StoppedError(Exception):
    """The tasks were stopped by another thread."""


class TaskFailedError(Exception):
    """A task raised something that is nobody's mistake but the program's; the message holds where."""


class WorkerDiedError(MachineError):
    """A worker ended in the middle of a task: killed, out of memory, or crashed outside Python."""
