"""`tengen reference …`, run as a user runs it."""

import json
from pathlib import Path

import numpy as np
import pytest

from tengen import games, nets
from tengen.evaluators.card import Card, hash_of
from tengen.nets.export import to_onnx
from tests.cli.test_commands import result, tengen
from tests.training.made import made_run


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("reference") / "set.jsonl"
    shown = result("reference", "make", file, "-n", "12", "--plies", "26-30", "--seed", "3")
    assert shown == f"12 positions of 26-30 plies written to {file}\n"
    return file


def test_a_perfect_player_is_perfect(made: Path) -> None:
    found = json.loads(result("reference", "run", made, "--player", "perfect", "--json"))
    for rate in (found["perfect"], found["good"]):
        assert rate["rate"] == rate["high"] == 1.0 and rate["n"] == 12 and 0.7 < rate["low"] < 1
    assert found["good_discriminating"]["n"] <= 12 and found["mistakes"] == []


def test_a_player_who_knows_nothing_errs_and_the_mistakes_are_shown(made: Path) -> None:
    found = json.loads(result("reference", "run", made, "--player", "uniform", "--json"))
    assert found["good"]["rate"] < 1 and len(found["mistakes"]) > 0
    shown = result("reference", "run", made, "--player", "uniform", "--mistakes", "1")
    assert "good, discriminating" in shown and "scores " in shown and "; played " in shown


def test_every_score_is_checked(made: Path, tmp_path: Path) -> None:
    assert result("reference", "check", made).startswith("84 of 84 scores agree with the solver")
    rows = [json.loads(line) for line in made.read_text().splitlines()]
    column = next(i for i, score in enumerate(rows[0]["move score"]) if score != -99)
    rows[0]["move score"][column] += 1
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = tengen("reference", "check", wrong)
    assert done.returncode == 1 and f"position 1, column {column + 1}: " in done.stdout
    assert "83 of 84 scores agree" in done.stdout


def test_our_own_set_is_there_and_varied() -> None:
    found = json.loads(result("reference", "run", "--player", "uniform", "--json"))
    assert found["perfect"]["n"] == 1000 and found["good_discriminating"]["n"] > 400
    assert len(found["by_ply"]) > 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "nowhere.jsonl"), "tengen: no such file: nowhere.jsonl\n"),
        (("run", "--player", "uctt"), "tengen: unknown player 'uctt', did you mean uct?\n"),
        (("make", "x", "--plies", "9"), "tengen: --plies is from-to, such as 8-18, below 42; got '9'\n"),
    ],
)
def test_mistakes_are_one_line(arguments: tuple[str, ...], message: str) -> None:
    done = tengen("reference", *arguments)
    assert (done.returncode, done.stderr) == (2, message)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four generations of a minute each, whose networks have random weights."""
    folder = tmp_path_factory.mktemp("curve")
    trained = made_run(folder / "runs" / "four", 4)
    game = games.find("connect4")
    for generation in range(1, 5):
        net = nets.make("anysize", game, {"channels": 8, "blocks": 2}, seed=generation).eval()
        data = to_onnx(net, np.zeros((2, *game.planes_shape), np.float32))
        card = Card("connect4", {}, net.planes, generation, 0.97, "fp32", hashes={"fp32": hash_of(data)})
        (trained.checkpoint(generation) / "net.onnx").write_bytes(data)
        (trained.checkpoint(generation) / "card.json").write_text(card.to_text())
    return folder


def test_a_curve_is_of_the_networks_that_were_there_then(made: Path, run: Path, tmp_path: Path) -> None:
    svg, arguments = tmp_path / "curve.svg", ("four", made, "--sims", "20", "--minutes", "1,3,9")
    found = json.loads(
        result(
            "reference", "curve", *arguments, "--json", "--svg", svg, "--beside", "they=75.4/95.1", cwd=run
        )
    )
    assert [(row["minutes"], row["generation"]) for row in found["curve"]] == [(1, 1), (3, 3), (4, 4)]
    for row in found["curve"]:
        player = f"zero:{run}/runs/four/checkpoints/{row['generation']:04}:sims=20"
        alone = json.loads(result("reference", "run", made, "--player", player, "--json"))
        assert (row["perfect"], row["good"]) == (alone["perfect"], alone["good"])
    assert "they, perfect 75.4 %" in svg.read_text() and "minutes of training" in svg.read_text()
    assert "    4.0           4   " in result("reference", "curve", *arguments, cwd=run)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none",), "no run in runs/none"),
        (
            ("four", "--minutes", "ten"),
            "--minutes is numbers separated by commas, such as 10,30,60; got 'ten'",
        ),
        (("four", "--minutes", "0.1"), "the run has no generation that was complete within 0.1 minutes"),
        (("four", "--beside", "x"), "--beside is name=perfect/good, such as published=75.4/95.1; got 'x'"),
    ],
)
def test_mistakes_of_a_curve_are_one_line(run: Path, arguments: tuple[str, ...], message: str) -> None:
    done = tengen("reference", "curve", *arguments, cwd=run)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1
