"""Games played ahead: who plays them, that the run is repeatable, and what happens if they fail."""

import shutil
import threading
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tengen.errors import MachineError, UserError
from tengen.training.coach import train
from tengen.training.config import Config, LengthConfig
from tengen.training.config_files import load
from tengen.training.generation import Generation
from tengen.training.learner import Losses
from tengen.training.playing import who_plays
from tengen.training.run import Run
from tengen.training.shards import SelfPlay, ShardTask
from tengen.training.watch import Phase, Watchers
from tengen.workers.local import LocalWorkers
from tengen.workers.tasks import Result, RunTasks, StoppedError, Task, TaskFailedError, Work, WorkerDiedError
from tests.training.test_coach import assert_equal
from tests.training.test_watch import Diary

GENERATIONS = 4
SETTINGS = [
    "selfplay.games=24", "selfplay.games_per_shard=8", "selfplay.simulations=4", "selfplay.fast_simulations=2",
    "selfplay.precision=int8", "selfplay.overlap=1", "network.channels=8", "network.blocks=1", "learner.batch_size=32",
    "learner.parts=2", "measure.every=0", "gate.kind=champion", "gate.games=4", "gate.simulations=2",
]  # fmt: skip


def settings(*more: str) -> Config:
    return load("tictactoe", [*SETTINGS, f"length.generations={GENERATIONS}", *more])


class Noting:
    """Tasks in this process, also beside others; notes who plays which generation, and can be told to fail."""

    def __init__(self, run_tasks: RunTasks) -> None:
        self._run_tasks = run_tasks
        self.players: dict[int, int] = {}  # by generation
        self.error: Exception | None = None  # raised when generation 2 shall play
        self.waits_for = threading.Event()  # before generation 2 plays
        self.waits_for.set()
        self.is_stopped = False

    def __call__(
        self, work: Work[Task, Result], tasks: Iterable[Task], /
    ) -> Generator[tuple[int, Result], None, None]:
        tasks = list(tasks)
        if isinstance(work, SelfPlay) and isinstance(tasks[0], ShardTask):
            self.players[tasks[0].generation] = work.network.card.generation
            if tasks[0].generation == 2:
                if self.error:
                    raise self.error
                if not self.waits_for.wait(timeout=60):
                    raise TimeoutError
                if self.is_stopped:
                    raise StoppedError
        yield from self._run_tasks(work, tasks)

    def stop(self) -> None:
        self.is_stopped = True
        self.waits_for.set()


