"""The game of CONTRIBUTING.md is right as it stands there; broken in every way that comes to mind, `check` says how."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import njit

from tengen import games
from tengen.errors import UserError
from tengen.games import symmetry
from tengen.games.check import check_game
from tengen.games.game import Game, Mask, Planes, State
from tengen.games.rehearsal import rehearse, rehearse_here

PAGE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
KNIGHTS = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]  # type: ignore[index]

LOADED = 0


def load(folder: Path, source: str) -> Game:
    """The game of a source, under a name of its own."""
    global LOADED
    LOADED += 1
    file = folder / f"knights{LOADED}.py"
    file.write_text(source.replace('"knights"', f'"knights{LOADED}"'))
    return games.find(games.load_file(file)[0])


@pytest.fixture(autouse=True)
def no_files_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(games, "LOADED_FILES", [])
    monkeypatch.setattr(games, "REGISTRY", dict(games.REGISTRY))


BROKEN: dict[str, tuple[str, str, str]] = {  # what is broken: this text, is replaced by this, and is found
    "a name that does not exist": (
        "mask[action] = is_legal(state, action)",
        "mask[action] = is_leagl(state, action)",
        r"legal, LINE, `mask\[action\] = is_leagl\(state, action\)`: name 'is_leagl' is not defined \(in the first position\)",
    ),
    "a name that does not exist, in a helper": (
        "state[TO[action]] == 0",
        "state[TO[action]] == EMPTY",
        r"legal in is_legal, LINE, .*: name 'EMPTY' is not defined",
    ),
    "a name in a branch that is met late": (
        "    return True, -1.0",
        "    return True, LOST",
        r"outcome, LINE, .*: name 'LOST' is not defined \(after: .+-.+ .+-.+\)",
    ),
    "an index that is too large": (
        "for action in range(mask.size):",
        "for action in range(mask.size + 1):",
        r"legal in is_legal, line 28, .*: index 200 is out of bounds .* \(a state has state_size = 27 entries, "
        r"the mask num_actions = 200\)",
    ),
    "an index off the board": (
        "TO[action] >= 0 and state[FROM[action]] == state[TO_MOVE] and state[TO[action]] == 0",
        "state[FROM[action]] == state[TO_MOVE] and state[TO[action]] == 0",
        r"legal in is_legal, LINE, .*: index -1 is negative, and so counts from the end",
    ),
    "too few planes": (
        'plane_names=(MINE, THEIRS, "gone")',
        "plane_names=(MINE, THEIRS)",
        r"planes, line 55, .*: index 2 is out of bounds .* out has 2 planes, one for each of plane_names\)",
    ),
    "play changes its input": (
        "    next_state[LAST_ACTION]",
        "    state[FROM[action]] = GONE\n    next_state[LAST_ACTION]",
        r"play, LINE, `state\[FROM\[action\]\] = GONE`: play must not change the state it is given: write to next",
    ),
    "outcome returns nothing": ("return True, -1.0", "pass", r"outcome, line \d+: returns \(is_over, value\) .* got None"),
    "outcome returns a whole number": ("return False, 0.0", "return False, 0", r"the value is a float, 1.0 and not 1, got 0"),
    "outcome says 1 for True": ("return False, 0.0", "return 0, 0.0", r"is_over is True or False, got 0"),
    "a number that does not fit": (
        "= action, 3 - state[TO_MOVE]",
        "= 40000 + action, 3 - state[TO_MOVE]",
        r"play, LINE, .*: OverflowError: Python integer 40\d\d\d out of bounds for int16",
    ),
    "a fraction in the state": (
        "= GONE, state[TO_MOVE]",
        "= GONE / 2, state[TO_MOVE]",
        r"play, LINE, .*: TypeError: a state holds whole numbers, got 1.5",
    ),
    "one argument too few": (
        "def planes(state: State, out: Planes)",
        "def planes(out: Planes)",
        r"planes, line 5\d: TypeError: planes\(\) takes 1 positional argument but 2 were given",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_uncompiled_rules_show_what_is_broken_and_where(what: str, tmp_path: Path) -> None:
    old, new, problem = BROKEN[what]
    assert KNIGHTS.count(old) == 1
    source = KNIGHTS.replace(old, new).replace("@njit(cache=True)\n", "# not compiled\n")
    problem = problem.replace("LINE", f"line {1 + source[: source.index(new)].count(chr(10))}")
    answer = rehearse_here(load(tmp_path, source), 300, 0, lambda *_: None)
    assert re.search(problem, answer["problem"] or "nothing found"), answer["problem"]


def test_a_negative_index_that_is_written_as_one_is_meant(tmp_path: Path) -> None:
    source = KNIGHTS.replace("@njit(cache=True)\n", "").replace(
        "    next_state[LAST_ACTION]", "    me = 1\n    next_state[-1 - me] += 0\n    next_state[LAST_ACTION]"
    )
    assert rehearse_here(load(tmp_path, source), 100, 0, lambda *_: None)["problem"] is None


def test_a_child_process_plays_the_game_and_survives_all(tmp_path: Path) -> None:
    """Even what would kill or stop the caller is a finding with its line and moves."""
    whole = load(tmp_path, KNIGHTS)
    positions, problem = rehearse(whole.name, 300, 0)
    assert positions >= 300 and problem is None
    endless = KNIGHTS.replace(
        "    next_state[:] = state\n",
        "    next_state[:] = state\n    while state[0] == GONE:\n        pass\n",
    )
    positions, problem = rehearse(load(tmp_path, endless).name, 300, 0, patience=-4.0)
    assert (
        re.fullmatch(r"play, line 4[01]: does not come to an end \(after: .*a5-.*\)", problem or "")
        and not positions
    )
    deadly = KNIGHTS.replace("    return True, -1.0", "    os.abort()\n    return True, -1.0").replace(
        "from numba", "import os\nfrom numba"
    )
    _, problem = rehearse(load(tmp_path, deadly).name, 300, 0)
    assert re.fullmatch(r"outcome, line 50: kills the process \(SIGABRT\) \(after: .+-.+\)", problem or ""), (
        problem
    )


@njit(cache=False)
def forgets_the_last_action(state: State, action: int, next_state: State) -> None:
    """The knights leave the board together."""
    next_state[:] = 0
    next_state[-2], next_state[-1] = -1, 3 - state[-1]


@njit(cache=False)
def never_over(state: State) -> tuple[bool, float]:
    return False, 0.0


@njit(cache=False)
def stays(state: State, action: int, next_state: State) -> None:
    next_state[:] = state
    next_state[-2], next_state[-1] = action, 3 - state[-1]


@njit(cache=False)
def not_back_at_once(state: State, mask: Mask) -> None:
    mask[:] = True
    if state[-2] >= 0:
        mask[state[-2]] = False


@njit(cache=False)
def leaves_a_plane_out(state: State, out: Planes) -> None:
    board = state[:25].reshape(5, 5)
    out[0], out[1] = board == state[-1], board == 3 - state[-1]


@njit(cache=False)
def misspelt(state: State, mask: Mask) -> None:
    mask[:] = False
    if state[-1] == 7:
        mask[0] = is_leagl(state)  # type: ignore[name-defined]  # noqa: F821


def not_compiled(state: State) -> bool:
    return bool(state[0] == 0)


LIST, WORDS = [[1], [2, 3]], {1: 2}


@njit(cache=False)
def calls_what_is_not_compiled(state: State, mask: Mask) -> None:
    mask[:] = not_compiled(state)


@njit(cache=False)
def reads_a_list(state: State, mask: Mask) -> None:
    mask[:] = LIST[0][0] == state[0]


@njit(cache=False)
def reads_a_dictionary(state: State, mask: Mask) -> None:
    mask[:] = WORDS[1] == state[0]


@njit(cache=False)
def too_many_indices(state: State, out: Planes) -> None:
    out[0, 0, 0, 0] = 1


@pytest.fixture(scope="module")
def knights(tmp_path_factory: pytest.TempPathFactory) -> Game:
    return load(tmp_path_factory.mktemp("games"), KNIGHTS)


def test_the_game_of_the_page_keeps_the_contract(knights: Game) -> None:
    for finding in check_game(knights, num_positions=300):
        assert finding.ok, f"{finding.check}: {finding.problem}"


def first_problem(game: Game) -> str:
    return next(f"{one.check}: {one.problem}" for one in check_game(game, num_positions=100) if one.problem)


def test_the_contract_says_what_else_is_broken(knights: Game) -> None:
    group = knights.symmetries
    upside_down = symmetry.Symmetries(group.cells, group.actions[::-1].copy())
    shifted = symmetry.Symmetries(group.cells, np.roll(group.actions, 1, axis=0))
    squashed = symmetry.Symmetries(group.cells * 0, group.actions)
    changes: list[tuple[dict[str, Any], str]] = [
        ({"play": forgets_the_last_action}, "after .*-.* state.-2. should be its action"),
        ({"play": stays, "outcome": never_over}, "a random game is not over after 1000 plies: count plies in the state"),
        ({"legal": not_back_at_once, "outcome": never_over, "play": stays}, "1000 plies"),
        ({"planes": leaves_a_plane_out}, "planes leaves entries of plane 2, 'gone', unwritten"),
        ({"legal": misspelt}, r"legal, line \d+: NameError: (global )?name 'is_leagl' is not defined$"),
        ({"legal": calls_what_is_not_compiled}, r"legal, line \d+: not_compiled is not compiled: decorate it with @njit"),
        ({"legal": reads_a_list}, r"LIST is a list: compiled functions know numbers, tuples and NumPy arrays"),
        ({"legal": reads_a_dictionary}, r"WORDS is a dict: compiled functions know numbers, tuples and NumPy arrays"),
        ({"planes": too_many_indices}, r"planes, line \d+: .*cannot index array\(float32, 3d, C\) with 4 indices"),
        ({"symmetries": upside_down}, "symmetry 0 must leave the actions in place"),
        ({"symmetries": replace(shifted, actions=np.concatenate([group.actions[:1], group.actions[:0:-1]]))},
         "symmetry 1 changes the legal moves: .* becomes .*, of which one is legal and one is not"),
        ({"symmetries": squashed}, "symmetry 0 does not send the cells to all cells, each once"),
    ]  # fmt: skip
    for change, problem in changes:
        assert re.search(problem, first_problem(replace(knights, **change))), first_problem(
            replace(knights, **change)
        )


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("MOVES.num_actions", "75", "line 58: game 'knights\\d+': num_actions is 200 with Steps, got 75"),
        (
            "state_size=CELLS + 2",
            "state_size=CELLS",
            "state_size is at least 27: header, cells, two entries; got 25",
        ),
        (
            ".for_moves(MOVES)",
            "",
            "symmetries are of 25 actions, the game has 200: add .for_moves\\(MOVES\\)",
        ),
        ('(MINE, THEIRS, "gone")', "(MINE, MINE)", "two planes have the same name: mine, mine"),
        (
            '(MINE, THEIRS, "gone")',
            '("gone")',
            "plane_names is a tuple of names, one for each plane, got 'gone'",
        ),
        (
            "from tengen.games.coordinates import Steps\n",
            "",
            "line \\d+: NameError: name 'Steps' is not defined",
        ),
        ("import Steps", "import Step", "line \\d+: ImportError: cannot import name 'Step' from"),
    ],
)
def test_facts_that_contradict_each_other_are_refused_when_loaded(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    assert old in KNIGHTS
    with pytest.raises(UserError, match=problem):
        load(tmp_path, KNIGHTS.replace(old, new))
