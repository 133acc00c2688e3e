"""Commands that are printed run when they are copied into a shell."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tengen import games
from tengen.command_line import command

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program named tengen in .venv/bin, which started us; the PATH does not find it."""
    path = tmp_path / ".venv" / "bin" / "tengen"
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(sys, "argv", [".venv/bin/tengen", "demo"])
    return path


def test_it_is_named_as_it_was_started(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert command("runs") == ".venv/bin/tengen runs"
    monkeypatch.chdir(program.parent)
    monkeypatch.setattr(sys, "argv", ["./tengen"])
    assert command("runs") == "./tengen runs"
    monkeypatch.chdir("/usr")
    monkeypatch.setattr(sys, "argv", [str(program)])
    assert command("runs") == f"{program} runs"


def test_it_is_named_alone_where_the_path_finds_it(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(program.parent))
    assert command("runs") == "tengen runs"
    other = program.parent.parent / "tengen"  # another one comes first
    shutil.copy(program, other)
    monkeypatch.setenv("PATH", f"{other.parent}{os.pathsep}{program.parent}")
    assert command("runs") == ".venv/bin/tengen runs"


def test_a_module_is_started_by_its_interpreter(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/tengen/__main__.py"])
    assert command("runs") == f"{sys.executable} -m tengen runs"


def test_names_are_quoted(program: Path) -> None:
    said = command("train", "--resume", "it's my run", "--set", "measure.opponents=a b")
    assert shlex.split(said)[1:] == ["train", "--resume", "it's my run", "--set", "measure.opponents=a b"]


def test_game_files_are_repeated(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        games, "LOADED_FILES", [games.GameSource(str(program.parents[2] / "my game.py"), b"")]
    )
    assert command("play", "mygame") == ".venv/bin/tengen --games './my game.py' play mygame"


def test_a_printed_command_really_runs(tmp_path: Path) -> None:
    """Copied from what `runs` says where there are none."""
    said = subprocess.run(
        [sys.executable, "-m", "tengen", "runs"], cwd=tmp_path, capture_output=True, text=True
    ).stdout
    line = said.removeprefix("no runs in ./runs: ").removesuffix(" starts one\n")
    done = subprocess.run(f"{line} --help", shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "train" in done.stdout