@contextmanager
def noting() -> Iterator[Noting]:
    with LocalWorkers(1) as run_tasks:
        yield Noting(run_tasks)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that plays nothing ahead, for want of somebody to do it, but by the schedule of an overlap."""
    run = Run.create(tmp_path_factory.mktemp("whole") / "run", settings())
    with noting() as run_tasks:
        assert len(list(train(run, run_tasks, Watchers()))) == GENERATIONS
    assert run_tasks.players == expected_players(run)
    return run.folder


def expected_players(run: Run) -> dict[int, int]:
    """Generation 1 and 2: network 0. Generation g: the champion after g - 2."""
    champions = [0, *(line["gate"]["champion"] for line in run.metrics())]
    return {g: champions[max(0, g - 2)] for g in range(1, GENERATIONS + 1)}


@pytest.mark.parametrize("workers", [1, 2])
def test_games_played_ahead_make_the_same_run(whole: Path, tmp_path: Path, workers: int) -> None:
    run, diary = Run.create(tmp_path / "run", settings()), Diary()
    with LocalWorkers(workers) as run_tasks, LocalWorkers(workers, beside=True) as run_beside:
        numbers = [one.number for one in train(run, run_tasks, Watchers(diary), run_beside)]
    assert numbers == [1, 2, 3, 4]
    assert_equal(run.folder, whole)
    assert sum(shard.games for shard in diary.shards) == GENERATIONS * 24
    ahead = [generation for generation, phase, total in diary.phases if phase == "playing ahead"]
    assert ahead == [2, 3, 4]  # the last one begins none


def test_the_weights_of_the_networks_that_play_next_are_kept(whole: Path, tmp_path: Path) -> None:
    """A GPU plays with them. Here 4 is the new champion, 0 was the one before, and plays generation 5."""
    shutil.copytree(whole, tmp_path / "run")
    run = Run.open(tmp_path / "run")
    for generation in range(GENERATIONS):
        shutil.copy(whole / "best" / "weights.safetensors", run.checkpoint(generation))
    run.save_checkpoint(run.load_checkpoint(4), champion=4, plays_next=0)
    kept = [n for n in range(GENERATIONS + 1) if (run.checkpoint(n) / "weights.safetensors").exists()]
    assert kept == [0, 3, 4]


@pytest.mark.parametrize("gate", ["always", "champion"])
def test_the_schedule_depends_on_the_generation_alone(tmp_path: Path, gate: str) -> None:
    run = Run.create(tmp_path / "run", settings(f"gate.kind={gate}"))
    with noting() as in_front, noting() as beside:
        list(train(run, in_front, Watchers(), beside))
    assert in_front.players == {} and beside.players == expected_players(run)
    assert beside.players == {g: who_plays(run, run.config, g) for g in range(1, GENERATIONS + 1)}
    if gate == "always":
        assert beside.players == {1: 0, 2: 0, 3: 1, 4: 2}


def test_without_an_overlap_the_newest_champion_plays_and_nothing_is_played_ahead(tmp_path: Path) -> None:
    run, diary = Run.create(tmp_path / "run", settings("selfplay.overlap=0", "gate.kind=always")), Diary()
    with noting() as in_front, noting() as beside:
        list(train(run, in_front, diary, beside))
    assert in_front.players == {1: 0, 2: 1, 3: 2, 4: 3} and beside.players == {}
    phases = [(generation, phase) for generation, phase, _ in diary.phases]
    assert phases == [
        (g, phase) for g in (1, 2, 3, 4) for phase in ("playing", "learning", "exporting", "measuring")
    ]


def test_a_run_that_stops_after_every_generation_ends_the_same(whole: Path, tmp_path: Path) -> None:
    run, before = Run.create(tmp_path / "run", settings()), threading.active_count()
    for number in range(1, GENERATIONS + 1):
        with LocalWorkers(1) as run_tasks, LocalWorkers(1, beside=True) as run_beside:
            generations = train(run, run_tasks, Watchers(), run_beside)
            assert next(generations).number == number
            generations.close()  # type: ignore[attr-defined]
        assert threading.active_count() == before
    assert_equal(run.folder, whole)


class Interrupting(Diary):
    """Stops the run at a step of learning."""

    def __init__(self, step: int) -> None:
        super().__init__()
        self.step = step

    def learned(self, losses: Losses) -> None:
        super().learned(losses)
        if len(self.steps) == self.step:
            raise KeyboardInterrupt


def test_a_run_that_stops_while_games_are_played_ahead_ends_the_same(whole: Path, tmp_path: Path) -> None:
    run, before = Run.create(tmp_path / "run", settings()), threading.active_count()
    for step in (1, 2, 5, 8):
        with (
            LocalWorkers(1) as run_tasks,
            LocalWorkers(1, beside=True) as run_beside,
            pytest.raises(KeyboardInterrupt),
        ):
            list(train(run, run_tasks, Interrupting(step), run_beside))
        assert threading.active_count() == before
    with LocalWorkers(1) as run_tasks, LocalWorkers(1, beside=True) as run_beside:
        list(train(run, run_tasks, Watchers(), run_beside))
    assert_equal(run.folder, whole)


class Releasing(Diary):
    """Lets generation 2 play when the first one is measured."""

    def __init__(self, release: threading.Event) -> None:
        super().__init__()
        self.release = release

    def begin(self, generation: int, phase: Phase, total: int = 0) -> None:
        super().begin(generation, phase, total)
        if (generation, phase) == (1, "measuring"):
            self.release.set()


def test_a_generation_is_learned_from_while_the_next_one_plays(tmp_path: Path) -> None:
    """Otherwise generation 2 would wait for ever for the measuring of the first one."""
    run = Run.create(tmp_path / "run", settings("length.generations=2"))
    with noting() as in_front, noting() as beside:
        beside.waits_for.clear()
        diary = Releasing(beside.waits_for)
        list(train(run, in_front, Watchers(diary), beside))
    assert [part[:2] for part in diary.phases if part[0] == 1] == [
        (1, "playing"), (1, "learning"), (1, "exporting"), (1, "measuring"),
    ]  # fmt: skip
    assert (2, "playing ahead", 24) in diary.phases


@pytest.mark.parametrize(
    "error",
    [
        UserError("cannot write"),
        MachineError("no memory"),
        WorkerDiedError("was killed"),
        TaskFailedError("x"),
    ],
)
def test_what_fails_ahead_is_raised_when_the_games_are_needed(tmp_path: Path, error: Exception) -> None:
    run = Run.create(tmp_path / "run", settings())
    complete: list[Generation] = []
    with noting() as in_front, noting() as beside:
        beside.error = error
        with pytest.raises(type(error), match=str(error)):
            complete.extend(train(run, in_front, Watchers(), beside))
        assert run.generation == 1  # what was learned meanwhile is not lost
        beside.error = None
        assert [one.number for one in train(run, in_front, Watchers(), beside)] == [2, 3, 4]


def test_a_worker_that_dies_ahead_is_named(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", settings())

    class Killing(Diary):
        def begin(self, generation: int, phase: Phase, total: int = 0) -> None:
            if phase == "playing ahead":
                run_beside._workers[0].process.kill()

    with (
        LocalWorkers(1) as run_tasks,
        LocalWorkers(1, beside=True) as run_beside,
        pytest.raises(WorkerDiedError, match="worked on shard 0 of generation 2 was killed"),
    ):
        list(train(run, run_tasks, Killing(), run_beside))


def test_a_run_that_is_over_does_not_wait_for_games_played_ahead(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", settings())
    run.configure(replace(run.config, length=LengthConfig(minutes=0.001, generations=0)))
    with noting() as in_front, noting() as beside:
        beside.waits_for.clear()
        began = time.monotonic()
        assert [one.number for one in train(run, in_front, Watchers(), beside)] == [1]
    assert beside.is_stopped and time.monotonic() - began < 30 and run.is_finished
