"""Where the work of a command is done: in processes on this machine, or on a Ray cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.errors import MissingExtraError, UserError

if TYPE_CHECKING:
    from tengen.workers.local import LocalWorkers
    from tengen.workers.ray import RayCluster
    from tengen.workers.tasks import RunBeside, RunTasks

ClusterName = Annotated[
    str | None, typer.Option("--cluster", metavar="ray", help="Work on a Ray cluster: docs/cluster.md.")
]
ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="Of the cluster's head, such as 10.0.0.1:6379. Without: a cluster of this machine alone.",
    ),
]


@dataclass(frozen=True)
class Place:
    """This machine, with some processes (None: one per core), or a cluster."""

    workers: int | None = None
    cluster: str | None = None
    address: str | None = None

    @contextmanager
    def run_tasks(self) -> Iterator["RunTasks"]:
        """Whoever does the tasks of a command."""
        if self.cluster is None:
            with self._local() as local:
                yield local
            return
        with self._connected() as cluster:
            yield cluster.workers()

    @contextmanager
    def for_training(self) -> Iterator[tuple["RunTasks", "RunBeside", "RunTasks"]]:
        """Whoever plays games, plays them beside a learner, and computes gradients: these always here."""
        with self._local() as gradients:
            if self.cluster is None:
                with self._local(beside=True) as beside:
                    yield gradients, beside, gradients
                return
            with self._connected() as cluster:
                yield cluster.workers(), cluster.workers(), gradients

    def _local(self, beside: bool = False) -> "LocalWorkers":
        from tengen.workers.local import LocalWorkers, available_cores

        if self.cluster is None and self.address is not None:
            raise UserError("--address is the address of a cluster: add --cluster ray")
        return LocalWorkers(self.workers or available_cores(), beside)

    def _connected(self) -> "RayCluster":
        from importlib.util import find_spec

        if self.cluster != "ray":
            raise UserError(f"--cluster is ray, got '{(self.cluster or '')[:40]}'")
        if find_spec("ray") is None:
            raise MissingExtraError("--cluster ray", "ray")
        from tengen.workers.ray import RayCluster

        return RayCluster(self.address)
