"""`tengen train` as a user sees it: its end, Ctrl-C, its lines and its panel. What it learns: tests/training."""

import ctypes
import io
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tengen import compiling
from tengen.cli import main
from tengen.cli.live import Lines, LivePanel, sparkline
from tengen.training.config import Config, LengthConfig
from tengen.training.config_files import from_toml, load
from tengen.training.learner import Losses
from tengen.training.run import Run
from tengen.training.selfplay import ShardStats
from tengen.training.watch import Watcher
from tengen.workers.local import reraise_swallowed_signals
from tests.training.made import add_generation, made_run, metrics_of
from tests.workers.test_local import wait_until_gone

SETTINGS = [
    "selfplay.games=1200", "selfplay.games_per_shard=12", "selfplay.simulations=8", "selfplay.fast_simulations=4",
    "network.channels=8", "network.blocks=2", "learner.parts=1",
]  # fmt: skip


def tengen(*arguments: str) -> int:
    with pytest.raises(SystemExit) as done:
        sys.argv = ["tengen", *arguments]
        main()
    return int(done.value.code or 0)


@pytest.fixture
def coached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[LengthConfig]:
    """Here, with a coach that trains nobody: the lengths it was asked for."""
    asked: list[LengthConfig] = []

    def coach(run: Run, run_tasks: object, watcher: Watcher, *others: object) -> list[object]:
        asked.append(run.config.length)
        add_generation(run, max(1, run.generation + 1))
        watcher.finished(run.metrics()[-1])
        return []

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [])
    monkeypatch.setattr("tengen.training.coach.train", coach)
    return asked


def test_a_run_goes_on_to_the_end_it_was_given_or_to_a_new_one(coached: list[LengthConfig]) -> None:
    assert tengen("train", "connect4", "--minutes", "20") == 0
    assert tengen("train", "--resume", "connect4") == 0
    assert tengen("train", "--resume", "runs/connect4", "--generations", "30") == 0
    assert tengen("train", "--resume", "connect4") == 0
    assert tengen("train", "--resume", "connect4", "--minutes", "9", "--generations", "40") == 0
    assert coached == [
        LengthConfig(20, 0),
        LengthConfig(20, 0),
        LengthConfig(0, 30),
        LengthConfig(0, 30),
        LengthConfig(9, 40),
    ]
    assert Run.open(Path("runs/connect4")).config.length == LengthConfig(9, 40)


def test_a_new_run_has_an_end_without_being_told(coached: list[LengthConfig]) -> None:
    assert tengen("train", "connect4", "-n", "other") == 0
    assert coached == [load("connect4").length]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["length.generations=2"], "2 generations; tengen train --resume run --generations 4 continues"),
        (
            ["length.generations=0", "length.minutes=1.5"],
            "1.5 minutes; tengen train --resume run --minutes 3 continues",
        ),
    ],
)
def test_a_finished_run_says_so(
    coached: list[LengthConfig], capsys: pytest.CaptureFixture[str], settings: list[str], said: str
) -> None:
    made_run(Path("runs/run"), 2, *settings)
    assert tengen("train", "--resume", "run") == 0
    assert capsys.readouterr().out == f"runs/run is finished: {said}\n"
    assert coached == []


