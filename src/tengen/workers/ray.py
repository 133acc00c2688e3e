"""Tasks on a Ray cluster, on as many machines as it has; dispatch.py decides what is sent when.

    with RayCluster(address="10.0.0.1:6379") as cluster:
        for index, result in cluster.workers()(work, tasks):     # as they finish, as everywhere
            ...

A task is a plain Ray task, which ends with us: nothing is left on the cluster. A work lies in Ray's object
store once per machine; a process that has opened it keeps it open. Machines that join get tasks too. Every
machine needs this version of Tengen; games from files travel with the tasks.
"""

import hashlib
import logging
import os
import pickle
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, Self, cast

import llvmlite.binding as llvm

from tengen import games, kernel_cache, notices
from tengen.errors import UserError
from tengen.workers.dispatch import LOOK_SECONDS, LostError, Ref, dispatch
from tengen.workers.doing import ONE_THREAD, Failure, OpenWorks, answer
from tengen.workers.tasks import Result, Task, Work

# Ray reads these when it is imported.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
if (Path.home() / ".ray" / "auth_token").is_file():  # as `ray start` does; for a given address Ray does not
    os.environ.setdefault("RAY_AUTH_MODE", "token")

import ray
from ray.exceptions import RayError

PATIENCE = 5.0  # seconds for the head of a cluster to answer at all; Ray itself tries for a minute


class RayCluster:
    """A connection to a cluster. Without an address: to the one in $RAY_ADDRESS, or else to a new one, of
    this machine alone, which ends with the connection. cores: of a new one, if not those of the machine."""

    def __init__(self, address: str | None = None, cores: int | None = None) -> None:
        self._address = "local" if cores else address or os.environ.get("RAY_ADDRESS") or "local"
        self._own_cores = cores
        self._looked = 0.0  # when the machines were counted
        self._machines = self._cores = 0
        self._lock = threading.Lock()
        self._processors = set[str]()
        self.num_lost = 0  # tasks that were lost and sent again

    def __enter__(self) -> Self:
        is_new = self._address == "local"
        own: dict[str, Any] = {"include_dashboard": False, "num_cpus": self._own_cores} if is_new else {}
        _check_reachable(self._address)
        try:
            ray.init(
                self._address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                runtime_env={"env_vars": {**ONE_THREAD, notices.WORKER: "1"}},
                **own,
            )
        except (ConnectionError, ValueError, RuntimeError, OSError, RayError) as error:
            raise UserError(_no_connection(self._address, str(error))) from None
        self._look()
        return self

    def __exit__(self, *error: object) -> None:
        ray.shutdown()

    def __str__(self) -> str:
        text = f"{_count(self._machines, 'machine')}, {_count(self._cores, 'core')}"
        return text + (f", {_count(self.num_lost, 'task')} lost and done again" if self.num_lost else "")

    @property
    def num_cores(self) -> int:
        """Cores of the machines that are there now; at least 1."""
        if time.monotonic() - self._looked > LOOK_SECONDS:
            self._look()
        return max(1, self._cores)

    def workers(self) -> "RayWorkers":
        return RayWorkers(self)

    def gpu_share(self) -> float:
        """The GPUs of the cluster, shared out among its cores; UserError if there are none."""
        gpus = float(ray.cluster_resources().get("GPU", 0.0))
        if not gpus:
            raise UserError(
                "the games shall be played on GPUs, and the cluster has none: selfplay.device=cpu"
            )
        return min(1.0, gpus / self.num_cores)

    def report_lost(self, task: object, why: str) -> None:
        self.num_lost += 1
        print(f"tengen: {why}; {task} is done again", file=sys.stderr, flush=True)

    def report_processor(self, processor: str) -> None:
        self._processors.add(processor)
        if len(self._processors) == 2:
            notices.say_once(
                "the machines have different processors: the number of games is exact, "
                "but the same command may play other games the next time"
            )

    def _look(self) -> None:
        """Counts the machines, and says so if some have come or gone."""
        with self._lock:
            alive = [node for node in ray.nodes() if node["Alive"]]
            before, self._machines = self._machines, len(alive)
            self._cores = sum(int(node["Resources"].get("CPU", 0)) for node in alive)
            self._looked = time.monotonic()
        if before != self._machines:
            change = "" if not before else " (one was lost)" if self._machines < before else " (one joined)"
            size = f"{_count(self._machines, 'machine')}, {_count(self._cores, 'core')}"
            print(f"tengen: the cluster has {size}{change}", file=sys.stderr, flush=True)


