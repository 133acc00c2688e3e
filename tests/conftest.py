"""What all tests share: golden files, which `pytest --regen` writes anew (look at the diff)."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

# Tests share the cores. PyTorch's threads wait for each other in busy loops, which is a third faster where nothing
# else runs and many times slower where something does. It reads this when it is first imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# A shell starts jobs in the background deaf to Ctrl-C, and so are their children; some tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Each file is run by one process. Those that take longest begin, so that no process waits long for another.
LONG_FILES = (
    "cli/test_commands.py", "games/test_contract.py", "web/browser/test_page.py", "test_kernel_cache.py",
    "cli/test_guard.py", "search/test_slow_search.py", "training/test_reanalysis.py", "tactics/test_vct.py",
    "games/test_slow_rules.py", "training/test_coach.py", "players/test_warming.py", "test_docs.py",
    "players/test_generations.py", "workers/test_training_on_ray.py", "protocols/test_gtp.py", "players/test_level.py",
    "workers/test_ray.py", "test_research.py", "workers/test_local.py",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = Path(__file__).parent
    places = {folder / name: place for place, name in enumerate(LONG_FILES)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--regen", action="store_true", help="rewrite the golden files instead of comparing")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """golden(path, text): is text what the file says? Paths are in golden/, beside the test."""
    folder = request.path.parent / "golden"
    is_regen = bool(request.config.getoption("--regen"))

    def compare(path: str, text: str) -> None:
        file = folder / path
        if is_regen:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert file.is_file(), f"no golden file {file}: pytest --regen writes it"
        assert text == file.read_text(encoding="utf-8"), f"differs from {file}: pytest --regen if it is meant"

    return compare
