"""Tasks in processes on this machine, one thread each. One process means this one.

    with LocalWorkers(processes=2) as run_tasks:
        for index, result in run_tasks(work, tasks):        # as they finish; the index is that of the task
            ...
        for index, result in run_tasks(other_work, more):   # the same processes again
            ...

A process opens a work when its first task comes, and keeps it open for the next call, so that a network is
loaded once; it keeps the last MOST_OPEN works. Work, tasks and results travel through pipes: small
dataclasses do best. Games that were loaded from files travel with the tasks.

However it ends, by the last result, an error, Ctrl-C or a `break`, no process is left behind.

Work beside other work, called from a second thread, has processes of its own, so that no gradient waits
behind a shard of games: LocalWorkers(2, beside=True). They have a lower priority, and `stop()` ends them.
"""

import hashlib
import os
import pickle
import signal
import sys
import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import connection, get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Self

from tengen import games, notices
from tengen.errors import MachineError, UserError, machine_failure
from tengen.workers.doing import MOST_OPEN, ONE_THREAD, Failure, OpenWorks, answer
from tengen.workers.tasks import Result, StoppedError, Task, TaskFailedError, Work, WorkerDiedError

PATIENCE = 5.0  # seconds a process has to leave when asked; then it is killed
NICENESS = 5  # of processes beside others: they get a quarter of a core that both want, and all that is idle

_starting = threading.Lock()  # a process starts with changes to ours: two threads must not make them at once


@dataclass(frozen=True)
class _Notice:
    """What a worker has to say; its parent says it, once for all workers."""

    text: str


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    pipe: "Connection[Any, Any]"
    index: int = -1  # of its task
    task: Any = None
    open: list[bytes] = field(default_factory=list)  # keys of its open works, as in OpenWorks
    num_games: int = 0  # how many of the games from files it knows


class LocalWorkers:
    """Processes that stay until the end of a with statement. One process means this one.

    beside: they work beside others, with lower priority; one process is not this one then."""

    def __init__(self, processes: int, beside: bool = False) -> None:
        self._processes, self._beside = processes, beside
        self._stopped, self._stopping = connection.Pipe(duplex=False)  # can be read once it was stopped
        self._workers: list[_Worker] = []
        self._idle: list[_Worker] = []
        self._here = OpenWorks()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._here.close_all()
        _stop(self._workers)
        self._workers, self._idle = [], []

    def stop(self) -> None:
        """Ends the call that another thread is in, and every later one: they raise StoppedError."""
        self._stopping.send(None)  # is never received, so that it holds for every later call too

    def __call__(
        self, work: Work[Task, Result], tasks: Iterable[Task], /
    ) -> Generator[tuple[int, Result], None, None]:
        """(index of the task, its result) as they finish. Left early, it stops the processes that work."""
        if self._processes == 1 and not self._beside:
            yield from self._run_here(work, tasks)
            return
        packed = pickle.dumps(work)
        key, numbered = hashlib.sha256(packed).digest(), enumerate(tasks)
        busy: list[_Worker] = []
        stopped = [self._stopped] if self._beside else []
        try:
            for index, task in islice(numbered, self._processes):
                busy.append(self._idle.pop() if self._idle else self._start())
                _send(busy[-1], key, packed, index, task)
            while busy:
                for ready in connection.wait([*stopped, *(worker.pipe for worker in busy)]):
                    if ready is self._stopped:
                        raise StoppedError
                    worker = next(worker for worker in busy if worker.pipe is ready)
                    received = _receive(worker)
                    if isinstance(received, _Notice):
                        notices.say_once(received.text)
                        continue
                    yield worker.index, received
                    following = next(numbered, None)
                    if following is None:
                        busy.remove(worker)
                        self._idle.append(worker)
                    else:
                        _send(worker, key, packed, *following)
        finally:
            self._workers = [worker for worker in self._workers if worker not in busy]
            _stop(busy)

    def _run_here(self, work: Work[Task, Result], tasks: Iterable[Task]) -> Iterator[tuple[int, Result]]:
        key, is_done = hashlib.sha256(pickle.dumps(work)).digest(), False
        try:
            for index, task in enumerate(tasks):
                try:
                    result = self._here.get(key, lambda: work)(task)
                except UserError:
                    raise
                except Exception as error:
                    if lack := machine_failure(error):
                        raise MachineError(lack) from error
                    raise TaskFailedError(f"{task}: {type(error).__name__}: {error}") from error
                yield index, result
            is_done = True
        finally:
            if not is_done:  # left early: as with processes, nothing of it stays open
                self._here.close(key)

    def _start(self) -> _Worker:
        spawn = get_context("spawn")  # a fork would copy locks that other threads hold
        ours, theirs = spawn.Pipe()
        process = spawn.Process(target=_serve, args=(theirs, self._beside), daemon=True)
        with _starting:
            resource_tracker.ensure_running()  # its start unblocks SIGINT, so it comes first
            # The process inherits the blocked SIGINT: Ctrl-C in a terminal reaches all, and is for us alone.
            with _environment({**ONE_THREAD, notices.WORKER: "1"}), _without_main(), _without_interrupts():
                process.start()
                self._workers.append(worker := _Worker(process, ours))
        theirs.close()  # now the death of the process is the end of the pipe
        return worker


