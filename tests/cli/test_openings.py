"""`tengen openings make`, and what matches say about their openings."""

import os
import signal
from pathlib import Path

import pytest

from tengen.arena import book
from tests.cli.conftest import Here
from tests.cli.test_arena_commands import begin, last_line, wait_for


def test_a_judge_without_values_is_one_clear_line(here: Here, tmp_path: Path) -> None:
    command = ["openings", "make", "othello6", "--player", "uniform", "--out", str(tmp_path / "o.txt")]
    message = "uniform gives positions no value: choose one that searches, zero or uct"
    assert here(*command) == (2, "", f"tengen: {message}\n")


def test_openings_are_made_and_used(here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "SEARCHED", 5)
    file = tmp_path / "book.txt"
    command = ["openings", "make", "othello6", "--player", "uct:sims=200", "--out", str(file)]
    shown = here.result(*command, "-n", "4")
    assert shown.startswith(f"4 openings of othello6 in {file}: ") and shown.endswith(" moves\n")
    text = file.read_text()
    assert "# made by: tengen openings make othello6 -n 4 --player uct:sims=200\n" in text
    here.result(*command, "-n", "8")
    assert [line for line in text.splitlines() if line[0] != "#"] == [
        line for line in file.read_text().splitlines() if line[0] != "#"
    ][:4]
    shown = here.result(
        "match", "othello6", "uniform", "uniform", "-n", "4", "--openings", file, "--workers", "1"
    )
    assert "  started     from openings of book.txt, each with both colours\n" in shown
    for other, message in (
        (["--seed", "1"], "seed 0, not 1"),
        (["--player", "uct:sims=9"], "judge uct:sims=200, not uct:sims=9"),
    ):
        code, _, errors = here(*command, "-n", "9", *other)
        assert (
            code == 2
            and errors == f"tengen: cannot continue {file}: it was made with {message}: choose another file\n"
        )
    file.write_text("a1 b2\n")
    code, _, errors = here(*command)
    assert code == 2 and "is not an opening of a book" in errors


def test_a_book_that_is_interrupted_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "book.txt"
    process = begin("openings", "make", "othello6", "-n", "5000", "--player", "uct:sims=100", "--out", file)
    wait_for(lambda: file.exists(), process)
    os.killpg(process.pid, signal.SIGINT)
    shown, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and last_line(errors) == "tengen: stopped; the same command continues"
    count = sum(not line.startswith("#") for line in file.read_text().splitlines())
    assert shown.startswith(f"{count} openings of othello6 in {file}: ")


def test_a_match_names_its_book(here: Here) -> None:
    shown = here.result("match", "gomoku15", "uniform", "uniform", "-n", "2", "--workers", "1")
    assert "  started     from openings of the book of gomoku15, each with both colours\n" in shown
    shown = here.result(
        "match", "gomoku15", "uniform", "uniform", "-n", "2", "--workers", "1", "--opening-plies", "3"
    )
    assert "  started     from openings of 3 random moves, each with both colours\n" in shown
    shown = here.result(
        "match", "gomoku15", "uniform", "greedy", "-n", "2", "--workers", "1", "--opening-rule", "swap2"
    )
    assert "  started     from swap2, each player proposes in one game of a pair\n" in shown
