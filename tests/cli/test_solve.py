"""`tengen solve connect4`, run as a user runs it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tengen import kernel_cache
from tests.cli.test_commands import result, tengen

MOVES = "4444432232334"
CELLS = "...X......X.....OO....OXX....OXO....XOX..."


def test_every_column_has_a_score_in_words_and_a_best_line() -> None:
    lines = result("solve", "connect4", MOVES).splitlines()
    assert "  2   +4 * wins with its 18th stone" in lines
    assert "  3   -3   loses to the opponent's 19th stone" in lines
    assert "  4       full" in lines
    assert any(line.startswith("best line  2 2 5") for line in lines)
    assert lines[-1].endswith(" s") and "nodes" in lines[-1]


def test_json_weak_and_cells_agree() -> None:
    found = json.loads(result("solve", "connect4", MOVES, "--json"))
    assert found["columns"] == {"1": -4, "2": 4, "3": -3, "4": None, "5": -4, "6": -4, "7": -4}
    assert found["score"] == 4 and found["to_move"] == 2 and found["line"][0] == "2" and found["nodes"] > 0
    weak = json.loads(result("solve", "connect4", "--cells", CELLS, "--weak", "--json"))
    assert weak["columns"] == {"1": -1, "2": 1, "3": -1, "4": None, "5": -1, "6": -1, "7": -1}


def test_a_book_is_made_and_used(tmp_path: Path) -> None:
    file = tmp_path / "book.npz"
    done = tengen("solve", "connect4", MOVES + "126", "--make-book", file, "--plies", "2")
    assert done.returncode == 0 and "positions searched" in done.stdout and "per second" in done.stderr
    found = json.loads(result("solve", "connect4", MOVES + "126", "--book", file, "--json"))
    plain = json.loads(result("solve", "connect4", MOVES + "126", "--json"))
    assert found["columns"] == plain["columns"] and found["line"] == plain["line"]
    assert found["nodes"] < plain["nodes"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["connect4", "1212121"], "nothing to solve: the game is over, first player wins"),
        (["tictactoe"], "the solver is for connect4, got tictactoe"),
        (["connect4", "8"], "illegal move '8' in connect4: columns are 1-7"),
        (["connect4", "4", "--cells", CELLS], "give the moves or --cells, not both"),
        (["connect4", "--cells", "12"], "connect4: a board is 42 cells of 0, 1 or 2"),
        (["connect4", "--cells", "?"], "--cells: a cell is . or 0, 1 or X, 2 or O, got '?'"),
        (["connect4", MOVES, "--book", "nowhere.npz"], "no such file: nowhere.npz"),
    ],
)
def test_a_mistake_is_one_clear_line(arguments: list[str], message: str) -> None:
    done = tengen("solve", *arguments)
    assert (done.returncode, done.stderr, done.stdout) == (2, f"tengen: {message}\n", "")


def test_ctrl_c_tells_what_is_known_so_far() -> None:
    """On the empty board, which takes minutes: nothing is solved after a second, but bounds are known."""
    result("solve", "connect4", MOVES)  # compiled, from here on
    process = subprocess.Popen(
        [sys.executable, "-m", "tengen", "solve", "connect4", "--json"],
        env=os.environ | {"PYTHONPATH": str(kernel_cache.PACKAGE.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # ignored if we run in the background
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("few stones: this can take minutes")
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    stdout, stderr = process.communicate(timeout=60)
    assert time.monotonic() - sent < 3
    assert process.returncode == 130 and "stopped; the result so far" in stderr
    found = json.loads(stdout)
    assert found["score"] is None and found["line"] == [] and found["nodes"] > 0
    lowest, highest = found["bounds"]["4"]
    assert -21 < lowest <= 1 <= highest < 21
