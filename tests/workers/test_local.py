"""Tasks in real processes: results, errors, deaths, and that nothing is left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tengen import games, notices
from tengen.errors import MachineError, UserError
from tengen.workers import doing, local
from tengen.workers.local import LocalWorkers
from tengen.workers.tasks import RunTasks, StoppedError, TaskFailedError, WorkerDiedError

REPOSITORY = Path(__file__).parents[2]
CONNECT6 = REPOSITORY / "examples" / "connect6.py"
BROKEN = """
def broken():
    1 / 0
"""


class Tool:
    """Does what a task says; the file tells that it was put away."""

    def __init__(self, left: Path | None = None) -> None:
        self._left = left

    @contextmanager
    def open(self) -> Iterator[Callable[[str], str]]:
        try:
            yield self.do
        finally:
            if self._left:
                with self._left.open("a") as file:
                    file.write(f"{os.getpid()}\n")

    def do(self, task: str) -> str:
        verb, _, rest = task.partition(" ")
        if verb == "sleep":
            time.sleep(float(rest))
        elif verb == "raise":
            raise ZeroDivisionError(rest)
        elif verb == "mistake":
            raise UserError(rest)
        elif verb == "kill":
            os.kill(os.getpid(), int(rest))
        elif verb == "threads":
            return " ".join(sorted(os.environ[name] for name in doing.ONE_THREAD))
        elif verb == "game":
            return games.find(rest).name
        elif verb == "start":
            game = games.find(rest)
            return str(game.legal_mask(game.new_state()).sum())
        elif verb == "break":
            module = next(module for name, module in sys.modules.items() if f"game_{rest}_" in name)
            module.broken()
        elif verb == "notice":
            notices.say_once(rest)
        elif verb == "memory":
            raise MemoryError
        elif verb == "pid":
            return str(os.getpid())
        elif verb == "nice":
            return str(os.nice(0))
        elif verb == "blocked":
            return " ".join(sorted(number.name for number in signal.pthread_sigmask(signal.SIG_BLOCK, [])))  # type: ignore[union-attr]
        return rest


def run(tool: Tool, tasks: Iterable[str], processes: int) -> Generator[tuple[int, str], None, None]:
    """By processes that end with the tasks."""
    with LocalWorkers(processes) as run_tasks:
        yield from run_tasks(tool, tasks)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"


def wait_until_gone(pids: list[int]) -> bool:
    for _ in range(100):
        if not any(map(is_running, pids)):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("processes", [1, 2])
def test_every_task_gives_its_result_with_its_index(processes: int, tmp_path: Path) -> None:
    left = tmp_path / "left"
    found = list(run(Tool(left), (f"say {i}" for i in range(7)), processes))
    assert sorted(found) == [(i, str(i)) for i in range(7)]
    assert len(left.read_text().split()) == processes  # each process put its work away


@dataclass(frozen=True)
class Counter:
    """Counts the tasks that it has seen since it was opened, in one process."""

    name: str

    @contextmanager
    def open(self) -> Iterator[Callable[[int], tuple[str, int, int]]]:
        seen: list[int] = []

        def count(task: int) -> tuple[str, int, int]:
            seen.append(task)
            return self.name, len(seen), os.getpid()

        yield count


def only(run_tasks: RunTasks, name: str) -> tuple[str, int, int]:
    """The result of a single task of the counter of that name."""
    [(_, result)] = run_tasks(Counter(name), [0])
    return result


@pytest.mark.parametrize("processes", [1, 2])
def test_processes_and_open_works_are_kept_for_the_next_call(processes: int) -> None:
    """An equal work is the same work. The one that was used longest ago is closed when there are too many."""
    with LocalWorkers(processes) as run_tasks:
        calls = [only(run_tasks, name) for name in ("a", "a", "b", "a", "c", "a", "b")]
    assert [call[:2] for call in calls] == [
        ("a", 1), ("a", 2), ("b", 1), ("a", 3), ("c", 1), ("a", 4), ("b", 1),
    ]  # fmt: skip
    assert len({process for _, _, process in calls}) == 1
    assert (calls[0][2] == os.getpid()) == (processes == 1)


def test_a_call_that_was_left_early_does_not_disturb_the_next_one() -> None:
    with LocalWorkers(2) as run_tasks:
        with closing(run_tasks(Tool(), ["say 1", *["sleep 60"] * 9])) as results:
            assert next(results) == (0, "1")
        with pytest.raises(UserError):
            list(run_tasks(Tool(), ["mistake", "say 2"]))
        assert sorted(run_tasks(Tool(), ["say 3", "say 4"])) == [(0, "3"), (1, "4")]


def test_two_works_can_be_under_way_at_once() -> None:
    with LocalWorkers(2) as run_tasks:
        outer = run_tasks(Tool(), ["say 1", "say 2", "say 3"])
        assert next(outer) in [(0, "1"), (1, "2")]
        assert sorted(run_tasks(Tool(), ["say 5", "say 6"])) == [(0, "5"), (1, "6")]
        assert len(list(outer)) == 2


def test_results_come_as_they_finish_and_one_process_is_this_one() -> None:
    found = list(run(Tool(), ["sleep 2", "say quick"], 2))
    assert [index for index, _ in found] == [1, 0]
    assert list(run(Tool(), ["pid"], 1)) == [(0, str(os.getpid()))]


def test_workers_use_one_thread_and_we_keep_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    assert list(run(Tool(), ["threads"], 2)) == [(0, "1 1 1 1")]
    assert os.environ["OMP_NUM_THREADS"] == "7" and "MKL_NUM_THREADS" not in os.environ


def test_workers_know_the_games_that_were_loaded_from_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(games, "REGISTRY", dict(games.REGISTRY))
    monkeypatch.setattr(games, "LOADED_FILES", [])
    games.load_file(CONNECT6)
    assert list(run(Tool(), ["game connect6"], 2)) == [(0, "connect6")]


def test_a_game_travels_as_text_without_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its rules are compiled and kept as if the file were there, and what is wrong in them names the line."""
    monkeypatch.setattr(games, "REGISTRY", dict(games.REGISTRY))
    monkeypatch.setattr(games, "LOADED_FILES", [])
    file = tmp_path / "mine.py"
    file.write_text(CONNECT6.read_text().replace('Game("connect6"', 'Game("mine"') + BROKEN)
    games.load_file(file)
    file.unlink()
    assert list(run(Tool(), ["start mine"], 2)) == [(0, "121")]
    line = CONNECT6.read_text().count("\n") + BROKEN.count("\n")
    with pytest.raises(TaskFailedError, match=rf'{file}", line {line}, in broken(?s:.)*ZeroDivisionError'):
        list(run(Tool(), ["break mine"], 2))


