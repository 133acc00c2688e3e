"""`tengen ablate`: the runs it trains, the matches they play, and what the table says."""

import json
import os
import signal
from functools import partial
from pathlib import Path

import pytest

from tengen import games
from tengen.arena.match import Tally
from tengen.arena.played import PlayedGame
from tengen.arena.score import interval
from tengen.errors import UserError
from tengen.training.ablation import Ablation, row_of
from tengen.training.run import Run
from tests.cli.conftest import Here
from tests.cli.test_arena_commands import begin, children, wait_for
from tests.workers.test_local import wait_until_gone

SETTINGS = (
    "selfplay.games=8", "selfplay.simulations=4", "selfplay.considered=4", "selfplay.precision=fp32",
    "network.channels=8", "network.blocks=2", "learner.precision=fp32",
)  # fmt: skip
SMALL = [word for setting in SETTINGS for word in ("--set", setting)]
COMMAND = ["ablate", "tictactoe", "selfplay.td_lambda=0.5", *SMALL, "--player", "sims=8", "-n", "4"]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Here:
    monkeypatch.chdir(tmp_path)
    return Here(monkeypatch, capsys)


def ablation(*changes: str, player: str = "sims=8") -> Ablation:
    return Ablation(games.find("tictactoe"), "a", changes, (1, 2), SETTINGS, None, player, 4)


def test_only_the_change_is_different_within_a_seed() -> None:
    runs = ablation("learner.passes=2", "selfplay.noise=0 selfplay.td_lambda=1").runs()
    assert [(run.name, run.seed) for run in runs] == [
        ("a-1", 1),
        ("a-1-learner.passes-2", 1),
        ("a-1-selfplay.noise-0-selfplay.td_lambda-1", 1),
        ("a-2", 2),
        ("a-2-learner.passes-2", 2),
        ("a-2-selfplay.noise-0-selfplay.td_lambda-1", 2),
    ]
    configured, passes, several = (run.config for run in runs[:3])
    assert configured.seed == 1 and (configured.learner.parts, configured.measure.every) == (1, 0)
    assert passes.learner.passes == 2 and passes.selfplay == configured.selfplay
    assert (several.selfplay.noise, several.selfplay.td_lambda) == (0, 1)
    assert several.learner == configured.learner


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (ablation("learner.pases=2"), "passes"),
        (ablation("learner.passes=2", "learner.passes=2"), "two changes or two seeds are the same"),
        (ablation("learner.passes=2", player="sims=many"), "sims is a whole number, got 'many'"),
        (ablation("selfplay.td_lambda=0.9"), "td_lambda=0.9 changes nothing: tictactoe is configured so"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_is_trained(
    wrong: Ablation, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=message):
        wrong.runs()
    assert not list(tmp_path.iterdir())


def test_the_row_of_all_seeds_has_all_their_pairs() -> None:
    def played(*results: str) -> list[PlayedGame]:
        """The results of A, who moves first in the games with even index."""
        as_black = {"1": "1-0", "½": "1/2", "0": "0-1"}
        swapped = {"1": "0-1", "½": "1/2", "0": "1-0"}
        return [
            PlayedGame(i, "tictactoe", ("", ""), 0, (), (swapped if i % 2 else as_black)[one], "", (), 0)
            for i, one in enumerate(results)
        ]

    first, second = played("1", "1", "1", "½"), played("0", "1", "½", "½")
    row = row_of("change", None, None, [first, second])
    assert row.total == Tally(4, 3, 1) and row.score == 5.5 / 8
    low, high = interval([0, 0, 2, 1, 1])  # pairs of ½ + ½ and 0 + 1, of 1½ points, of 2
    assert row.score_interval == (low, high) and low < row.score < high


def test_the_command_trains_plays_and_continues(here: Here) -> None:
    command = [*COMMAND, "--generations", "1", "--seeds", "3"]
    found = json.loads(here.result(*command, "--json"))
    [row] = found["rows"]
    assert (row["change"], row["seed"], row["generations"]) == ("selfplay.td_lambda=0.5", 3, [1, 1])
    assert sum(row["total"].values()) == 4
    runs = [Path("runs/ablation-tictactoe-3"), Path("runs/ablation-tictactoe-3-selfplay.td_lambda-0.5")]
    assert [Run.open(run).config.selfplay.td_lambda for run in runs] == [0.9, 0.5]
    logs = sorted(Path("runs").rglob("games.jsonl"))
    before = [(file, file.read_bytes()) for file in [*logs, *(run / "metrics.jsonl" for run in runs)]]
    shown = here.result(*command)  # all that is complete is kept
    assert (
        "tictactoe: as configured against a change, 1 generation on one core each; 4 games with sims=8"
        in shown
    )
    assert shown.splitlines()[-1].startswith("selfplay.td_lambda=0.5     3         1, 1")
    assert [(file, file.read_bytes()) for file, _ in before] == before
    code, _, errors = here(*COMMAND, "--generations", "2", "--seeds", "3")
    assert (
        code == 2
        and "runs/ablation-tictactoe-3 was trained with other settings: choose another --name" in errors
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--generations", "1", "--seeds", "1,x"],
            "--seeds are different numbers from 0 on, such as 1,2, got '1,x'",
        ),
        (["--generations", "1", "--minutes", "1"], "how long is each run? Give --minutes or --generations"),
        (
            ["--generations", "1", "-n", "3"],
            "each opening is played with both colours: games must be 2, 4, 6, …, got 3",
        ),
    ],
)
def test_a_wrong_command_is_one_line(here: Here, words: list[str], message: str) -> None:
    code, shown, errors = here(*COMMAND, *words)
    assert (code, shown) == (2, "") and errors == f"tengen: {message}\n"
    assert not Path("runs").exists()


def has_two_children(pid: int) -> bool:
    return len(children(pid)) == 2


def test_ctrl_c_or_a_killed_training_ends_the_others(here: Here) -> None:
    command = [*COMMAND, "--generations", "1000", "--seeds", "1", "--workers", "2"]
    runs = [Path("runs/ablation-tictactoe-1"), Path("runs/ablation-tictactoe-1-selfplay.td_lambda-0.5")]
    for is_killed, code, said in (
        (False, 130, "tengen: stopped; "),
        (True, 1, "could not be trained: exit code -9; "),
    ):
        process = begin(*command)
        wait_for(lambda: all((run / "metrics.jsonl").exists() for run in runs), process)
        wait_for(partial(has_two_children, process.pid), process)
        trainings = children(process.pid)
        os.kill(trainings[0], signal.SIGKILL) if is_killed else os.killpg(process.pid, signal.SIGINT)
        assert process.communicate(timeout=60)[1].endswith(f"{said}the same command continues\n")
        assert process.returncode == code and wait_until_gone(trainings)
    assert all(not Run.open(run).is_finished for run in runs)
    (runs[0] / "config.toml").write_text((runs[0] / "config.toml").read_text() + "# edited\n")
    code, _, errors = here(*command)
    assert code == 2 and errors.count("\n") == 1 and "config.toml" in errors
