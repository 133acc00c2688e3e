"""Malformed command lines and files end in one line: no traceback, no crash, no hang. See fuzz.py."""

from pathlib import Path

import pytest

from tests.cli.fuzz import Fuzz

SEED = 1


def problems(folder: Path, cases: range, processes: range) -> str:
    fuzz = Fuzz(SEED, folder)
    found = [fuzz.run(number) for number in cases] + [fuzz.run_process(number) for number in processes]
    return "\n\n".join(one for one in found if one)


def test_some_malformed_command_lines_and_files(tmp_path: Path) -> None:
    assert problems(tmp_path, range(200), range(100_000, 100_005)) == ""


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_ten_thousand_malformed_command_lines_and_files(tmp_path: Path) -> None:
    assert problems(tmp_path, range(200, 10_000), range(100_005, 100_205)) == ""
