"""What cannot be is refused in one line, before anything is written."""

import sys
from pathlib import Path

import pytest

from tengen.cli import main


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def coach(*_: object) -> None:
        raise AssertionError("it was not refused")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tengen.training.coach.train", coach)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        # opponents
        (["--set", "measure.opponents=human"], "measure.opponents: human cannot be used here"),
        (
            ["--set", "measure.opponents=perfect human:x=1"],
            "measure.opponents: human cannot be used here",
        ),
        (["--set", "measure.opponents=uct:simz=3"], "measure.opponents: player 'uct' has no setting 'simz'"),
        (["--set", "measure.opponents=zero:nowhere"], "measure.opponents: no network in nowhere"),
        (
            ["--set", "gate.kind=rising", "--set", "gate.rollouts=999999999"],
            "gate.rollouts is a whole number",
        ),
        # sizes
        (
            ["--set", "learner.batch_size=6", "--set", "learner.parts=4"],
            "a part of a batch needs at least 2 positions",
        ),
        (["--set", "network.channels=9999999"], "network.channels is a whole number from 1 to 4,096"),
        (
            ["--set", "network.channels=4096", "--set", "network.blocks=900"],
            "at most 100,000,000 are allowed",
        ),
        (["--set", "selfplay.cache_positions=99999999999"], "selfplay.cache_positions is a whole number"),
        (["--set", "selfplay.at_once=60000", "--set", "selfplay.simulations=900000"], "GB of memory"),
        (
            ["--set", "learner.batch_size=60000", "--set", "network.channels=1000"],
            "learner.batch_size would need",
        ),
        (["--set", "learner.batch_size=1000000"], "learner.batch_size is a whole number from 2 to 65,536"),
        # numbers that are none
        (["--set", "learner.learning_rate=nan"], "learner.learning_rate is a number from 0 up, got nan"),
        (["--set", "selfplay.discount=nan"], "selfplay.discount is a number from 0.01 to 1, got nan"),
        (["--set", "selfplay.c_puct=inf"], "selfplay.c_puct is a number from 0 up, got inf"),
        (["--set", "length.minutes=-inf"], "length.minutes is a number from 0 up, got -inf"),
        (["--minutes", "inf"], "--minutes is a finite number, got inf"),
        (["--seed", "99999999999999999999"], "--seed is a number below 2^63, got 20 digits"),
        (["--seed", "9999999999"], "seed is a whole number from 0 to 2,147,483,647"),
        # networks
        (["--set", "network.name=nono"], "unknown network 'nono'"),
        (["--set", "network.start=nowhere"], "no network in nowhere"),
        (["--set", "network.start=zoo/connect4"], "these weights do not fit the network of this run"),
        (["--set", "network.teacher=nowhere"], "no network in nowhere"),
        (["--set", "network.teacher=zoo/othello8"], "othello8"),
        (["--set", "learner.device=tpu"], "tpu"),
        # names
        (["-n", "../x"], "got '../x'"),
        (["-n", "/tmp/x"], "got '/tmp/x'"),
        (["-n", "a/b"], "got 'a/b'"),
        (["-n", ".."], "got '..'"),
        (["-n", ""], "got ''"),
        (["-n", " x"], "got ' x'"),
        (["-n", "a:b"], "got 'a:b'"),
    ],
)
def test_a_refusal_is_one_line_and_leaves_nothing_behind(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["tengen", "train", "tictactoe", *arguments])
    with pytest.raises(SystemExit) as done:
        main()
    said = capsys.readouterr().err
    assert done.value.code == 2 and message in said and said.count("\n") == 1
    assert not list(Path.cwd().iterdir())


@pytest.mark.parametrize("name", ["one", "My run 2", "v1.5_b-c", "größe", "x+"])
def test_plain_names_are_names(name: str) -> None:
    from tengen.training.folders import plain

    assert plain(name) == name


def test_the_name_of_a_family_of_games_becomes_a_plain_one() -> None:
    from tengen.training.folders import new_folder

    assert new_folder(None, "mnk:rows=4,cols=4,k=3") == Path("runs/mnk-rows-4-cols-4-k-3")


def test_a_probe_that_found_out_nothing_chooses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from tengen import games, nets
    from tengen.errors import UserError
    from tengen.evaluators.probe import Probe
    from tengen.training import exporting
    from tengen.training.config_files import load
    from tengen.training.learner import Learner

    config, game = load("tictactoe"), games.find("tictactoe")
    learner = Learner(game, nets.make("anysize", game, {"channels": 8, "blocks": 2}), config.learner)
    hung = Probe(False, None, None, None, None, None, "the process did not answer in 600 s", False)
    monkeypatch.setattr(exporting, "probe", lambda *_: hung)
    with pytest.raises(
        UserError,
        match=r"could not test whether int8 works on this machine .*: try again, or choose with --set",
    ):
        exporting.with_precisions(config, game, learner)
    fast = Probe(True, 0.0, 1.0, 0.0, 100.0, 120.0, "int8 is 1.20 × as fast")
    monkeypatch.setattr(exporting, "probe", lambda *_: fast)
    chosen = exporting.with_precisions(config, game, learner)
    assert chosen.selfplay.precision == "int8"
    assert [(change.generation, change.setting, change.why) for change in chosen.changes] == [
        (0, "learner.precision", "the network is too small for bf16 to be faster"),
        (0, "selfplay.precision", "int8 is 1.20 × as fast"),
    ]
    far = Probe(True, 0.5, 0.5, 0.1, 100.0, 120.0, "int8 is 1.20 × as fast and says something else")
    monkeypatch.setattr(exporting, "probe", lambda *_: far)
    assert exporting.with_precisions(config, game, learner).selfplay.precision == "int8", (
        "until it is exported"
    )