def _check_reachable(address: str) -> None:
    """UserError if nobody answers at HOST:PORT."""
    host, _, port = address.rpartition(":")
    if address in ("local", "auto"):
        return
    if "/" in address or not host or not port.isdigit():
        raise UserError(
            f"expected the address of a cluster's head, such as 10.0.0.1:6379, or auto; got '{address[:60]}'"
        )
    try:
        socket.create_connection((host, int(port)), PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise UserError(_no_connection(address, str(error))) from None


def _no_connection(address: str, reason: str) -> str:
    reason = reason.strip().splitlines()[0] if reason.strip() else "no answer"
    if address == "local":
        return f"Ray does not start on this machine: {reason}"
    return f"cannot connect to a Ray cluster at {address}: {reason.rstrip('.')}; docs/cluster.md starts one"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


class RayWorkers:
    """Has tasks done by a cluster. One call at a time; for calls side by side, make several."""

    def __init__(self, cluster: RayCluster) -> None:
        self._cluster = cluster
        self._is_stopped = threading.Event()

    def stop(self) -> None:
        """Ends the call that another thread is in, and every later one: they raise StoppedError."""
        self._is_stopped.set()

    def __call__(
        self, work: Work[Task, Result], tasks: Iterable[Task], /
    ) -> Generator[tuple[int, Result], None, None]:
        """(index of the task, its result) as they finish. Left early, it cancels what is on its way."""
        return dispatch(tasks, _Call(self._cluster, work), self._is_stopped.is_set)


class _Call:
    """The machines of a cluster, for the tasks of one work."""

    def __init__(self, cluster: RayCluster, work: Work[Any, Any]) -> None:
        self._cluster = cluster
        packed, loaded = pickle.dumps(work), list(games.LOADED_FILES)
        key = hashlib.sha256(packed).digest()
        # Inside a tuple a reference stays one, and a worker that has the content need not fetch it.
        arguments = (package_hash(), key, (ray.put(packed),), len(loaded), (ray.put(loaded),))
        gpus = cluster.gpu_share() if getattr(work, "needs_gpu", False) else 0.0
        do = _do.options(num_gpus=gpus) if gpus else _do
        self._do: Callable[[Any], Ref] = lambda task: do.remote(*arguments, task)

    def num_cores(self) -> int:
        return self._cluster.num_cores

    def send(self, task: Any) -> Ref:
        return self._do(task)

    def wait(self, refs: list[Ref], seconds: float) -> list[Ref]:
        if not ray.wait(refs, num_returns=1, timeout=seconds)[0]:
            return []
        return cast(list[Ref], ray.wait(refs, num_returns=len(refs), timeout=0)[0])

    def take(self, ref: Ref) -> Any:
        try:
            result, processor, said = ray.get(ref)
        except RayError as error:
            raise LostError(f"a worker was lost ({type(error).__name__})") from None
        self._cluster.report_processor(processor)
        for text in said:
            notices.say_once(text)
        return result

    def cancel(self, ref: Ref) -> None:
        ray.cancel(ref, force=True)

    def report_lost(self, task: Any, why: str) -> None:
        self._cluster.report_lost(task, why)

    def now(self) -> float:
        return time.monotonic()


@lru_cache(maxsize=1)
def package_hash() -> str:
    """A hash of the sources of this package: every machine must have the same."""
    sources = sorted(kernel_cache.PACKAGE.rglob("*.py"))
    texts = [f"{path.relative_to(kernel_cache.PACKAGE)}\n".encode() + path.read_bytes() for path in sources]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


# ---- in a worker


_works = OpenWorks()
_said: list[str] = []
_num_games = 0  # how many of the games from files this process has loaded


@ray.remote(num_cpus=1, max_retries=0)  # dispatch.py sends it again, and counts
def _do(
    version: str, key: bytes, packed: tuple[Ref], num_games: int, loaded: tuple[Ref], task: Any
) -> tuple[Any, str, list[str]]:
    """(The result or a Failure, the kind of processor, notices)."""
    global _num_games
    notices.send_through(_said.append)
    if version != package_hash():
        node = ray.util.get_node_ip_address()
        text = f"the machine {node} has another version of Tengen: install the same on every machine"
        return Failure(UserError, text, ""), _processor(), []
    new = ray.get(loaded[0])[_num_games:] if num_games > _num_games else []
    _num_games += len(new)
    content = None if key in _works else cast(bytes, ray.get(packed[0]))
    found = answer(_works, key, content, new, task)
    said, _said[:] = list(_said), []
    return found, _processor(), said


@lru_cache(maxsize=1)
def _processor() -> str:
    """What the results of floating-point kernels may depend on."""
    return f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
