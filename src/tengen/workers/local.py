"""Tasks in processes on this machine, one thread each.

    with Pool(work, processes=2) as pool:
        for index, result in pool.run(tasks):        # as they finish; the index is that of the task
            ...
        for index, result in pool.run(more_tasks):   # the same processes again
            ...

A piece of work is entered once in each process, called for each task, and left at the end, so that it can
hold what is slow to make: `with work: work(task); work(task)`. Work, tasks and results travel through pipes:
small dataclasses do best. Tasks are taken from their iterator only when a process is free, and closing the
iterator of results stops everything, so "play until we know" needs no more than a `break`.

However it ends, by the last result, an error, Ctrl-C or a `break`, no process is left behind.
"""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import connection, get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar, cast

from tengen import games, notices
from tengen.errors import MachineError, UserError, machine_failure

Task = TypeVar("Task")
Result = TypeVar("Result")
TaskIn = TypeVar("TaskIn", contravariant=True)
ResultOut = TypeVar("ResultOut", covariant=True)

# Libraries read these when they are imported. A process is given one core: more threads would only fight.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
PATIENCE = 5.0  # seconds a process has to leave when asked; then it is killed


class Work(Protocol[TaskIn, ResultOut]):
    """What a process does with its tasks."""

    def __enter__(self) -> object: ...

    def __call__(self, task: TaskIn, /) -> ResultOut: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class TaskFailedError(Exception):
    """A task raised something that is nobody's mistake but the program's; the message holds where."""


class WorkerDiedError(MachineError):
    """A process ended in the middle of a task: killed, out of memory, or crashed outside Python."""


@dataclass(frozen=True)
class _Failure:
    """An exception on its way through a pipe: as text, for not every exception can be sent."""

    kind: type[UserError | MachineError | TaskFailedError]
    text: str
    trace: str


@dataclass(frozen=True)
class _Notice:
    """What a worker has to say; its parent says it, once for all workers."""

    text: str


@dataclass
class _Worker(Generic[Task]):
    process: BaseProcess
    pipe: "Connection[Any, Any]"
    index: int = -1  # of its task
    task: Task | None = None


def run(
    work: Work[Task, Result], tasks: Iterable[Task], processes: int
) -> Generator[tuple[int, Result], None, None]:
    """(index of the task, its result) as they finish, by a pool that ends with the tasks."""
    with Pool(work, processes) as pool:
        yield from pool.run(tasks)


class Pool(Generic[Task, Result]):
    """Processes that stay until the end of a with statement. One process means this one."""

    def __init__(self, work: Work[Task, Result], processes: int) -> None:
        self._work, self._processes = work, processes
        self._idle: list[_Worker[Task]] = []
        self._busy: list[_Worker[Task]] = []
        self._here = ExitStack()

    def __enter__(self) -> Self:
        if self._processes == 1:
            self._here.enter_context(cast(AbstractContextManager[object], self._work))
        return self

    def __exit__(self, *error: object) -> None:
        self._here.close()
        _stop([*self._busy, *self._idle])
        self._busy, self._idle = [], []

    def run(self, tasks: Iterable[Task]) -> Generator[tuple[int, Result], None, None]:
        """(index of the task, its result) as they finish. Left early, it stops the processes that work."""
        if self._processes == 1:
            yield from _run_here(self._work, tasks)
            return
        numbered = enumerate(tasks)
        try:
            for index, task in islice(numbered, self._processes):
                worker = self._idle.pop() if self._idle else _start(self._work)
                self._busy.append(worker)
                _send(worker, index, task)
            while self._busy:
                for ready in connection.wait([worker.pipe for worker in self._busy]):
                    worker = next(worker for worker in self._busy if worker.pipe is ready)
                    answer = _receive(worker)
                    if isinstance(answer, _Notice):
                        notices.say_once(answer.text)
                        continue
                    yield worker.index, answer
                    following = next(numbered, None)
                    if following is None:
                        self._busy.remove(worker)
                        self._idle.append(worker)
                    else:
                        _send(worker, *following)
        finally:
            _stop(self._busy)
            self._busy = []


def available_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _run_here(work: Work[Task, Result], tasks: Iterable[Task]) -> Iterator[tuple[int, Result]]:
    for index, task in enumerate(tasks):
        try:
            result = work(task)
        except UserError:
            raise
        except Exception as error:
            if lack := machine_failure(error):
                raise MachineError(lack) from error
            raise TaskFailedError(f"{task}: {type(error).__name__}: {error}") from error
        yield index, result


