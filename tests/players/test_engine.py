"""The engine player against real processes: small scripts that speak Gomocup, well or badly."""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tengen import games
from tengen.arena.match import Match, play_match
from tengen.errors import UserError
from tengen.games.position import Position
from tengen.players import engine
from tengen.players.engine import Engine
from tengen.players.engine_process import EngineProcess
from tengen.players.player import PlayerFailedError
from tengen.workers.local import LocalWorkers

# A good engine: plays the first empty cell, talks before it does, and writes down what it hears.
GOOD = """
import os, subprocess, sys, time
heard = open(HEARD, "a")
heard.write("PID " + str(os.getpid()) + "\\n")
heard.flush()
cols = rows = turns = 0
taken = set()  # its board: (x, y)
def say(text):
    sys.stdout.write(text + "\\r\\n")
    sys.stdout.flush()
def hear():
    line = sys.stdin.readline()
    heard.write(line)
    heard.flush()
    return line
def on_start(): say("OK")
def on_restart(): taken.clear(); say("OK")
def on_about(): say('name="Good", version="1", author="A", country="B"')
def on_info(): pass
def on_board(): pass  # BOARD has come, the stones follow
def on_swap2(stones): say("UNKNOWN")
def on_turn(taken):
    say("MESSAGE thinking about " + str(len(taken)) + " stones")
    say("")
    say("DEBUG depth 1")
    cell = next(c for c in range(rows * cols) if (c % cols, c // cols) not in taken)
    taken.add((cell % cols, cell // cols))
    say(str(cell % cols) + "," + str(cell // cols))
CHANGES
def stones_until_done():
    stones = []
    while (line := hear().strip()) != "DONE": stones.append(tuple(map(int, line.split(",")[:2])))
    return stones
while True:
    line = hear()
    word, _, rest = line.strip().partition(" ")
    if word == "START": cols = rows = int(rest)
    if word == "RECTSTART": cols, rows = map(int, rest.split(","))
    if word in ("START", "RECTSTART"): taken.clear(); on_start()
    elif word == "RESTART": on_restart()
    elif word == "ABOUT": on_about()
    elif word == "INFO": on_info()
    elif word == "SWAP2BOARD": on_swap2(stones_until_done())
    elif word in ("BEGIN", "BOARD", "TURN"):
        turns += 1
        if word == "BOARD":
            on_board()
            taken = set(stones_until_done())
        if word == "TURN": taken.add(tuple(map(int, rest.split(","))))
        on_turn(taken)
    elif word == "END" or not line: break
"""


class Script:
    """A script in a folder, and what it has heard so far."""

    def __init__(self, folder: Path, changes: str = "") -> None:
        self.heard_file = folder / "heard.txt"
        self.file = folder / "pbrain-test.py"
        self.file.write_text(
            GOOD.replace("CHANGES", changes).replace("HEARD", repr(str(self.heard_file))), encoding="utf-8"
        )
        self.command = shlex.join([sys.executable, str(self.file)])

    @property
    def heard(self) -> list[str]:
        return self.heard_file.read_text().splitlines()

    @property
    def pids(self) -> list[int]:
        """Every process that the script has started or been."""
        return [int(line.split()[1]) for line in self.heard if line.startswith("PID ")]

    def is_gone(self) -> bool:
        """Is none of them running, a moment later at most?"""
        deadline = time.perf_counter() + 3.0
        while any(_is_running(pid) for pid in self.pids):
            if time.perf_counter() > deadline:
                return False
            time.sleep(0.01)
        return len(self.pids) > 0


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_good_engine_plays_a_game_and_leaves(tmp_path: Path) -> None:
    script = Script(tmp_path)
    position = Position.start("gomoku8")
    with Engine(position.game, cmd=script.command, seconds=5) as player:
        for _ in range(3):
            choice = player.choose(position)
            position = position.play(choice.action)
            assert choice.note == f"thinking about {len(position.actions) - 1} stones"
        assert player.name == "Good"
        assert position.moves == ["a8", "b8", "c8"]
        assert all(_is_running(pid) for pid in script.pids)
    assert script.is_gone() and script.heard[-1] == "END"


