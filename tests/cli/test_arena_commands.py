"""`tengen match`, `tournament` and `sprt`, run as a user runs them: with workers, Ctrl-C and accidents."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import Here
from tests.workers.test_local import CONNECT6, wait_until_gone

TENGEN = [sys.executable, "-m", "tengen"]


def result(*arguments: str | Path) -> str:
    done = subprocess.run([*TENGEN, *map(str, arguments)], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return done.stdout


def begin(*arguments: str | Path) -> subprocess.Popen[str]:
    """A command in a group of its own, like one in a terminal."""
    return subprocess.Popen(
        [*TENGEN, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # ignored if we run in the background
    )


def wait_for(is_there: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    while not is_there():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


def wait_for_games(folder: Path, games: int, process: subprocess.Popen[str]) -> None:
    log = folder / "games.jsonl"
    wait_for(lambda: log.exists() and log.read_bytes().count(b"\n") >= games, process)


def last_line(errors: str) -> str:
    """What follows the lines of progress, which a slow machine has time for."""
    assert "Traceback" not in errors
    return errors.splitlines()[-1]


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def workers(pid: int) -> list[int]:
    """Those of the children that play."""
    return [child for child in children(pid) if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def test_a_match_as_text(here: Here) -> None:
    shown = here.result("match", "tictactoe", "uniform", "uniform", "-n", "8", "--workers", "1")
    assert shown.startswith("uniform against uniform at tictactoe: ")
    for word in ("as first", "as second", "score", "Elo", "per move", "memory"):
        assert f"\n  {word}" in shown


def test_a_match_as_json_with_openings_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "openings.txt"
    file.write_text("44\n45\n")
    found = json.loads(
        result(
            "match",
            "connect4",
            "uniform",
            "uniform",
            "-n",
            "4",
            "--openings",
            file,
            "--out",
            tmp_path / "m",
            "--json",
        )
    )
    assert found["total"]["wins"] + found["total"]["draws"] + found["total"]["losses"] == 4
    lines = [json.loads(line) for line in (tmp_path / "m" / "games.jsonl").read_text().splitlines()]
    assert sorted(line["moves"][:2] for line in lines) == [["4", "4"]] * 2 + [["4", "5"]] * 2


def test_a_tournament_writes_its_table_csv_and_picture_and_goes_on(here: Here, tmp_path: Path) -> None:
    csv, svg, out = tmp_path / "t.csv", tmp_path / "t.svg", tmp_path / "t"
    command: list[str | Path] = [
        "tournament",
        "tictactoe",
        "uniform",
        "uct:sims=30",
        "--out",
        out,
        "--seed",
        "7",
    ]
    shown = here.result(*command, "-r", "2", "--csv", csv, "--svg", svg, "--workers", "1")
    assert shown.startswith("tictactoe, 4 games") and "points against" in shown
    assert csv.read_text().startswith("player,games,wins")
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")
    longer = json.loads(here.result(*command, "-r", "3", "--json", "--workers", "1"))
    assert longer["games"] == 6 and (out / "games.jsonl").read_text().count("\n") == 6
    code, _, errors = here(*command[:-1], "8")
    assert code == 2 and errors.count("\n") == 1 and "was started with seed 7, not 8" in errors


def test_levels_are_measured_saved_and_continued(here: Here, tmp_path: Path) -> None:
    out, file = tmp_path / "games", tmp_path / "levels.json"
    command: list[str | Path] = ["levels", "tictactoe", "--out", out, "--workers", "1"]
    shown = here.result(*command, "-n", "2", "--save", file)
    assert shown.startswith("tictactoe, from openings") and "score against the level below" in shown
    saved = json.loads(file.read_text())
    assert saved["game"] == "tictactoe" and saved["games_per_pair"] == 2 and len(saved["levels"]) == 10
    assert saved["levels"][0]["elo"] == 0
    found = json.loads(here.result(*command, "-n", "4", "--json"))
    assert [
        match["total"]["wins"] + match["total"]["draws"] + match["total"]["losses"]
        for match in found["matches"]
    ] == [4] * 9
    assert (out / "games.jsonl").read_text().count("\n") == 36
    assert "Elo not measured" in here.result("levels", "hex7", "-n", "0")
    assert here("levels", "tictactoe", "-n", "3")[0] == 2


def test_sprt_finds_the_stronger_and_stops(here: Here) -> None:
    found = json.loads(
        here.result(
            "sprt", "connect4", "uct:sims=100", "uniform", "--elo1", "200", "--json", "--workers", "1"
        )
    )
    assert found["verdict"] == "stronger" and found["match"]["total"]["losses"] < 10
    assert found["llr"] > found["bounds"][1]


def test_a_game_from_a_file_is_played_in_workers() -> None:
    found = json.loads(
        result(
            "--games",
            CONNECT6,
            "match",
            "connect6",
            "uniform",
            "uniform",
            "-n",
            "4",
            "--workers",
            "2",
            "--json",
        )
    )
    assert found["game"] == "connect6" and sum(found["pairs"]) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["match", "conect4", "uniform", "uniform"], "unknown game 'conect4', did you mean connect4?"),
        (["match", "connect4", "uniform", "utc"], "unknown player 'utc', did you mean uct?"),
        (["match", "connect4", "uniform", "uct", "-n", "5"], "each opening is played with both colours: games must be 2, 4, 6, …, got 5"),
        (["match", "connect4", "uniform", "uct", "--openings", "nowhere"], "no such file: nowhere"),
        (["tournament", "connect4", "uniform"], "a tournament needs at least two players, got 1"),
        (["sprt", "connect4", "uniform", "uct", "--elo1", "0"], "sprt: elo0 is below elo1, got 0 and 0"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_clear_line(here: Here, arguments: list[str], message: str) -> None:
    assert here(*arguments) == (2, "", f"tengen: {message}\n")


@pytest.mark.parametrize("count", ["1", "2"])
def test_ctrl_c_tells_the_result_so_far_keeps_it_and_leaves_no_process(count: str, tmp_path: Path) -> None:
    command: list[str | Path] = ["match", "gomoku20", "uniform", "uniform", "-n", "100000", "--out", tmp_path]
    process = begin(*command, "--workers", count)
    wait_for_games(tmp_path, 2, process)
    pids = [process.pid, *children(process.pid)]
    assert len(workers(process.pid)) == (0 if count == "1" else 2)
    os.killpg(process.pid, signal.SIGINT)  # all of the group, as a terminal does
    shown, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and last_line(errors) == "tengen: stopped; the result so far:", errors
    assert shown.startswith("uniform against uniform at gomoku20: ")
    kept = (tmp_path / "games.jsonl").read_text()
    assert kept.count("\n") >= 2 and all(json.loads(line) for line in kept.splitlines())
    assert wait_until_gone(pids)


def test_ctrl_c_before_the_first_game_is_as_clean() -> None:
    process = begin("match", "gomoku20", "uniform", "uniform", "-n", "100000", "--workers", "2")
    while len(workers(process.pid)) < 2:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    pids = [process.pid, *children(process.pid)]
    os.killpg(process.pid, signal.SIGINT)
    errors = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and last_line(errors) == "tengen: stopped; the result so far:", errors
    assert wait_until_gone(pids)


def test_a_worker_that_is_killed_is_told_and_what_was_played_is_kept(tmp_path: Path) -> None:
    command: list[str | Path] = ["match", "gomoku20", "uniform", "uniform", "-n", "100000", "--out", tmp_path]
    process = begin(*command, "--workers", "2")
    wait_for_games(tmp_path, 1, process)
    pids = [process.pid, *children(process.pid)]
    os.kill(workers(process.pid)[0], signal.SIGKILL)
    shown, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert last_line(errors).startswith("tengen: the process that worked on game ")
    assert "was killed (SIGKILL" in last_line(errors)
    assert shown.startswith("uniform against") and wait_until_gone(pids)


@pytest.mark.parametrize(
    ("command", "names"),
    [
        (("match", "tictactoe", "uniform", "uniform", "-n", "4"), ["Elo", "Games", "Penta", "Conds"]),
        (("sprt", "tictactoe", "uniform", "uniform", "--max-games", "4"), ["Elo", "LLR", "Games", "Penta", "Conds"]),
    ],
)  # fmt: skip
def test_a_result_ends_with_a_block_to_paste(here: Here, command: tuple[str, ...], names: list[str]) -> None:
    shown = here.result(*command, "--workers", "1")
    text, block, after = shown.split("```\n")
    assert text.endswith("\n\n") and not after
    assert [line.split("|")[0].strip() for line in block.splitlines()] == names
