"""What is wrong with the machine, the terminal or the command line is one line, never a traceback."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tengen import cli, files, terminal
from tengen.errors import MachineError, UserError, machine_failure
from tengen.games.position import Position
from tests.cli.test_commands import tengen


def in_shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    line = command.replace("tengen", f"{sys.executable} -m tengen", 1)
    return subprocess.run(
        line, shell=True, capture_output=True, text=True, env=os.environ | environment, timeout=200
    )


@pytest.mark.parametrize("command", ["--version", "games", "games --json", "show gomoku6 a1"])
def test_a_full_device_is_one_line(command: str) -> None:
    done = in_shell(f"tengen {command} > /dev/full")
    assert done.returncode == 1
    assert done.stderr.startswith("tengen: No space left on device: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("closed", ["< /dev/null", "<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_are_no_error(closed: str) -> None:
    assert "Traceback" not in in_shell(f"tengen show gomoku6 a1 {closed}").stderr
    assert "Traceback" not in in_shell(f"tengen play tictactoe --opponent uniform {closed}").stderr


@pytest.mark.parametrize(
    "command", ["games", "bench --help", "show renju15 h8", "match tictactoe uniform uct -n 2"]
)
def test_an_encoding_without_our_characters_shows_something_readable(command: str) -> None:
    done = in_shell(f"tengen {command}", PYTHONIOENCODING="ascii")
    assert done.returncode == 0 and done.stdout.isascii() and "Traceback" not in done.stderr
    if command == "games":
        assert "Hex on 11x11" in done.stdout


def test_what_is_beyond_ascii_has_a_plain_form() -> None:
    """Every such character of the sources of the commands; boxes and curves of Rich's may be question marks."""
    assert "±½∞×≥…".encode("ascii", "_plain") == b"+-1/2infx>=..."
    assert "天".encode("ascii", "_plain") == b"?"


class _Screen:
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variable", "value", "encoding", "expected"),
    [
        ("TERM", "xterm-256color", "utf-8", True),
        ("TERM", "dumb", "utf-8", False),
        ("NO_COLOR", "1", "utf-8", False),
        ("TERM", "xterm", "ascii", False),
    ],
)
def test_colour_is_for_terminals_that_have_it(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, encoding: str, expected: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(variable, value)
    screen = _Screen()
    screen.encoding = encoding
    assert terminal.has_color(screen) is expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "command", ["show gomoku6 a1 b2", "solve connect4 4444447262263535", "analyse tictactoe a1 b2 --sims 9"]
)
@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"NO_COLOR": "1", "TERM": "xterm"}])
def test_without_colour_the_two_sides_differ(command: str, environment: dict[str, str]) -> None:
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tengen", *command.split()], stdout=theirs, env=os.environ | environment
    )
    os.close(theirs)
    seen = b""
    while chunk := _read(ours):
        seen += chunk
    os.close(ours)
    assert process.wait() == 0
    text = seen.decode()
    assert "●" not in text and "X" in text and "O" in text and "\x1b" not in text


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other side has ended
        return b""


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "out of memory"),
        (
            RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory"),
            "out of memory",
        ),
        (RuntimeError("std::bad_alloc"), "out of memory"),
        (OSError(errno.ENOSPC, "No space left on device", "a.json"), "a.json: No space left"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "Disk quota exceeded"),
        (OSError(errno.EROFS, "Read-only file system"), "Read-only file system"),
        (OSError(errno.EAGAIN, "Resource temporarily unavailable"), "fewer workers"),
        (MachineError("a worker was killed"), "a worker was killed"),
    ],
)
def test_the_machines_failures_are_one_line_and_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception, words: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(Position, "start", fail)
    assert cli.run(["show", "tictactoe"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("tengen: ") and words in said and said.count("\n") == 1


def test_a_bug_of_ours_shows_where_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Position, "start", fail)
    assert machine_failure(ZeroDivisionError()) is None
    assert cli.run(["show", "tictactoe"]) == 1
    said = capsys.readouterr().err
    assert "Traceback" in said and "ZeroDivisionError" in said and "please report it" in said.splitlines()[-1]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("nonsense", "No such command 'nonsense'. Usage: tengen [OPTIONS] COMMAND"),
        ("show", "Missing argument 'game'. Usage: tengen show"),
        ("show --nonsense", "No such option: --nonsense"),
        ("perft connect4 x", "Invalid value for 'depth': Input should be a valid integer"),
        ("perft connect4 x", "got 'x'"),
        ("analyse connect4 --search x", "'x' is not one of 'puct', 'gumbel', 'uct'"),
        ("analyse connect4 --seconds inf", "--seconds is a finite number, got inf"),
        ("demo --minutes nan", "--minutes"),
        (f"bench solver --seed {10**30}", "--seed is a number below 2^63, got 31 digits"),
        ("reference run --player human", "human cannot be used here, worker processes play: use tengen play"),
        ("reference make nowhere/set.jsonl", "cannot write nowhere/set.jsonl: No such file or directory"),
        ("tournament tictactoe uniform perfect --csv nowhere/a.csv", "cannot write nowhere/a.csv"),
        ("tournament tictactoe uniform perfect --svg nowhere/a.svg", "cannot write nowhere/a.svg"),
        ("tournament tictactoe uniform perfect --svg .", "cannot write .: it is a folder"),
        ("solve connect4 --make-book nowhere/book", "cannot write nowhere/book"),
    ],
)  # fmt: skip
def test_a_wrong_command_line_is_one_line(command: str, message: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tengen", *command.split()],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=tmp_path, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2 and message in done.stderr
    assert done.stderr.startswith("tengen: ") and done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_is_tried_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot write"):
        files.check_can_make(tmp_path / "file" / "new")
    files.check_can_make(tmp_path / "new" / "newer")
    files.check_can_write(tmp_path / "a.csv", None)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """Root may put a file in the place of /dev/null, so a pipe in a folder stands for it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    files.check_can_write(pipe)
    files.write_text(pipe, "board")
    assert os.read(reader, 100) == b"board" and stat.S_ISFIFO(pipe.stat().st_mode)
    os.close(reader)
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_tournament_and_a_match_say_where_games_begin() -> None:
    shown = tengen("tournament", "tictactoe", "uniform", "perfect", "-r", "1").stdout
    assert shown.splitlines()[1] == "from openings of 2 random moves, each with both colours"
    shown = tengen("match", "tictactoe", "uniform", "perfect", "-n", "2", "--opening-plies", "0").stdout
    assert "\n  started     from the start of the game\n" in shown
