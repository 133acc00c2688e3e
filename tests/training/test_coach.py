"""The loop: a run that is killed and goes on ends as one that was not."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tengen.training import checkpoint
from tengen.training.run import Run

SETTINGS = [
    "selfplay.games=24", "selfplay.games_per_shard=12", "selfplay.simulations=8", "selfplay.fast_simulations=4",
    "network.channels=8", "network.blocks=2", "learner.batch_size=32", "learner.parts=2", "measure.every=100",
]  # fmt: skip


def command(*arguments: str) -> list[str]:
    options = (
        [part for setting in SETTINGS for part in ("--set", setting)] if "--resume" not in arguments else []
    )
    return [sys.executable, "-m", "tengen", "train", *arguments, *options]


def hashes(run: Path) -> dict[str, str]:
    """Of every file that a later generation depends on, and of what plays."""
    found = [*run.glob("checkpoints/*/*.onnx"), *run.glob("checkpoints/*/weights.*"), *run.glob("replay/*/*")]
    return {str(file.relative_to(run)): hashlib.sha256(file.read_bytes()).hexdigest() for file in found}


def samples(run: Path) -> dict[str, str]:
    """The games to look at."""
    return {file.name: file.read_text() for file in run.glob("games/*")}


def metrics(run: Path) -> list[dict[str, Any]]:
    """Every number but times: seconds, and rates."""

    def timeless(numbers: dict[str, Any]) -> dict[str, Any]:
        return {
            name: timeless(number) if isinstance(number, dict) else number
            for name, number in numbers.items()
            if name not in ("seconds", "elapsed") and not name.endswith("_per_second")
        }

    return [timeless(json.loads(line)) for line in (run / "metrics.jsonl").read_text().splitlines()]


def assert_equal(run: Path, other: Path) -> None:
    """All that does not depend on the clock."""
    assert hashes(run) == hashes(other)
    for name in ("net.onnx", "int8.onnx", "weights.safetensors"):
        assert (run / "best" / name).read_bytes() == (other / "best" / name).read_bytes()
    assert samples(run) == samples(other) and len(samples(run)) == len(metrics(run))
    assert metrics(run) == metrics(other) and all(line["selfplay"]["games"] for line in metrics(run))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    done = subprocess.run(
        command("tictactoe", "--generations", "3", "--workers", "1"),
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder / "runs" / "tictactoe"


def test_a_run_leaves_what_it_promises(whole: Path) -> None:
    lines = [json.loads(line) for line in (whole / "metrics.jsonl").read_text().splitlines()]
    assert [line["generation"] for line in lines] == [1, 2, 3]
    assert all(line["selfplay"]["games"] == 24 and line["learner"]["policy"] > 0 for line in lines)
    assert json.loads((whole / "best" / "card.json").read_text())["generation"] == 3
    assert {path.name for path in (whole / "checkpoints").iterdir()} == {f"{i:04}" for i in range(4)}


def test_two_workers_play_the_same_run(whole: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        command("tictactoe", "--generations", "3", "--workers", "2"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert_equal(tmp_path / "runs" / "tictactoe", whole)


def test_a_run_killed_again_and_again_ends_the_same(whole: Path, tmp_path: Path) -> None:
    run = tmp_path / "runs" / "tictactoe"
    first, again = ("tictactoe", "--generations", "3"), ("--resume", "tictactoe", "--generations", "3")
    kills = 0
    for attempt in range(40):
        arguments = again if (run / "config.toml").exists() else first
        process = subprocess.Popen(
            command(*arguments, "--workers", "1"),
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        # Until something new is on the disk, and then a moment that differs from time to time.
        before, deadline = len(list(run.rglob("*"))), time.monotonic() + 60
        while process.poll() is None and len(list(run.rglob("*"))) <= before and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.05 * (attempt % 7))
        if process.poll() is not None:
            assert process.returncode == 0
            break
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
        if kills == 3:
            done = subprocess.run(
                command(*again, "--workers", "1"), cwd=tmp_path, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr
            break
    assert kills >= 2
    assert_equal(run, whole)


def test_what_a_killed_process_was_writing_is_removed(whole: Path, tmp_path: Path) -> None:
    run = tmp_path / "runs" / "t"
    shutil.copytree(whole, run)
    cut = run / "replay" / "0002" / ".shard-000.safetensors.ba6c4048"
    cut.write_bytes(b"")
    kept = [run / ".lock", run / "replay" / "0002" / ".notes.txt"]
    for file in kept:
        file.touch()
    subprocess.run(
        command("--resume", "t", "--generations", "4"), cwd=tmp_path, check=True, capture_output=True
    )
    assert not cut.exists() and all(file.exists() for file in kept)


def test_a_champion_takes_its_place_before_its_generation_counts(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the two in the last generation, nothing would put it there later."""
    copy = tmp_path / "run"
    shutil.copytree(whole, copy)
    run = Run.open(copy)
    (run.checkpoint(3) / "card.json").unlink()

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "promote", killed)
    with pytest.raises(KeyboardInterrupt):
        run.save_checkpoint(checkpoint.read(whole / "best"), champion=3)
    assert run.generation == 2


def test_a_damaged_shard_is_named(whole: Path, tmp_path: Path) -> None:
    copy = tmp_path / "runs" / "tictactoe"
    shutil.copytree(whole, copy)
    shard = copy / "replay" / "0002" / "shard-001.safetensors"
    shard.write_bytes(shard.read_bytes()[:100])
    done = subprocess.run(
        command("--resume", "tictactoe", "--generations", "4", "--workers", "1"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "shard-001.safetensors is damaged" in done.stderr and "Traceback" not in done.stderr


def test_a_run_is_not_begun_twice(whole: Path) -> None:
    done = subprocess.run(
        command("tictactoe", "--generations", "1"), cwd=whole.parent.parent, capture_output=True, text=True
    )
    again = f"is a run already: {sys.executable} -m tengen train --resume tictactoe"
    assert (done.returncode, again in done.stderr) == (2, True)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are Unix's")
def test_a_full_disk_stops_a_run_that_goes_on_later(whole: Path, tmp_path: Path) -> None:
    """Files that may not grow beyond some bytes fail as those on a full disk do."""
    import resource

    copy = tmp_path / "runs" / "tictactoe"
    shutil.copytree(whole, copy)
    for folder in (copy / "checkpoints" / "0003", copy / "replay" / "0003"):
        shutil.rmtree(folder)
    (copy / "checkpoints" / "0001" / "weights.safetensors").unlink(missing_ok=True)
    before = hashes(copy)
    for room, file in ((1_000, "shard-000"), (60_000, "weights.safetensors")):
        done = subprocess.run(
            command("--resume", "tictactoe", "--workers", "1"),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            preexec_fn=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (room, room)),
        )
        assert done.returncode == 2 and "Traceback" not in done.stderr
        assert "cannot write" in done.stderr and file in done.stderr
        assert before.items() <= hashes(copy).items()
    again = subprocess.run(command("--resume", "tictactoe", "--workers", "1"), cwd=tmp_path)
    assert again.returncode == 0
    kept = {name: value for name, value in hashes(whole).items() if name in hashes(copy)}
    assert hashes(copy) == kept and "checkpoints/0003/weights.safetensors" in kept
