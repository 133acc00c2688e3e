"""`tengen export`: what is given away plays without the run, and other runs can begin with it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import yaml  # type: ignore[import-untyped]

from tengen.evaluators.card import hash_of
from tengen.evaluators.zoo import ZOO
from tengen.nets.checkpoint import load_net
from tests.cli.conftest import Here
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


# The layout of Hugging Face


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shared") / "my-connect4"
    shown = result("export", "zoo/connect4", folder, "--license", "cc-by-4.0")
    assert shown.startswith(f"{folder}: connect4, generation ") and "alone: perfect " in shown
    return folder


def test_a_folder_has_the_files_that_hugging_face_expects(shared: Path, folder: Path) -> None:
    names = {"README.md", "config.json", "card.json", "model.safetensors", "model.onnx", "model_int8.onnx"}
    assert {file.name for file in shared.iterdir()} == names
    assert {"README.md", "config.json", "card.json", "model.safetensors", "model.onnx"} <= {
        file.name for file in (folder / "gift").iterdir()
    }
    config = json.loads((shared / "config.json").read_text())
    assert config["model_type"] == "tengen" and config["network"]["name"] == "anysize"
    assert config["input"] == {
        "name": "planes",
        "shape": ["batch", 3, "height", "width"],
        "planes": ["mine", "theirs", "first to move"],
    }
    for name, digest in config["sha256"].items():
        assert hash_of((shared / name).read_bytes()) == digest


def test_the_model_card_has_a_header_with_the_metrics(shared: Path) -> None:
    _, header, text = (shared / "README.md").read_text().split("---\n", 2)
    fields, card = yaml.safe_load(header), json.loads((shared / "card.json").read_text())
    assert fields["license"] == "cc-by-4.0" and fields["library_name"] == "tengen"
    assert {"tengen", "connect4", "onnx"} <= set(fields["tags"])
    (entry,) = fields["model-index"]
    (found,) = entry["results"]
    assert entry["name"] == "my-connect4" and found["task"]["type"] == "reinforcement-learning"
    metrics = {metric["name"]: metric["value"] for metric in found["metrics"]}
    assert metrics["perfect moves, the network alone"] == card["strength"]["alone"]["perfect"]["rate"]
    assert metrics["score against uct:sims=200"] == card["strength"]["uct:sims=200"]["score"]
    assert "| against `uct:sims=200` | 100.0 % (40 wins, 0 draws, 0 losses) |" in text


def test_a_run_that_was_not_measured_has_no_metrics(folder: Path) -> None:
    result("export", "small", "bare", "--games", "0", "--no-weights", cwd=folder)
    _, header, text = (folder / "bare" / "README.md").read_text().split("---\n", 2)
    assert "model-index" not in yaml.safe_load(header) and "Strength" not in text
    assert not (folder / "bare" / "model.safetensors").exists()


def test_its_weights_are_those_of_the_network_by_their_own_names(shared: Path) -> None:
    tensors = safetensors.numpy.load_file(shared / "model.safetensors")
    there, here = load_net(ZOO / "connect4").state_dict(), load_net(shared).state_dict()
    assert set(tensors) == set(there) == set(here)
    for name, array in tensors.items():
        np.testing.assert_array_equal(array, there[name])
        np.testing.assert_array_equal(array, here[name])


def test_zero_plays_the_folder_and_checks_its_hashes(shared: Path, here: Here, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(shared, copy)
    command = ["analyse", "connect4", "44", "--sims", "20", "--json"]
    asked = [
        json.loads(here.result(*command, "--player", f"zero:{path}"))["moves"]
        for path in (copy, "zoo/connect4")
    ]
    assert asked[0] == asked[1]
    for name in ("model.onnx", "model_int8.onnx"):
        (copy / name).write_bytes((copy / name).read_bytes()[:-1] + b"x")
    code, _, errors = here(*command, "--player", f"zero:{copy}")
    assert code == 2 and "is damaged: it is not the file that card.json describes" in errors
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "model.safetensors").write_bytes(weights)
    code, _, errors = here("kaggle", "pack", "--net", copy, "--out", tmp_path / "x.py")
    assert code == 2 and "damaged" in errors and not (tmp_path / "x.py").exists()
