"""Analyses with a player whose slices are known: what they run, when they end, what they show."""

import threading
import time
from itertools import pairwise

from tengen.games import find
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.decision import snapshot_of
from tengen.players.limit import Limit
from tengen.players.player import Choice, Player, Thinking
from tengen.search.snapshot import Snapshot

GAME = find("tictactoe")
START = Position.start(GAME)


class Counting(Thinking):
    """Prefers the action of the number of slices it has run; ends after `total`."""

    def __init__(self, position: Position, total: int, slice_seconds: float) -> None:
        self.position, self.total, self.slice_seconds, self.done = position, total, slice_seconds, 0

    def run(self, seconds: float) -> bool:
        time.sleep(min(seconds, self.slice_seconds))
        self.done += 1
        return self.done >= self.total

    def choice(self) -> Choice:
        return Choice(self.done % 9, 0.0)

    def snapshot(self) -> Snapshot:
        return snapshot_of(self.position, self.choice(), "Counting", nodes=self.done)


class Counter(Player):
    summary = "counts slices"
    obeys = ("simulations",)

    def __init__(self, game: Game, total: int, slice_seconds: float = 0.0) -> None:
        super().__init__(game)
        self.total, self.slice_seconds = total, slice_seconds

    def begin(self, position: Position, limit: Limit) -> Counting:
        return Counting(position, limit.simulations or self.total, self.slice_seconds)


def test_choose_is_an_analysis_to_its_end() -> None:
    assert Counter(GAME, 5).choose(START).action == 5
    assert Counter(GAME, 5).choose(START, Limit(simulations=7)).action == 7


def test_snapshots_come_at_intervals_and_the_last_is_final() -> None:
    snapshots = list(Counter(GAME, 30, 0.01).analyse(START, every=0.05))
    assert [snapshot.is_final for snapshot in snapshots] == [False] * (len(snapshots) - 1) + [True]
    assert 3 <= len(snapshots) <= 8 and snapshots[-1].nodes == 30
    assert [s.nodes for s in snapshots] == sorted({s.nodes for s in snapshots})
    assert all(a.seconds < b.seconds for a, b in pairwise(snapshots))


def test_time_ends_it() -> None:
    began = time.perf_counter()
    analysis = Counter(GAME, 10**9, 0.01).analyse(START, Limit(seconds=0.2))
    assert analysis.best.action in range(9) and 0.2 <= time.perf_counter() - began < 0.3
    assert analysis.is_over and 0.2 <= analysis.seconds < 0.3


def test_no_time_at_all_gives_what_is_known_before_the_first_slice() -> None:
    assert Counter(GAME, 10**9, 0.01).choose(START, Limit(seconds=0.0)).action == 0


def test_another_thread_stops_it() -> None:
    analysis = Counter(GAME, 10**9, 0.01).analyse(START)
    seen: list[Snapshot] = []
    watching = threading.Thread(target=lambda: seen.extend(analysis))
    watching.start()
    time.sleep(0.15)
    began = time.perf_counter()
    analysis.stop()
    watching.join(1.0)
    assert not watching.is_alive() and time.perf_counter() - began < 0.05
    assert seen[-1].is_final and analysis.best.action == seen[-1].nodes % 9


def test_a_stopped_analysis_stays_as_it_is() -> None:
    analysis = Counter(GAME, 10**9, 0.0).analyse(START)
    next(iter(analysis))
    analysis.stop()
    first = analysis.best
    assert analysis.best == first and list(analysis) == [analysis.snapshot]


def test_two_threads_that_ask_for_the_best_agree() -> None:
    analysis = Counter(GAME, 20, 0.005).analyse(START)
    found: list[Choice] = []
    threads = [threading.Thread(target=lambda: found.append(analysis.best)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [choice.action for choice in found] == [20 % 9] * 2
