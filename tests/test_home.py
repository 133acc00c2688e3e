"""Nothing is written into the user's home, and nothing is sent, when a network plays."""

import os
import subprocess
import sys
from pathlib import Path

from tengen import kernel_cache

SUPPRESSING = ("ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS", "CI", "GITHUB_ACTIONS", "TF_BUILD")


def test_a_network_that_plays_writes_nothing_below_home(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    environment = {key: value for key, value in os.environ.items() if key not in SUPPRESSING}
    environment |= {
        "HOME": str(home),
        "XDG_CACHE_HOME": "",
        "PYTHONPATH": str(kernel_cache.PACKAGE.parent),
        "TENGEN_CACHE_DIR": str(kernel_cache.parent_folder()),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tengen", "match", "connect4", "zero:sims=2", "uniform", "-n", "4", "--workers", "2"],
        env=environment, cwd=work, capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert list(home.rglob("*")) == [] and list(work.rglob("*")) == []
