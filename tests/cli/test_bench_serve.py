"""`tengen bench serve`: a small crowd at a real server."""

import json
import subprocess
import sys


def bench_serve(*options: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: beside a browser's tests this one has an event loop that runs."""
    command = [sys.executable, "-m", "tengen", "bench", "serve", *options]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_crowd_plays_and_nobody_meets_an_error() -> None:
    options = ["--game", "tictactoe", "--level", "2", "--people", "3", "--idle", "4", "--seconds", "1"]
    done = bench_serve(*options, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["people"], found["idle"], found["errors"]) == (3, 4, 0)
    assert found["replies"] > found["games"] > 0
    assert 0 < found["median"] <= found["p95"] <= found["longest"] < 60
    shown = bench_serve(*options).stdout
    assert "3 people play tictactoe at level 2" in shown and "errors 0" in shown


def test_an_unknown_game_is_refused() -> None:
    done = bench_serve("--game", "gomku9")
    assert done.returncode == 2 and "did you mean" in done.stderr
