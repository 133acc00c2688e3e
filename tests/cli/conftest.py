"""What tests of the command line share."""

import pytest

from tengen import games


@pytest.fixture(autouse=True)
def no_game_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a new process: commands that are shown do not name the game files of other tests."""
    monkeypatch.setattr(games, "LOADED_FILES", [])