def _start(work: Work[Task, Result]) -> _Worker[Task]:
    spawn = get_context("spawn")  # a fork would copy locks that other threads hold
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_serve, args=(theirs, work, games.LOADED_FILES), daemon=True)
    resource_tracker.ensure_running()  # its start unblocks SIGINT, so it comes first
    # The process inherits the blocked SIGINT: Ctrl-C in a terminal reaches all, and is for us alone.
    with _environment({**ONE_THREAD, notices.WORKER: "1"}), _without_interrupts():
        process.start()
    theirs.close()  # now the death of the process is the end of the pipe
    return _Worker(process, ours)


def _send(worker: _Worker[Task], index: int, task: Task) -> None:
    worker.index, worker.task = index, task
    try:
        worker.pipe.send(worker.task)
    except OSError:
        raise _death(worker) from None


def _receive(worker: _Worker[Any]) -> Any:
    try:
        answer = worker.pipe.recv()
    except (EOFError, OSError):
        raise _death(worker) from None
    if not isinstance(answer, _Failure):
        return answer
    if answer.kind is not TaskFailedError:
        raise answer.kind(answer.text)
    raise TaskFailedError(f"{worker.task}: {answer.text}\n\nin the worker:\n{answer.trace}")


def _death(worker: _Worker[Any]) -> WorkerDiedError:
    worker.process.join(PATIENCE)
    code = worker.process.exitcode
    if code is None or code >= 0:
        how = f"ended with code {code}"
    elif -code == signal.SIGKILL:
        how = "was killed (SIGKILL; was the memory full?)"
    else:
        how = f"was killed by {signal.Signals(-code).name}"
    return WorkerDiedError(f"the process that worked on {worker.task} {how}")


def _stop(crew: list[_Worker[Any]]) -> None:
    with _without_interrupts():
        for worker in crew:
            worker.process.terminate()
        for worker in crew:
            worker.process.join(PATIENCE)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.pipe.close()


@contextmanager
def _environment(settings: dict[str, str]) -> Iterator[None]:
    """Environment variables as a process that is started inside shall see them."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ctrl-C waits until the end of the block, and never reaches processes that are started in it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # no KeyboardInterrupt comes here
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    blocked = {signal.SIGINT} if sys.platform != "win32" else set()
    # Blocking is inherited by processes. For us it is not enough: another thread may take the signal.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, blocked) if blocked else set()
    try:
        yield
    finally:
        if blocked:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before)
        if came and callable(before):
            before(signal.SIGINT, None)


@contextmanager
def signals_insist() -> Iterator[None]:
    """Ctrl-C and the request to leave hold, wherever they come.

    C code that calls Python (LLVM, while Numba compiles) swallows the exception that a signal raises there,
    and prints it. Here it is not printed, and the signal comes again a moment later.
    """
    before = sys.unraisablehook
    signals = {KeyboardInterrupt: signal.SIGINT, SystemExit: signal.SIGTERM}

    def again(swallowed: "sys.UnraisableHookArgs") -> None:
        number = signals.get(swallowed.exc_type)
        if number is None:
            before(swallowed)
            return
        timer = threading.Timer(0.05, os.kill, (os.getpid(), number))
        timer.daemon = True
        timer.start()

    sys.unraisablehook = again
    try:
        yield
    finally:
        sys.unraisablehook = before


# ---- in the worker


def _serve(pipe: "Connection[Any, Any]", work: Work[Any, Any], game_files: list[Path]) -> None:
    """The life of a worker: tasks in, results out, until it is asked to leave."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # leaves by the with statements, closing players
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    one_at_a_time = threading.Lock()  # a notice may come from another thread

    def send(answer: object) -> None:
        with one_at_a_time:
            pipe.send(answer)

    notices.send_through(lambda text: send(_Notice(text)))
    try:
        for file in game_files:
            games.load_file(file)
        with signals_insist(), work:
            while True:
                send(_done(work, pipe.recv()))
    except (EOFError, BrokenPipeError):
        pass  # the parent has gone
    except Exception as error:  # noqa: BLE001  (all of them are reported)
        send(_failure(error))


def _done(work: Work[Any, Any], task: Any) -> Any:
    try:
        return work(task)
    except Exception as error:  # noqa: BLE001  (all of them are reported)
        return _failure(error)


def _failure(error: Exception) -> _Failure:
    trace = "".join(traceback.format_exception(error))
    if isinstance(error, UserError):
        return _Failure(UserError, str(error), trace)
    if lack := machine_failure(error):
        return _Failure(MachineError, lack, trace)
    return _Failure(TaskFailedError, f"{type(error).__name__}: {error}", trace)


def _leave_with_parent() -> None:
    """Ends this process when the one that started it is gone, even if that was killed."""
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)
