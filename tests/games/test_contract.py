"""Every registered game keeps the contract, and the contract catches games that do not."""

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from numba import njit

from tengen import games
from tengen.games import mnk, result, symmetry
from tengen.games.batch import lift
from tengen.games.check import check_game, interpreted
from tengen.games.coordinates import Cells
from tengen.games.game import Mask, Planes, Random, State
from tengen.games.randomness import new_random

SIZES_BESIDE_THE_NAMED = [
    "mnk:rows=7,cols=9,k=5,rule=standard",
    "mnk:rows=9,cols=6,k=4,rule=caro",
    "mnk:rows=9,cols=11,k=5,rule=renju",
    "connect:rows=5,cols=8,k=4",
    "othello:size=4",
    "hex:size=3",
]


@pytest.mark.parametrize("name", [*games.names(), *SIZES_BESIDE_THE_NAMED])
def test_every_game_keeps_the_contract(name: str) -> None:
    for finding in check_game(games.find(name), num_positions=1000, seed=7):
        assert finding.ok, f"{finding.check}: {finding.problem}"


# A broken game for each check: what is changed, and what must be found.

TICTACTOE = games.find("tictactoe")


@njit(cache=False)
def legal_everywhere(state: State, mask: Mask) -> None:
    mask[:] = True


@njit(cache=False)
def legal_forgets_a_cell(state: State, mask: Mask) -> None:
    for i in range(1, mask.size):
        mask[i] = (state[4 + i] == 0) & (state[-3] == 0)


@njit(cache=False)
def play_changes_its_input(state: State, action: int, next_state: State) -> None:
    mnk.play(state, action, next_state)
    state[4 + action] = state[-1]


@njit(cache=False)
def play_forgets_the_last_action(state: State, action: int, next_state: State) -> None:
    mnk.play(state, action, next_state)
    next_state[-2] = -1


@njit(cache=False)
def play_prefers_the_corner(state: State, action: int, next_state: State) -> None:
    """Not symmetric: the top left corner wins at once."""
    mnk.play(state, action, next_state)
    if action == 0:
        next_state[-3] = state[-1]


@njit(cache=False)
def outcome_of_two(state: State) -> tuple[bool, float]:
    is_over, value = result.outcome(state)
    return is_over, 2 * value


@njit(cache=False)
def planes_for_the_first_player(state: State, out: Planes) -> None:
    """The wrong perspective: plane 0 is always the first player's."""
    mnk.planes(state, out)
    if state[-1] == 2:
        for row in range(3):
            for col in range(3):
                out[0, row, col], out[1, row, col] = out[1, row, col], out[0, row, col]


@njit(cache=False)
def rollout_favours_the_first(state: State, random: Random) -> None:
    mnk.rollout(state, random)
    state[-3] = 1


def plain_python_start(state: State) -> None:
    state[:] = 0


class OneName(Cells):
    def name(self, action: int) -> str:
        return "a1"


@njit(cache=False)
def wins_with_every_move(state: State, action: int) -> bool:
    return True


BROKEN: list[tuple[str, dict[str, Any], str]] = [
    ("functions are compiled", {"start": plain_python_start}, "start is not compiled"),
    ("functions leave their input alone", {"play": play_changes_its_input}, "changed the state"),
    ("outputs are written in full", {"legal": legal_forgets_a_cell}, "legal leaves entries"),
    ("outputs are written in full", {"play": play_forgets_the_last_action}, "state[-2] should be it"),
    ("legal moves are there until the end", {"legal": legal_everywhere}, "legal moves after the end"),
    ("values are for the player to move", {"outcome": outcome_of_two}, "outcome's value"),
    ("planes show the board", {"planes": planes_for_the_first_player}, "the player to move"),
    (
        "symmetric play is play of the symmetric",
        {"play": play_prefers_the_corner},
        "lead to different positions",
    ),
    ("one integer and back", {"cell_values": 2}, "comes back different"),
    ("move names read back", {"moves": OneName(3, 3)}, "the same name"),
    ("wins are wins", {"wins": wins_with_every_move}, "wins is wrong about"),
    ("rollouts agree with play", {"rollout": rollout_favours_the_first}, "mean result"),
]


@pytest.mark.parametrize(
    ("check", "change", "problem"), BROKEN, ids=[str(row[1]).split("'")[1] for row in BROKEN]
)
def test_the_contract_catches(check: str, change: dict[str, Any], problem: str) -> None:
    broken = replace(TICTACTOE, **change)
    found = {finding.check: finding.problem for finding in check_game(broken, num_positions=300)}
    assert problem in (found[check] or "nothing found")


def test_interpreted_code_calls_no_compiled_code() -> None:
    """Else `compiled equals interpreted` would compare the compiled helpers with themselves."""
    function: Any = interpreted(games.find("renju15").play)
    helper = function.__globals__["update_forbidden"].__globals__["mark_forbidden"].__globals__["judge"]
    assert not hasattr(helper, "py_func")


def test_without_numba_the_games_are_the_same() -> None:
    """The same random games in a process where nothing is compiled."""
    code = (
        "from tengen.games.check import sample_positions\n"
        "from tengen import games\n"
        "for name in ('connect4', 'othello6', 'hex7', 'caro15'):\n"
        "    samples, problem = sample_positions(games.find(name), 100, seed=3)\n"
        "    print(name, problem, hash(b''.join(sample.state.tobytes() for sample in samples)))\n"
    )
    environment = {"PYTHONHASHSEED": "0", "PYTHONPATH": ":".join(sys.path)}
    outputs = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            env={**environment, "NUMBA_DISABLE_JIT": flag},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for flag in ("0", "1")
    ]
    assert outputs[0] == outputs[1] and outputs[0].count("None") == 4


@pytest.mark.parametrize("g", range(8))
def test_symmetries_are_a_group_of_board_moves(g: int) -> None:
    """A neighbour stays a neighbour, and doing one symmetry after another is a symmetry again."""
    square = symmetry.square(4)
    places = {tuple(row) for row in square.cells.tolist()}
    assert len(places) == 8 and tuple(range(16)) == tuple(square.cells[0])
    assert tuple(square.cells[g][square.cells[(g + 3) % 8]]) in places
    for cell in range(16):
        if cell % 4 < 3:
            a, b = (divmod(int(square.cells[g, c]), 4) for c in (cell, cell + 1))
            assert abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1


def symmetries_of(name: str) -> int:
    return len(games.find(name).symmetries)


def test_how_many_symmetries() -> None:
    assert symmetries_of("gomoku15") == symmetries_of("othello8") == 8
    assert symmetries_of("mnk:rows=7,cols=9,k=5") == 4
    assert symmetries_of("connect4") == symmetries_of("hex11") == 2


def test_a_game_without_a_rollout_of_its_own_can_be_played_out() -> None:
    game = replace(games.find("connect4"), rollout=None)
    mean = lift(game).playouts(game.new_state(), 4000, new_random(2)) / 4000
    assert abs(mean - 0.11) < 0.08  # the first player's advantage in random Connect 4
