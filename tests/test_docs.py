"""The Python in README and docs runs as it stands there, and the commands shown exist."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tengen.cli import app

REPOSITORY = Path(__file__).parents[1]
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]


def blocks(language: str) -> list[tuple[str, str]]:
    """(page, text) of every fenced block in a language."""
    found = []
    for page in PAGES:
        for text in re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            found.append((page.name, text))
    return found


@pytest.mark.parametrize(("page", "code"), blocks("python"), ids=lambda value: value.split("\n")[0][:30])
def test_the_python_runs(page: str, code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, f"{page}: {done.stderr}"


def commands_shown() -> set[str]:
    """The words after `tengen` in every shell block: `show`, `bench rules`."""
    found = set()
    for _, text in blocks("sh"):
        for line in text.splitlines():
            match = re.match(r"tengen (bench \w+|[a-z]+)", line)
            if match:
                found.add(match[1])
    return found


def test_the_commands_exist() -> None:
    assert commands_shown() >= {"games", "show", "check", "perft", "analyse", "bench rules"}
    for command in sorted(commands_shown()):
        assert CliRunner().invoke(app, [*command.split(), "--help"]).exit_code == 0, command


def test_nobody_is_told_to_install_a_package_of_somebody_else() -> None:
    """The name tengen on PyPI is another project: ours is tengen-zero, and is installed from the clone."""
    listed = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    wrong = re.compile(r"pip install\s+(-\S+\s+)*['\"]?tengen(?!-zero)\b")
    for name in listed.stdout.splitlines():
        if name.endswith((".md", ".py", ".toml", ".txt", ".svg", "Makefile", ".yml")):
            found = wrong.search((REPOSITORY / name).read_text(encoding="utf-8"))
            assert not found, f"{name}: {found[0] if found else ''}"


def test_the_distribution_is_ours() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == "tengen-zero"
    assert project["scripts"] == {"tengen": "tengen.cli:main", "pbrain-tengen": "tengen.cli.gomocup:main"}
    extras = [one for extra in project["optional-dependencies"].values() for one in extra]
    assert not [one for one in extras if one.startswith("tengen[")]