def test_what_an_engine_is_told(tmp_path: Path) -> None:
    script = Script(tmp_path)
    position = Position.from_moves("renju15", "h8 i9 g7")
    with Engine(position.game, cmd=script.command, seconds=2, match=100, memory=512) as player:
        position = position.play(player.choose(position).action).play("o1")
        player.choose(position)
        player.new_game(1)
        player.choose(Position.start("renju15"))
    limits = [
        "INFO timeout_turn 2000", "INFO timeout_match 100000", "INFO max_memory 536870912",
        "INFO game_type 1", "INFO rule 4",
    ]  # fmt: skip
    heard = [line for line in script.heard[1:] if "time_left" not in line]
    assert heard == [
        "START 15", *limits, "ABOUT", "BOARD", "7,7,2", "8,6,1", "6,8,2", "DONE", "TURN 14,14",
        "RESTART", *limits, "BEGIN", "END",
    ]  # fmt: skip
    assert script.heard[8] == "INFO time_left 100000"


# Engines that keep their own account of the game, as real ones do.
MAD = "def on_board():\n if taken: say('ERROR the game has begun'); time.sleep(60)"
ODD = {
    "goes mad at BOARD in the middle of a game": MAD,
    "does not know ABOUT and says so": MAD + "\ndef on_about(): say('UNKNOWN command')",
    "does not know ABOUT and is silent": MAD + "\ndef on_about(): pass",
    "answers ABOUT in its own way": MAD + "\ndef on_about(): say('Oddity 1.0 by me')",
    "complains about INFO": MAD + "\ndef on_info(): say('UNKNOWN command')",
    "does not know RESTART": MAD + "\ndef on_restart(): say('UNKNOWN command')",
    "answers RESTART by an error": MAD + "\ndef on_restart(): say('ERROR what?')",
    "says nothing to RESTART": MAD + "\ndef on_restart(): pass",
    "says OK to RESTART very late": MAD + "\ndef on_restart(): time.sleep(0.4); say('OK')",
}


@pytest.mark.parametrize("what", ODD)
def test_an_engine_that_keeps_its_own_account_is_not_confused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """A game, a position from elsewhere, one taken back, and another game."""
    monkeypatch.setattr(engine, "RESTART_SECONDS", 0.2 if "RESTART" in what else 20.0)
    script = Script(tmp_path, ODD[what])
    position = Position.start("gomoku8")
    with Engine(position.game, cmd=script.command, seconds=5) as player:
        player.prepare()
        began = time.perf_counter()
        for _ in range(3):
            choice = player.choose(position)
            position = position.play(choice.action)
            position = position.play(position.legal_actions[-1])
        assert time.perf_counter() - began < 1, "nothing is waited for"
        assert position.moves == ["a8", "h1", "b8", "g1", "c8", "f1"]
        assert player.choose(Position.from_moves("gomoku8", "a8 b8")).action == 2
        assert player.choose(position.undo().undo()).action == 2
        player.new_game(1)
        began = time.perf_counter()
        assert player.choose(Position.from_moves("gomoku8", "b8")).action == 0
        assert time.perf_counter() - began < 0.3, "the board is cleared before, by new_game"
        assert player.name == ("Good" if "ABOUT" not in what else Path(sys.executable).name)
    boards = [script.heard[i - 1] for i, line in enumerate(script.heard) if line == "BOARD"]
    assert len(boards) == 3 and script.heard.count("TURN 7,7") == 1
    assert len(script.pids) == 1 and script.is_gone()


def test_an_engine_that_crashes_at_restart_is_started_again(tmp_path: Path) -> None:
    script = Script(tmp_path, "def on_restart(): sys.exit(3)")
    with Engine(games.find("gomoku8"), cmd=script.command, seconds=5) as player:
        assert player.choose(Position.start("gomoku8")).action == 0
        player.new_game(1)
        assert player.choose(Position.from_moves("gomoku8", "a8 b8")).action == 2
        assert player.choose(Position.from_moves("gomoku8", "a8 h1")).action == 1
    assert len(script.pids) == 3 and script.is_gone()


