"""Several threads ask one network: everyone gets the answers to his own rows, whatever else happens."""

import signal
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from tengen.evaluators.gathering import Answers, Gathering, _Request
from tengen.games.game import Planes

PRIME = 1_000_003


def hashed(planes: Planes) -> Answers:
    """Exact numbers that depend on a row alone: whole numbers, so that the batch cannot change a bit."""
    weights = np.random.default_rng(1).integers(1, PRIME, (planes[0].size, 5))
    numbers = planes.reshape(len(planes), -1).astype(np.int64) @ weights % PRIME
    whole = numbers.astype(np.float32)
    return [whole[:, :3].copy(), whole[:, 3].copy(), whole[:, 4].copy()]


def rows(random: np.random.Generator, count: int) -> Planes:
    return random.integers(0, 1000, (count, 2, 3, 3)).astype(np.float32)


def in_threads(count: int, work: Callable[[int], None]) -> list[BaseException]:
    """Runs work(0), work(1) … at once; the errors of those that failed."""
    errors: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001  (a failed assertion too)
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads), "somebody waits for ever"
    return errors


class Recorder:
    """A network that takes a moment, and remembers its batches and how many calls ran at once."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds, self.sizes, self.running, self.most_running = seconds, list[int](), 0, 0
        self.lock = threading.Lock()

    def __call__(self, planes: Planes) -> Answers:
        with self.lock:
            self.sizes.append(len(planes))
            self.running += 1
            self.most_running = max(self.most_running, self.running)
        time.sleep(self.seconds)
        with self.lock:
            self.running -= 1
        return hashed(planes)


@pytest.mark.parametrize("most_calls", [1, 2, None])
def test_everyone_gets_the_answers_to_his_own_rows(most_calls: int | None) -> None:
    network = Recorder(seconds=0.0002)
    gathering = Gathering(network, most_calls, most_rows=64)
    before = threading.active_count()

    def search(number: int) -> None:
        random = np.random.default_rng(number)
        for _ in range(300):
            planes = rows(random, int(random.integers(1, 20)))
            for found, expected in zip(gathering(planes), hashed(planes), strict=True):
                assert np.array_equal(found, expected)

    assert in_threads(8, search) == []
    assert max(network.sizes) <= 64 and len(network.sizes) < 8 * 300, "requests were gathered"
    if most_calls:
        assert network.most_running <= most_calls
    assert threading.active_count() == before


def test_one_who_is_alone_calls_directly_and_at_once() -> None:
    network, random = Recorder(), np.random.default_rng(0)
    callers: list[int] = []

    def noted(planes: Planes) -> Answers:
        callers.append(threading.get_ident())
        return network(planes)

    gathering = Gathering(noted, most_calls=1)
    for size in (1, 8, 300):
        gathering(rows(random, size))
    assert network.sizes == [1, 8, 300], "as they came, even one larger than a gathered call may be"
    assert set(callers) == {threading.get_ident()}


def test_those_who_wait_share_the_next_call() -> None:
    began, go_on = threading.Event(), threading.Event()
    network = Recorder()

    def slow_at_first(planes: Planes) -> Answers:
        if not began.is_set():
            began.set()
            assert go_on.wait(30)
        return network(planes)

    gathering = Gathering(slow_at_first, most_calls=1, most_rows=10)

    def search(number: int) -> None:
        if number > 0:
            assert began.wait(30)
            if number == 5:
                while len(gathering._waiting) < 4:
                    time.sleep(0.001)
                go_on.set()
                return
        gathering(rows(np.random.default_rng(number), 4))

    assert in_threads(6, search) == []
    assert network.sizes == [4, 8, 8], "four waited; ten rows are the most in one call"


def test_an_error_reaches_the_caller_whose_rows_it_is() -> None:
    def refuses_seven(planes: Planes) -> Answers:
        time.sleep(0.0005)
        if (planes == 7777).any():
            raise ValueError("seven")
        return hashed(planes)

    gathering = Gathering(refuses_seven, most_calls=1)

    def search(number: int) -> None:
        random = np.random.default_rng(number)
        for _ in range(60):
            planes = rows(random, 3)
            if number == 3:
                planes[1] = 7777
                with pytest.raises(ValueError, match="seven"):
                    gathering(planes)
            else:
                assert np.array_equal(gathering(planes)[0], hashed(planes)[0])

    assert in_threads(6, search) == []


class Interrupted(BaseException):
    """As Ctrl-C is: not an Exception."""


def test_one_who_is_interrupted_in_his_call_leaves_nobody_waiting() -> None:
    def interrupted(planes: Planes) -> Answers:
        time.sleep(0.0005)
        if threading.current_thread().name == "stopped":
            raise Interrupted
        return hashed(planes)

    gathering = Gathering(interrupted, most_calls=1)

    def search(number: int) -> None:
        random = np.random.default_rng(number)
        if number == 0:
            threading.current_thread().name = "stopped"
        for _ in range(100):
            planes = rows(random, 3)
            try:
                found = gathering(planes)
            except Interrupted:
                assert number == 0
                continue
            assert np.array_equal(found[0], hashed(planes)[0])

    assert in_threads(6, search) == []
    assert gathering._free == 1 and not gathering._waiting


def test_ctrl_c_ends_the_wait_of_the_main_thread() -> None:
    began, go_on = threading.Event(), threading.Event()

    def slow(planes: Planes) -> Answers:
        began.set()
        assert go_on.wait(30)
        return hashed(planes)

    gathering, random = Gathering(slow, most_calls=1), np.random.default_rng(1)
    main = threading.main_thread().ident
    assert main is not None

    def interrupt() -> None:
        while not gathering._waiting:
            time.sleep(0.001)
        time.sleep(0.01)
        signal.pthread_kill(main, signal.SIGINT)

    threads = [threading.Thread(target=work) for work in (lambda: gathering(rows(random, 2)), interrupt)]
    threads[0].start()
    assert began.wait(30)
    threads[1].start()
    with pytest.raises(KeyboardInterrupt):
        gathering(rows(random, 2))
    assert not gathering._waiting
    go_on.set()
    for thread in threads:
        thread.join(30)
    assert gathering._free == 1


class InterruptedWait:
    """A lock whose owner is interrupted while it waits."""

    def acquire(self) -> None:
        raise Interrupted

    def release(self) -> None:
        pass


def test_one_who_is_interrupted_when_it_is_his_turn_passes_it_on() -> None:
    gathering, random = Gathering(hashed, most_calls=1), np.random.default_rng(1)
    first = _Request(rows(random, 2))
    first.woken = InterruptedWait()  # type: ignore[assignment]
    gathering._free = 0  # somebody's call is running
    gathering._waiting.append(first)

    def search(number: int) -> None:
        if number == 0:
            planes = rows(random, 2)
            assert np.array_equal(gathering(planes)[0], hashed(planes)[0])
            return
        while len(gathering._waiting) < 2:
            time.sleep(0.001)
        gathering._pass_on()  # that call is over: the first is to call for both
        assert len(first.calls_for) == 2
        with pytest.raises(Interrupted):
            gathering._wait(first)

    assert in_threads(2, search) == []
    assert gathering._free == 1 and not gathering._waiting