def available_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _send(worker: _Worker, key: bytes, packed: bytes, index: int, task: object) -> None:
    """A task, and before it what the worker does not have yet: the work, and games from files."""
    worker.index, worker.task = index, task
    is_new = key not in worker.open
    worker.open = [*(known for known in worker.open if known != key), key][-MOST_OPEN:]
    new_games = games.LOADED_FILES[worker.num_games :]
    worker.num_games += len(new_games)
    try:
        worker.pipe.send((key, packed if is_new else None, new_games, task))
    except OSError:
        raise _death(worker) from None


def _receive(worker: _Worker) -> Any:
    try:
        received = worker.pipe.recv()
    except (EOFError, OSError):
        raise _death(worker) from None
    if isinstance(received, Failure):
        received.raise_for(worker.task)
    return received


def _death(worker: _Worker) -> WorkerDiedError:
    worker.process.join(PATIENCE)
    code = worker.process.exitcode
    if code is None or code >= 0:
        how = f"ended with code {code}"
    elif -code == signal.SIGKILL:
        how = "was killed (SIGKILL; was the memory full?)"
    else:
        how = f"was killed by {signal.Signals(-code).name}"
    return WorkerDiedError(f"the process that worked on {worker.task} {how}")


def _stop(workers: list[_Worker]) -> None:
    with _without_interrupts():
        for worker in workers:
            worker.process.terminate()
        for worker in workers:
            worker.process.join(PATIENCE)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.pipe.close()


@contextmanager
def _without_main() -> Iterator[None]:
    """Processes that are started inside do not run the user's script again, as `spawn` would have them do.

    Workers need nothing of it: works and tasks are ours. So a script needs no `if __name__ == "__main__"`."""
    main = vars(sys.modules["__main__"])
    hidden: dict[str, object] = {name: main.pop(name) for name in ("__file__", "__spec__") if name in main}
    main["__spec__"] = None
    try:
        yield
    finally:
        main.update(hidden)


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
        with _blocked_interrupts():  # no KeyboardInterrupt comes here, but processes would get the signal
            yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        with _blocked_interrupts():  # not enough for us: another thread may take the signal
            yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came and callable(before):
            before(signal.SIGINT, None)


@contextmanager
def _blocked_interrupts() -> Iterator[None]:
    """SIGINT does not come to this thread, nor to processes that it starts: they inherit the blocking."""
    if sys.platform == "win32":
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def reraise_swallowed_signals() -> Iterator[None]:
    """Ctrl-C and SIGTERM always take effect, wherever they arrive.

    C code that calls Python (LLVM, while Numba compiles) swallows the exception that a signal raises there,
    and prints it. Here it is not printed, and the signal is sent again a moment later.
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


def _serve(pipe: "Connection[Any, Any]", beside: bool) -> None:
    """The life of a worker: tasks in, results out, until it is asked to leave."""
    if beside and sys.platform != "win32":
        os.nice(NICENESS)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # leaves by the finally below, closing players
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    one_at_a_time = threading.Lock()  # a notice may come from another thread

    def send(message: object) -> None:
        with one_at_a_time:
            pipe.send(message)

    notices.send_through(lambda text: send(_Notice(text)))
    works = OpenWorks()
    try:
        with reraise_swallowed_signals():
            while True:
                send(answer(works, *pipe.recv()))
    except (EOFError, BrokenPipeError):
        pass  # the parent has gone
    finally:
        works.close_all()


def _leave_with_parent() -> None:
    """Ends this process when the one that started it is gone, even if that was killed."""
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)
