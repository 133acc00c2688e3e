"""What is sent when: on simulated machines that lose tasks, hang, come and go, on a clock of their own."""

import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tengen.bench.simulated_cluster import (
    Clock,
    Costs,
    SimulatedCluster,
    SimulatedMachines,
    modelled,
    simulated,
)
from tengen.errors import UserError
from tengen.workers import dispatch
from tengen.workers.dispatch import IN_FLIGHT, LostError, Ref
from tengen.workers.doing import Failure
from tengen.workers.tasks import StoppedError, WorkerDiedError


class Machines:
    """Does squares. Each task sent meets the next of the fates: done after a second, lost, or hung."""

    def __init__(self, fates: str = "", cores: int = 2) -> None:
        self.fates, self.cores, self.time = list(fates), cores, 0.0
        self.on_the_way: dict[int, tuple[str, int, float]] = {}
        self.sent: list[int] = []
        self.most = 0
        self.lost: list[str] = []

    def num_cores(self) -> int:
        return self.cores

    def send(self, task: Any) -> Ref:
        ref = len(self.sent)
        self.sent.append(task)
        self.on_the_way[ref] = self.fates.pop(0) if self.fates else "d", task, self.time
        self.most = max(self.most, len(self.on_the_way))
        return ref

    def wait(self, refs: list[Ref], seconds: float) -> list[Ref]:
        assert set(refs) == set(self.on_the_way)
        self.time += seconds
        return [
            ref for ref in refs if self.on_the_way[ref][0] != "h" and self.time - self.on_the_way[ref][2] >= 1
        ]

    def take(self, ref: Ref) -> Any:
        fate, task, _ = self.on_the_way.pop(ref)
        if fate == "l":
            raise LostError("a worker was lost")
        return Failure(UserError, "too large", "") if task > 1000 else task * task

    def cancel(self, ref: Ref) -> None:
        del self.on_the_way[ref]

    def report_lost(self, task: Any, why: str) -> None:
        self.lost.append(f"{task}: {why}")

    def now(self) -> float:
        return self.time


@settings(max_examples=300, deadline=None)
@given(fates=st.text("dlh", max_size=60), num_tasks=st.integers(0, 30), cores=st.integers(1, 5))
def test_every_task_counts_exactly_once_whatever_is_lost_or_hangs(
    fates: str, num_tasks: int, cores: int
) -> None:
    machines = Machines(fates, cores)
    try:
        found = list(dispatch.dispatch(range(num_tasks), machines))
    except WorkerDiedError:
        assert any(machines.sent.count(task) == dispatch.MOST_LOSSES for task in range(num_tasks))
        return
    assert sorted(found) == [(i, i * i) for i in range(num_tasks)]
    assert machines.most <= IN_FLIGHT * cores and not machines.on_the_way
    assert len(machines.lost) <= len([fate for fate in fates[: len(machines.sent)] if fate != "d"])


def test_a_hung_worker_has_a_deadline_by_the_slowest_task_so_far() -> None:
    machines = Machines("dh", cores=1)
    assert sorted(dispatch.dispatch(range(2), machines)) == [(0, 0), (1, 1)]
    limit = dispatch.DEADLINE_SHARE * 1 + dispatch.DEADLINE_MORE
    assert limit < machines.time < limit + 3
    assert machines.lost == [f"1: a worker did not answer for {limit:.0f} s"]


def test_idle_cores_try_what_takes_much_longer_than_anything_before() -> None:
    machines = Machines("ddhd", cores=3)
    assert sorted(dispatch.dispatch(range(4), machines)) == [(i, i * i) for i in range(4)]
    assert machines.sent == [0, 1, 2, 3, 2] and machines.lost == []
    limit = dispatch.COPY_SHARE * 1 + dispatch.COPY_MORE
    assert limit < machines.time < limit + 2, "neither too soon nor as late as the deadline"
    assert not machines.on_the_way, "the slow one was cancelled"