def test_starting_up_is_not_part_of_a_move(tmp_path: Path) -> None:
    """It takes longer to start than it has on its clock for the whole game."""
    script = Script(tmp_path, "def on_start(): time.sleep(0.5); say('OK')")
    with LocalWorkers(1) as run_tasks:
        match = Match(games.find("gomoku9"), f"engine:cmd={script.command}", "uniform", time=(0.4, 0.0))
        result = play_match(match, 2, run_tasks)
    assert result.forfeits == () and result.thinking[0].max_seconds < 0.3
    assert 3 < result.engine_mib[0] < 300 and result.engine_mib[1] == 0
    assert f"engines     {match.a} at most {result.engine_mib[0]} MiB" in result.to_text()


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured on Linux only")
def test_memory_is_reported_and_by_default_not_enforced(tmp_path: Path) -> None:
    script = Script(tmp_path, "hoard = bytearray(90_000_000)")
    with Engine(games.find("gomoku8"), cmd=script.command, seconds=5, memory=60) as player:
        assert player.choose(Position.start("gomoku8")).action == 0
        assert 86 <= player.outside_mib < 300
    assert f"INFO max_memory {60 << 20}" in script.heard
    assert player.outside_mib >= 86, "also when it has left"


@pytest.mark.parametrize(
    ("game", "start", "rule"),
    [
        ("gomoku20", "START 20", 0),
        ("standard15", "START 15", 1),
        ("renju15", "START 15", 4),
        ("caro15", "START 15", 8),
        ("caro15-exact", "START 15", 9),
        ("mnk:rows=7,cols=9,k=5", "RECTSTART 9,7", 0),
    ],
)
def test_every_rule_has_its_number(tmp_path: Path, game: str, start: str, rule: int) -> None:
    script = Script(tmp_path)
    position = Position.start(game)
    with Engine(position.game, cmd=script.command, seconds=5) as player:
        assert player.choose(position).action == 0
    assert script.heard[1] == start and f"INFO rule {rule}" in script.heard
    assert "INFO time_left 2147483647" in script.heard


def test_the_match_time_runs_down(tmp_path: Path) -> None:
    script = Script(tmp_path, "slow = on_turn\ndef on_turn(taken): time.sleep(0.3); slow(taken)")
    position = Position.start("gomoku9")
    with Engine(position.game, cmd=script.command, match=10) as player:
        for _ in range(2):
            position = position.play(player.choose(position).action)
    left = [int(line.split()[2]) for line in script.heard if "time_left" in line]
    assert left[0] == 10_000 and 8_000 < left[1] <= 9_700


FAILURES = {
    "hangs": ("def on_turn(taken): time.sleep(60)", "made no move within 0.7 s"),
    "hangs and complains": (
        "def on_turn(taken): say('ERROR I am lost'); time.sleep(60)",
        "made no move within 0.7 s, it said 'ERROR I am lost'",
    ),
    "crashes": (
        "def on_turn(taken): raise RuntimeError('oh no')",
        "exited with code 1: 'RuntimeError: oh no'",
    ),
    "leaves": ("def on_turn(taken): sys.exit(0)", "exited with code 0"),
    "is killed": ("def on_turn(taken): os.kill(os.getpid(), 11)", "was killed (Segmentation fault)"),
    "closes its output": ("def on_turn(taken): os.close(1); time.sleep(60)", "closed its output"),
    "talks rubbish": ("def on_turn(taken): say('\\x1b[2J3;4 ' + 'x' * 99)", "said '?[2J3;4 xx"),
    "talks without end": (
        "def on_turn(taken):\n while True: say('DEBUG ' + 'x' * 99)",
        "made no move within 0.7 s, it said 'DEBUG xx",
    ),
    "plays an occupied point": (
        "def on_turn(taken): say('%d,%d' % min(taken))",
        "played '0,0', which is a8: there is a stone already",
    ),
    "plays off the board": ("def on_turn(taken): say('3,8')", "played '3,8', off the board of 8×8"),
    "never answers START": ("def on_start(): time.sleep(60)", "did not answer START within 1 s"),
    "refuses START": (
        "def on_start(): say('ERROR too small')",
        "said 'ERROR too small' to START instead of OK",
    ),
    "takes too much memory": ("hoard = bytearray(90_000_000)", " MiB of memory, 60 are allowed"),
}


@pytest.mark.parametrize("what", FAILURES)
def test_an_engine_fails_in_time_with_a_reason_and_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(engine, "START_SECONDS", 1.0 if "START" in what else 20.0)
    if "memory" in what and sys.platform != "linux":
        pytest.skip("memory is measured on Linux only")
    changes, reason = FAILURES[what]
    script = Script(tmp_path, changes)
    position = Position.from_moves("gomoku8", "a8 b8")
    player = Engine(position.game, cmd=script.command, seconds=0.2, memory=60, enforce="memory" in what)
    began = time.perf_counter()
    with pytest.raises(PlayerFailedError) as error:
        player.choose(position)
    assert time.perf_counter() - began < 10
    assert reason in str(error.value) and str(error.value).startswith("the engine ")
    assert script.is_gone()
    player.close()


