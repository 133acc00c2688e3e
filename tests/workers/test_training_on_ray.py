"""Whole runs on a real Ray cluster of several nodes: the same files as a local run, whatever is killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

os.environ["RAY_AUTH_MODE"] = "disabled"  # before Ray is imported

from ray.cluster_utils import Cluster

from tengen.training.coach import train
from tengen.training.config_files import load
from tengen.training.run import Run
from tengen.training.watch import Watchers
from tengen.workers.local import LocalWorkers
from tengen.workers.ray import RayCluster
from tests.training.test_coach import assert_equal

GENERATIONS = 3
SETTINGS = [
    "selfplay.games=48", "selfplay.games_per_shard=8", "selfplay.simulations=100", "selfplay.full_share=1.0",
    "selfplay.precision=int8", "network.channels=8", "network.blocks=1", "learner.batch_size=64", "learner.parts=2",
    "measure.every=2", "measure.games=4", "measure.simulations=4", "measure.opponents=uct:sims=20",
]  # fmt: skip
FILES = "shard-*.safetensors"


@pytest.fixture(scope="module")
def nodes() -> Iterator[Cluster]:
    cluster = Cluster()
    cluster.add_node(num_cpus=1, node_ip_address="127.0.0.12", include_dashboard=False)
    cluster.add_node(num_cpus=1, node_ip_address="127.0.0.13")
    yield cluster
    cluster.shutdown()


@contextmanager
def killing(nodes: Cluster, times: int, seconds: float = 0.3) -> Iterator[list[int]]:
    """Kills so many workers of the cluster while they do something, one after another; yields whom."""
    killed: list[int] = []
    is_over = threading.Event()

    def kill() -> None:
        while len(killed) < times and not is_over.wait(seconds):
            busy = [pid for pid in busy_workers(nodes) if pid not in killed]
            if busy:
                os.kill(busy[0], signal.SIGKILL)
                killed.append(busy[0])

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        is_over.set()
        thread.join()


def busy_workers(nodes: Cluster) -> list[int]:
    """The processes of a cluster on this machine that do a task of ours."""
    raylets = {info.process.pid for node in nodes.list_all_nodes() for info in node.all_processes["raylet"]}
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            name = (folder / "cmdline").read_bytes()
        except (OSError, ValueError):  # it has ended meanwhile
            continue
        if parent in raylets and name.startswith(b"ray::_do"):
            found.append(int(folder.name))
    return found


def local_run(folder: Path, *settings: str) -> Path:
    run = Run.create(
        folder / "run", load("tictactoe", [*SETTINGS, f"length.generations={GENERATIONS}", *settings])
    )
    with LocalWorkers(1) as workers:
        assert [one.number for one in train(run, workers, Watchers())] == [1, 2, 3]
    return run.folder


def ray_run(folder: Path, nodes: Cluster, *settings: str) -> Path:
    run = Run.create(
        folder / "run", load("tictactoe", [*SETTINGS, f"length.generations={GENERATIONS}", *settings])
    )
    with RayCluster(nodes.address) as cluster, LocalWorkers(1) as here:
        found = list(train(run, cluster.workers(), Watchers(), cluster.workers(), here))
        assert [one.to_line()["selfplay"]["games"] for one in found] == 3 * [48]
    return run.folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return local_run(tmp_path_factory.mktemp("whole"))


def test_a_run_is_that_of_local_workers_though_workers_and_a_node_are_killed(
    nodes: Cluster, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    third = nodes.add_node(num_cpus=1, node_ip_address="127.0.0.14")

    def lose_a_node() -> None:
        while not list(tmp_path.rglob("*2/" + FILES)):  # in the middle of the second generation
            time.sleep(0.02)
        nodes.remove_node(third, allow_graceful=False)

    losing = threading.Thread(target=lose_a_node)
    losing.start()
    with killing(nodes, times=2) as killed:
        found = ray_run(tmp_path, nodes)
    losing.join()
    assert len(killed) == 2
    assert_equal(found, whole)
    assert "is done again" in capsys.readouterr().err


def test_an_overlapped_run_is_that_of_local_workers_too(nodes: Cluster, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    assert_equal(ray_run(one, nodes, "selfplay.overlap=1"), local_run(two, "selfplay.overlap=1"))


def test_a_killed_driver_leaves_nothing_on_the_cluster_and_goes_on(
    nodes: Cluster, whole: Path, tmp_path: Path
) -> None:
    start = [sys.executable, "-m", "tengen", "train"]
    place = ["--cluster", "ray", "--address", nodes.address, "--workers", "1", "--plain"]
    settings = [text for setting in SETTINGS for text in ("--set", setting)]
    first = ["tictactoe", "--name", "run", "--generations", f"{GENERATIONS}", *settings]
    driver = subprocess.Popen(
        [*start, *first, *place], cwd=tmp_path, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        while len(list(tmp_path.rglob(FILES))) < 8:
            assert driver.poll() is None
            time.sleep(0.02)
    finally:
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
    end = time.monotonic() + 30
    while busy_workers(nodes):
        assert time.monotonic() < end, "workers of a dead driver"
        time.sleep(0.1)
    done = subprocess.run(
        [*start, "--resume", "run", *place], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "tengen: the cluster has 2 machines, 2 cores" in done.stderr
    assert "2 machines, 2 cores, loss policy" in done.stdout
    assert_equal(tmp_path / "runs" / "run", whole)


@pytest.mark.slow
def test_ten_killed_workers_two_nodes_and_two_drivers_change_nothing(
    nodes: Cluster, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """A longer run: twenty times as many simulations."""
    longer = "selfplay.simulations=2000"
    whole = local_run(tmp_path_factory.mktemp("long"), longer)
    start = [sys.executable, "-m", "tengen", "train"]
    place = ["--cluster", "ray", "--address", nodes.address, "--workers", "1", "--plain"]
    settings = [text for setting in [*SETTINGS, longer] for text in ("--set", setting)]
    arguments = ["tictactoe", "--name", "run", "--generations", f"{GENERATIONS}", *settings]
    with killing(nodes, times=10, seconds=1.0) as killed:
        for shards in (4, 10):
            extra = nodes.add_node(num_cpus=1, node_ip_address=f"127.0.0.{20 + shards}")
            driver = subprocess.Popen([*start, *arguments, *place], cwd=tmp_path, start_new_session=True)
            while len(list(tmp_path.rglob(FILES))) < shards:
                assert driver.poll() is None
                time.sleep(0.05)
            nodes.remove_node(extra, allow_graceful=False)
            time.sleep(2)
            os.killpg(driver.pid, signal.SIGKILL)
            driver.wait()
            arguments = ["--resume", "run"]
        done = subprocess.run(
            [*start, *arguments, *place], cwd=tmp_path, capture_output=True, text=True, timeout=280
        )
    assert done.returncode == 0, done.stderr
    assert len(killed) == 10
    assert_equal(tmp_path / "runs" / "run", whole)
