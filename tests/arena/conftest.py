"""The failing players, by name."""

import pytest

from tengen import players
from tests.arena import fakes


@pytest.fixture
def fake_players(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, where in fakes.REGISTRY.items():
        monkeypatch.setitem(players.REGISTRY, name, where)
