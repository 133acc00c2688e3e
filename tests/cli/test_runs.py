"""`tengen runs` and `tengen report`, run as a user runs them."""

import json
import sys
from pathlib import Path

import pytest

from tengen.cli import main
from tests.training.made import made_run


def tengen(*arguments: str) -> int:
    with pytest.raises(SystemExit) as done:
        sys.argv = ["tengen", *arguments]
        main()
    return int(done.value.code or 0)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [])


def test_runs_are_listed_with_how_far_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    made_run(Path("runs/long"), 3, "network.channels=16", "network.blocks=2", "length.minutes=20")
    made_run(Path("runs/short"), 2, "length.generations=2", 'network.name="gobang"')
    made_run(Path("runs/young"), 0, "length.generations=0")
    (Path("runs") / "ladder").mkdir()  # a tournament's folder, not a run
    assert tengen("runs") == 0
    rows = {line.split()[0]: line.split() for line in capsys.readouterr().out.splitlines()}
    assert set(rows) == {"run", "long", "short", "young"}
    assert rows["long"][1:7] == ["connect4", "anysize", "16×2", "3/100", "3.0/20", "1,500"]
    assert rows["short"][1:5] == ["connect4", "gobang", "2/2", "2.0/∞"]
    assert "1.000 0.250 sims=64 good 50.0 %" in " ".join(rows["short"])
    assert [rows[name][-1] for name in ("long", "short", "young")] == ["no", "yes", "no"]


def test_runs_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    made_run(Path("runs/one"), 4, "length.generations=4")
    assert tengen("runs", "--json") == 0
    (one,) = json.loads(capsys.readouterr().out)
    assert (one["name"], one["generations"], one["minutes"], one["is_finished"]) == ("one", 4, 4.0, True)
    assert one["losses"] == {"policy": 0.5, "value": 0.125}
    assert one["strength"]["sims=64"]["good"]["rate"] == pytest.approx(4 / 6)


def test_damaged_runs_are_listed_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    made_run(Path("runs/good"), 1)
    for name in ("no-config", "bad-config", "bad-metrics", "cut-metrics"):
        made_run(Path("runs") / name, 1)
    Path("runs/no-config/config.toml").unlink()
    Path("runs/bad-config/config.toml").write_bytes(b"\xff\xfe")
    Path("runs/bad-metrics/metrics.jsonl").write_text('{"generation": 1}\n')
    Path("runs/cut-metrics/metrics.jsonl").write_text('{"generat')
    assert tengen("runs") == 0
    shown = capsys.readouterr().out
    assert "\ngood" in shown
    for line in (
        "no-config  config.toml is missing",
        "bad-config  config.toml: Invalid statement",
        "bad-metrics  runs/bad-metrics/metrics.jsonl is damaged: line 1 has no elapsed",
        "cut-metrics  runs/cut-metrics/metrics.jsonl is damaged: ",
    ):
        assert f"  {line}" in shown
    assert tengen("runs", "--json") == 0
    assert sorted(one["name"] for one in json.loads(capsys.readouterr().out) if "damaged" in one) == [
        "bad-config", "bad-metrics", "cut-metrics", "no-config",
    ]  # fmt: skip


def test_no_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert tengen("runs") == 0
    assert capsys.readouterr().out == "no runs in ./runs: tengen train connect4 --minutes 20 starts one\n"
    assert (tengen("runs", "--json"), capsys.readouterr().out) == (0, "[]\n")


def test_a_report_is_written_and_its_path_printed(capsys: pytest.CaptureFixture[str]) -> None:
    made_run(Path("runs/one"), 4)
    assert tengen("report", "one") == 0
    assert capsys.readouterr().out == "runs/one/report.html\n"
    assert Path("runs/one/report.html").read_text().startswith("<!doctype html>")
    assert tengen("report", "runs/one", "--out", "strength.svg") == 0
    assert capsys.readouterr().out == "strength.svg\n"
    assert Path("strength.svg").read_text().startswith("<svg ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none",), "tengen: no run in runs/none: tengen runs lists all runs\n"),
        (("one", "--out", "x.pdf"), "tengen: --out is a file that ends in .html or .svg, got x.pdf\n"),
        (("one", "--out", "no/x.html"), "tengen: cannot write no/x.html: No such file or directory\n"),
    ],
)
def test_a_report_that_cannot_be(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made_run(Path("runs/one"), 1)
    assert tengen("report", *arguments) == 2
    assert capsys.readouterr().err == message


def test_a_run_is_removed_only_when_that_is_meant(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("my run", "other"):
        made_run(Path("runs") / name, 2)
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    assert tengen("runs", "rm", "my run") == 2
    assert (
        capsys.readouterr().err
        == "tengen: cannot ask outside a terminal: tengen runs rm 'my run' --yes removes it\n"
    )
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return "y" if len(asked) == 2 else ""

    monkeypatch.setattr("builtins.input", answer)
    assert tengen("runs", "rm", "my run") == 1
    assert Path("runs/my run/config.toml").is_file()
    assert tengen("runs", "rm", "my run") == 0
    assert asked == 2 * ["Remove runs/my run (connect4, 2 generations, 2.0 minutes of work)? [y/N] "]
    assert [folder.name for folder in Path("runs").iterdir()] == ["other"]
    Path("runs/other/config.toml").write_text("damaged [")
    assert tengen("runs", "rm", "other", "--yes") == 0 and not list(Path("runs").iterdir())


@pytest.mark.parametrize("name", ["none", "..", "../runs/one", "/"])
def test_what_is_no_run_is_not_removed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    made_run(Path("runs/one"), 1)
    Path("runs/none").mkdir()  # a tournament's folder, perhaps
    Path("runs/none/games.jsonl").write_text("")
    assert tengen("runs", "rm", name, "--yes") == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert Path("runs/one/config.toml").is_file() and Path("runs/none/games.jsonl").is_file()