def test_what_takes_a_little_longer_is_not_sent_twice() -> None:
    """The slower copy would be killed, and its process with it."""

    class Uneven(Machines):
        def wait(self, refs: list[Ref], seconds: float) -> list[Ref]:
            ended = super().wait(refs, seconds)
            return [ref for ref in ended if ref < 11 or self.time - self.on_the_way[ref][2] >= 3]

    machines = Uneven(cores=4)
    assert len(list(dispatch.dispatch(range(12), machines))) == 12
    assert machines.sent == list(range(12))


def test_results_that_wait_to_be_taken_are_not_late() -> None:
    """A slow learner, not a slow worker."""
    machines = Machines()
    for _ in dispatch.dispatch(range(8), machines):
        machines.time += 10_000
    assert machines.lost == [] and machines.sent == list(range(8))


def test_cores_that_join_get_tasks() -> None:
    machines = Machines(cores=1)
    for index, _ in dispatch.dispatch(range(40), machines):
        if index == 5:
            machines.cores = 6
    assert machines.most == IN_FLIGHT * 6


def test_a_task_that_is_always_lost_is_given_up() -> None:
    machines = Machines("l" * 100, cores=1)
    with pytest.raises(WorkerDiedError, match="0 was lost 12 times, the last time because a worker was lost"):
        list(dispatch.dispatch([0], machines))
    assert not machines.on_the_way


def test_a_mistake_of_the_user_is_raised_and_the_rest_cancelled() -> None:
    machines = Machines()
    with pytest.raises(UserError, match="too large"):
        list(dispatch.dispatch([1, 2, 1001, 3], machines))
    assert not machines.on_the_way


def test_it_can_be_stopped_and_left() -> None:
    machines, is_stopped = Machines(), threading.Event()
    results = dispatch.dispatch(range(100), machines, is_stopped.is_set)
    next(results)
    is_stopped.set()
    with pytest.raises(StoppedError):
        list(results)
    assert not machines.on_the_way
    results = dispatch.dispatch(range(100), machines)
    next(results)
    results.close()
    assert not machines.on_the_way


def test_the_clock_of_a_simulation_waits_for_everybody_who_takes_part() -> None:
    clock, moments = Clock(), []

    def work(steps: list[float]) -> None:
        for seconds in steps:
            clock.wait(seconds)
            moments.append(round(clock.now(), 1))
        clock.leave(threading.get_ident())

    threads = [threading.Thread(target=work, args=(steps,)) for steps in ([1.0, 5.0], [2.0, 2.0, 3.0])]
    clock.join(-1)  # nobody may begin before both are known
    for thread in threads:
        thread.start()
        assert thread.ident is not None
        clock.join(thread.ident)
    clock.leave(-1)
    for thread in threads:
        thread.join(10)
    assert moments == [1.0, 2.0, 4.0, 6.0, 7.0]


def test_simulated_cores_play_one_task_after_another() -> None:
    clock = Clock()
    machines = SimulatedMachines(clock, SimulatedCluster(2, Costs(10.0, 0.0, 0.0)), "a shard")
    assert [result for _, result in dispatch.dispatch(range(5), machines)] == ["a shard"] * 5
    assert clock.now() == 30.0


@pytest.mark.parametrize("is_overlapped", [False, True])
@pytest.mark.parametrize("learning", [0.01, 1.0])
def test_the_model_says_what_the_simulation_of_the_real_coach_says(
    is_overlapped: bool, learning: float
) -> None:
    costs = Costs(playing=10.0, learning=learning, receiving=0.001)
    found = simulated(costs, 20, is_overlapped).shards_per_second
    assert found == pytest.approx(modelled(costs, 20, is_overlapped), rel=0.1)


def test_lost_shards_cost_their_time_and_nothing_else() -> None:
    found = simulated(Costs(10.0, 0.1, 0.001, lost=0.1), 20, is_overlapped=False)
    assert found.num_lost > 5
    assert 0.6 < found.shards_per_second / modelled(Costs(10.0, 0.1, 0.001), 20, is_overlapped=False) < 1.0
