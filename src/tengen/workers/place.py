"""Where the work of a command is done: in processes on this machine, or on a Ray cluster.

with Place(workers=2).run_tasks() as run_tasks: ...
with Place(cluster="ray", address="10.0.0.1:6379").for_training() as hands: ...
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tengen.errors import MissingExtraError, UserError
from tengen.workers.local import LocalWorkers, available_cores
from tengen.workers.tasks import RunBeside, RunTasks

if TYPE_CHECKING:
    from tengen.workers.ray import RayCluster


@dataclass(frozen=True)
class Hands:
    """Whoever does the work of a training run."""

    run_tasks: RunTasks  # games, matches
    run_beside: RunBeside  # games beside the learner
    run_gradients: RunTasks  # always on this machine
    describe: Callable[[], str] | None = None  # the machines of a cluster and what was lost, as text


@dataclass(frozen=True)
class Place:
    """This machine, with some processes (None: one per core), or a cluster."""

    workers: int | None = None
    cluster: str | None = None
    address: str | None = None

    @contextmanager
    def run_tasks(self) -> Iterator[RunTasks]:
        """Whoever does the tasks of a command."""
        if self.cluster is None:
            with self._local() as local:
                yield local
            return
        with self._connected() as cluster:
            yield cluster.workers()

    @contextmanager
    def for_training(self) -> Iterator[Hands]:
        """Whoever does the work of a training run. Gradients are always computed here, beside the learner."""
        with self._local() as here:
            if self.cluster is None:
                with self._local(beside=True) as beside:
                    yield Hands(here, beside, here)
                return
            with self._connected() as cluster:
                yield Hands(cluster.workers(), cluster.workers(), here, cluster.__str__)

    def _local(self, beside: bool = False) -> LocalWorkers:
        if self.cluster is None and self.address is not None:
            raise UserError("--address is the address of a cluster: add --cluster ray")
        return LocalWorkers(self.workers or available_cores(), beside)

    def _connected(self) -> "RayCluster":
        from importlib.util import find_spec

        if self.cluster != "ray":
            raise UserError(f"expected --cluster ray, got '{(self.cluster or '')[:40]}'")
        if find_spec("ray") is None:
            raise MissingExtraError("--cluster ray", "ray")
        from tengen.workers.ray import RayCluster

        return RayCluster(self.address)