@pytest.mark.parametrize("processes", [1, 2])
def test_a_task_that_raises_is_named_with_its_trace(processes: int) -> None:
    with pytest.raises(TaskFailedError, match="raise apples: ZeroDivisionError: apples") as error:
        list(run(Tool(), ["say 1", "raise apples", "say 2"], processes))
    assert "raise ZeroDivisionError" in str(error.value) or isinstance(
        error.value.__cause__, ZeroDivisionError
    )


@pytest.mark.parametrize("processes", [1, 2])
def test_a_users_mistake_stays_one(processes: int) -> None:
    with pytest.raises(UserError) as error:
        list(run(Tool(), ["mistake no such file"], processes))
    assert str(error.value) == "no such file"


@pytest.mark.parametrize(
    ("number", "how"), [(signal.SIGKILL, r"was killed \(SIGKILL"), (signal.SIGSEGV, "was killed by SIGSEGV")]
)
def test_a_worker_that_dies_is_an_error_of_its_task(number: int, how: str) -> None:
    began = time.monotonic()
    with pytest.raises(WorkerDiedError, match=f"the process that worked on kill {number:d} {how}"):
        list(run(Tool(), ["sleep 60", f"kill {number:d}"], 2))
    assert time.monotonic() - began < 30  # and the other was not waited for


