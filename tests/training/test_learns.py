"""Does it learn? Tic-tac-toe from nothing to perfect, as a user runs it. Minutes: `make test-slow`."""

import os
import subprocess
import sys
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from tengen import games, players
from tengen.arena.match import Match, play_match
from tengen.arena.openings import Openings
from tengen.games.position import Position
from tengen.workers.local import LocalWorkers

GAME = games.find("tictactoe")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tictactoe")
    command = [sys.executable, "-m", "tengen", "train", "tictactoe", "--minutes", "2", "--plain"]
    # As a user has it: conftest.py makes threads passive, for tests that share the cores.
    alone = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    subprocess.run(command, cwd=folder, env=alone, check=True)
    return folder / "runs" / "tictactoe"


@cache
def worth(position: Position) -> int:
    """The result with best play, for the player to move: by trying everything."""
    if position.is_over:
        return 0 if position.winner is None else -1  # whoever is to move has lost
    return max(-worth(position.play(action)) for action in position.legal_actions)


def all_positions() -> list[Position]:
    """Every position in which somebody is to move, 4520 of them."""
    found: dict[bytes, Position] = {}  # by their boards: how a position came about does not matter
    new = {b"": Position.start(GAME)}
    while new:
        found |= new
        played = (position.play(action) for position in new.values() for action in position.legal_actions)
        new = {position.state[GAME.cells].tobytes(): position for position in played if not position.is_over}
    return list(found.values())


@pytest.mark.slow
def test_two_minutes_of_tictactoe_find_an_optimal_move_nearly_everywhere(trained: Path) -> None:
    positions = all_positions()
    assert len(positions) == 4520
    optimal = 0
    with players.find(f"zero:{trained}:sims=50", GAME) as player:
        waiting = iter(positions)
        while batch := list(islice(waiting, 113)):
            for position, choice in zip(batch, player.choose_many(batch), strict=True):
                optimal += -worth(position.play(choice.action)) == worth(position)
    assert optimal / len(positions) >= 0.99


@pytest.mark.slow
def test_two_minutes_of_tictactoe_never_lose_to_perfect_play(trained: Path) -> None:
    # after one random move the game is a draw; after two it may be lost
    openings = Openings(GAME, seed=1, plies=1)
    match = Match(GAME, f"zero:{trained}:sims=50", "perfect", 1, openings)
    with LocalWorkers(1) as run_tasks:
        result = play_match(match, 200, run_tasks)
    assert result.total.wins + result.total.draws == 200
