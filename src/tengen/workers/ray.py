"""Tasks on a Ray cluster, on as many machines as it has.

    with RayCluster(address="10.0.0.1:6379") as cluster:
        for index, result in cluster.workers()(work, tasks):     # as they finish, as everywhere
            ...

A task depends on its work and its own values alone, so it may run anywhere, and again: if its worker or its
machine is lost, or does not answer in time, it is sent elsewhere, and exactly one result of it counts.
A work lies in Ray's object store once per machine; a process that has opened it keeps it open.

At most IN_FLIGHT tasks per core are on their way, results included: however slowly they are taken, memory is
bounded. Machines that join get tasks too. Every machine needs this version of Tengen.
"""

import hashlib
import logging
import os
import pickle
import sys
import threading
import time
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self, cast

import ray
from ray.exceptions import RayError, TaskCancelledError

from tengen import games, kernel_cache, notices
from tengen.errors import UserError
from tengen.workers.doing import ONE_THREAD, Failure, OpenWorks, answer
from tengen.workers.tasks import Result, StoppedError, Task, Work, WorkerDiedError

IN_FLIGHT = 2  # tasks per core: one that runs and one that waits for it
LOOK_SECONDS = 0.2  # between two looks at the cluster, and at whether to stop
FIRST_DEADLINE = 3600.0  # seconds for a task, before any task of its kind has ended
DEADLINE_SHARE, DEADLINE_MORE = 10.0, 60.0  # then: this many times the slowest one, and some seconds
MOST_TRIES = 5  # a task that kills its worker this often will do it again

Ref = Any  # ray.ObjectRef


class RayCluster:
    """A connection to a cluster; without an address, a cluster of this machine alone."""

    def __init__(self, address: str | None = None) -> None:
        self._address = address

    def __enter__(self) -> Self:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        options: dict[str, Any] = {} if self._address else {"include_dashboard": False}
        try:
            ray.init(
                self._address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                runtime_env={"env_vars": {**ONE_THREAD, notices.WORKER: "1"}},
                **options,
            )
        except (ConnectionError, ValueError, RuntimeError, OSError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise UserError(
                f"cannot connect to a Ray cluster at {self._address or 'this machine'}: {reason}"
            ) from None
        return self

    def __exit__(self, *error: object) -> None:
        ray.shutdown()

    @property
    def num_cores(self) -> int:
        """Cores of the machines that are there now; at least 1."""
        return max(1, int(ray.cluster_resources().get("CPU", 1)))

    def workers(self) -> "RayWorkers":
        return RayWorkers(self)


@dataclass
class _Flight:
    """A task on its way."""

    index: int
    task: Any
    began: float  # when it was sent
    tries: int = 1


class RayWorkers:
    """Has tasks done by a cluster. One call at a time; for calls side by side, make several."""

    def __init__(self, cluster: RayCluster) -> None:
        self._cluster = cluster
        self._is_stopped = threading.Event()
        self.num_lost = 0  # tasks whose worker or machine was lost or hung

    def stop(self) -> None:
        """Ends the call that another thread is in, and every later one: they raise StoppedError."""
        self._is_stopped.set()

    def __call__(
        self, work: Work[Task, Result], tasks: Iterable[Task], /
    ) -> Generator[tuple[int, Result], None, None]:
        """(index of the task, its result) as they finish. Left early, it cancels what is on its way."""
        packed = pickle.dumps(work)
        key, packed_ref = hashlib.sha256(packed).digest(), ray.put(packed)
        sources_ref = ray.put(list(games.LOADED_FILES))
        version, numbered = kernel_cache.sources_hash(), enumerate(tasks)
        flights: dict[Ref, _Flight] = {}
        slowest: float | None = None  # seconds of a task

        def send(flight: _Flight) -> None:
            flight.began = time.monotonic()
            flights[_do.remote(version, key, [packed_ref], [sources_ref], flight.task)] = flight

        def again(flight: _Flight, why: str) -> None:
            self.num_lost += 1
            if flight.tries == MOST_TRIES:
                raise WorkerDiedError(f"{MOST_TRIES} workers that worked on {flight.task} were lost: {why}")
            print(f"tengen: {why}; its task is done again", file=sys.stderr)
            flight.tries += 1
            send(flight)

        is_more = True
        try:
            while is_more or flights:
                while is_more and len(flights) < IN_FLIGHT * self._cluster.num_cores:
                    following = next(numbered, None)
                    if following is None:
                        is_more = False
                    else:
                        send(_Flight(*following, 0.0))
                if not flights:
                    break
                ready, _ = ray.wait(list(flights), num_returns=1, timeout=LOOK_SECONDS)
                if self._is_stopped.is_set():
                    raise StoppedError
                for ref in ready:
                    flight = flights.pop(ref)
                    try:
                        received, said = ray.get(ref)
                    except TaskCancelledError:
                        continue
                    except RayError as error:
                        again(flight, f"a worker was lost ({type(error).__name__})")
                        continue
                    slowest = max(slowest or 0.0, time.monotonic() - flight.began)
                    for text in said:
                        notices.say_once(text)
                    if isinstance(received, Failure):
                        received.raise_for(flight.task)
                    del ref  # its result leaves the object store
                    yield flight.index, received
                for ref, flight in list(flights.items()):
                    if time.monotonic() - flight.began > _deadline(slowest):
                        del flights[ref]
                        ray.cancel(ref, force=True)
                        again(flight, f"a worker did not answer for {time.monotonic() - flight.began:.0f} s")
        finally:
            for ref in flights:
                ray.cancel(ref, force=True)


def _deadline(slowest: float | None) -> float:
    """Seconds that a task may take, with waiting for a core."""
    return FIRST_DEADLINE if slowest is None else DEADLINE_SHARE * slowest + DEADLINE_MORE


# ---- in a worker


_works = OpenWorks()
_said: list[str] = []
_known: list[Any] = []  # games from files that this process has loaded


@ray.remote(num_cpus=1, max_retries=0)  # we send it again ourselves, and count
def _do(
    version: str, key: bytes, packed: Sequence[Ref], sources: Sequence[Ref], task: Any
) -> tuple[Any, list[str]]:
    """(The result or a Failure, notices). The work and the games come as references: once per machine."""
    notices.send_through(_said.append)
    if version != kernel_cache.sources_hash():
        node = ray.util.get_node_ip_address()
        text = f"the machine {node} has another version of Tengen: install the same on every machine"
        return Failure(UserError, text, ""), []
    loaded: list[games.GameSource] = ray.get(sources[0])
    new = [source for source in loaded if source not in _known]
    _known.extend(new)
    found = answer(_works, key, cast(bytes, ray.get(packed[0])), new, task)
    said, _said[:] = list(_said), []
    return found, said
