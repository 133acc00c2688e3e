"""One process at a time works on a run."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tengen.errors import UserError
from tengen.training.lock import locked
from tests.cli.test_commands import tengen
from tests.training.made import made_run

HOLD = (
    "import sys, time, pathlib\nfrom tengen.training.lock import locked\n"
    "with locked(pathlib.Path(sys.argv[1])):\n    print('locked', flush=True)\n    time.sleep(600)\n"
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return made_run(tmp_path / "runs" / "one", 2, "length.generations=9").folder


@pytest.fixture
def holder(run: Path) -> Iterator[int]:
    """Another process that has the run."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(run)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "locked\n"
    yield process.pid
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "--resume", "one"),
        ("train", "--resume", "one", "--set", "measure.every=3"),
        ("runs", "rm", "one", "--yes"),
    ],
)
def test_a_second_process_is_told_who_has_the_run(run: Path, holder: int, arguments: tuple[str, ...]) -> None:
    before = (run / "config.toml").read_bytes()
    done = tengen(*arguments, cwd=run.parent.parent)
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last == f"tengen: runs/one is being trained by process {holder}: wait for it, or stop it first"
    assert (run / "config.toml").read_bytes() == before and (run / "metrics.jsonl").is_file()


def test_reading_needs_no_lock(run: Path, holder: int) -> None:
    assert tengen("runs", cwd=run.parent.parent).returncode == 0


def test_a_process_that_is_killed_leaves_no_lock(run: Path, holder: int) -> None:
    with pytest.raises(UserError, match=f"process {holder}:"), locked(run):
        pass
    os.kill(holder, signal.SIGKILL)
    os.waitpid(holder, 0)
    with locked(run):
        assert (run / ".lock").read_text() == f"{os.getpid()}\n"
    with locked(run):  # and again, without removing anything
        pass


def test_a_lock_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / ".lock").symlink_to("/dev/null")
    with pytest.raises(UserError, match=r"cannot write .*\.lock: Invalid argument"), locked(tmp_path):
        pass
