"""Reanalysis: fresh targets are true, go where they belong, and leave the run repeatable."""

import shutil
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tengen import games
from tengen.errors import UserError
from tengen.evaluators.forced import SeesForced
from tengen.evaluators.uniform import UniformEvaluator
from tengen.evaluators.wins import sees_wins
from tengen.games.game import State
from tengen.games.position import Position
from tengen.training import shard_files
from tengen.training.coach import start_or_resume, train
from tengen.training.config import Config, ReplayConfig, SelfPlayConfig
from tengen.training.config_files import load
from tengen.training.fresh_targets import Reanalysis, search_again
from tengen.training.record import FreshTargets, Samples, keys_of, merged
from tengen.training.replay import Replay
from tengen.training.run import Run
from tengen.training.selfplay import play_shard
from tengen.training.shards import Shard
from tengen.training.watch import Watchers
from tengen.workers.local import LocalWorkers
from tengen.workers.tasks import Result, RunTasks, Task, Work
from tests.search.fakes import HashEvaluator
from tests.training.test_coach import assert_equal, hashes
from tests.training.test_watch import Diary

CONNECT4, TICTACTOE = games.find("connect4"), games.find("tictactoe")


def positions(*lines: str) -> State:
    return np.stack([Position.from_moves(CONNECT4, moves).state for moves in lines])


# What a search says


def test_a_proven_result_gives_exact_targets_for_the_player_to_move() -> None:
    """Two stones on the bottom row, open on both sides: the player to move wins in three plies."""
    settings = SelfPlayConfig(search="puct", discount=0.5)
    states = positions("3344", "13741", "33445", "")  # first wins, second wins, second loses in two, unknown
    fresh = search_again(CONNECT4, UniformEvaluator(), settings, 3000, states)
    assert fresh.is_proven.tolist() == [True, True, True, False]
    assert fresh.values[:3].tolist() == [0.125, 0.125, -0.25]
    assert set(fresh.policies[0].nonzero()[0]) <= {1, 4} and fresh.policies[0].sum() == 1  # columns 2 and 5
    assert fresh.policies[2] == pytest.approx(np.full(7, 1 / 7), abs=1e-3)  # every move loses as slowly
    assert fresh.policies[3].sum() == pytest.approx(1, abs=1e-2) and abs(fresh.values[3]) < 1
    assert fresh.keys.tolist() == keys_of(states).tolist()


@pytest.mark.parametrize("search", ["gumbel", "puct"])
def test_a_position_gets_the_same_targets_in_any_batch(search: str) -> None:
    """There is no noise, whatever the settings of self-play are."""
    settings = SelfPlayConfig(search=search)  # type: ignore[arg-type]
    assert settings.noise == 1 and settings.dirichlet_fraction > 0
    states = positions("", "4", "44", "123", "7654", "11")
    one, other = (
        search_again(CONNECT4, HashEvaluator(), replace(settings, at_once=at_once), 20, states)
        for at_once in (1, 4)
    )
    for name in ("keys", "policies", "values", "is_proven"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "othello6"])
def test_policies_are_legal_even_where_the_rules_decide(name: str) -> None:
    game, settings = games.find(name), SelfPlayConfig(simulations=8, full_share=1.0)
    samples, _ = play_shard(game, HashEvaluator(), settings, 8, 20, [1])
    evaluator = SeesForced(HashEvaluator(), game, sees_wins(game), settings.discount)
    fresh = search_again(game, evaluator, settings, 8, samples.states)
    assert 0 < fresh.is_proven.sum() < len(fresh)
    for state, policy in zip(samples.states, fresh.policies.astype(np.float32), strict=True):
        assert policy.sum() == pytest.approx(1, abs=1e-3) and (policy[~game.legal_mask(state)] == 0).all()


# The window