@pytest.mark.parametrize("more", [["connect4"], ["--preset", "hour"], ["--name", "x"], ["--seed", "0"]])
def test_a_resumed_run_keeps_its_game_its_name_and_its_seed(
    coached: list[LengthConfig], capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    made_run(Path("runs/run"), 1)
    assert tengen("train", "--resume", "run", *more) == 2
    assert capsys.readouterr().err.startswith("tengen: --resume keeps the game, the name and the seed")
    assert coached == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["connect5"], "connect5"),
        ([], "which game?"),
        (["--resume", "none"], "no run in runs/none: tengen runs lists all runs"),
        (["connect4", "--set", "learner.batch_sise=3"], "[learner] has no setting 'batch_sise'"),
    ],
)
def test_a_mistake_leaves_no_run_behind(
    coached: list[LengthConfig], capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert tengen("train", *arguments) == 2
    assert message in capsys.readouterr().err
    assert coached == [] and not Path("runs").exists()


def test_a_line_a_generation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(made_run(tmp_path / "run", 3, "length.generations=10"))
    lines.finished(metrics_of(4))
    lines.finished(metrics_of(5) | {"selfplay": {"seconds": 0.1}})
    assert capsys.readouterr().out.splitlines() == [
        "generation 4 of 10, 100 games, 5.0/s, 10 moves each, loss policy 0.500 value 0.125, sims=64: good 66.7 %, "
        "uct:sims=200: score 60.0 %, 0:04:00 gone, about 0:06:00 left",
        "generation 5 of 10, loss policy 0.400 value 0.100, 0:05:00 gone, about 0:05:00 left",
    ]


@pytest.mark.parametrize(
    ("length", "left"),
    [
        (["length.minutes=7"], "about 0:02:00 left"),  # 100 generations would take longer
        (["length.minutes=7", "length.generations=6"], "about 0:01:00 left"),
        (["length.minutes=7", "length.generations=0"], "about 0:02:00 left"),
        (["length.generations=0"], "no end"),
    ],
)
def test_the_time_left_is_that_of_the_nearer_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], length: list[str], left: str
) -> None:
    Lines(made_run(tmp_path / "run", 4, *length)).finished(metrics_of(5))
    assert capsys.readouterr().out.endswith(f", 0:05:00 gone, {left}\n")


def shown(panel: LivePanel) -> list[str]:
    console = Console(file=io.StringIO(), width=80, height=24)
    with console.capture() as capture:
        console.print(panel.render())
    return capture.get().splitlines()


def cells(lines: list[str]) -> dict[str, str]:
    """What stands beside each word of the panel's first column."""
    inside = [line.strip("│ ") for line in lines if line.startswith("│")]
    return {line.split()[0]: " ".join(line.split()[1:]) for line in inside if line}


def test_the_panel_follows_a_generation(tmp_path: Path) -> None:
    panel = LivePanel(made_run(tmp_path / "run", 4, "length.generations=10"), Console(file=io.StringIO()))
    found = cells(shown(panel))
    assert (found["game"], found["generation"]) == ("connect4, anysize 48×5", "5 of 10")
    assert found["speed"] == "5.0 games, 25 positions, 2,000 simulations per second"
    assert found["replay"] == "window of 1,600 positions, 2,000 so far; cache hits 25 %"
    assert found["games"] == "10.0 moves each; first player wins 55 %, draws 5 %"
    assert found["run"].endswith("0:04:00 gone, about 0:06:00 left")
    assert found["loss"] == "policy 0.500 █▃▂▁"
    assert found["strength"] == "sims=64 good 66.7 % ▁█ best 66.7 % in gen. 4"
    panel.begin(5, "playing", 100)
    panel.played(ShardStats(60, 1000, 40_000, 55, 5, 1.5, (), 500))
    assert cells(shown(panel))["playing"].endswith(" 60/100 games")
    panel.begin(5, "learning", 3)
    panel.learned(Losses(0.5, 0.2, 0.1))
    panel.learned(Losses(0.3, 0.2, 0.1))
    found = cells(shown(panel))
    assert found["learning"].endswith(" 2/3 steps")
    assert found["loss"] == "policy 0.400 █▄▂▁▁"
    panel.begin(5, "measuring")
    assert "measuring" in cells(shown(panel))
    panel.finished(metrics_of(5) | {"gate": {"champion": 3}})
    assert cells(shown(panel))["generation"] == "5 of 10, the champion is 3"


def test_the_panel_shows_games_that_are_played_ahead(tmp_path: Path) -> None:
    panel = LivePanel(made_run(tmp_path / "run", 4, "length.generations=10"), Console(file=io.StringIO()))
    shard = ShardStats(60, 1000, 40_000, 55, 5, 1.5, (), 500)
    panel.begin(5, "playing", 60)
    panel.played(shard)
    panel.begin(6, "playing ahead", 180)
    panel.begin(5, "learning", 3)
    panel.played(shard)
    panel.learned(Losses(0.5, 0.2, 0.1))
    found = cells(shown(panel))
    assert found["generation"] == "5 of 10; 60/180 games ahead"
    assert found["learning"].endswith(" 1/3 steps")
    panel.finished(metrics_of(5))
    panel.begin(6, "playing", 120)  # the coach waits for these
    panel.played(shard)
    found = cells(shown(panel))
    assert found["generation"] == "6 of 10" and found["playing"].endswith(" 60/120 games")
    panel.begin(6, "learning", 3)
    panel.begin(7, "playing ahead", 180)
    assert cells(shown(panel))["generation"] == "6 of 10; 0/180 games ahead"


