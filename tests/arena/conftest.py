"""The failing players, by name; and somewhere to play."""

from collections.abc import Iterator

import pytest

from tengen import players
from tengen.workers.local import LocalWorkers
from tengen.workers.tasks import RunTasks
from tests.arena import fakes


@pytest.fixture(scope="module")
def run_tasks() -> Iterator[RunTasks]:
    """In this process."""
    with LocalWorkers(1) as run_tasks:
        yield run_tasks


@pytest.fixture(scope="module")
def in_two() -> Iterator[RunTasks]:
    """In two processes."""
    with LocalWorkers(2) as run_tasks:
        yield run_tasks


@pytest.fixture
def fake_players(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, where in fakes.REGISTRY.items():
        monkeypatch.setitem(players.REGISTRY, name, where)