def played(seed: int) -> Samples:
    """The different positions of some games, two of which are proven, as if by luck."""
    settings = SelfPlayConfig(simulations=8, fast_simulations=4, random_opening_plies=2, fours=0)
    samples = merged(play_shard(CONNECT4, HashEvaluator(), settings, 8, 12, [seed])[0])
    return replace(samples, is_proven=np.arange(len(samples)) < 2)


def window(*seeds: int) -> Replay:
    replay = Replay(ReplayConfig())
    for seed in seeds:
        replay.add([Shard(played(seed), None)])
    return replay


def said(states: State, value: float, is_proven: bool) -> FreshTargets:
    """The same about all positions: the first column, this value."""
    policies = np.zeros((len(states), 7), np.float16)
    policies[:, 0] = 1
    count = len(states)
    return FreshTargets(
        keys_of(states), policies, np.full(count, value, np.float32), np.full(count, is_proven)
    )


def boards(states: State) -> list[bytes]:
    return [state[CONNECT4.cells].tobytes() for state in states]


def test_positions_are_drawn_once_from_older_generations_unless_they_are_proven() -> None:
    replay, newest = window(1, 2, 3), played(3)
    samples = replay.samples()
    is_old = ~np.isin(keys_of(samples.states), keys_of(newest.states))
    candidates = boards(samples.states[is_old & ~samples.is_proven])
    drawn = [boards(replay.draw_old(20, np.random.default_rng(seed))) for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    for some in drawn:
        assert len(set(some)) == 20 and set(some) <= set(candidates)
    everything = replay.draw_old(10_000, np.random.default_rng(0))
    assert sorted(boards(everything)) == sorted(candidates)
    assert 0 < (is_old & samples.is_proven).sum() < is_old.sum() < len(samples)


def test_the_only_generation_has_no_older_positions() -> None:
    assert len(window(1).draw_old(5, np.random.default_rng(0))) == 0


@pytest.mark.parametrize(("is_proven", "weight"), [(False, 0.25), (False, 1.0), (False, 0.0), (True, 0.25)])
def test_fresh_targets_replace_stored_ones_in_their_place(is_proven: bool, weight: float) -> None:
    replay = window(1, 2, 3)
    before = replay.samples()
    drawn = replay.draw_old(20, np.random.default_rng(0))
    replay.refresh(said(drawn, 0.5, is_proven), weight)
    after = replay.samples()
    rows = np.flatnonzero(np.isin(keys_of(before.states), keys_of(drawn)))
    others = np.setdiff1d(np.arange(len(before)), rows)
    assert len(rows) == 20
    for name in ("states", "outcomes", "plies_left"):
        assert np.array_equal(getattr(after, name), getattr(before, name))
    for name in ("policies", "values", "is_proven"):
        assert np.array_equal(getattr(after, name)[others], getattr(before, name)[others])
    mixed = weight * 0.5 + (1 - weight) * before.values[rows]
    assert after.values[rows] == pytest.approx(0.5 if is_proven else mixed)
    assert (after.policies[rows, 0] == 1).all() and (after.policies[rows, 1:] == 0).all()
    assert after.policies.dtype == after.values.dtype == np.float32
    assert (after.is_proven[rows] == is_proven).all()
    again = boards(replay.draw_old(10_000, np.random.default_rng(0)))
    assert set(boards(drawn)).isdisjoint(again) == is_proven


def test_each_position_gets_its_own_targets() -> None:
    replay = window(1, 2, 3)
    drawn = replay.draw_old(20, np.random.default_rng(0))
    values = np.linspace(-1, 1, 20).astype(np.float32)
    replay.refresh(replace(said(drawn, 0, is_proven=True), values=values), 0.5)
    found = dict(zip(boards(replay.samples().states), replay.samples().values, strict=True))
    assert [found[board] for board in boards(drawn)] == values.tolist()


def test_targets_of_positions_that_left_the_window_are_dropped() -> None:
    replay, gone = window(1, 2), played(9)
    before = replay.samples()
    is_new = ~np.isin(keys_of(gone.states), keys_of(before.states))
    replay.refresh(said(gone.states[is_new], 1.0, is_proven=True), 1.0)
    assert np.array_equal(replay.samples().values, before.values)


def test_fresh_targets_survive_a_file_and_damage_is_named(tmp_path: Path) -> None:
    path, fresh = tmp_path / "fresh-000.safetensors", said(positions("", "4"), 0.5, is_proven=False)
    shard_files.save_fresh(path, fresh)
    found = shard_files.load_fresh(path)
    for name in ("keys", "policies", "values", "is_proven"):
        assert np.array_equal(getattr(found, name), getattr(fresh, name))
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    with pytest.raises(
        UserError, match=r"fresh-000\.safetensors is damaged .*its positions are searched again"
    ):
        shard_files.load_fresh(path)


# Whole runs

GENERATIONS = 4
SETTINGS = [
    "selfplay.games=24", "selfplay.games_per_shard=8", "selfplay.at_once=2", "selfplay.simulations=24",
    "selfplay.fast_simulations=2", "selfplay.precision=int8", "selfplay.reanalyse=0.5", "network.channels=8",
    "network.blocks=1", "learner.batch_size=32", "learner.parts=2", "learner.precision=fp32", "measure.every=0",
]  # fmt: skip


def settings(*more: str) -> Config:
    return load("tictactoe", [*SETTINGS, f"length.generations={GENERATIONS}", *more])


class Noting:
    """Tasks done by others; notes who searches again for which generation, and can be stopped by that."""

    def __init__(self, run_tasks: RunTasks) -> None:
        self._run_tasks = run_tasks
        self.searchers: dict[int, int] = {}  # by generation
        self.left = 1_000_000  # shards of fresh targets until it is interrupted

    def __call__(
        self, work: Work[Task, Result], tasks: Iterable[Task], /
    ) -> Generator[tuple[int, Result], None, None]:
        tasks = list(tasks)
        is_reanalysis = isinstance(work, Reanalysis)
        if isinstance(work, Reanalysis):
            self.searchers[tasks[0].generation] = work.network.card.generation
        for found in self._run_tasks(work, tasks):
            if is_reanalysis:
                self.left -= 1
                if self.left < 0:
                    raise KeyboardInterrupt
            yield found


@contextmanager
def noting() -> Iterator[Noting]:
    with LocalWorkers(1) as run_tasks:
        yield Noting(run_tasks)


@pytest.fixture(scope="module", params=[0, 1])
def overlap(request: pytest.FixtureRequest) -> str:
    return f"selfplay.overlap={request.param}"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, overlap: str) -> Path:
    """A run that nobody touched. The newest network searches again, also where an older one plays."""
    run = Run.create(tmp_path_factory.mktemp("whole") / "run", settings(overlap))
    with noting() as run_tasks:
        assert len(list(train(run, run_tasks, Watchers()))) == GENERATIONS
    assert run_tasks.searchers == {2: 1, 3: 2, 4: 3}
    return run.folder


