"""Many analyses at once on one network: started, read and stopped at random moments, each is as if alone."""

import random
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tengen import games
from tengen.evaluators.gathering import Answers, Gathering
from tengen.evaluators.network import open_network
from tengen.evaluators.onnx import OnnxEvaluator
from tengen.games.game import Planes
from tengen.games.position import Position
from tengen.players.limit import Limit
from tengen.players.mcts import Mcts
from tengen.players.player import Player
from tengen.players.zero import Zero
from tengen.search.snapshot import Snapshot
from tests.evaluators.test_gathering import in_threads

GAME = games.find("connect4")
THREADS, ANALYSES = 8, 200  # in all
MEMORY = 8 << 20


def position_number(number: int) -> Position:
    """A random position that is not over, with 0 to 11 stones."""
    chance = random.Random(number)
    position = Position.start(GAME)
    for _ in range(number % 12):
        following = position.play(chance.choice(position.legal_actions))
        position = position if following.is_over else following
    return position


def stopped(player: Player, number: int) -> Snapshot:
    """An analysis without a limit, read while it runs and stopped after up to 30 ms."""
    analysis = player.analyse(position_number(number), Limit(), every=0.003)
    timer = threading.Timer(random.Random(-number).uniform(0, 0.03), analysis.stop)
    timer.start()
    for snapshot in analysis:
        assert snapshot.game == "connect4"
    timer.join()
    return analysis.snapshot


def alone(player: Player, number: int, simulations: int) -> Snapshot:
    """The same analysis without others, round by round up to as many simulations."""
    thinking = player.begin(position_number(number), Limit())
    while thinking.snapshot().simulations < simulations:
        thinking.run(0.0)
    return thinking.snapshot()


def at_once(new_player: Callable[[], Player]) -> list[Snapshot]:
    found: dict[int, Snapshot] = {}

    def search(thread: int) -> None:
        for number in range(thread, ANALYSES, THREADS):
            with new_player() as player:
                found[number] = stopped(player, number)

    assert in_threads(THREADS, search) == []
    return [found[number] for number in range(ANALYSES)]


def bare(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, seconds=0.0, is_final=True)


def test_each_finds_what_it_finds_alone_if_rows_do_not_depend_on_the_batch() -> None:
    weights = np.random.default_rng(1).integers(1, 10_007, (GAME.num_planes * 42, 9))

    def run(planes: Planes) -> Answers:
        numbers = planes.reshape(len(planes), -1).astype(np.int64) @ weights % 10_007
        answers = (numbers / 10_007 - 0.5).astype(np.float32)
        return [answers[:, :7].copy(), answers[:, 7].copy(), answers[:, 8].copy()]

    shared, planes = Gathering(run), tuple(range(GAME.num_planes))

    def new_player(shared: Callable[[Planes], Answers]) -> Player:
        return Mcts(GAME, OnnxEvaluator(GAME, planes, shared), Limit(), MEMORY)

    before = threading.active_count()
    for number, snapshot in enumerate(at_once(lambda: new_player(shared))):
        again = alone(new_player(run), number, snapshot.simulations)
        assert bare(again) == bare(snapshot), f"analysis {number}"
    assert threading.active_count() == before


def test_with_a_network_they_play_the_same_moves() -> None:
    """What a network says changes by 2e-6 with the size of the batch."""
    network = open_network("zoo/connect4", "fp32")

    def new_player() -> Player:
        return Zero.of(GAME, network, 1)

    same, far = 0, []
    for number, snapshot in enumerate(at_once(new_player)):
        again = alone(new_player(), number, snapshot.simulations)
        same += again.best == snapshot.best
        far += [number] if abs(again.value - snapshot.value) > 1e-3 else []
    assert same >= 0.99 * ANALYSES and far == []


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_is_left_behind() -> None:
    network = open_network("zoo/connect4", "fp32")

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    def some() -> None:
        for number in range(20):
            with Zero.of(GAME, network, 1) as player:
                stopped(player, number)

    some()
    threads, memory, began = threading.active_count(), resident(), time.perf_counter()
    for _ in range(3):
        some()
    assert threading.active_count() == threads and time.perf_counter() - began < 60
    assert resident() - memory < 30 << 20
