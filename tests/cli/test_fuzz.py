"""Malformed command lines and files end in one line: no traceback, no crash, no hang. See fuzz.py."""

from pathlib import Path

import pytest

from tests.cli.fuzz import Fuzz

SEED = 1


def run_all(folder: Path, cases: range, processes: range) -> None:
    """Fails with every case that ended otherwise than it should."""
    fuzz = Fuzz(SEED, folder)
    found = [fuzz.run(number) for number in cases] + [fuzz.run_process(number) for number in processes]
    if problems := [one for one in found if one]:
        pytest.fail("\n\n".join(problems), pytrace=False)


def test_some_malformed_command_lines_and_files(tmp_path: Path) -> None:
    run_all(tmp_path, range(200), range(100_000, 100_005))


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_ten_thousand_malformed_command_lines_and_files(tmp_path: Path) -> None:
    run_all(tmp_path, range(200, 10_000), range(100_005, 100_205))