def test_metrics_count_the_positions(whole: Path) -> None:
    run = Run.open(whole)
    found = [line["reanalysis"] for line in run.metrics()]
    totals = [0, *(line["replay"]["total"] for line in run.metrics())]
    assert found[0] == {"positions": 0, "proven": 0, "seconds": 0}
    for generation in range(2, GENERATIONS + 1):
        paths, line = sorted(whole.glob(f"replay/{generation:04}/fresh-*")), found[generation - 1]
        fresh = [shard_files.load_fresh(path) for path in paths]
        wanted = round(0.5 * (totals[generation] - totals[generation - 1]))
        assert line["positions"] == sum(map(len, fresh)) <= wanted
        assert (
            line["positions"] == wanted or generation < GENERATIONS
        )  # at first there are too few older ones
        assert line["proven"] == sum(int(one.is_proven.sum()) for one in fresh)
        assert [len(one) for one in fresh[:-1]] == [8] * (len(fresh) - 1) and len(fresh) > 1  # 4 batches of 2


@pytest.mark.parametrize("workers", [1, 2])
def test_the_run_does_not_depend_on_the_workers(
    whole: Path, overlap: str, tmp_path: Path, workers: int
) -> None:
    run, diary = Run.create(tmp_path / "run", settings(overlap)), Diary()
    with LocalWorkers(workers) as run_tasks, LocalWorkers(workers, beside=True) as run_beside:
        list(train(run, run_tasks, Watchers(diary), run_beside))
    assert_equal(run.folder, whole)
    assert [generation for generation, phase, _ in diary.phases if phase == "refreshing"] == [2, 3, 4]


