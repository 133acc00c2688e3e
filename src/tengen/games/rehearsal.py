"""Plays a game uncompiled before anything is compiled: `tengen check` begins with it.

Compiled code does not check whether an index is inside its array, and a mistake there reads garbage or kills
the process. So a child process, in which Numba compiles nothing, plays random games with arrays that check.
It finds names that do not exist, indices outside, inputs that are changed and answers of the wrong type, and
says in which function, on which line and after which moves. If the child crashes, the caller goes on.
"""

import ast
import faulthandler
import json
import linecache
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from tengen import games
from tengen.games.game import Game
from tengen.games.random_games import MAX_PLIES, after
from tengen.games.randomness import new_random

SECONDS = 5.0  # after this, no new game is started
PATIENCE = 30.0  # seconds more; after this we say that a function does not end

NOTE = "note"  # the file in which the child keeps what it is doing


def rehearse(name: str, num_positions: int, seed: int, patience: float = PATIENCE) -> tuple[int, str | None]:
    """The number of positions that a child process reached in random games, and the first problem."""
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder, NOTE)
        note.touch()
        paths = [source.path for source in games.LOADED_FILES]
        settings = [str(note), name, str(num_positions), str(seed), str(patience)]
        child = subprocess.run(
            [sys.executable, "-P", "-m", "tengen.games.rehearsal", *settings, *paths],
            env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
            capture_output=True,
            text=True,
        )
        doing = note.read_text()
    if child.returncode == 0:
        answer = json.loads(child.stdout.splitlines()[-1])
        return int(answer["positions"]), answer["problem"]
    function, _, actions = doing.partition(" ")
    played = tuple(int(action) for action in actions.split())
    # faulthandler: the innermost frame first, including frames of the guarded arrays
    frames = re.findall(r'File "(.+)", line (\d+) in', child.stderr)
    line = next((f", line {number}" for file, number in frames if file != __file__), "")
    how = _end_of(child.returncode, child.stderr)
    return 0, f"{function or 'the file'}{line}: {how}{after(games.find(name), played)}"


def _end_of(code: int, stderr: str) -> str:
    """How a child that gave no answer ended."""
    if "Timeout" in stderr:
        return "does not come to an end"
    if code < 0:
        return f"kills the process ({signal.Signals(-code).name})"
    return f"ends the process: {(stderr.strip().splitlines() or ['without a word'])[-1]}"


# ---- in the child


class BrokenRuleError(Exception):
    """What a function of the game did, and where."""


class Guarded(np.ndarray[Any, Any]):
    """An array as the rules get it. It refuses a negative index that was computed: that is a cell off the
    board, which would silently be another entry. A negative number in the source is intended: state[-1]."""

    def __getitem__(self, index: Any) -> Any:
        self._check(index, sys._getframe(1))
        value = super().__getitem__(index)
        return int(value) if isinstance(value, np.int16) else value  # wide, as in compiled code

    def __setitem__(self, index: Any, value: Any) -> None:
        self._check(index, sys._getframe(1))
        if self.dtype == np.int16 and isinstance(value, float) and not value.is_integer():
            raise TypeError(f"a state holds whole numbers, got {value}")
        super().__setitem__(index, value)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """The results of computations with it are ordinary arrays."""
        return np.asarray(array)[()]

    def _check(self, index: Any, frame: FrameType) -> None:
        for number in index if isinstance(index, tuple) else (index,):
            if isinstance(number, int | np.integer) and number < 0 and not is_meant(frame):
                raise IndexError(f"index {number} is negative, and so counts from the end")


MEANT: dict[tuple[Any, int], bool] = {}  # by code and instruction


def is_meant(frame: FrameType) -> bool:
    """Does the source of the current index contain a negative number, or no variable at all?"""
    key = frame.f_code, frame.f_lasti
    if key not in MEANT:
        MEANT[key] = _is_meant(frame)
    return MEANT[key]


def _is_meant(frame: FrameType) -> bool:
    line, end_line, start, end = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    if line is None or line != end_line or start is None or end is None:
        return True  # not known
    source = linecache.getline(frame.f_code.co_filename, line).encode()[start:end].decode()
    try:
        node = ast.parse(source.strip(), mode="eval").body
    except SyntaxError:
        return True
    index = node.slice if isinstance(node, ast.Subscript) else node
    names = [one.id for one in ast.walk(index) if isinstance(one, ast.Name)]
    has_minus = any(isinstance(one, ast.USub) for one in ast.walk(index))
    constants = [frame.f_globals.get(name) for name in names if name not in frame.f_locals]
    is_negative = any(isinstance(value, int) and value < 0 for value in constants)
    return has_minus or is_negative or not any(name in frame.f_locals for name in names)


