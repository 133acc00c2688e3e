"""Kernels compiled beforehand: all that a first move needs, by several processes, and only once."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tengen import games, kernel_cache
from tengen.players import warming

FIRST_MOVE = """
from numba.core import event

compiled = []

class Compilations(event.Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].py_func.__qualname__)
    def on_end(self, event):
        pass

from tengen import games, players
from tengen.games.position import Position
from tengen.players import warming

game = games.find("connect4")
warming.num_cores = lambda: 2
warming.ahead(game)
event.register("numba:compile", Compilations())
player = players.find("zero:sims=20", game)
player.choose(Position.start(game))
print(compiled)
"""


def run(cache: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "PYTHONPATH": str(kernel_cache.PACKAGE.parent),
        "TENGEN_CACHE_DIR": str(cache),
    }
    environment.pop("NUMBA_CACHE_DIR", None)
    return subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, timeout=300
    )


def test_after_compiling_ahead_the_first_move_compiles_nothing(tmp_path: Path) -> None:
    done = run(tmp_path, "-c", FIRST_MOVE)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
    marks = list(tmp_path.glob("kernels-*/*.done"))
    assert len(marks) == 5
    again = run(
        tmp_path, "-c", FIRST_MOVE.replace("warming.ahead", "warming.compile_steps = None; warming.ahead")
    )
    assert (again.returncode, again.stdout, again.stderr) == (0, "[]\n", "")


def test_warm_says_each_step_and_the_second_time_that_all_is_there(tmp_path: Path) -> None:
    first = run(tmp_path, "-m", "tengen", "warm", "hex9", "hex7")
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("compiled for hex: ")
    lines = [line for line in first.stderr.splitlines() if not line.startswith("tengen: compiling")]
    assert [line.split()[0] for line in lines] == [f"{number}/8" for number in range(1, 9)]
    assert all("s left" in line for line in lines)
    again = run(tmp_path, "-m", "tengen", "warm", "hex7")
    assert (again.returncode, again.stdout, again.stderr) == (0, "compiled already for hex\n", "")
    unknown = run(tmp_path, "-m", "tengen", "warm", "hexx7")
    assert unknown.returncode == 2 and "unknown game 'hexx7', did you mean" in unknown.stderr


def test_what_a_helper_fails_to_do_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    performed, reported = list[str](), list[str]()
    monkeypatch.setattr(sys, "executable", "/bin/false")
    monkeypatch.setattr(warming, "perform", performed.append)
    warming.compile_steps(["one", "two", "three"], 2, lambda step, seconds: reported.append(step))
    assert sorted(performed) == sorted(reported) == ["one", "three", "two"]


def test_every_registered_game_belongs_to_a_family_and_a_game_from_a_file_to_none() -> None:
    bundled = [name for name, make in games.REGISTRY.items() if isinstance(make, partial)]  # not from files
    families = {warming.family_of(games.find(name)) for name in bundled}
    assert families == set(warming.FAMILIES)
    assert warming.family_of(warming.TINY) is None
    for name, game in warming.FAMILIES.items():
        assert warming.family_of(games.find(game)) == name


@pytest.mark.parametrize("step", warming.steps_of(warming.FAMILIES))
def test_every_step_can_be_done(step: str) -> None:
    warming.perform(step)
    assert warming.not_done([step]) == []
