"""What TensorBoard reads back is what was told, once."""

import subprocess
import sys
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import (  # type: ignore[import-untyped]
    EventAccumulator,
)

from tengen.training.learner import Losses
from tengen.training.run import Run
from tengen.training.tensorboard import TensorBoard, scalars
from tests.training.made import add_generation, made_run, metrics_of


def curves(run: Run) -> dict[str, list[tuple[int, float]]]:
    events = EventAccumulator(str(run.folder / "tensorboard"))
    events.Reload()
    return {
        tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]
    }


def learn(board: TensorBoard, values: list[float]) -> None:
    board.begin(1, "learning", len(values))
    for value in values:
        board.learned(Losses(value, value / 2, value / 4))


def test_losses_by_step_and_the_rest_by_generation(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", 0)
    with TensorBoard(run) as board:
        learn(board, [4.0, 2.0, 1.0])
        board.finished(metrics_of(2))
    found = curves(run)
    assert found["loss/policy"] == [(1, 4), (2, 2), (3, 1)]
    assert found["loss/value"] == [(1, 2), (2, 1), (3, 0.5)]
    assert found["loss/plies_left"] == [(1, 1), (2, 0.5), (3, 0.25)]
    per_generation = {tag: points for tag, points in found.items() if not tag.startswith("loss/")}
    assert all([step for step, _ in points] == [2] for points in per_generation.values())
    last = {tag: points[-1][1] for tag, points in per_generation.items()}
    assert last == pytest.approx(scalars(metrics_of(2)))


def test_what_is_drawn_of_a_generation() -> None:
    found = scalars(metrics_of(2))
    assert found["selfplay/games_per_second"] == 5
    assert found["selfplay/simulations_per_second"] == 2000
    assert (found["selfplay/positions"], found["selfplay/first_player_wins"]) == (500, 0.55)
    assert (found["selfplay/draws"], found["cache/hit_rate"], found["policy/entropy"]) == (0.05, 0.25, 1.5)
    assert (found["replay/window"], found["gate/champion"]) == (800, 2)
    assert found["strength/sims=64/good"] == 0.5
    assert (found["strength/uct:sims=200/score"], found["strength/uct:sims=200/elo"]) == (0.6, 70.4)


def test_a_generation_that_searched_positions_again_shows_how_many() -> None:
    line = {"positions": 100, "proven": 20, "seconds": 1.5}
    found = scalars(metrics_of(2) | {"reanalysis": line})
    assert (found["reanalysis/positions"], found["reanalysis/proven"]) == (100, 20)
    none = metrics_of(2) | {"reanalysis": {"positions": 0, "proven": 0, "seconds": 0.0}}
    assert scalars(none) == scalars(metrics_of(2))


def test_a_generation_that_played_nothing_new_has_no_speed() -> None:
    found = scalars(metrics_of(1) | {"selfplay": {"seconds": 0.1}})
    assert set(found) == {"replay/window", "replay/total", "gate/champion", "gate/rollouts", "gate/record"}


def test_a_resumed_run_shows_no_step_twice(tmp_path: Path) -> None:
    """Steps 4 and 5 were of a generation that was cut short: it is learned again."""
    run = made_run(tmp_path / "run", 0)
    with TensorBoard(run) as board:
        learn(board, [9.0, 8.0, 7.0])
        add_generation(run, 1)  # of three steps
        board.finished(metrics_of(1))
        learn(board, [6.0, 5.0])
    with TensorBoard(run) as board:
        learn(board, [60.0, 50.0, 40.0])
        add_generation(run, 2)
        board.finished(metrics_of(2))
    found = curves(run)
    assert found["loss/policy"] == [(1, 9), (2, 8), (3, 7), (4, 60), (5, 50), (6, 40)]
    assert [step for step, _ in found["replay/window"]] == [1, 2]


def test_it_needs_no_pytorch() -> None:
    code = "import sys, tengen.training.tensorboard; assert not {'torch', 'tensorflow'} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
