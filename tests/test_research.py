"""The researcher's script of the README, examples/research.py: short in `make test`, whole in `make test-slow`."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
SCRIPT = REPOSITORY / "examples" / "research.py"
SHORT = """generations=1, settings={"selfplay.games": 8, "selfplay.simulations": 4, "network.channels": 8,
    "network.blocks": 2, "measure.every": 1, "measure.games": 2, "selfplay.precision": "fp32"}"""


def run(script: str, folder: Path) -> str:
    """Runs a script as a user does, without a guard around its main part; what it prints."""
    (folder / "examples").symlink_to(REPOSITORY / "examples")
    (folder / "script.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "<svg" in (folder / "curve.svg").read_text()
    return done.stdout


def test_it_is_in_the_readme_and_short() -> None:
    code = SCRIPT.read_text().split('"""\n\n', 1)[1]
    assert code in (REPOSITORY / "README.md").read_text()
    assert len(code.strip().splitlines()) <= 15


def test_it_runs_with_one_short_generation(tmp_path: Path) -> None:
    script = SCRIPT.read_text()
    changes = {"minutes=2": SHORT, "num_games=20": "num_games=2", '"examples/breakthrough.py"': '"tictactoe"'}
    for long, short in changes.items():
        assert script.count(long) == 1
        script = script.replace(long, short)
    said = run(script, tmp_path)
    assert said.startswith("1 policy loss") and "zero:runs/research:sims=64 against uct:sims=200" in said


@pytest.mark.slow
def test_it_runs_whole_and_has_learned_something(tmp_path: Path) -> None:
    said = run(SCRIPT.read_text(), tmp_path)
    score = re.search(r"score +([0-9.]+) %", said)
    assert score is not None and float(score[1]) >= 50
