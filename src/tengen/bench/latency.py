"""How exactly players keep a time limit: warm moves, first moves of new processes, and the time of stop().

Warm moves are from games that a player plays against itself. A cold move is the first one of a process with
an empty kernel cache: prepare() compiles before the clock runs, and has no limit.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tengen import games, players
from tengen.arena.openings import Openings
from tengen.errors import MachineError, UserError
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.limit import Limit
from tengen.players.player import Player

CASES = (  # players that search, each on a board where the search takes long
    ("zero", "gomoku15"),
    ("uct", "gomoku15"),
    ("alphabeta", "gomoku15"),
    ("minimax", "gomoku15"),
    ("alphabeta:vcf=yes", "renju15"),
    ("perfect", "connect4"),
)
STOP_AFTER = (0.05, 0.3)  # seconds, at random between the two


@dataclass(frozen=True)
class Latency:
    """The distribution of some times, in seconds."""

    player: str
    game: str
    what: str  # "warm move", "cold move", "stop", "prepare"
    count: int
    median: float
    p99: float
    largest: float


def latency(player: str, game: str, what: str, seconds: list[float]) -> Latency:
    """The median, 99th percentile and largest of some times."""
    median, p99, largest = (float(np.quantile(seconds, q, method="higher")) for q in (0.5, 0.99, 1.0))
    return Latency(player, game, what, len(seconds), median, p99, largest)


def cases_of(specs: list[str]) -> list[tuple[str, str]]:
    """The cases of these players; all if none is named."""
    known = [spec for spec, _ in CASES]
    for spec in specs:
        if spec not in known:
            raise UserError(f"the players whose time is measured are {', '.join(known)}; got '{spec}'")
    return [case for case in CASES if case[0] in (specs or known)]


def measure(
    cases: list[tuple[str, str]], limit: Limit, num_moves: int, num_processes: int, num_stops: int
) -> Iterator[Latency]:
    """The times of players at games, as they are measured."""
    for spec, name in cases:
        with players.find(spec, games.find(name)) as player:
            player.prepare(limit)
            if num_moves:
                yield latency(spec, name, "warm move", list(move_times(player, limit, num_moves)))
            if num_stops:
                yield latency(spec, name, "stop", [stop_time(player, seed) for seed in range(num_stops)])
        if num_processes:
            cold = [in_new_process(spec, name, limit) for _ in range(num_processes)]
            yield latency(spec, name, "cold move", [first for _, first in cold])
            yield latency(spec, name, "prepare", [preparing for preparing, _ in cold])


def move_times(player: Player, limit: Limit, count: int) -> Iterator[float]:
    """The seconds of each move, in games that the player plays against itself from balanced openings: after
    random ones many games are decided, and a decided move takes no time."""
    openings = iter(Openings(player.game))
    position = Position.from_moves(player.game, next(openings))
    for _ in range(count):
        if position.is_over:
            position = Position.from_moves(player.game, next(openings))
            player.new_game(0)
        began = time.perf_counter()
        choice = player.choose(position, limit)
        yield time.perf_counter() - began
        position = position.play(choice.action)


def opening(game: Game, seed: int) -> Position:
    """A position in which there is something to think about."""
    return Position.from_moves(game, next(iter(Openings(game, seed))))


def stop_time(player: Player, seed: int) -> float:
    """The seconds from stop() in one thread to the answer in another, at a random moment of a search."""
    player.new_game(seed)
    analysis = player.analyse(opening(player.game, seed), Limit())
    stopped: list[float] = []

    def stop() -> None:
        stopped.append(time.perf_counter())
        analysis.stop()

    timer = threading.Timer(random.Random(seed).uniform(*STOP_AFTER), stop)
    timer.start()
    assert analysis.best is not None
    answered = time.perf_counter()
    timer.cancel()
    timer.join()
    return answered - stopped[0] if stopped else 0.0  # 0: the search had ended before


def in_new_process(spec: str, game: str, limit: Limit) -> tuple[float, float]:
    """(seconds of prepare(), seconds of the first move) in a new process with an empty kernel cache."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tengen.bench.latency", spec, game, str(limit.seconds)]
        environment = {**os.environ, "TENGEN_CACHE_DIR": folder}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MachineError(f"{spec} could not move in a new process: {done.stderr.strip()[-300:]}")
    preparing, first = json.loads(done.stdout)
    return preparing, first


def main() -> None:
    """Runs in the new process: prints the two times."""
    spec, game, seconds = sys.argv[1:]
    with players.find(spec, games.find(game)) as player:
        limit, position = Limit(seconds=float(seconds)), opening(player.game, seed=0)
        began = time.perf_counter()
        player.prepare(limit)
        prepared = time.perf_counter()
        player.choose(position, limit)
        print(json.dumps([prepared - began, time.perf_counter() - prepared]))


if __name__ == "__main__":
    main()
