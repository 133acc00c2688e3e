"""Tasks on machines that may fail: each is done, and exactly one result of it counts.

A task depends on its own values alone, so it may run anywhere, and again: if its worker or its machine is
lost, or does not answer in time, it is sent elsewhere. When nothing is left to send and cores are idle, what
takes much longer than any task before is sent a second time, and the first result counts: nobody waits long
for a slow machine.

    ┌ to do ┐   at most IN_FLIGHT per core   ┌ on the machines ┐   as they finish
    │ tasks │ ─────────────────────────────► │  one runs, one  │ ────────────────► (index, result)
    └───────┘                                │  waits, per core│
        ▲                                    └────────┬────────┘
        └──────── lost, or too late ◄─────────────────┘

Results that wait to be taken count as on the machines: however slowly they are taken, memory is bounded.
"""

import math
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from tengen.workers.doing import Failure
from tengen.workers.tasks import StoppedError, WorkerDiedError

IN_FLIGHT = 2  # tasks per core: one that runs and one that waits for it
LOOK_SECONDS = 0.2  # between two looks at the machines, and at whether to stop
FIRST_DEADLINE = 3600.0  # seconds for a task, before any task of its kind has ended
DEADLINE_SHARE, DEADLINE_MORE = 4.0, 30.0  # then: this many times the slowest one, and some seconds
# A second copy is sent sooner, but not at once: the loser is killed, and it takes seconds to start a worker.
COPY_SHARE, COPY_MORE = 1.5, 5.0
MOST_LOSSES = 12  # a task that was lost this often will be lost again

Ref = Any  # of a task on its way


class LostError(Exception):
    """The worker or the machine of a task is gone; the message says how."""


class Machines(Protocol):
    """Machines that do tasks: a cluster, or a simulated one."""

    def num_cores(self) -> int:
        """How many tasks can run at once, now; at least 1."""

    def send(self, task: Any) -> Ref:
        """Sends a task to one of them."""

    def wait(self, refs: list[Ref], seconds: float) -> list[Ref]:
        """Those that have ended; returns as soon as there is one, or after some seconds."""

    def take(self, ref: Ref) -> Any:
        """The result of a task that has ended, or a Failure; LostError if there is none."""

    def cancel(self, ref: Ref) -> None:
        """Its result is not needed any more."""

    def report_lost(self, task: Any, why: str) -> None:
        """A task was lost, and is sent again."""

    def now(self) -> float:
        """Seconds."""


@dataclass(eq=False)
class _Flight:
    """A task on its way, at times twice."""

    index: int
    task: Any
    losses: int = 0
    sent: dict[Ref, float] = field(default_factory=dict)  # when


def dispatch(
    tasks: Iterable[Any], machines: Machines, is_stopped: Callable[[], bool] = lambda: False
) -> Generator[tuple[int, Any], None, None]:
    """(index of the task, its result) as they finish. Left early, it cancels what is on its way."""
    to_do, is_more = enumerate(tasks), True
    flights = _Flights(machines)
    try:
        while is_more or flights.on_the_way:
            num_cores = machines.num_cores()
            while is_more and len(flights.on_the_way) < IN_FLIGHT * num_cores:
                following = next(to_do, None)
                if following is None:
                    is_more = False
                else:
                    flights.send(_Flight(*following))
            if is_stopped():
                raise StoppedError
            if not flights.ended and flights.on_the_way:
                flights.wait(idle_cores=0 if is_more else num_cores - len(flights.on_the_way))
            if flights.ended:
                yield from flights.take()
    finally:
        for ref in flights.on_the_way:
            machines.cancel(ref)


class _Flights:
    """The tasks on their way."""

    def __init__(self, machines: Machines) -> None:
        self._machines = machines
        self.on_the_way: dict[Ref, _Flight] = {}
        self.ended: list[Ref] = []  # those of them whose results wait to be taken
        self._slowest: float | None = None  # seconds of a task, with waiting for a core

    def send(self, flight: _Flight) -> None:
        ref = self._machines.send(flight.task)
        flight.sent[ref] = self._machines.now()
        self.on_the_way[ref] = flight

    def wait(self, idle_cores: int) -> None:
        """Waits for the end of one; replaces those that are late, and sends slow ones to idle cores too."""
        self.ended = self._machines.wait(list(self.on_the_way), LOOK_SECONDS)
        has_ended = set(self.ended)
        for ref in [ref for ref in self.on_the_way if ref not in has_ended]:
            flight = self.on_the_way[ref]
            seconds = self._machines.now() - flight.sent[ref]
            if seconds > self._deadline():
                self._forget(ref)
                self._machines.cancel(ref)
                self._replace(flight, f"a worker did not answer for {seconds:.0f} s")
            elif idle_cores > 0 and seconds > self._patience() and len(flight.sent) == 1:
                self.send(flight)
                idle_cores -= 1

    def take(self) -> Iterator[tuple[int, Any]]:
        """The index and the result of one that has ended; nothing if it was lost."""
        ref = self.ended.pop(0)
        flight, seconds = self.on_the_way[ref], self._machines.now() - self.on_the_way[ref].sent[ref]
        self._forget(ref)
        try:
            result = self._machines.take(ref)
        except LostError as error:
            self._replace(flight, str(error))
            return
        self._slowest = max(self._slowest or 0.0, seconds)
        for second in list(flight.sent):
            self._forget(second)
            self._machines.cancel(second)
        if isinstance(result, Failure):
            result.raise_for(flight.task)
        yield flight.index, result

    def _replace(self, flight: _Flight, why: str) -> None:
        """Sends a lost one again, unless it is on its way a second time."""
        flight.losses += 1
        if flight.losses == MOST_LOSSES:
            raise WorkerDiedError(f"{flight.task} was lost {MOST_LOSSES} times, the last time because {why}")
        self._machines.report_lost(flight.task, why)
        if not flight.sent:
            self.send(flight)

    def _forget(self, ref: Ref) -> None:
        del self.on_the_way.pop(ref).sent[ref]
        self.ended = [other for other in self.ended if other != ref]

    def _deadline(self) -> float:
        """Seconds that a task may take, with waiting for a core."""
        return FIRST_DEADLINE if self._slowest is None else DEADLINE_SHARE * self._slowest + DEADLINE_MORE

    def _patience(self) -> float:
        """Seconds after which an idle core tries it too."""
        return math.inf if self._slowest is None else COPY_SHARE * self._slowest + COPY_MORE
