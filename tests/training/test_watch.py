"""Watchers see all that a run does, and the run's length and clock are kept."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tengen.errors import UserError
from tengen.training.coach import train
from tengen.training.config import LengthConfig
from tengen.training.config_files import load
from tengen.training.learner import Losses
from tengen.training.run import Run
from tengen.training.selfplay import ShardStats
from tengen.training.watch import Phase, Share, Watchers, strengths
from tengen.workers.local import LocalWorkers
from tests.training.made import made_run, metrics_of

SETTINGS = [
    "selfplay.games=12", "selfplay.games_per_shard=6", "selfplay.simulations=4", "selfplay.fast_simulations=2",
    "network.channels=8", "network.blocks=1", "learner.batch_size=16", "learner.parts=1", "measure.every=100",
]  # fmt: skip


class Diary:
    """Writes everything down."""

    def __init__(self) -> None:
        self.phases: list[tuple[int, str, int]] = []
        self.shards: list[ShardStats] = []
        self.steps: list[Losses] = []
        self.lines: list[dict[str, Any]] = []

    def begin(self, generation: int, phase: Phase, total: int = 0) -> None:
        self.phases.append((generation, phase, total))

    def played(self, shard: ShardStats) -> None:
        self.shards.append(shard)

    def learned(self, losses: Losses) -> None:
        self.steps.append(losses)

    def finished(self, metrics: dict[str, Any]) -> None:
        self.lines.append(metrics)


def go_on(run: Run, generations: int) -> Diary:
    run.configure(replace(run.config, length=LengthConfig(generations=generations)))
    one, other = Diary(), Diary()
    with LocalWorkers(1) as run_tasks:
        numbers = [generation.number for generation in train(run, run_tasks, Watchers(one, other))]
    assert numbers == [line["generation"] for line in one.lines]
    assert vars(one) == vars(other)
    return one


def test_a_watcher_sees_every_phase_shard_step_and_generation(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", load("tictactoe", SETTINGS))
    first = go_on(run, 2)
    steps = [line["learner"]["steps"] for line in first.lines]
    assert first.phases == [
        (1, "playing", 12), (1, "learning", steps[0]), (1, "exporting", 0), (1, "measuring", 0),
        (2, "playing", 12), (2, "learning", steps[1]), (2, "exporting", 0), (2, "measuring", 0),
    ]  # fmt: skip
    assert [shard.games for shard in first.shards] == [6] * 4
    assert len(first.steps) == sum(steps)
    of_first = [step.policy for step in first.steps[: steps[0]]]
    assert sum(of_first) / len(of_first) == pytest.approx(first.lines[0]["learner"]["policy"])
    assert first.lines == run.metrics()

    # A shard of the next generation is on the disk already: it is not played again, nor counted.
    run.configure(replace(run.config, length=LengthConfig(generations=3)))
    with LocalWorkers(1) as run_tasks, pytest.raises(KeyboardInterrupt):
        list(train(run, run_tasks, Watchers(_Impatient())))
    kept = run.shard(3, 0).stat().st_mtime_ns
    second = go_on(run, 3)
    assert second.phases[0] == (3, "playing", 6) and len(second.shards) == 1
    assert run.shard(3, 0).stat().st_mtime_ns == kept

    # The clock goes on where it stood.
    elapsed = [line["elapsed"] for line in run.metrics()]
    assert len(elapsed) == 3 and 0 < elapsed[0] < elapsed[1] < elapsed[2] == run.elapsed


class _Impatient(Diary):
    def played(self, shard: ShardStats) -> None:
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("length", "generations", "minutes", "share"),
    [
        (LengthConfig(generations=4), 1, 1000, 0.25),
        (LengthConfig(generations=4), 4, 0, 1.0),
        (LengthConfig(minutes=20, generations=0), 1000, 5, 0.25),
        (LengthConfig(minutes=20, generations=4), 1, 15, 0.75),
        (LengthConfig(minutes=20, generations=4), 3, 5, 0.75),
        (LengthConfig(generations=0), 1000, 1000, 0.0),
    ],
)
def test_the_nearer_limit_ends_a_run(
    length: LengthConfig, generations: int, minutes: float, share: float
) -> None:
    assert length.progress(generations, 60 * minutes) == share


def test_a_line_without_its_card_does_not_count(tmp_path: Path) -> None:
    """As after a crash between the two: the generation is made again, and its time counted once."""
    run = made_run(tmp_path / "run", 2)
    run.log(metrics_of(3) | {"elapsed": 999.0})
    assert (run.generation, run.elapsed, len(run.metrics())) == (2, 120.0, 2)
    run.log(metrics_of(3))
    assert [
        json.loads(line)["elapsed"] for line in (run.folder / "metrics.jsonl").read_text().splitlines()
    ] == [60, 120, 180]


@pytest.mark.parametrize("text", ['{"generation": 1}\n', "[1]\n", '{"generation": 1, "ela', "\xff"])
def test_damaged_metrics_are_named(tmp_path: Path, text: str) -> None:
    run = made_run(tmp_path / "run", 1)
    (run.folder / "metrics.jsonl").write_text(text, encoding="latin-1")
    with pytest.raises(UserError, match=r"metrics\.jsonl is damaged: "):
        run.metrics()


def test_strengths_are_rates_with_intervals_and_scores_without() -> None:
    assert strengths(metrics_of(2)) == {
        "sims=64": {"good": Share(0.5, 0.4, 0.6)},
        "uct:sims=200": {"score": Share(0.6, 0.6, 0.6)},
    }
    assert strengths(metrics_of(1)) == {}


def test_a_run_of_minutes_ends_where_a_generation_ends_nearest_to_them() -> None:
    length = LengthConfig(minutes=1, generations=0)
    assert not length.is_over(generations=3, seconds=48, pace=20)  # 68 is nearer to 60 than 48
    assert length.is_over(generations=3, seconds=52, pace=20)
    assert not LengthConfig(generations=4).is_over(generations=3, seconds=52, pace=20)
    assert LengthConfig(generations=3).is_over(generations=3, seconds=52, pace=0)


def test_learning_ends_when_the_minutes_of_a_run_are_over(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", load("tictactoe", [*SETTINGS, "learner.passes=1000"]))
    run.configure(replace(run.config, length=LengthConfig(minutes=0.02, generations=0)))
    diary = Diary()
    with LocalWorkers(1) as run_tasks:
        list(train(run, run_tasks, diary))
    wanted = diary.phases[1]
    assert wanted[:2] == (1, "learning") and len(diary.steps) < wanted[2]
    assert diary.lines[-1]["learner"]["steps"] == len(diary.steps) >= 1
    assert run.is_finished and run.generation == 1
