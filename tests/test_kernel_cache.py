"""Kernels are compiled once per state of the sources, and never answer with old rules."""

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
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


SYMBOL = """
import numpy as np
from tengen.games import hex
from tengen.games.batch import lift
game = hex.game(size=2)
legal = np.ones((1, 4), np.bool_)
lift(game).wins(game.new_state()[None], legal, legal.copy())
(compiled,) = lift(game).loops.wins.overloads.values()
print(compiled.fndesc.mangled_name)
"""


def test_two_processes_never_give_two_kernels_the_same_symbol(tmp_path: Path) -> None:
    """`any_wins` of Hex and of Othello have one name; a process that loads both tells them apart by it."""
    folders = [tmp_path / "one", tmp_path / "two"]
    one, two = (run(kernel_cache.PACKAGE, SYMBOL, TENGEN_CACHE_DIR=str(folder)) for folder in folders)
    assert "any_wins" in one and "any_wins" in two
    assert one != two


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


COUNTED = """
from tengen import kernel_files

def save(cache, signature, data, save=kernel_files.KernelCache.save_overload):
    save(cache, signature, data)
    print("compiled", cache._name)

kernel_files.KernelCache.save_overload = save
"""


def test_processes_that_start_together_compile_each_kernel_once(package_copy: Path) -> None:
    """As the workers of a machine do."""
    code = COUNTED + LOOPS.replace(', "connect4", "othello6", "hex7")', ")")
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(run, package_copy, code) for _ in range(3)]
        lines = [one.result().splitlines() for one in runs]
    compiled = [line for found in lines for line in found if line.startswith("compiled")]
    kernels = list((package_copy / "__pycache__").glob("kernels-*/**/*"))
    assert len([path for path in kernels if path.suffix == ".nbc"]) == len(compiled) > 10
    assert not [path for path in kernels if path.suffix == ".turn"]
    answers = [[line for line in found[:-1] if not line.startswith("compiled")] for found in lines]
    assert answers[0] == answers[1] == answers[2] and len(answers[0]) == 2


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


SMALL = """
from tengen.games.randomness import new_random, random_below
print(random_below(new_random(1), 10))
"""


def finish(package: Path, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """What a new process with this copy of the package says and how it ends."""
    variables = {
        **os.environ,
        "PYTHONPATH": str(package.parent),
        "PYTHONDONTWRITEBYTECODE": "1",
        **environment,
    }
    variables.pop("NUMBA_CACHE_DIR", None)
    return subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, timeout=240
    )


VERSION = "import sys; sys.argv = ['tengen', '--version']; from tengen.cli import main; main()"


@pytest.mark.parametrize("place", ["no home", "chosen: below a file", "chosen: a file", "chosen: /dev/full"])
def test_without_a_place_to_write_it_compiles_in_memory_and_says_so_once(
    package_copy: Path, tmp_path: Path, place: str
) -> None:
    """Root may write anywhere, so files stand where folders would be."""
    file = tmp_path / "file"
    file.write_text("")
    (package_copy / "__pycache__").write_text("")
    kind, _, chosen = place.partition(": ")
    paths = {"below a file": file / "cache", "a file": file, "/dev/full": Path("/dev/full")}
    if kind == "chosen":
        environment = {"TENGEN_CACHE_DIR": str(paths[chosen])}
    else:
        environment = {"HOME": str(file / "home"), "XDG_CACHE_HOME": ""}
    done = finish(package_copy, VERSION, **environment)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("tengen ")
    done = finish(package_copy, SMALL, **environment)
    assert done.returncode == 0 and done.stdout.strip().isdigit()
    lines = [line for line in done.stderr.splitlines() if not line.startswith("tengen: compiling")]
    assert len(lines) == 1 and lines[0].startswith("tengen: compiled kernels cannot be kept in")
    assert file.read_text() == ""


