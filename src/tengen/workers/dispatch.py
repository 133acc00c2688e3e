"""Tasks on machines that may fail: each is done, and exactly one result of it counts.

A task depends on its own values alone, so it may run anywhere, and again: if its worker or its machine is
lost, or does not answer in time, it is sent elsewhere.

    ┌ to do ┐   at most IN_FLIGHT per core   ┌ on the machines ┐   as they finish
    │ tasks │ ─────────────────────────────► │  one runs, one  │ ────────────────► (index, result)
    └───────┘                                │  waits, per core│
        ▲                                    └────────┬────────┘
        └──────── lost, or too late ◄─────────────────┘

Results that wait to be taken count as on the machines: however slowly they are taken, memory is bounded.
"""

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from tengen.workers.doing import Failure
from tengen.workers.tasks import StoppedError, WorkerDiedError

IN_FLIGHT = 2  # tasks per core: one that runs and one that waits for it
LOOK_SECONDS = 0.2  # between two looks at the machines, and at whether to stop
FIRST_DEADLINE = 3600.0  # seconds for a task, before any task of its kind has ended
DEADLINE_SHARE, DEADLINE_MORE = 4.0, 30.0  # then: this many times the slowest one, and some seconds
MOST_TRIES = 12  # a task that was lost this often will be lost again

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


@dataclass
class _Flight:
    """A task on its way."""

    index: int
    task: Any
    sent: float = 0.0
    tries: int = 0


def dispatch(
    tasks: Iterable[Any], machines: Machines, is_stopped: Callable[[], bool] = lambda: False
) -> Generator[tuple[int, Any], None, None]:
    """(index of the task, its result) as they finish. Left early, it cancels what is on its way."""
    to_do, is_more = enumerate(tasks), True
    flights: dict[Ref, _Flight] = {}  # in the order in which they were sent
    ended: list[Ref] = []  # those of the flights whose results wait to be taken
    slowest: float | None = None  # seconds of a task, with waiting for a core

    def send(flight: _Flight) -> None:
        flight.tries += 1
        flight.sent = machines.now()
        flights[machines.send(flight.task)] = flight

    def send_again(flight: _Flight, why: str) -> None:
        if flight.tries == MOST_TRIES:
            raise WorkerDiedError(f"{flight.task} was lost {MOST_TRIES} times, the last time because {why}")
        machines.report_lost(flight.task, why)
        send(flight)

    try:
        while is_more or flights:
            most = IN_FLIGHT * machines.num_cores()
            while is_more and len(flights) < most:
                following = next(to_do, None)
                if following is None:
                    is_more = False
                else:
                    send(_Flight(*following))
            if is_stopped():
                raise StoppedError
            if not ended and flights:
                ended = machines.wait(list(flights), LOOK_SECONDS)
                for ref in set(flights) - set(ended):
                    if (waited := machines.now() - flights[ref].sent) > _deadline(slowest):
                        machines.cancel(ref)
                        send_again(flights.pop(ref), f"a worker did not answer for {waited:.0f} s")
            if ended:
                flight = flights.pop(ref := ended.pop(0))
                try:
                    result = machines.take(ref)
                except LostError as error:
                    send_again(flight, str(error))
                    continue
                slowest = max(slowest or 0.0, machines.now() - flight.sent)
                if isinstance(result, Failure):
                    result.raise_for(flight.task)
                yield flight.index, result
    finally:
        for ref in flights:
            machines.cancel(ref)


def _deadline(slowest: float | None) -> float:
    """Seconds that a task may take, with waiting for a core."""
    return FIRST_DEADLINE if slowest is None else DEADLINE_SHARE * slowest + DEADLINE_MORE
