"""Kernels are compiled once per state of the sources, and never answer with old rules."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tengen import kernel_cache


@pytest.fixture
def package_copy(tmp_path: Path) -> Path:
    """A copy of the sources that a test may edit."""
    copy = tmp_path / "tengen"
    shutil.copytree(kernel_cache.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def run(package: Path, code: str, **environment: str) -> str:
    """What a new process prints, with this copy of the package."""
    variables = {**os.environ, "PYTHONPATH": str(package.parent), **environment}
    variables.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


PLAY_OUT = """
from tengen.games import connect4
from tengen.games.randomness import new_random
game = connect4.game()
state = game.new_state()
game.rollout(state, new_random(1))
print("".join(map(str, state[game.cells])))
"""


def test_an_edit_of_a_helper_in_another_file_is_not_answered_with_the_old_rules(package_copy: Path) -> None:
    """connect4.rollout calls random_below, which lives in another file: Numba alone would miss the edit."""
    before = run(package_copy, PLAY_OUT)
    assert run(package_copy, PLAY_OUT) == before
    source = package_copy / "games" / "randomness.py"
    text = source.read_text()
    mirrored = text.replace("    return np.int64(", "    return limit - 1 - np.int64(")
    assert mirrored != text
    source.write_text(mirrored)
    after = run(package_copy, PLAY_OUT)
    rows = [before[i : i + 7] for i in range(0, 42, 7)]
    assert after == "".join(row[::-1] for row in rows) != before
    folders = list((package_copy / "__pycache__").glob("kernels-*"))
    assert len(folders) == 2


def test_the_second_process_compiles_nothing(package_copy: Path) -> None:
    run(package_copy, PLAY_OUT)
    code = PLAY_OUT + "print(sum(connect4.rollout.stats.cache_misses.values()))"
    assert run(package_copy, code).splitlines()[-1] == "0"


LOOPS = """
from numba.core import event

class Compilations(event.Listener):
    count = 0
    def on_start(self, event):
        Compilations.count += 1
    def on_end(self, event):
        pass

event.register("numba:compile", Compilations())

from tengen import games
from tengen.games.batch import lift
from tengen.games.randomness import new_random
from tengen.search import uct

for name in ("tictactoe", "gomoku6", "connect4", "othello6", "hex7"):
    game = games.find(name)
    found = uct.search(game, game.new_state(), 50, uct.Uct(), new_random(1))
    print(name, lift(game).perft(game.new_state(), 3), found.visits.tolist())
print(Compilations.count)
"""


def test_loops_over_rules_are_kept_each_for_its_own_rules(package_copy: Path) -> None:
    first, again = run(package_copy, LOOPS).splitlines(), run(package_copy, LOOPS).splitlines()
    assert again[:-1] == first[:-1]
    assert [int(line.split()[1]) for line in first[:-1]] == [504, 42840, 343, 56, 110544]
    assert int(first[-1]) > 20 and again[-1] == "0"


def test_the_name_depends_on_kernel_sources_and_on_nothing_else(package_copy: Path) -> None:
    before = kernel_cache.sources_hash(package_copy)
    assert before == kernel_cache.sources_hash()
    (package_copy / "errors.py").write_text("# no kernel here\n")
    assert kernel_cache.sources_hash(package_copy) == before
    with (package_copy / "games" / "hex.py").open("a") as file:
        file.write("\n")
    assert kernel_cache.sources_hash(package_copy) != before


def test_old_folders_are_pruned_and_the_used_ones_kept(tmp_path: Path) -> None:
    for age in range(6):
        folder = tmp_path / f"kernels-{age}"
        folder.mkdir()
        (folder / "kernel.nbc").write_bytes(b"compiled")
        os.utime(folder, (time.time() - age * 100, time.time() - age * 100))
    kernel_cache.prune(tmp_path, keep=4)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"kernels-{age}" for age in range(4)]


def test_a_read_only_package_keeps_its_kernels_with_the_user(package_copy: Path, tmp_path: Path) -> None:
    """Root may write anywhere, so the folder is made unusable instead: a file stands where it would be."""
    (package_copy / "__pycache__").write_text("")
    home = tmp_path / "home"
    code = "import os, tengen; print(os.environ['NUMBA_CACHE_DIR'])"
    folder = run(
        package_copy, code, HOME=str(home), XDG_CACHE_HOME=str(home / "cache"), PYTHONDONTWRITEBYTECODE="1"
    )
    assert Path(folder).is_relative_to(home) and Path(folder).is_dir()


def test_numba_imported_first_is_told_too(package_copy: Path) -> None:
    code = "import numba, tengen, os; print(numba.config.CACHE_DIR == os.environ['NUMBA_CACHE_DIR'])"
    assert run(package_copy, code) == "True"