def test_a_disk_that_is_full_in_the_middle_of_a_file_costs_one_line(
    package_copy: Path, tmp_path: Path
) -> None:
    """The limit lets the small index through and cuts the kernel short."""
    limited = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
    )
    cache = {"TENGEN_CACHE_DIR": str(tmp_path / "cache")}
    done = finish(package_copy, limited + SMALL, **cache)
    assert done.returncode == 0 and done.stdout.strip().isdigit()
    assert done.stderr.count("cannot be kept") == 1 and "Traceback" not in done.stderr
    assert not list(tmp_path.glob("cache/**/*.nbc")) and not list(tmp_path.glob("cache/**/*.tmp*"))
    again = finish(package_copy, SMALL, **cache)  # there is room again
    assert again.stdout == done.stdout and "cannot be kept" not in again.stderr
    assert list(tmp_path.glob("cache/**/*.nbc"))


def test_a_damaged_kernel_file_is_compiled_anew_and_replaced(package_copy: Path, tmp_path: Path) -> None:
    cache = {"TENGEN_CACHE_DIR": str(tmp_path / "cache")}
    good = finish(package_copy, SMALL, **cache)
    assert good.returncode == 0, good.stderr
    files = {file: file.read_bytes() for file in tmp_path.glob("cache/**/*.*") if file.is_file()}
    assert files and all(file.suffix == ".nbc" for file in files)

    def flipped(data: bytes) -> bytes:
        middle = len(data) // 2  # of the machine code: loaded as it is, it would crash
        return data[:middle] + bytes(255 - byte for byte in data[middle : middle + 64]) + data[middle + 64 :]

    for damage in (
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: b"\x80garbage",
        flipped,
    ):
        for file, data in files.items():
            file.write_bytes(damage(data))
        done = finish(package_copy, SMALL, **cache)
        assert (done.returncode, done.stdout) == (0, good.stdout), done.stderr
        assert "Traceback" not in done.stderr
        assert all(file.read_bytes() != damage(data) for file, data in files.items())
    code = SMALL + "print(sum(random_below.stats.cache_misses.values()))"
    assert finish(package_copy, code, **cache).stdout == good.stdout + "0\n"


TWO_TYPES = """
import sys, time
import numpy as np
from tengen import kernel_files
from tengen.games.randomness import next_random

save = kernel_files._Files.save
def slow_save(self, key, data):
    time.sleep(1)  # both have looked which kernels there are before one is written
    save(self, key, data)
kernel_files._Files.save = slow_save
print(next_random(np.array([1], sys.argv[1])))
"""


def test_kernels_for_other_types_compiled_at_the_same_time_do_not_take_each_others_place(
    package_copy: Path, tmp_path: Path
) -> None:
    environment = {
        **os.environ, "PYTHONPATH": str(package_copy.parent), "TENGEN_CACHE_DIR": str(tmp_path / "cache"),
    }  # fmt: skip
    environment.pop("NUMBA_CACHE_DIR", None)

    def start(kind: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", TWO_TYPES, kind]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)

    kinds = ("uint64", "uint32")
    first = [process.communicate(timeout=240)[0] for process in [start(kind) for kind in kinds]]
    assert len(list(tmp_path.glob("cache/**/randomness.next_random*.nbc"))) == 2
    again = [start(kind).communicate(timeout=240)[0] for kind in kinds]
    assert again == first and first[0] != first[1]


def test_kernels_in_a_folder_that_can_only_be_read_are_used(package_copy: Path, tmp_path: Path) -> None:
    good = finish(package_copy, SMALL)
    assert good.returncode == 0 and list(package_copy.glob("__pycache__/kernels-*/**/*.nbc"))
    unwritable = (
        "import os, pathlib\n"
        "def refuse(*_): raise OSError(30, 'Read-only file system')\n"
        "pathlib.Path.write_bytes = refuse\n"
    )
    code = unwritable + SMALL + "print(sum(random_below.stats.cache_misses.values()))"
    done = finish(package_copy, code, HOME=str(tmp_path / "home"), XDG_CACHE_HOME="")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", good.stdout + "0\n")
