"""Runs that begin with a trained network: nothing is forgotten before there is something to learn from."""

import math
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tengen import games
from tengen.errors import UserError
from tengen.training import config_files
from tengen.training.changes import changed
from tengen.training.coach import train
from tengen.training.config import LearnerConfig
from tengen.training.curriculum import SMALL_SHARE, smaller_boards, stages
from tengen.training.gradients import GradientWork, flatten
from tengen.training.learner import RISE, Learner
from tengen.training.playing import player_of
from tengen.training.run import Run
from tengen.training.start import create_run
from tengen.training.watch import Watchers
from tengen.workers.local import LocalWorkers
from tests.training.test_gradients import GAME, SIZES, network, samples

SMALL = [
    "selfplay.games=16", "selfplay.games_per_shard=16", "selfplay.simulations=4", "network.channels=8",
    "network.blocks=2", "learner.batch_size=32", "learner.parts=1", "measure.every=0", "length.minutes=0",
]  # fmt: skip


def trained(name: str, *settings: str) -> Run:
    run = create_run(name, config_files.load("tictactoe", [*SMALL, *settings]))
    with LocalWorkers(1) as run_tasks:
        for _ in train(run, run_tasks, Watchers()):
            pass
    return run


def test_a_trained_network_waits_until_the_window_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = trained("first", "length.generations=1")
    later = trained("later", "length.generations=4", "network.start=runs/first", "replay.least_positions=150")
    lines = later.metrics()
    windows, steps = (
        [line["replay"]["window"] for line in lines],
        [line["learner"]["steps"] for line in lines],
    )
    assert windows[0] < 150 <= windows[-1]
    assert [count > 0 for count in steps] == [window >= 150 for window in windows]
    plays = [(later.checkpoint(number) / "net.onnx").read_bytes() for number in range(5)]
    start = (first.folder / "best" / "net.onnx").read_bytes()
    assert plays[0] == start
    assert [plays[number + 1] == start for number in range(4)] == [count == 0 for count in steps]
    from_nothing = trained("nothing", "length.generations=1", "replay.least_positions=150")
    assert from_nothing.metrics()[0]["learner"]["steps"] > 0


def test_a_teacher_plays_the_first_games_and_the_new_network_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    exact = "selfplay.precision=fp32"  # int8 depends on the positions it was calibrated with
    teacher = trained("teacher", "length.generations=1", exact)
    start = ["network.start=runs/teacher", "replay.least_positions=9999"]
    same = trained("same", "length.generations=1", exact, *start)
    wide = ["network.channels=12", "network.teacher=runs/teacher", "network.teacher_generations=2"]
    run = trained("wide", "length.generations=2", exact, *wide)
    assert run.shard(1, 0).read_bytes() == same.shard(1, 0).read_bytes()  # the teacher's own games
    first, second = (run.load_checkpoint(number).card.network for number in (1, 2))
    assert first == second and first["channels"] == 12 and "teacher" not in first
    # the teacher's folder is not needed any more, not even to play its games again
    games_of_two = run.shard(2, 0).read_bytes()
    teacher.folder.rename("elsewhere")
    run.shard(2, 0).unlink()
    run.reconfigure(changed(run.config, ["length.generations=3"], generation=3))
    with LocalWorkers(1) as run_tasks:
        [third] = train(run, run_tasks, Watchers())
    assert third.number == 3 and run.shard(2, 0).read_bytes() == games_of_two
    assert player_of(run, run.config, 2).card.network["channels"] == 8
    assert player_of(run, run.config, 3) == run.load_checkpoint(2)


def test_the_learning_rate_of_a_trained_network_rises_from_zero() -> None:
    moved = []
    for is_trained in (True, False):
        learner = Learner(GAME, network(), LearnerConfig(batch_size=32, parts=1), is_trained)
        before, rates = flatten(list(learner.net.parameters())), []
        with LocalWorkers(1) as run_tasks:
            compute = partial(run_tasks, GradientWork("tictactoe", "anysize", SIZES))
            for seed in range(3):
                learner.learn(samples(100), 1, 0.0, [seed], math.inf, compute, lambda _: None)
                rates.append(learner._optimizers[0].param_groups[0]["lr"])
        full = LearnerConfig().learning_rate
        assert rates == pytest.approx([full * n / RISE for n in (1, 2, 3)] if is_trained else [full] * 3)
        moved.append(np.abs(flatten(list(learner.net.parameters())) - before).max())
    assert moved[0] < moved[1] / 20


def test_a_curriculum_leads_from_small_boards_to_large_ones() -> None:
    config = config_files.load("gomoku15", ["length.minutes=100", "network.channels=24"])
    found = stages(config, "mine", ["network.channels=24"])
    assert [stage.config.game for stage in found] == ["gomoku9", "gomoku11", "gomoku13", "gomoku15"]
    assert [stage.folder.name for stage in found] == ["mine-9x9", "mine-11x11", "mine-13x13", "mine"]
    assert [stage.config.network.start for stage in found] == [
        "",
        *(str(stage.folder) for stage in found[:-1]),
    ]
    assert {stage.config.network.channels for stage in found} == {24}
    minutes = [stage.config.length.minutes for stage in found]
    assert sum(minutes) == pytest.approx(100) and minutes[0] == pytest.approx(100 * SMALL_SHARE)


@pytest.mark.parametrize(
    ("game", "boards"),
    [
        ("gomoku20", "gomoku9 gomoku11 gomoku13 gomoku15"),
        (
            "renju15",
            "mnk:rows=9,cols=9,k=5,rule=renju mnk:rows=11,cols=11,k=5,rule=renju mnk:rows=13,cols=13,k=5,rule=renju",
        ),
        ("hex11", "hex:size=5 hex7 hex9"),
        ("othello8", "othello6"),
        ("connect4", ""),
        ("gomoku6", ""),
        ("mnk:rows=9,cols=12,k=5", ""),
    ],
)
def test_smaller_boards_have_the_same_rules(game: str, boards: str) -> None:
    large = games.find(game)
    found = [name for name, _ in smaller_boards(large)]
    assert found == boards.split()
    for name in found:
        assert games.find(name).play is large.play and games.find(name).num_actions < large.num_actions


def test_what_cannot_be_a_curriculum_is_refused() -> None:
    with pytest.raises(
        UserError, match="connect4 has no smaller board to begin with: leave --curriculum out"
    ):
        stages(config_files.load("connect4"), None, [])
    with pytest.raises(UserError, match="a curriculum shares out minutes: give --minutes"):
        stages(config_files.load("gomoku15", ["length.minutes=0"]), None, [])
