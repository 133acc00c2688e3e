"""What all tests share: golden files, which `pytest --regen` writes anew (look at the diff)."""

import os
import signal
from collections.abc import Callable

import pytest

# Tests share the cores. PyTorch's threads wait for each other in busy loops, which is a third faster where nothing
# else runs and many times slower where something does. It reads this when it is first imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# A shell starts jobs in the background deaf to Ctrl-C, and so are their children; some tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)


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
