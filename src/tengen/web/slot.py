"""Room for one task of a kind, such as the opponent's reply: a new one takes the place of the old."""

import asyncio
import traceback
from collections.abc import Coroutine
from typing import Any

from tengen.errors import UserError


class Slot:
    def __init__(self) -> None:
        self.key: object = None  # what the task is about; kept after it has ended by itself
        self._task: asyncio.Task[Any] | None = None

    @property
    def is_busy(self) -> bool:
        return self._task is not None and not self._task.done()

    def start(self, work: Coroutine[Any, Any, Any], key: object = None) -> asyncio.Task[Any]:
        self.stop()
        self.key, self._task = key, asyncio.get_running_loop().create_task(work)
        self._task.add_done_callback(_report)
        return self._task

    def stop(self) -> None:
        """Cancels the task; a search that it waits for stops."""
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
        self.key, self._task = None, None


def _report(task: asyncio.Task[Any]) -> None:
    """Shows a bug of ours on stderr, once; users' mistakes are answered elsewhere."""
    error = None if task.cancelled() else task.exception()
    if error is not None and not isinstance(error, UserError):
        traceback.print_exception(error)
