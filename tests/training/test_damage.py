"""Damaged files of a run are named in one line, with what to do; and doing it helps."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tengen.cli import main
from tengen.training.run import Run
from tests.training.test_coach import hashes, whole  # noqa: F401  (a fixture)

Damage = Callable[[Path], None]


def flip(path: Path) -> None:
    """One bit, in the middle."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def flip_end(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def cut_at_a_line(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: data.index(b"\n", len(data) // 2) + 1])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def missing(path: Path) -> None:
    path.unlink()


@pytest.fixture
def copy(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: F811
    """A run of three generations, named from here on."""
    shutil.copytree(whole, tmp_path / "runs" / "tictactoe")
    monkeypatch.chdir(tmp_path)
    return Path("runs/tictactoe")


@pytest.fixture
def resume(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Goes on to a generation; returns the line of the refusal, "" if there is none."""

    def resume(generations: int, *more: str) -> str:
        arguments = ["train", "--resume", "tictactoe", "--generations", str(generations), "--workers", "1"]
        monkeypatch.setattr(sys, "argv", ["tengen", *arguments, *more])
        with pytest.raises(SystemExit) as done:
            main()
        said = capsys.readouterr().err.splitlines()
        if not done.value.code:
            return ""
        assert done.value.code == 2 and said[-1].startswith("tengen: ") and len(said) <= 2
        return said[-1]

    return resume


CHECKPOINT = "remove the folder runs/tictactoe/checkpoints/0003, and the run continues from generation 2"
GAMES = "remove it, and its games are played again"
SETTINGS = "remove it, and it is made again from the newest checkpoint"


@pytest.mark.parametrize(
    ("name", "damage", "advice"),
    [
        ("checkpoints/0003/weights.safetensors", flip, CHECKPOINT),
        ("checkpoints/0003/weights.safetensors", missing, CHECKPOINT),
        ("checkpoints/0003/card.json", flip, CHECKPOINT),
        ("checkpoints/0003/gate.json", flip, CHECKPOINT),
        ("checkpoints/0003/net.onnx", missing, CHECKPOINT),
        ("checkpoints/0003/manifest.json", cut, CHECKPOINT),
        ("replay/0001/shard-000.safetensors", flip_end, GAMES),
        ("replay/0002/shard-001.safetensors", flip, GAMES),
        ("replay/0002/shard-001.safetensors", empty, GAMES),
        ("config.toml", cut_at_a_line, SETTINGS),
        ("config.toml", empty, SETTINGS),
        ("config.toml", flip_end, SETTINGS),
        ("metrics.jsonl", cut_at_a_line, "remove it, and it is made again"),
        ("metrics.jsonl", empty, "remove it, and it is made again"),
    ],
)
def test_damage_is_named_and_the_advice_helps(
    copy: Path, resume: Callable[..., str], name: str, damage: Damage, advice: str
) -> None:
    before = hashes(copy)
    damage(copy / name)
    said = resume(4)
    assert f"runs/tictactoe/{name}" in said and advice in said
    if advice is CHECKPOINT:
        shutil.rmtree(copy / "checkpoints" / "0003")
    else:
        (copy / name).unlink()
    if advice is GAMES:  # of a run that is finished, nobody asks for old games
        assert resume(4) == "" and len(Run.open(copy).metrics()) == 4
        games = {name: value for name, value in before.items() if name.startswith("replay")}
        assert games.items() <= hashes(copy).items()  # they are as they were
    else:
        assert resume(3) == "" and len(Run.open(copy).metrics()) == 3
        assert hashes(copy) == before


def test_one_wrong_digit_in_the_metrics_is_noticed(copy: Path, resume: Callable[..., str]) -> None:
    path = copy / "metrics.jsonl"
    path.write_text(path.read_text().replace('"steps": ', '"steps": 1', 1))
    assert "metrics.jsonl is damaged: generation 1 does not match its checkpoint" in resume(4)


def test_settings_edited_by_hand_are_refused_with_the_way_to_change_them(
    copy: Path, resume: Callable[..., str]
) -> None:
    path = copy / "config.toml"
    path.write_text(path.read_text().replace("simulations = 8", "simulations = 9", 1))
    said = resume(4)
    assert "config.toml is damaged or was edited" in said
    assert "train --resume tictactoe --set SECTION.KEY=VALUE changes a setting" in said


def test_a_run_of_an_older_version_still_opens(copy: Path, resume: Callable[..., str]) -> None:
    """Without hashes, manifests, and in the shards statistics and what is proven."""
    import safetensors.numpy

    for path in [*copy.glob("replay/*/*"), *copy.glob("*/*/weights.safetensors")]:
        arrays = safetensors.numpy.load(path.read_bytes())
        arrays.pop("is_proven", None)
        path.write_bytes(safetensors.numpy.save(arrays))
    for path in copy.glob("checkpoints/*/manifest.json"):
        path.unlink()
    config = copy / "config.toml"
    lines = config.read_text().split("\n[[changes]]")[0].splitlines()
    config.write_text("\n".join(line for line in lines if not line.startswith("#")) + "\n")
    assert resume(4) == ""
    assert len(Run.open(copy).metrics()) == 4
    lines = config.read_text().splitlines(keepends=True)
    config.write_text("".join(line for line in lines[: len(lines) // 2] if not line.startswith("#")))
    assert "config.toml is cut short" in resume(5)
