"""`tengen export`: what is given away plays without the run, and other runs can begin with it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_commands import result, tengen

SMALL = [
    "selfplay.games=16", "network.channels=8", "network.blocks=2", "learner.batch_size=32", "learner.parts=1",
    "measure.every=0",
]  # fmt: skip


def train(folder: Path, *arguments: str) -> None:
    settings = [part for setting in SMALL for part in ("--set", setting)]
    result("train", *arguments, "--generations", "1", "--workers", "1", *settings, cwd=folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("export")
    train(made, "mnk:rows=4,cols=4,k=3", "-n", "small")
    shown = result(
        "export", "small", "gift", "--games", "4", "--opponents", "uniform", "--sims", "8", cwd=made
    )
    assert shown.startswith("gift: mnk:rows=4,cols=4,k=3") and "uniform: score" in shown
    return made


def test_a_gift_plays_and_says_how_strong_it_is(folder: Path) -> None:
    card = json.loads((folder / "gift" / "card.json").read_text())
    match = card["strength"]["uniform"]
    assert match["wins"] + match["draws"] + match["losses"] == 4
    assert card["training"]["config"]["selfplay"]["games"] == 16
    played = json.loads(
        result("match", card["game"], "zero:gift:sims=8", "uniform", "-n", "2", "--json", cwd=folder)
    )
    assert sum(played["total"].values()) == 2


def test_other_runs_begin_with_its_weights_on_another_board(folder: Path) -> None:
    train(folder, "mnk:rows=5,cols=5,k=4", "-n", "larger", "--set", "network.start=gift")
    first = json.loads(
        (folder / "runs" / "larger" / "config.toml").read_text().splitlines()[0].split(" = ")[1]
    )
    assert first == "mnk:rows=5,cols=5,k=4"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("export", "nothing", "there"), "no run in"),
        (("export", "small", "gift"), "gift exists already: give a new folder"),
        (
            ("train", "connect4", "--generations", "1", "--set", "network.start=gift"),
            "these weights do not fit the network of this run",
        ),
    ],
)
def test_mistakes_are_one_line(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    done = tengen(*arguments, cwd=folder)
    assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr


def test_without_pytorch_it_says_what_it_needs(folder: Path) -> None:
    code = (
        "import sys, importlib.util\nfind = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *more: None if name == 'torch' else find(name, *more)\n"
        "sys.modules['torch'] = None\nsys.argv = ['tengen', 'export', 'small', 'other']\n"
        "from tengen.cli import main\nmain()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith(
        "tengen: tengen export needs the train extra: pip install "
    )
    assert done.stderr.count("\n") == 1


def test_a_person_is_no_opponent_and_nothing_is_written(folder: Path) -> None:
    done = tengen("export", "small", "third", "--opponents", "human", cwd=folder)
    assert done.returncode == 2 and "human cannot be used here" in done.stderr
    assert not (folder / "third").exists()
