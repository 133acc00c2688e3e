"""A run that is killed ten times and meets a full disk ends as one that nobody touched. Minutes: make test-slow."""

import os
import random
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from tests.training.test_coach import assert_equal, command

GENERATIONS, KILLS = "14", 10
MORE = ["--set", "selfplay.games=240", "--set", "selfplay.reanalyse=0.5", "--set", "learner.passes=6", "--set", "measure.every=4",
        "--set", "gate.kind=rising", "--set", "gate.games=6", "--set", "gate.rollouts=20", "--set", "measure.games=4"]  # fmt: skip


@pytest.fixture(scope="module", params=["0", "1"])
def overlap(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory, overlap: str) -> Path:
    folder = tmp_path_factory.mktemp("untouched")
    first = command("tictactoe", "--generations", GENERATIONS, "--workers", "1", "--overlap", overlap)
    done = subprocess.run([*first, *MORE], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "runs" / "tictactoe"


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL and limits of a process are Unix's")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_ten_kills_and_a_full_disk_change_nothing(
    untouched: Path, tmp_path: Path, workers: str, overlap: str
) -> None:
    import resource

    run, chance = tmp_path / "runs" / "tictactoe", random.Random(int(workers))
    length = ("--generations", GENERATIONS, "--overlap", overlap)
    first = [*command("tictactoe", *length, "--workers", workers), *MORE]
    again = command("--resume", "tictactoe", "--workers", workers)
    kills = 0
    while kills < KILLS:
        process = subprocess.Popen(
            again if (run / "config.toml").exists() else first,
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        # Until it writes, and then a random moment: somewhere in playing, learning, exporting or measuring.
        seen = newest(run)
        while process.poll() is None and newest(run) == seen:
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 1.0))
        assert process.poll() is None, "it ended before it was killed often enough: more generations, please"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
        if kills == KILLS // 2:  # a full disk: nothing can be written but small files
            full = subprocess.run(
                again,
                cwd=tmp_path,
                capture_output=True,
                text=True,
                preexec_fn=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (5_000, 5_000)),
            )
            assert full.returncode == 2 and "cannot write" in full.stderr and "Traceback" not in full.stderr
    done = subprocess.run(again, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert_equal(run, untouched)


def newest(run: Path) -> float:
    """When a shard or a checkpoint was last written."""
    found = 0.0
    for file in [*run.glob("replay/*/*"), *run.glob("checkpoints/*/*")]:
        try:
            found = max(found, file.stat().st_mtime)
        except FileNotFoundError:  # renamed meanwhile
            continue
    return found
