"""What `tengen analyse` says: as a table, as JSON, with results labelled exact or not."""

import json
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.test_commands import result, tengen


def analysed(*arguments: str) -> dict[str, object]:
    return json.loads(result("analyse", *arguments, "--json"))  # type: ignore[no-any-return]


@pytest.mark.parametrize("search", ["puct", "gumbel", "uct"])
def test_every_search_finds_the_win_and_proves_it(search: str) -> None:
    answer = analysed("connect4", "445566", "--search", search, "--sims", "500")
    assert answer["best"] in ("3", "7")
    best = answer["moves"][0]  # type: ignore[index]
    assert (best["move"], best["proven"], best["distance"], best["is_exact"]) == (
        answer["best"],
        "win",
        1,
        True,
    )
    assert best["line"] == [answer["best"]]


def test_the_answer_is_complete() -> None:
    answer = analysed("connect4", "44", "--sims", "300", "--evaluator", "uniform")
    assert answer["game"] == "connect4" and answer["played"] == ["4", "4"] and answer["to_move"] == 1
    moves = answer["moves"]
    assert sum(move["visits"] for move in moves) == answer["simulations"] == 300  # type: ignore[attr-defined]
    assert {move["move"] for move in moves} == set("1234567")  # type: ignore[attr-defined]
    assert all(0 < move["prior"] <= 1 and -1 <= move["value"] <= 1 for move in moves)  # type: ignore[attr-defined]
    assert all(move["line"][0] == move["move"] for move in moves)  # type: ignore[attr-defined]


def test_the_table_is_for_people() -> None:
    shown = result("analyse", "tictactoe", "a1 a2 b1", "--sims", "400", "--top", "3", "--tree", "1")
    assert "O to move, last move b1" in shown
    assert "move     visits   prior   value  proven       line" in shown
    assert "… and 3 more" in shown and "\nroot " in shown


def test_a_bound_is_shown_as_a_bound() -> None:
    """A loss that was proven by one line is labelled: the loser might hold out, or fall, sooner."""
    shown = result("analyse", "tictactoe", "a1 a2 b1 c1 b2", "--sims", "2000")
    assert " in " in shown and "loss in" in shown


MISTAKES = [
    (["connect4", "1212121"], "nothing to analyse: the game is over, first player wins"),
    (["connect4", "--search", "gumbel", "--seconds", "1"],
     "gumbel plans all its simulations ahead: give it --sims, or use --search puct"),
    (["connect4", "--search", "uct", "--tree", "2"],
     "--evaluator and --tree are for --search puct and gumbel: uct has its own rollouts"),
    (["connect4", "--player", "uct", "--search", "puct"],
     "--search and --evaluator are for a bare search: leave them out with --player"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=[" ".join(row[0]) for row in MISTAKES])
def test_a_mistake_is_one_clear_line(arguments: list[str], message: str) -> None:
    done = tengen("analyse", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"tengen: {message}\n")


def test_a_live_search_reports_until_it_is_stopped() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tengen", "analyse", "gomoku9", "e5", "--live", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored if we run in the background
    )  # fmt: skip
    assert process.stdout
    first, second = json.loads(process.stdout.readline()), json.loads(process.stdout.readline())
    assert second["simulations"] > first["simulations"] > 0
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=60)
    assert process.returncode == 0 and "stopped" in errors and "Traceback" not in errors
    assert json.loads(rest.splitlines()[-1])["simulations"] >= second["simulations"]
