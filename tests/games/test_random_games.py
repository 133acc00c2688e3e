"""What whole random games say about the rules of a newcomer's game: a king walks on a strip of five cells."""

import re
from pathlib import Path

import pytest

from tengen import games
from tengen.games.check import Finding, check_game
from tengen.games.game import Game

WALK = """
from numba import njit

from tengen.games import symmetry
from tengen.games.coordinates import Steps
from tengen.games.game import FIRST_TO_MOVE, MINE, THEIRS, Game, Mask, Planes, State

CELLS, PLIES, LAST_ACTION, TO_MOVE = 10, -3, -2, -1
MOVES = Steps(2, 5, steps=((0, -1), (0, 1)))
FROM, TO = MOVES.sources, MOVES.targets


@njit(cache=True)
def start(state: State) -> None:
    state[:] = 0
    state[2], state[7] = 2, 1
    state[LAST_ACTION], state[TO_MOVE] = -1, 1


@njit(cache=True)
def outcome(state: State) -> tuple[bool, float]:
    if state[5] == 1 or state[0] == 2:  # the corner: who reaches it first has won
        return True, -1.0
    return state[PLIES] >= 40, 0.0


@njit(cache=True)
def legal(state: State, mask: Mask) -> None:
    is_over = outcome(state)[0]
    for action in range(mask.size):
        mask[action] = not is_over and TO[action] >= 0 and state[FROM[action]] == state[TO_MOVE]


@njit(cache=True)
def play(state: State, action: int, next_state: State) -> None:
    next_state[:] = state
    next_state[FROM[action]], next_state[TO[action]] = 0, state[TO_MOVE]
    next_state[PLIES] += 1
    next_state[LAST_ACTION], next_state[TO_MOVE] = action, 3 - state[TO_MOVE]


@njit(cache=True)
def planes(state: State, out: Planes) -> None:
    board, me = state[:CELLS].reshape(2, 5), state[TO_MOVE]
    out[0], out[1] = board == me, board == 3 - me
    out[2], out[3] = me == 1, state[PLIES] / 40


GAME = Game("NAME", "walk to the corner", rows=2, cols=5, state_size=CELLS + 3, num_actions=MOVES.num_actions,
            plane_names=(MINE, THEIRS, FIRST_TO_MOVE, "plies"), start=start, legal=legal, play=play, outcome=outcome,
            planes=planes, moves=MOVES, symmetries=symmetry.identity(CELLS, MOVES.num_actions))
"""


@pytest.fixture(autouse=True)
def no_files_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(games, "LOADED_FILES", [])
    monkeypatch.setattr(games, "REGISTRY", dict(games.REGISTRY))


def walk(folder: Path, name: str, old: str = "", new: str = "") -> Game:
    assert old in WALK
    file = folder / f"{name}.py"
    file.write_text(WALK.replace(old, new).replace("NAME", name) if old else WALK.replace("NAME", name))
    return games.find(games.load_file(file)[0])


def findings(game: Game) -> list[Finding]:
    return list(check_game(game, num_positions=300))


def test_the_walk_keeps_the_contract(tmp_path: Path) -> None:
    found = findings(walk(tmp_path, "walk"))
    assert [one.problem for one in found if one.problem] == []
    assert [one.note for one in found if one.note] == []


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("endless", "state[PLIES] >= 40", "False", "to and fro is not over after 1000 plies: count plies in the state"),
        ("alone", "action, 3 - state[TO_MOVE]", "action, 1", "player 2 was never to move in 3.. positions"),
        ("over", "state[PLIES] >= 40", "True", "the first position is over already"),
        ("blind", "out[2], out[3] = me == 1", "out[2], out[3] = False", "plane 2, 'first to move', should be ones everywhere"),
    ],
)  # fmt: skip
def test_what_is_broken_is_said(tmp_path: Path, name: str, old: str, new: str, problem: str) -> None:
    game = walk(tmp_path, f"walk_{name}", old, new)
    assert any(re.search(problem, one.problem or "") for one in findings(game))


def test_a_sign_that_looks_wrong_is_noted(tmp_path: Path) -> None:
    found = findings(walk(tmp_path, "walk_sign", "return True, -1.0", "return True, 1.0"))
    assert not any(one.problem for one in found)
    notes = [one.note for one in found if one.note]
    assert len(notes) == 1 and "is the sign of outcome right?" in notes[0]