def test_a_break_stops_all_and_takes_no_more_tasks(tmp_path: Path) -> None:
    taken = []

    def tasks() -> Iterator[str]:
        for i in range(1000):
            taken.append(i)
            yield "pid"

    with closing(run(Tool(tmp_path / "left"), tasks(), 2)) as results:
        pids = {int(next(results)[1]) for _ in range(5)}
    assert len(taken) <= 7 and not any(map(is_running, pids))
    assert len((tmp_path / "left").read_text().split()) in (1, 2)  # one may have been stopped as it woke up


def test_what_workers_notice_their_parent_says_once(capfd: pytest.CaptureFixture[str]) -> None:
    assert len(list(run(Tool(), ["notice the disk of test_local is full"] * 6, 3))) == 6
    assert capfd.readouterr().err == "tengen: the disk of test_local is full\n"


class Hasty(Tool):
    """Has something to say while it is unpickled, before the worker begins its work."""

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        notices.say_once("compiling in test_local")


def test_what_workers_notice_before_they_begin_is_said_once_too(capfd: pytest.CaptureFixture[str]) -> None:
    assert len(list(run(Hasty(), ["pid"] * 6, 3))) == 6
    assert capfd.readouterr().err == "tengen: compiling in test_local\n"


@pytest.mark.parametrize("processes", [1, 2])
def test_a_worker_without_memory_is_the_machines_failure(processes: int) -> None:
    with pytest.raises(MachineError, match="out of memory: use fewer simulations"):
        list(run(Tool(), ["memory"], processes))


def test_workers_leave_with_a_parent_that_was_killed() -> None:
    code = (
        "from tests.workers.test_local import Tool, run\n"
        "for _, result in run(Tool(), ['pid', 'pid'] + ['sleep 60'] * 9, 2): print(result, flush=True)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=REPOSITORY)
    assert parent.stdout
    pids = [int(parent.stdout.readline()) for _ in range(2)]
    assert all(map(is_running, pids))
    parent.kill()
    parent.wait()
    assert wait_until_gone(pids)
    parent.stdout.close()


@pytest.mark.parametrize("processes", [1, 2])
def test_tasks_beside_others_have_processes_of_their_own_and_lower_priority(processes: int) -> None:
    with LocalWorkers(processes) as run_tasks, LocalWorkers(processes, beside=True) as run_beside:
        with ThreadPoolExecutor(1) as thread:
            beside = thread.submit(list, run_beside(Tool(), ["nice"] * 4))
            in_front = list(run_tasks(Tool(), ["nice"] * 4))
        assert {result for _, result in in_front} == {str(os.nice(0))}
        assert {result for _, result in beside.result()} == {str(os.nice(0) + local.NICENESS)}
        assert next(run_beside(Tool(), ["pid"]))[1] != str(os.getpid())


def test_tasks_beside_others_are_stopped_by_another_thread() -> None:
    with LocalWorkers(2, beside=True) as run_beside, ThreadPoolExecutor(1) as thread:
        results = run_beside(Tool(), ["pid", *["sleep 60"] * 9])
        pid = int(thread.submit(next, results).result()[1])
        rest = thread.submit(list, results)
        began = time.monotonic()
        run_beside.stop()
        with pytest.raises(StoppedError):
            rest.result()
        assert time.monotonic() - began < 30 and not is_running(pid)
        with pytest.raises(StoppedError):  # a call that comes later, too
            list(run_beside(Tool(), ["sleep 60"]))


def test_a_process_that_a_thread_starts_does_not_get_ctrl_c() -> None:
    with LocalWorkers(2, beside=True) as run_beside, ThreadPoolExecutor(1) as thread:
        [(_, mask)] = thread.submit(list, run_beside(Tool(), ["blocked"])).result()
    assert "SIGINT" in mask and "SIGTERM" not in mask
