"""The demo keeps its promises while other programs take the cores."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tengen.bench.learner import busy

SECONDS_TO_FIRST_STRENGTH, SECONDS_OF_TRAINING = 60, 210


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_demo_shows_its_strength_and_ends_on_time_beside_two_busy_programs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tengen", "demo", "--plain", "--pause", "0"]
    seen: list[tuple[float, str]] = []  # each line, and when it came
    with (
        busy(2),
        subprocess.Popen(
            command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as demo,
    ):
        assert demo.stdout is not None
        for line in demo.stdout:
            seen.append((time.monotonic(), line))
    assert demo.returncode == 0, "".join(line for _, line in seen)
    began = next(when for when, line in seen if "Ctrl-C stops" in line)
    strengths = [(when - began, line) for when, line in seen if "sims=64: perfect" in line]
    ended = next(when - began for when, line in seen if "finished," in line)
    assert strengths[0][0] <= SECONDS_TO_FIRST_STRENGTH and len(strengths) >= 3
    assert ended <= SECONDS_OF_TRAINING
    first, last = (
        float(line.split("alone: perfect ")[1].split(" %")[0]) for _, line in (strengths[0], strengths[-1])
    )
    assert last > first
