"""The commands, run as a user runs them: a process, its output, its exit code."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tengen import compiling, kernel_cache

REPOSITORY = Path(__file__).parents[2]
CONNECT6 = REPOSITORY / "examples" / "connect6.py"
BREAKTHROUGH = REPOSITORY / "examples" / "breakthrough.py"


def tengen(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """How the command ended. Whether kernels had to be compiled first is left out of what it said."""
    command = [sys.executable, "-m", "tengen", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, cwd=cwd)
    done.stderr = done.stderr.replace(f"tengen: {compiling.TEXT}\n", "")
    return done


def result(*arguments: str | Path, cwd: Path | None = None) -> str:
    done = tengen(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_help_imports_nothing_heavy(flag: str) -> None:
    code = (
        "import sys\nfrom tengen.cli import main\n"
        f"sys.argv = ['tengen', '{flag}']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'numba', 'numpy', 'torch', 'onnxruntime', 'matplotlib', 'ray', 'fastapi'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_games_lists_every_game() -> None:
    shown = result("games")
    listed = json.loads(result("games", "--json"))
    assert len(listed) == 19
    for game in listed:
        assert game["name"] in shown
    assert {"name": "renju15", "summary": "5 in a row on 15×15, renju", "rows": 15, "cols": 15,
            "num_actions": 225, "num_planes": 5} in listed  # fmt: skip


def test_show_draws_plain_text_when_piped() -> None:
    assert result("show", "connect4", "44") == (
        " . . . . . . .\n . . . . . . .\n . . . . . . .\n . . . . . . .\n"
        " . . .(O). . .\n . . . X . . .\n 1 2 3 4 5 6 7\nX to move, last move 4\n"
    )


def test_moves_may_run_together_or_not() -> None:
    assert result("show", "gomoku15", "h8h9i8") == result("show", "gomoku15", "h8", "h9", "i8")


def test_show_writes_a_picture_and_a_record(tmp_path: Path) -> None:
    svg, sgf = tmp_path / "board.svg", tmp_path / "game.sgf"
    result("show", "renju15", "h8", "h9", "--svg", svg, "--save", sgf)
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")
    shown = json.loads(result("show", sgf, "--json"))
    assert shown["game"] == "renju15" and shown["moves"] == ["h8", "h9"] and shown["to_move"] == 1
    assert shown["nodes"][2] == {"id": 2, "parent": 1, "move": "h9"} and shown["current"] == 2


MISTAKES = [
    (["show", "gomku15"], "unknown game 'gomku15', did you mean gomoku15?"),
    (["show", "zzz"], "unknown game 'zzz': tengen games lists them; a game of your own needs its file, tengen --games FILE …"),
    (["show", "gomoku15", "d19"], "illegal move 'd19' in gomoku15: rows are 1-15"),
    (["show", "gomoku15", "z3"], "illegal move 'z3' in gomoku15: columns are a-o"),
    (["show", "gomoku15", "h8", "h8"], "illegal move 'h8' in gomoku15: there is a stone already"),
    (["show", "gomoku15", "!"], "illegal move '!' in gomoku15: a move is a letter and a number such as 'a15'"),
    (["show", "connect4", "8"], "illegal move '8' in connect4: columns are 1-7"),
    (["show", "connect4", "4444444"], "illegal move '4' in connect4: that column is full"),
    (["show", "tictactoe", "a1 a2 b1 b2 c1 c2"],
     "illegal move 'c2' in tictactoe: the game is over, first player wins"),
    (["show", "othello8", "a1"],
     "illegal move 'a1' in othello8: the rules do not allow it; legal moves are d3 c4 f5 e6"),
    (["show", "mnk:rows=0,cols=9,k=5"], "mnk:rows=0,cols=9,k=5: rows is 1-26, got 0"),
    (["show", "mnk:rows=7,cols=x"], "mnk: cols is a whole number, got 'x'"),
    (["show", "mnk:rows"], "a game takes settings as key=value, got 'rows'"),
    (["show", "othello:size=5"], "othello:size=5: size is 4, 6 or 8, got 5"),
    (["show", "nowhere.sgf"], "no such file: nowhere.sgf"),
    (["--games", "nowhere.py", "games"], "no such game file: nowhere.py"),
    (["bench", "rules", "--peers", "nowhere"], "no peers in nowhere: run `make peers` first, or pass --peers none"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=[" ".join(row[0]) for row in MISTAKES])
def test_a_mistake_is_one_clear_line(arguments: list[str], message: str) -> None:
    done = tengen(*arguments)
    assert done.returncode == 2
    assert done.stderr == f"tengen: {message}\n"
    assert done.stdout == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["show"],
        ["perft", "connect4", "x"],
        ["check", "--seed", "x"],
        ["check", "tictactoe", "--seed", "-1"],
    ],
)
def test_a_wrong_command_line_exits_with_2_and_no_traceback(arguments: list[str]) -> None:
    done = tengen(*arguments)
    assert done.returncode == 2 and "Usage" in done.stderr and "Traceback" not in done.stderr


def test_perft_counts() -> None:
    rows = [json.loads(line) for line in result("perft", "connect4", "5", "--json").splitlines()]
    assert [row["sequences"] for row in rows] == [7, 49, 343, 2401, 16807]
    assert "16,807" in result("perft", "connect4", "5")


def test_check_passes_a_game_from_outside_and_fails_a_broken_one(tmp_path: Path) -> None:
    shown = result("--games", CONNECT6, "check", "connect6", "--positions", "300")
    assert "BROKEN" not in shown and "  ok     it learns from that " in shown
    following = f"-m tengen --games {os.path.relpath(CONNECT6)} train connect6 --minutes 5"
    assert shown.splitlines()[-1].startswith("all checks passed; next: ") and shown.endswith(f"{following}\n")
    broken = tmp_path / "broken.py"
    broken.write_text(
        CONNECT6.read_text().replace("out[0], out[1] = board == me,", "out[0], out[1] = board == 1,")
    )
    done = tengen("--games", broken, "check", "connect6", "--positions", "300", "--json")
    assert done.returncode == 1
    findings = {row["check"]: row["problem"] for row in json.loads(done.stdout)["connect6"]}
    assert "plane 0 should show the stones of the player to move" in findings["planes show the board"]


def test_check_says_line_and_moves_of_what_would_crash_and_goes_no_further(tmp_path: Path) -> None:
    """Compiled, this writes behind the planes: the heap would be corrupted."""
    broken = tmp_path / "broken.py"
    broken.write_text(BREAKTHROUGH.read_text().replace("MINE, THEIRS, FIRST_TO_MOVE)", "MINE, THEIRS)"))
    done = tengen("--games", broken, "check", "breakthrough", "--positions", "300")
    assert done.returncode == 1 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[1] == "  BROKEN uncompiled, every index is inside its array (1)"
    assert re.match(r" +planes, line \d+, `out\[2\] = me == 1 .*`: index 2 is out of bounds", lines[2])
    assert lines[2].endswith("out has 2 planes, one for each of plane_names) (in the first position)")
    assert lines[3:] == ["fix the first BROKEN, then check again: it often causes the others"]


def test_a_game_of_moves_is_played_in_the_terminal(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tengen", "--games", str(BREAKTHROUGH), "play", "breakthrough"]
    done = subprocess.run(
        [*command, "--opponent", "uniform"],
        input="c2 c3\nC1-C9\nquit\n",
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "uniform plays " in done.stdout
    assert "illegal move 'C1-C9' in breakthrough: rows are 1-6" in done.stdout
    again = f"-m tengen --games {BREAKTHROUGH} play breakthrough c2-c3 "
    assert "Go on with: " in done.stdout and again in done.stdout


@pytest.mark.slow
def test_a_game_of_moves_is_trained_by_one_command_and_plays(tmp_path: Path) -> None:
    small = ["network.channels=8", "network.blocks=1", "selfplay.games=8", "selfplay.simulations=4"]
    settings = [part for setting in (*small, "measure.every=0") for part in ("--set", setting)]
    train = ["train", "breakthrough", "--generations", "1", "--workers", "1", *settings]
    result("--games", BREAKTHROUGH, *train, cwd=tmp_path)
    match = ["match", "breakthrough", "zero:runs/breakthrough:sims=4", "uniform", "-n", "2", "--json"]
    assert json.loads(result("--games", BREAKTHROUGH, *match, cwd=tmp_path))


def test_a_game_from_outside_runs_again_from_its_kept_kernels(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(CONNECT6.read_text())
    first, second = (result("--games", file, "show", "connect6", "f6", "e7") for _ in range(2))
    assert first == second
    file.write_text(CONNECT6.read_text().replace("% 2 == 1:  #", "% 2 == 5:  #"))  # the turn never passes
    assert "X to move" in result("--games", file, "show", "connect6", "f6", "e7", "a1", "a2")


def test_a_game_file_with_an_error_in_it_is_named_with_the_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import numpy\nnumpy.no_such_thing\n")
    done = tengen("--games", file, "games")
    assert done.returncode == 2 and done.stderr.startswith(f"tengen: {file} line 2: AttributeError")


def test_a_game_cannot_take_the_name_of_another(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(CONNECT6.read_text().replace('Game("connect6"', 'Game("connect4"'))
    done = tengen("--games", file, "games")
    assert done.returncode == 2
    assert done.stderr == "tengen: there is a game named 'connect4' already: give yours another name\n"


def test_the_demo_trains_and_plays_a_game_to_its_end(tmp_path: Path) -> None:
    shown = result("demo", "--minutes", "0.1", "--pause", "0", cwd=tmp_path)
    assert (
        "from random weights and the rules alone, 0.1 minutes" in shown and "generation 1, 256 games" in shown
    )
    strengths = [line.split() for line in shown.splitlines() if line.startswith("     0.")]
    assert strengths[0][0] == "0.0" and len(strengths) >= 2  # random weights come first
    assert "1. X plays column" in shown and ("player wins." in shown or "draw." in shown)
    assert "tengen train --resume demo --minutes 1\n" in shown
    assert (tmp_path / "runs" / "demo" / "best" / "card.json").is_file()


def test_the_demo_without_the_extra_plays_with_the_network_in_the_box(tmp_path: Path) -> None:
    """As after a plain pip install: PyTorch cannot be imported."""
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as util\nfind = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'torch' else find(name, *rest)\n"
    )
    command = [sys.executable, "-m", "tengen", "demo", "--pause", "0"]
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{kernel_cache.PACKAGE.parent}"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert "To train you need: pip install '.[train]' in the clone" in done.stdout
    assert "X is the network" in done.stdout and "--resume" not in done.stdout


def test_bench_rules_alone_reports_every_game() -> None:
    report = json.loads(
        result("bench", "rules", "--peers", "none", "--seconds", "0.02", "--rounds", "1", "--json")
    )
    assert {row["game"] for row in report["playouts"]} >= {"tictactoe", "connect4", "gomoku15", "renju15"}
    assert all(row["ours"] > 0 and row["ratio"] is None for row in report["playouts"])


def test_a_closed_pipe_is_not_an_error() -> None:
    command = f"{sys.executable} -m tengen perft connect4 6 | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert "Traceback" not in done.stderr and done.stdout.startswith("  1")