def test_the_panel_fits_a_small_terminal_and_leaves_room_for_what_ctrl_c_echoes(tmp_path: Path) -> None:
    """Also a run of many generations, with many opponents of long names."""
    run = made_run(tmp_path / ("long-name-" * 8), 0)
    panel = LivePanel(run, Console(file=io.StringIO(), width=80, height=24))
    assert cells(shown(panel))["generation"] == "1 of 100"
    many: dict[str, Any] = {f"alphabeta:depth={i},and=more{i}": {"score": 1.0} for i in range(20)}
    panel.finished(metrics_of(1000) | {"strength": many})
    lines = shown(panel)
    assert len(lines) < 24 and max(map(len, lines)) <= 78
    assert sum("best 100.0 % in gen. 1000" in line for line in lines) == 8


def test_a_sparkline_shows_all_of_a_history() -> None:
    assert sparkline([1, 2, 3, 4, 5, 6, 7, 8], 24) == "▁▂▃▄▅▆▇█"
    assert sparkline([0, 0, 4, 4, 8, 8], 3) == "▁▅█"
    assert sparkline([3, 3, 3], 24) == "▄▄▄"
    assert len(sparkline(list(range(1000)), 24)) == 24


def test_a_signal_that_c_code_swallows_comes_again(capfd: pytest.CaptureFixture[str]) -> None:
    """As when it comes while LLVM calls Numba back."""

    def interrupted() -> None:
        raise KeyboardInterrupt

    called_back = ctypes.CFUNCTYPE(None)(interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    try:
        with pytest.raises(KeyboardInterrupt), reraise_swallowed_signals():
            called_back()
            time.sleep(30)
    finally:
        signal.signal(signal.SIGINT, before)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("overlap", [0, 1])
def test_ctrl_c_keeps_finished_shards_and_says_how_to_go_on(tmp_path: Path, overlap: int) -> None:
    """With an overlap: while the first generation is learned from, and the second plays."""
    more = [f"selfplay.overlap={overlap}", "learner.passes=1000"] if overlap else []
    options = [part for setting in [*SETTINGS, *more] for part in ("--set", setting)]
    process = subprocess.Popen(
        [sys.executable, "-m", "tengen", "train", "tictactoe", "--workers", "2", *options],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored in the background
    )
    replay = tmp_path / "runs" / "tictactoe" / "replay" / f"{1 + overlap:04}"
    while len(list(replay.glob("shard-*.safetensors"))) < 3:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    workers = [
        int(child)
        for children in Path(f"/proc/{process.pid}/task").glob("*/children")
        for child in children.read_text().split()
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]
    assert len(workers) == (3 if overlap else 2)  # two play; one computes the gradients
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    said, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == ""
    assert errors.replace(f"tengen: {compiling.TEXT}\n", "").splitlines()[1:] == [
        f"tengen: stopped in generation 1, {sys.executable} -m tengen train --resume tictactoe continues"
    ]
    assert wait_until_gone(workers)
    left = sorted(file.name for file in replay.iterdir())
    assert len(left) >= 3 and all(re.fullmatch(r"shard-\d{3}\.safetensors", name) for name in left)


def test_config_prints_every_setting_of_a_game(capsys: pytest.CaptureFixture[str]) -> None:
    assert tengen("config", "gomoku9", "--preset", "night", "--set", "learner.parts=3") == 0
    printed = from_toml(capsys.readouterr().out, Config(""), "printed")
    assert printed == load("gomoku9", ["learner.parts=3"], preset="night")
    assert tengen("config") == 0 and 'game = ""' in capsys.readouterr().out
    assert tengen("config", "gomoku9", "--set", "learner.part=3") == 2
    assert "did you mean parts?" in capsys.readouterr().err
