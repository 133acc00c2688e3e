"""Where the work of a command is done, and what is said when that place is not there."""

import importlib.util
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from tengen.errors import MissingExtraError, UserError
from tengen.workers.local import LocalWorkers
from tengen.workers.place import Place


def test_without_a_cluster_everything_is_done_here() -> None:
    with Place(workers=1).run_tasks() as run_tasks:
        assert isinstance(run_tasks, LocalWorkers)
    with Place(workers=1).for_training() as hands:
        assert hands.run_tasks is hands.run_gradients and hands.describe is None


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (Place(cluster="dask"), "expected --cluster ray, got 'dask'"),
        (Place(cluster=""), "expected --cluster ray, got ''"),
        (Place(address="127.0.0.1:6379"), "--address is the address of a cluster: add --cluster ray"),
    ],
)
def test_a_place_that_there_is_not_is_one_clear_line(place: Place, message: str) -> None:
    for ask in (place.run_tasks, place.for_training):
        with pytest.raises(UserError) as error, ask():
            pass
        assert str(error.value) == message


def test_without_ray_only_the_cluster_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec

    def find_all_but_ray(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "ray" else find(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find_all_but_ray)
    with pytest.raises(
        MissingExtraError, match=r"--cluster ray needs the ray extra: pip install '\.\[ray\]'"
    ):
        Place(cluster="ray").run_tasks().__enter__()


def test_a_command_without_ray_installed_says_what_to_install(tmp_path: Path) -> None:
    """A real process in which Ray cannot be imported."""
    (tmp_path / "ray.py").write_text("raise ImportError('not here')\n")
    hidden = "import sys, importlib.util as u; f = u.find_spec\n"
    hidden += "u.find_spec = lambda name, package=None: None if name == 'ray' else f(name, package)\n"
    hidden += "sys.argv = ['tengen', 'match', 'tictactoe', 'uniform', 'uniform', '-n', '2', *sys.argv[1:]]\n"
    hidden += "from tengen.cli import main; main()"
    command = [sys.executable, "-c", hidden]
    there = subprocess.run(
        [*command, "--workers", "1"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert there.returncode == 0, there.stderr
    gone = subprocess.run(
        [*command, "--cluster", "ray"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert gone.returncode == 2
    assert gone.stderr == "tengen: --cluster ray needs the ray extra: pip install '.[ray]' in the clone\n"