def test_a_run_stopped_in_the_middle_of_reanalysis_ends_the_same(
    whole: Path, overlap: str, tmp_path: Path
) -> None:
    run = Run.create(tmp_path / "run", settings(overlap))
    for left in (0, 1, 2, 3):
        with noting() as run_tasks, pytest.raises(KeyboardInterrupt):
            run_tasks.left = left
            list(train(run, run_tasks, Watchers()))
    with noting() as run_tasks:
        list(train(run, run_tasks, Watchers()))
    assert_equal(run.folder, whole)


def test_a_run_that_stops_after_every_generation_ends_the_same(
    whole: Path, overlap: str, tmp_path: Path
) -> None:
    """Each time, the window is rebuilt from the files."""
    run = Run.create(tmp_path / "run", settings(overlap))
    for number in range(1, GENERATIONS + 1):
        with noting() as run_tasks:
            generations = train(run, run_tasks, Watchers())
            assert next(generations).number == number
            generations.close()  # type: ignore[attr-defined]
        assert run_tasks.searchers.keys() == {number} - {1}  # what is on disk is not searched again
    assert_equal(run.folder, whole)


def test_fresh_targets_that_were_removed_are_made_again(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "run")
    run = Run.open(tmp_path / "run")
    for path in run.folder.glob("replay/000[23]/fresh-*"):
        path.unlink()
    with noting() as run_tasks:
        start_or_resume(run, TICTACTOE, run_tasks, Watchers())
    assert run_tasks.searchers == {2: 1, 3: 2} and hashes(run.folder) == hashes(whole)


def test_a_window_is_rebuilt_as_it_was_with_settings_that_changed(whole: Path, tmp_path: Path) -> None:
    from tengen.training.changes import changed

    shutil.copytree(whole, tmp_path / "run")
    run, windows = Run.open(tmp_path / "run"), []
    for more in ([], ["selfplay.reanalyse=0", "selfplay.reanalyse_value=1"]):
        run.reconfigure(changed(run.config, more, GENERATIONS + 1))
        with noting() as run_tasks:
            windows.append(start_or_resume(run, TICTACTOE, run_tasks, Watchers())[1].samples())
        assert not run_tasks.searchers
    assert np.array_equal(windows[0].values, windows[1].values)
    assert np.array_equal(windows[0].policies, windows[1].policies)


def test_fresh_targets_are_learned_from(whole: Path, overlap: str, tmp_path: Path) -> None:
    """Without reanalysis, the same games make another network."""
    run = Run.create(tmp_path / "run", settings(overlap, "selfplay.reanalyse=0", "length.generations=2"))
    with noting() as run_tasks:
        list(train(run, run_tasks, Watchers()))
    assert not run_tasks.searchers and not list(run.folder.glob("replay/*/fresh-*"))
    mine, theirs = hashes(run.folder), hashes(whole)
    assert all(
        mine[name] == theirs[name] for name in mine if name.startswith(("replay", "checkpoints/0001/net"))
    )
    assert mine["checkpoints/0002/net.onnx"] != theirs["checkpoints/0002/net.onnx"]
