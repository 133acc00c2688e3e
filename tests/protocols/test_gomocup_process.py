"""pbrain-tengen as tournaments run it: a process that is stopped, continued and measured, and whole games."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tengen import games
from tengen.arena.match import Match, play_match
from tengen.players import warming
from tengen.protocols.gomocup_player import steps_for
from tengen.workers.local import LocalWorkers

COMMAND = (sys.executable, "-c", "from tengen.cli.gomocup import main; main()")  # what the script does
MEGABYTE = 1_000_000
ALLOWED = 350 * MEGABYTE
TOLERANCE = 1.0  # seconds, the referee's
INFO = ("timeout_match 120000", f"max_memory {ALLOWED}", "game_type 1", "folder /tmp")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="stops processes, and reads /proc")


class Referee:
    """Does what the live referee does: writes, stops the process, and continues it when a move is due."""

    def __init__(
        self, rule: int, turn_ms: int, size: int = 15, environment: dict[str, str] | None = None
    ) -> None:
        self._engine = subprocess.Popen(
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **(environment or {})},
        )
        self.left = 120.0
        self.messages: list[str] = []
        self._write(
            f"START {size}",
            f"INFO timeout_turn {turn_ms}",
            *(f"INFO {line}" for line in INFO),
            f"INFO rule {rule}",
        )
        self._engine.send_signal(signal.SIGSTOP)

    def __enter__(self) -> "Referee":
        return self

    def __exit__(self, *_: object) -> None:
        with self._engine:
            self._engine.kill()

    def _write(self, *lines: str) -> None:
        assert self._engine.stdin
        self._engine.stdin.write("".join(line + "\r\n" for line in lines).encode())
        self._engine.stdin.flush()

    def move(self, *lines: str) -> tuple[tuple[int, int], float]:
        """The engine's move, and the seconds from SIGCONT to it; then the process is stopped again."""
        assert self._engine.stdout
        self._write(f"INFO time_left {round(1000 * self.left)}", *lines)
        began = time.monotonic()
        self._engine.send_signal(signal.SIGCONT)
        while not (found := re.fullmatch(rb"(\d+),(\d+)\s*", line := self._engine.stdout.readline())):
            assert line, "it ended"
            self.messages.append(line.decode())
        seconds = time.monotonic() - began
        self._engine.send_signal(signal.SIGSTOP)
        self.left -= seconds
        return (int(found[1]), int(found[2])), seconds

    def memory(self) -> int:
        """Unique memory of the engine and everything it has started, in bytes.

        Libraries count once, as if no other program on this machine used the same ones."""
        parts = [_memory(process) for process in _tree(self._engine.pid)]
        return sum(own for own, _ in parts) + max(files for _, files in parts)

    def end(self) -> float:
        """The seconds that it takes to end."""
        self._engine.send_signal(signal.SIGCONT)
        self._write("END")
        began = time.monotonic()
        assert self._engine.wait(10) == 0
        return time.monotonic() - began


def _tree(root: int) -> list[int]:
    found = [root]
    for process in found:
        for children in Path(f"/proc/{process}/task").glob("*/children"):
            found += [int(child) for child in children.read_text().split()]
    return found


