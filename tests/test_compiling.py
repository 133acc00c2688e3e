"""While Numba compiles there is a sign of life: one line, from whichever process compiles."""

import os
import subprocess
import sys
from pathlib import Path

from tengen import compiling, kernel_cache

GAME = (Path(__file__).parents[1] / "examples" / "connect6.py").read_text()


def run(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """With rules that no cache knows."""
    file = tmp_path / "mine.py"
    file.write_text(GAME.replace("connect6", "mine"))
    environment = os.environ | {"PYTHONPATH": str(kernel_cache.PACKAGE.parent)}
    command = [sys.executable, "-m", "tengen", "--games", str(file), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)


def test_compiling_is_announced_once_and_not_again_when_nothing_is_compiled(tmp_path: Path) -> None:
    first = run(tmp_path, "show", "mine", "f6", "--json")
    assert first.returncode == 0 and first.stdout.startswith("{")
    assert first.stderr == f"tengen: {compiling.TEXT}\n"
    assert run(tmp_path, "show", "mine", "f6", "--json").stderr == ""


def test_workers_announce_it_once_through_their_parent(tmp_path: Path) -> None:
    done = run(tmp_path, "match", "mine", "uniform", "uct:sims=10", "-n", "6", "--workers", "3")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(compiling.TEXT) == 1
