"""Tasks on a real Ray cluster of several nodes on this machine."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

os.environ["RAY_AUTH_MODE"] = "disabled"  # before Ray is imported

from ray.cluster_utils import Cluster

from tengen import games
from tengen.errors import UserError
from tengen.workers import dispatch
from tengen.workers.dispatch import IN_FLIGHT
from tengen.workers.local import LocalWorkers
from tengen.workers.ray import RayCluster, RayWorkers
from tengen.workers.tasks import TaskFailedError, WorkerDiedError

CONNECT6 = Path(__file__).parents[2] / "examples" / "connect6.py"


@dataclass(frozen=True)
class Squares:
    """Squares numbers; notes in a folder that it began."""

    folder: str
    seconds: float = 0.0

    @contextmanager
    def open(self) -> Iterator[Callable[[int], int]]:
        def square(number: int) -> int:
            (Path(self.folder) / f"{number}-{time.monotonic_ns()}-{os.getpid()}").touch()
            if number < 0:
                raise ZeroDivisionError(f"not {number}")
            time.sleep(self.seconds)
            return number * number

        yield square


@pytest.fixture(scope="module")
def nodes() -> Iterator[Cluster]:
    cluster = Cluster()
    cluster.add_node(num_cpus=1, node_ip_address="127.0.0.2", include_dashboard=False)
    cluster.add_node(num_cpus=1, node_ip_address="127.0.0.3")
    yield cluster
    cluster.shutdown()


@pytest.fixture(scope="module")
def cluster(nodes: Cluster) -> Iterator[RayCluster]:
    with RayCluster(nodes.address) as connected:
        yield connected


@pytest.fixture
def workers(cluster: RayCluster) -> RayWorkers:
    return cluster.workers()


def test_the_results_are_those_of_local_workers(workers: RayWorkers, tmp_path: Path) -> None:
    work = Squares(str(tmp_path))
    with LocalWorkers(1) as local:
        assert dict(workers(work, range(20))) == dict(local(work, range(20)))


def test_games_from_files_travel_along(workers: RayWorkers) -> None:
    """Also to a worker that has already worked."""
    assert dict(workers(StartOf(), ["connect4"])) == {0: 7}
    games.load_file(CONNECT6)
    assert dict(workers(StartOf(), ["connect6", "connect4"])) == {0: 121, 1: 7}


@dataclass(frozen=True)
class StartOf:
    """Counts the legal moves at the start of a game."""

    @contextmanager
    def open(self) -> Iterator[Callable[[str], int]]:
        def count(name: str) -> int:
            game = games.find(name)
            return int(game.legal_mask(game.new_state()).sum())

        yield count


def test_a_machine_with_another_version_is_named(
    workers: RayWorkers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tengen.workers.ray.package_hash", lambda: "another")
    with pytest.raises(
        UserError, match=r"the machine 127\.0\.0\.\d has another version of Tengen: install the same"
    ):
        list(workers(Squares(str(tmp_path)), [1]))


def test_games_on_gpus_need_a_gpu(workers: RayWorkers, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"the cluster has none: selfplay\.device=cpu"):
        list(workers(OnGpu(str(tmp_path)), [1]))


class OnGpu(Squares):
    needs_gpu = True


def test_different_processors_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = RayCluster("127.0.0.1:1")
    for processor in ("one", "one", "another"):
        cluster.report_processor(processor)
    assert "the machines have different processors" in capsys.readouterr().err


def test_a_failing_task_says_where(workers: RayWorkers, tmp_path: Path) -> None:
    with pytest.raises(TaskFailedError, match=r"-1: ZeroDivisionError: not -1(.|\n)*in the worker"):
        list(workers(Squares(str(tmp_path)), [-1]))
    assert dict(workers(Squares(str(tmp_path)), [3])) == {0: 9}


def test_few_tasks_are_on_their_way_however_slowly_results_are_taken(
    cluster: RayCluster, workers: RayWorkers, tmp_path: Path
) -> None:
    most = IN_FLIGHT * cluster.num_cores
    taken = 0
    with closing(workers(Squares(str(tmp_path)), range(1000))) as results:
        for _ in results:
            taken += 1
            time.sleep(0.1)  # a slow learner
            assert len(list(tmp_path.iterdir())) <= taken + most
            if taken == 15:
                break


def test_leaving_early_cancels_what_is_on_its_way(workers: RayWorkers, tmp_path: Path) -> None:
    with closing(workers(Squares(str(tmp_path), 0.2), range(1000))) as results:
        next(results)
    begun = len(list(tmp_path.iterdir()))
    assert dict(workers(Squares(str(tmp_path), 0.0), [5])) == {0: 25}
    assert len(list(tmp_path.iterdir())) <= begun + 1 + 2, "at most those that had begun"


def test_a_killed_worker_costs_nothing_but_time(
    cluster: RayCluster, workers: RayWorkers, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost_before = cluster.num_lost
    found, killed = dict[int, int](), set[int]()
    for index, square in workers(Squares(str(tmp_path), 0.1), range(30)):
        assert index not in found, "no result counts twice"
        found[index] = square
        newest = max(tmp_path.iterdir(), key=lambda file: int(file.name.split("-")[1]))
        worker = int(newest.name.split("-")[2])
        if len(killed) < 3 and worker not in killed and _kill(worker):
            killed.add(worker)
    assert found == {i: i * i for i in range(30)} and len(killed) == 3
    assert 1 <= cluster.num_lost - lost_before <= 3 * IN_FLIGHT
    assert "tengen: a worker was lost (WorkerCrashedError); " in capsys.readouterr().err


def _kill(process: int) -> bool:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


@dataclass(frozen=True)
class Deadly:
    """Kills the process that works on it."""

    @contextmanager
    def open(self) -> Iterator[Callable[[int], int]]:
        yield lambda task: int(_kill(os.getpid()))


def test_a_task_that_always_kills_its_worker_is_given_up(
    workers: RayWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "MOST_LOSSES", 2)
    with pytest.raises(WorkerDiedError, match="7 was lost 2 times, the last time because a worker was lost"):
        list(workers(Deadly(), [7]))


def test_a_slow_last_task_costs_no_process(workers: RayWorkers) -> None:
    """Processes live on from call to call, with what they have compiled and opened."""
    for _ in range(10):  # the first process may do both, until the second one has started
        first = {process for _, process in workers(Sleeping(), [1.0, 1.0])}
        if len(first) == 2:
            break
    list(workers(Sleeping(), [0.1, 0.1, 0.1, 1.5]))
    assert {process for _, process in workers(Sleeping(), [2.0, 2.0])} == first


class Sleeping:
    """Sleeps so many seconds; answers with the number of its process."""

    @contextmanager
    def open(self) -> Iterator[Callable[[float], int]]:
        def do(task: float) -> int:
            time.sleep(task)
            return os.getpid()

        yield do


def test_nobody_waits_for_a_worker_that_hangs(
    cluster: RayCluster, workers: RayWorkers, tmp_path: Path
) -> None:
    """The other core does its task, and it is killed."""
    lost_before = cluster.num_lost
    assert dict(workers(Hanging(str(tmp_path)), range(6))) == {i: i for i in range(6)}
    assert (tmp_path / "hung").exists() and cluster.num_lost == lost_before


@dataclass(frozen=True)
class Hanging:
    """The first process that gets task 3 never answers."""

    folder: str

    @contextmanager
    def open(self) -> Iterator[Callable[[int], int]]:
        def do(task: int) -> int:
            mark = Path(self.folder) / "hung"
            if task == 3 and not mark.exists():
                mark.touch()
                time.sleep(1000)
            return task

        yield do


def test_a_lost_node_and_one_that_joins(
    nodes: Cluster,
    cluster: RayCluster,
    workers: RayWorkers,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    third = nodes.add_node(num_cpus=2, node_ip_address="127.0.0.4")
    results = workers(Squares(str(tmp_path), 0.05), range(40))
    found = dict(next(results) for _ in range(10))
    assert cluster.num_cores == 4
    nodes.remove_node(third, allow_graceful=False)
    found.update(results)
    assert found == {i: i * i for i in range(40)}
    while cluster.num_cores > 2:
        time.sleep(0.1)
    said = capsys.readouterr().err
    assert "the cluster has 3 machines, 4 cores" in said and "(one joined)" in said
    assert "the cluster has 2 machines, 2 cores" in said and "(one was lost)" in said


@pytest.mark.parametrize(
    ("address", "text"),
    [
        (
            "127.0.0.1:1",
            r"cannot connect to a Ray cluster at 127\.0\.0\.1:1: .*refused; docs/cluster.md starts one",
        ),
        ("127.0.0.1", r"such as 10\.0\.0\.1:6379, or auto; got '127\.0\.0\.1'"),
        ("ray://127.0.0.1:10001", "expected the address of a cluster's head"),
        ("127.0.0.1:99999999", "cannot connect to a Ray cluster"),
    ],
)
def test_an_address_without_a_cluster_is_one_clear_line(address: str, text: str) -> None:
    with pytest.raises(UserError, match=text), RayCluster(address):
        pass