def _memory(process: int) -> tuple[int, int]:
    """Bytes of a process: its own, and of files such as libraries."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
    sizes = {line.split()[0]: int(line.split()[1]) * 1024 for line in lines}
    return sizes["Anonymous:"], sizes["Rss:"] - sizes["Anonymous:"]


def play(referee: Referee, turn: float, replies: list[tuple[int, int]], size: int = 15) -> str:
    """A few moves, each within its time and its memory; what the engine said about them."""
    taken: set[tuple[int, int]] = set()
    lines = ["BOARD", "DONE"]
    for reply in [*replies, None]:
        point, seconds = referee.move(*lines)
        assert point not in taken and max(point) < size
        assert seconds < turn + TOLERANCE / 2
        assert referee.memory() < ALLOWED
        taken.add(point)
        if reply is not None:
            free = reply if reply not in taken else next((x, 0) for x in range(size) if (x, 0) not in taken)
            taken.add(free)
            lines = [f"TURN {free[0]},{free[1]}"]
    assert referee.end() < 2
    return " ".join(referee.messages)


@pytest.fixture
def compiled() -> None:
    """As after `tengen warm`."""
    for step in warming.not_done(steps_for(games.find("renju15"))):
        warming.perform(step)


@pytest.mark.usefixtures("compiled")
def test_the_first_moves_of_a_tournament_game() -> None:
    with Referee(rule=4, turn_ms=3000) as referee:
        assert "simulations" in play(referee, 3.0, [(0, 0)])


def cold(folder: Path) -> dict[str, str]:
    """The environment of an installation that cannot be written, with an empty folder for temporary files."""
    (folder / "file").write_text("not a folder")
    return {"TENGEN_CACHE_DIR": str(folder / "file"), "TMPDIR": str(folder)}


def test_a_cold_installation_that_cannot_be_written_keeps_its_time(tmp_path: Path) -> None:
    """Its kernels cannot be compiled in that time: it moves all the same, and ends while it compiles."""
    with Referee(rule=0, turn_ms=3000, environment=cold(tmp_path)) as referee:
        play(referee, 3.0, [(0, 0)])


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("rule", "size"), [(0, 20), (4, 15)])
def test_a_cold_installation_until_it_is_compiled(tmp_path: Path, rule: int, size: int) -> None:
    with Referee(rule, 5000, size, cold(tmp_path)) as referee:
        play(referee, 5.0, [(x, y) for y in (0, size - 1) for x in range(0, 14, 2)], size)
    with Referee(rule, 5000, size, cold(tmp_path)) as referee:  # the next game finds what was compiled
        assert "simulations" in play(referee, 5.0, [(0, 0)], size)


def test_kernels_are_kept_in_a_temporary_folder_only_if_nobody_else_can_write_there(tmp_path: Path) -> None:
    code = "import os; from tengen.protocols.gomocup_player import use_writable_folder; use_writable_folder(); print(os.environ['NUMBA_CACHE_DIR'])"

    def folder(environment: dict[str, str]) -> Path:
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        return Path(done.stdout.strip())

    environment, own = cold(tmp_path), tmp_path / f"tengen-{os.getuid()}"
    assert folder(environment).parent == own
    own.chmod(0o777)
    assert folder(environment).parent == tmp_path / "file"
    own.rename(tmp_path / "elsewhere").chmod(0o700)
    own.symlink_to(tmp_path / "elsewhere")
    assert folder(environment).parent == tmp_path / "file"
    assert folder({"TENGEN_CACHE_DIR": str(tmp_path / "new")}).parent == tmp_path / "new"


def test_the_script_answers_start_and_ends_with_its_input() -> None:
    done = subprocess.run(
        [*COMMAND], input=b"ABOUT\nSTART 15\nSTART 3\n", capture_output=True, timeout=60, check=True
    )
    first, *rest = done.stdout.decode().splitlines()
    assert first.startswith('name="Tengen"') and rest == ["OK", "ERROR boards are from 5 to 22, got 3"]
    assert done.stderr == b""


def test_a_player_that_does_not_exist_is_one_line() -> None:
    for spec, says in (("zerro", "unknown player 'zerro'"), ("perfect", "player 'perfect' plays connect4")):
        done = subprocess.run([*COMMAND, "--player", spec], input=b"", capture_output=True, timeout=60)
        lines = done.stderr.decode().splitlines()
        assert done.returncode == 2 and done.stdout == b"" and len(lines) == 1 and says in lines[0]


def test_start_is_answered_soon_also_without_kernels(tmp_path: Path) -> None:
    """c-gomoku-cli waits three seconds for it."""
    for environment in (os.environ, {**os.environ, "TENGEN_CACHE_DIR": str(tmp_path)}):
        began = time.monotonic()
        with subprocess.Popen(
            [*COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        ) as engine:
            assert engine.stdin and engine.stdout
            engine.stdin.write(b"START 20\n")
            engine.stdin.flush()
            assert engine.stdout.readline() == b"OK\n"
            assert time.monotonic() - began < 3
            engine.stdin.close()
            assert engine.wait(10) == 0


def test_ctrl_c_ends_it() -> None:
    with subprocess.Popen(
        [*COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as engine:
        assert engine.stdin and engine.stdout and engine.stderr
        engine.stdin.write(b"START 15\nINFO timeout_turn 3600000\nBEGIN\n")
        engine.stdin.flush()
        assert engine.stdout.readline() == b"OK\n"
        engine.send_signal(signal.SIGINT)
        assert engine.wait(10) == 130
        assert b"Traceback" not in engine.stderr.read()


def test_the_arena_plays_games_through_the_protocol() -> None:
    command = " ".join(f"'{word}'" for word in COMMAND)
    engine = f"engine:seconds=0.1,memory=350,enforce=yes,cmd={command}"
    with LocalWorkers(1) as run_tasks:
        result = play_match(Match(games.find("gomoku15"), engine, "greedy"), 2, run_tasks)
    assert result.forfeits == ()
    assert result.score == 1.0
    assert result.thinking[0].max_seconds < 0.6
