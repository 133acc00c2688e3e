"""Settings that change in mid-run: which may, from when on, and that the run stays repeatable."""

from pathlib import Path

import pytest

from tengen.errors import UserError
from tengen.training.changes import FIXED, changed, in_force
from tengen.training.config import SECTIONS, Change, Config
from tengen.training.config_files import from_dict, from_toml, load, to_toml
from tengen.training.run import Run
from tests.cli.test_commands import result, tengen
from tests.training.made import made_run


def test_a_change_says_from_which_generation_on() -> None:
    begun = load("tictactoe")
    later = changed(
        begun, ["learner.learning_rate=0.001", "measure.every=5"], generation=4
    )  # the second is as it was
    later = changed(later, ["learner.learning_rate=0.0005", "selfplay.see_wins=true"], generation=9)
    assert later.changes == (
        Change(4, "learner.learning_rate", "0.002", "0.001", "--set"),
        Change(9, "learner.learning_rate", "0.001", "0.0005", "--set"),
        Change(9, "selfplay.see_wins", "False", "True", "--set"),
    )
    rates = [in_force(later, generation).learner.learning_rate for generation in (1, 3, 4, 8, 9)]
    assert rates == [0.002, 0.002, 0.001, 0.001, 0.0005]
    assert [in_force(later, generation).selfplay.see_wins for generation in (8, 9)] == [False, True]


def test_changes_survive_a_file_and_a_card() -> None:
    from dataclasses import asdict

    config = changed(load("tictactoe"), ['measure.opponents=uct:sims=3 "x"'], 2, why='said "so"')
    assert from_toml(to_toml(config), Config(""), "config.toml") == config
    assert from_dict(asdict(config)) == config


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("network.channels=9", "network.channels cannot change in the middle of a run: the stored weights"),
        ("network.start=zoo/x", "network.start cannot change in the middle of a run: the run has begun"),
        ("network.teacher_generations=3", "it says who played the stored games; it stays 20"),
        ("selfplay.games_per_shard=7", "the stored games were divided by it; it stays 128"),
        ("selfplay.discount=0.5", "the stored values were discounted by it; it stays 0.97"),
        ("replay.share=0.1", "the window of the stored generations was chosen by it; it stays 0.5"),
        ("learner.optimizer=sgd", "is of another kind; it stays muon"),
        ("learner.batch_sise=3", "did you mean batch_size?"),
        ("game=connect4", "--set is section.key=value, got 'game=connect4'"),
    ],
)
def test_what_the_stored_files_depend_on_stays(setting: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        changed(load("tictactoe"), [setting], 3)
    assert message in str(error.value)


def test_the_precision_can_be_chosen_until_it_is() -> None:
    chosen = changed(load("tictactoe"), ["selfplay.precision=fp32"], 0)
    with pytest.raises(UserError, match="it was chosen when the run began; it stays fp32"):
        changed(chosen, ["selfplay.precision=int8"], 1)


def test_every_fixed_setting_is_one() -> None:
    for name in FIXED:
        section, _, key = name.partition(".")
        assert section in SECTIONS and (not key or hasattr(SECTIONS[section](), key))


def test_other_games_make_the_next_generation_anew(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", 2)
    shards = [run.shard(generation, 0) for generation in (2, 3, 4)]  # 4: played ahead
    for shard in shards:
        shard.parent.mkdir(parents=True)
        shard.write_bytes(b"games")
    run.reconfigure(changed(run.config, ["measure.every=2"], 3))
    assert all(shard.exists() for shard in shards)
    run.reconfigure(changed(run.config, ["selfplay.simulations=99"], 3))
    assert [shard.exists() for shard in shards] == [True, False, False]


SMALL = [
    "selfplay.games=12", "selfplay.games_per_shard=6", "selfplay.simulations=4", "selfplay.fast_simulations=2",
    "network.channels=8", "network.blocks=2", "learner.batch_size=32", "learner.parts=1", "measure.every=0",
]  # fmt: skip


def test_a_run_goes_on_with_other_settings(tmp_path: Path) -> None:
    """And shards of the old settings that are lost are played again as they were."""
    settings = [part for setting in SMALL for part in ("--set", setting)]
    result("train", "tictactoe", "--generations", "1", "--workers", "1", *settings, cwd=tmp_path)
    run = Run.open(tmp_path / "runs" / "tictactoe")
    before = run.shard(1, 1).read_bytes()
    again = ("train", "--resume", "tictactoe", "--workers", "1")
    assert tengen(*again, "--set", "measure.opponents=human", cwd=tmp_path).returncode == 2
    assert run.config.measure.opponents == "perfect"
    run.shard(1, 1).unlink()
    result(*again, "--generations", "2", "--set", "selfplay.simulations=9", cwd=tmp_path)
    assert run.shard(1, 1).read_bytes() == before and run.generation == 2
    assert run.config.selfplay.simulations == 9 and in_force(run.config, 1).selfplay.simulations == 4
    done = tengen(*again, "--set", "network.blocks=3", cwd=tmp_path)
    assert done.returncode == 2 and "network.blocks cannot change" in done.stderr
