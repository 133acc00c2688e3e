"""What tests of the command line share."""

import sys
from pathlib import Path

import pytest

from tengen import games
from tengen.cli import main


@pytest.fixture(autouse=True)
def no_game_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a new process: commands that are shown do not name the game files of other tests."""
    monkeypatch.setattr(games, "LOADED_FILES", [])


class Here:
    """Runs a command in this process: quicker, for what needs no process of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys

    def __call__(self, *arguments: str | Path) -> tuple[int, str, str]:
        """(exit code, stdout, stderr)"""
        self._monkeypatch.setattr(sys, "argv", ["tengen", *map(str, arguments)])
        with pytest.raises(SystemExit) as done:
            main()
        shown = self._capsys.readouterr()
        return int(done.value.code or 0), shown.out, shown.err

    def result(self, *arguments: str | Path) -> str:
        code, shown, errors = self(*arguments)
        assert code == 0, errors
        return shown


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(monkeypatch, capsys)