class Rehearsal:
    """Random games of the uncompiled rules."""

    def __init__(self, game: Game, note: Callable[[str, tuple[int, ...]], None]) -> None:
        self.game, self._note = game, note
        self.actions: tuple[int, ...] = ()
        self.positions = 0

    def play_game(self, random: np.random.Generator) -> None:
        """From the first position to the end of the game. BrokenRuleError if a function misbehaves."""
        self.actions = ()
        state = np.zeros(self.game.state_size, np.int16)
        state[: len(self.game.header)] = self.game.header
        self.call("start", guarded(state))
        if self.game.rollout is not None:
            self.call("rollout", guarded(state.copy()), new_random(int(random.integers(2**32))))
        while True:
            self.positions += 1
            choices = self._look_at(state)
            if not len(choices) or len(self.actions) == MAX_PLIES:
                return
            action = int(random.choice(choices))
            if self.game.wins is not None:
                self.call("wins", guarded(state, is_input=True), action)
            next_state = np.zeros_like(state)
            self.call("play", guarded(state, is_input=True), action, guarded(next_state))
            state, self.actions = next_state, (*self.actions, action)

    def _look_at(self, state: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The legal actions; none at the end."""
        game, seen = self.game, guarded(state, is_input=True)
        mask, planes = np.zeros(game.num_actions, np.bool_), np.zeros(game.planes_shape, np.float32)
        self.call("legal", seen, guarded(mask))
        self.call("planes", seen, guarded(planes))
        answer = self.call("outcome", seen)
        if not isinstance(answer, tuple) or len(answer) != 2:
            self.fail("outcome", f"returns (is_over, value) such as (True, 1.0), got {answer!r}")
        is_over, value = answer
        if not isinstance(is_over, bool | np.bool_):
            self.fail("outcome", f"is_over is True or False, got {is_over!r}")
        if not isinstance(value, float | np.floating):
            self.fail("outcome", f"the value is a float, 1.0 and not 1, got {value!r}")
        return np.zeros(0, np.int64) if is_over else np.flatnonzero(mask)

    def call(self, name: str, *arguments: Any) -> Any:
        function = getattr(self.game, name)
        self._note(name, self.actions)
        try:
            with np.errstate(over="ignore"):  # bit tricks wrap around, compiled or not
                return function(*arguments)
        except Exception as error:  # noqa: BLE001 (any error in the user's rules is a finding)
            self.fail(name, self._explain(name, error), error)

    def fail(self, name: str, what: str, error: Exception | None = None) -> Any:
        function = getattr(self.game, name)
        ours = (__file__, os.path.dirname(np.__file__))
        frames = traceback.extract_tb(error.__traceback__) if error else []
        theirs = [frame for frame in frames if not frame.filename.startswith(ours)]
        line, text = function.__code__.co_firstlineno, ""
        if theirs:
            line, text = theirs[-1].lineno or line, f", `{theirs[-1].line}`"
        inside = f" in {theirs[-1].name}" if theirs and theirs[-1].name != function.__name__ else ""
        raise BrokenRuleError(f"{name}{inside}, line {line}{text}: {what}")

    def _explain(self, name: str, error: Exception) -> str:
        game, text = self.game, str(error)
        if isinstance(error, ValueError) and "read-only" in text:
            return f"{name} must not change the state it is given" + (
                ": write to next_state" * (name == "play")
            )
        if isinstance(error, IndexError):
            sizes = f"a state has state_size = {game.state_size} entries"
            sizes += f", the mask num_actions = {game.num_actions}" * (name == "legal")
            sizes += f", out has {game.num_planes} planes, one for each of plane_names" * (name == "planes")
            return f"{text} ({sizes})"
        return text if isinstance(error, NameError) else f"{type(error).__name__}: {text}"


def guarded(array: np.ndarray[Any, Any], is_input: bool = False) -> Guarded:
    view = array.view(Guarded)
    view.flags.writeable = not is_input
    return view


def rehearse_here(game: Game, num_positions: int, seed: int, note: Callable[..., None]) -> dict[str, Any]:
    """The answer of the child."""
    rehearsal, random, began = Rehearsal(game, note), np.random.default_rng(seed), time.monotonic()
    problem = None
    try:
        while rehearsal.positions < num_positions and time.monotonic() - began < SECONDS:
            rehearsal.play_game(random)
    except BrokenRuleError as error:
        problem = f"{error}{after(game, rehearsal.actions)}"
    return {"positions": rehearsal.positions, "problem": problem}


def main(note: str, name: str, num_positions: str, seed: str, patience: str, *paths: str) -> None:
    faulthandler.enable()
    faulthandler.dump_traceback_later(SECONDS + float(patience), exit=True)
    for path in paths:
        games.load_file(path)
    file = os.open(note, os.O_WRONLY)

    def write(function: str, actions: tuple[int, ...]) -> None:
        text = " ".join([function, *map(str, actions)]).encode()
        os.pwrite(file, text, 0)
        os.ftruncate(file, len(text))

    print(json.dumps(rehearse_here(games.find(name), int(num_positions), int(seed), write)))


if __name__ == "__main__":
    main(*sys.argv[1:])