def test_an_engine_that_crashed_is_started_again(tmp_path: Path) -> None:
    script = Script(
        tmp_path, "well = on_turn\ndef on_turn(taken):\n if turns == 3: sys.exit(7)\n well(taken)"
    )
    position = Position.start("gomoku8")
    with Engine(position.game, cmd=script.command, seconds=5) as player:
        for _ in range(2):
            position = position.play(player.choose(position).action)
        with pytest.raises(PlayerFailedError, match="exited with code 7"):
            player.choose(position)
        player.new_game(2)
        assert player.choose(Position.start("gomoku8")).action == 0
    assert len(script.pids) == 2 and script.is_gone()


def test_a_forbidden_move_in_renju_is_a_failure(tmp_path: Path) -> None:
    script = Script(tmp_path, "def on_turn(taken): say('6,6')")
    position = Position.from_moves("renju15", "h8 h9 i7 i9 h10 i6 i11 i12")
    player = Engine(position.game, cmd=script.command, seconds=5)
    with pytest.raises(PlayerFailedError) as error:
        player.choose(position)
    assert str(error.value).endswith("played '6,6', which is g9: forbidden for black, double-three (3-3)")


def test_an_engine_that_does_not_read_cannot_stop_us() -> None:
    """Its input fills up, after 64 KiB on Linux."""
    process = EngineProcess([sys.executable, "-c", "import time; time.sleep(60)"])
    with pytest.raises(PlayerFailedError, match="the engine does not read what it is sent"):
        for _ in range(1000):
            process.send("BOARD", *["0,0,1"] * 400, "DONE")
    process.kill()


CHILD = """
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], process_group=0)
heard.write("PID %d\\nPID %d\\n" % (child.pid, other.pid))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a child in a group of its own is not found")
def test_children_go_with_the_engine(tmp_path: Path) -> None:
    script = Script(tmp_path, CHILD)
    position = Position.start("gomoku8")
    with Engine(position.game, cmd=script.command, seconds=5) as player:
        player.choose(position)
        assert len(script.pids) == 3 and all(_is_running(pid) for pid in script.pids)
    assert script.is_gone()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("ending", ["hangs", "forgotten"])
def test_nothing_is_left_when_tengen_is_stopped(tmp_path: Path, ending: str) -> None:
    """By Ctrl-C while the engine thinks, or by leaving without closing the player."""
    script = Script(tmp_path, "def on_turn(taken): time.sleep(60)" if ending == "hangs" else CHILD)
    code = (
        "from tengen.games.position import Position\nfrom tengen.players.engine import Engine\n"
        "start = Position.start('gomoku8')\n"
        f"player = Engine(start.game, cmd={script.command!r}, seconds=50)\n"
        "player.choose(start)\n"
    )
    tengen = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    if ending == "hangs":
        deadline = time.perf_counter() + 60
        while not (script.heard_file.exists() and "BEGIN" in script.heard):
            assert time.perf_counter() < deadline
            time.sleep(0.05)
        tengen.send_signal(signal.SIGINT)
    _, errors = tengen.communicate(timeout=60)
    assert ("KeyboardInterrupt" in errors) == (ending == "hangs"), errors
    assert script.is_gone()


@pytest.mark.parametrize(
    ("game", "cmd", "message"),
    [
        ("gomoku15", "", "player 'engine' needs a command: engine:cmd=./pbrain-x --flag"),
        (
            "gomoku15",
            "./no-such --flag",
            "player 'engine': there is no program './no-such' that can be started",
        ),
        ("gomoku15", "./x 'y", "player 'engine': cmd=./x 'y: No closing quotation"),
        ("gomoku6", "./x", "player 'engine' plays five in a row, which gomoku6 is not"),
        ("connect4", "./x", "player 'engine' plays five in a row, which connect4 is not"),
    ],
)
def test_a_wrong_spec_says_what_is_wrong(game: str, cmd: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        Engine(games.find(game), cmd=cmd)
    assert str(error.value) == message
