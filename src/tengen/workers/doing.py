"""What a worker does with a task, wherever it runs: opens the work, does the task, answers with the result.

A result or a `Failure` travels back. Exceptions do not: not every one can be sent, and its text is enough.
"""

import pickle
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from tengen import games
from tengen.errors import MachineError, UserError, machine_failure
from tengen.workers.tasks import TaskFailedError, Work

# Libraries read these when they are imported. A process is given one core: more threads would only fight.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
MOST_OPEN = 2  # works per process: one that comes again and again (gradients), and another


@dataclass(frozen=True)
class Failure:
    """An exception, as text."""

    kind: type[UserError | MachineError | TaskFailedError]
    text: str
    trace: str

    def raise_for(self, task: object) -> None:
        """Raises the exception again, in the process that asked for the task."""
        if self.kind is not TaskFailedError:
            raise self.kind(self.text)
        raise TaskFailedError(f"{task}: {self.text}\n\nin the worker:\n{self.trace}")


class OpenWorks:
    """The works that this process has open: the last few, the most recent one last."""

    def __init__(self) -> None:
        self._works: dict[bytes, tuple[ExitStack, Callable[[Any], Any]]] = {}

    def __contains__(self, key: bytes) -> bool:
        return key in self._works

    def get(self, key: bytes, load: Callable[[], Work[Any, Any]]) -> Callable[[Any], Any]:
        """What does the tasks of a work; the work is opened if it is not open yet."""
        if key in self._works:
            self._works[key] = self._works.pop(key)
        else:
            with ExitStack() as stack:
                do = stack.enter_context(load().open())
                self._works[key] = stack.pop_all(), do
            while len(self._works) > MOST_OPEN:
                self.close(next(iter(self._works)))
        return self._works[key][1]

    def close(self, key: bytes) -> None:
        if key in self._works:
            self._works.pop(key)[0].close()

    def close_all(self) -> None:
        for key in list(self._works):
            self.close(key)


def answer(
    works: OpenWorks, key: bytes, packed: bytes | None, new_games: Sequence[games.GameSource], task: Any
) -> Any:
    """The result of a task, or a Failure. packed: the work, if it may not be open yet."""
    try:
        for source in new_games:
            games.load_source(source)
        return works.get(key, lambda: _unpack(packed))(task)
    except Exception as error:  # noqa: BLE001  (all of them are reported)
        return _failure(error)


def _unpack(packed: bytes | None) -> Work[Any, Any]:
    assert packed is not None, "whoever sends tasks knows which works are open"
    work: Work[Any, Any] = pickle.loads(packed)  # noqa: S301  (from our own processes)
    return work


def _failure(error: Exception) -> Failure:
    trace = "".join(traceback.format_exception(error))
    if isinstance(error, UserError):
        return Failure(UserError, str(error), trace)
    if lack := machine_failure(error):
        return Failure(MachineError, lack, trace)
    return Failure(TaskFailedError, f"{type(error).__name__}: {error}", trace)
