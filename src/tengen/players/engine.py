"""Any external Gomocup engine as a player: `engine:seconds=2,cmd=./pbrain-x --flag`. The manager's side.

    we                                    the engine
    START 15 (RECTSTART 9,7)              OK
    INFO rule 0 …                         nothing
    ABOUT                                 name="Rapfi", …    (nobody waits for it)
    INFO time_left …                      nothing
    BEGIN, BOARD x,y,who … DONE           MESSAGE and DEBUG lines, then x,y
    TURN x,y                              the same

x is the column and y the row, from 0 at the top left. Within a game an engine is told only the opponent's
last move (TURN). If the position is not the one that follows from its board, it gets an empty board first
(RESTART, or START if it does not know that) and then all stones (BOARD): many engines keep what they know of
a game in progress, and play nonsense if BOARD comes in the middle of it.

Start-up is not part of a move's time: `prepare` starts the process, `new_game` clears its board. An engine
fails if it hangs, crashes, answers nonsense or plays an illegal move, and with enforce=yes also if it uses
too much memory. Then it is killed with all its children, and started again for the next move.
"""

import math
import re
import shlex
import shutil
import sys
import time
import weakref
from collections.abc import Sequence
from pathlib import Path

from tengen.errors import UserError
from tengen.games import mnk
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.decision import Decider
from tengen.players.engine_process import MEBIBYTE, TALK, EngineProcess, fail, quoted
from tengen.players.limit import Limit
from tengen.players.player import Choice, PlayerFailedError
from tengen.players.swap2 import Swap2Reply

RULE_NUMBERS = {"freestyle": 0, "standard": 1, "renju": 4, "caro": 8, "caro-exact": 9}
UNLIMITED_MS = 2147483647
AGAINST_AN_ENGINE = 1  # a game_type

START_SECONDS = 30.0  # to answer START: engines load large networks then
RESTART_SECONDS = 5.0  # to answer RESTART; then it is taken as not known
GRACE_SECONDS = 0.5  # added to its time limit, for the pipes and a busy machine

MOVE = re.compile(r"\s*(-?[0-9]{1,6})\s*,\s*(-?[0-9]{1,6})\s*")


class Engine(Decider):
    """One process, from the first request for a move until close."""

    summary = "an outside Gomocup engine (cmd=./pbrain-x, before it: seconds=1, match, memory=350, enforce)"

    def __init__(
        self,
        game: Game,
        cmd: str = "",
        seconds: float = 1.0,  # per move
        match: float = 0.0,  # seconds for all its moves of a game; 0 = no limit
        memory: int = 350,  # mebibytes, of the process and its children; 0 = no limit
        enforce: bool = False,  # it loses if it takes more memory; else it is only told the limit
    ) -> None:
        super().__init__(game)
        self._told = seconds  # the time per move that was sent to the engine
        if not mnk.is_five_in_a_row(game):
            raise UserError(f"player 'engine' plays five in a row, which {game.name} is not")
        for key, value in (("seconds", seconds), ("match", match), ("memory", memory)):
            if not 0 <= value <= 1_000_000:
                raise UserError(f"player 'engine': {key} is from 0 to 1,000,000, got {value}")
        self._command = _command(cmd)
        self._seconds, self._match, self._memory, self._enforce = seconds, match, memory, enforce
        self._process: EngineProcess | None = None
        self._board: Position | None = None  # on the engine's board; None: not known
        self._knows_restart = True  # until it shows that it does not
        self._peak = 0  # bytes of memory, of its earlier processes
        self.new_game(0)

    @property
    def name(self) -> str:
        """As the engine says; until it does, as its program is called."""
        return (self._process.name if self._process else "") or Path(self._command[0]).name

    @property
    def outside_mib(self) -> int:
        return round(max(self._peak, self._process.peak_memory if self._process else 0) / MEBIBYTE)

    def new_game(self, seed: int) -> None:
        """Clears the board of a running engine. Its random numbers are its own: it takes no seed."""
        self._left = self._match if self._match > 0 else math.inf
        if self._process is not None:
            self._cleared()

    def prepare(self, limit: Limit | None = None) -> None:
        """Starts the engine, which loads what it needs, and tells it about the game."""
        self._ready()

    def decide(self, position: Position, limit: Limit) -> Choice:
        """The engine's move. We tell it the time per move and what is left on its clock."""
        process, request = self._request(position)
        self._board = None  # until it has answered
        action = self._legal(position, self._ask(process, limit, request))
        self._board = position.play(action)
        message = next((text[8:] for text in reversed(process.remarks) if text[:8] == "MESSAGE "), "")
        return Choice(action, note=message or self.name)

    def swap2(self, position: Position, seed: int, limit: Limit | None = None) -> Swap2Reply:
        """The engine's answer to SWAP2BOARD. Its random numbers are its own: it takes no seed."""
        process = self._cleared()
        self._board = None  # whatever it does with these stones
        points = [self._point(action) for action in position.actions]
        answer = self._ask(process, self._obeyed(limit), ["SWAP2BOARD", *points, "DONE"])
        if answer.upper() == "SWAP" and points:
            return Swap2Reply()
        words = re.sub(r"\s*,\s*", ",", answer).split()
        if len(words) not in {0: (3,), 3: (1, 2), 5: (1,)}[len(points)]:
            self._kill()
            fail(f"said {quoted(answer)} to SWAP2BOARD with {len(points)} stones")
        stones: list[int] = []
        for word in words:
            stones.append(self._legal(position, word))
            position = position.play(stones[-1])
        return Swap2Reply(move=Choice(stones[0])) if len(stones) == 1 else Swap2Reply(tuple(stones))

    def close(self) -> None:
        if self._process is not None:
            self._process.ask_to_leave()
        self._kill()

    def _ready(self) -> EngineProcess:
        """The running engine, which knows the game."""
        if self._process is None:
            enforced = self._memory * MEBIBYTE if self._enforce and self._memory else None
            self._process = EngineProcess(self._command, enforced)
            # Also killed if this player is never closed: when it is garbage-collected, or when Tengen exits.
            self._finalizer = weakref.finalize(self, self._process.kill)
            self._board, self._knows_restart = None, True
            self._clear(self._process, is_first=True)
            self._process.ask_about()
        return self._process

    def _cleared(self) -> EngineProcess:
        """The running engine with an empty board; started again if it does not survive that."""
        process = self._ready()
        try:
            self._clear(process)
        except PlayerFailedError:
            process = self._ready()
        return process

    def _clear(self, process: EngineProcess, is_first: bool = False) -> None:
        """Gives the engine an empty board, and tells it the rules and limits."""
        empty = Position.start(self.game)
        if self._board == empty:
            return
        try:
            if is_first or not self._restarts(process):
                self._start(process)
            rule = mnk.RULES[self.game.header[3]]
            process.send(
                f"INFO timeout_turn {_milliseconds(self._seconds)}",
                f"INFO timeout_match {_milliseconds(self._match)}",
                f"INFO max_memory {self._memory * MEBIBYTE}",
                f"INFO game_type {AGAINST_AN_ENGINE}",
                f"INFO rule {RULE_NUMBERS[rule]}",
            )
        except BaseException:
            self._kill()
            raise
        self._board, self._told = empty, self._seconds

    def _restarts(self, process: EngineProcess) -> bool:
        """Does the engine know RESTART? Then its board is empty now."""
        if self._knows_restart:
            process.send("RESTART")
            answer = process.read(RESTART_SECONDS, skip=TALK)
            self._knows_restart = answer is not None and answer.upper() == "OK"
        return self._knows_restart

    def _start(self, process: EngineProcess) -> None:
        rows, cols = self.game.rows, self.game.cols
        process.send(f"START {rows}" if rows == cols else f"RECTSTART {cols},{rows}")
        answer = process.answer(START_SECONDS, "did not answer START", skip=TALK)
        if answer.upper() != "OK":
            fail(f"said {quoted(answer)} to START instead of OK")

    def _request(self, position: Position) -> tuple[EngineProcess, list[str]]:
        """The engine, on whose board the position can be set up, and the lines that ask for a move in it."""
        process = self._ready()
        if self._follows(position):
            return process, [f"TURN {self._point(position.actions[-1])}"]
        process, stones = self._cleared(), _stones(position)
        if not stones:
            return process, ["BEGIN"]
        cells = position.state[self.game.cells]
        owners = [1 if cells[cell] == position.to_move else 2 for cell in stones]  # 1 its own, 2 the other's
        lines = [f"{self._point(cell)},{who}" for cell, who in zip(stones, owners, strict=True)]
        return process, ["BOARD", *lines, "DONE"]

    def _follows(self, position: Position) -> bool:
        """Is this position one move further than the engine's board, on which it has played?"""
        return bool(position.actions) and len(_stones(position)) > 1 and position.undo() == self._board

    def _ask(self, process: EngineProcess, limit: Limit, request: Sequence[str]) -> str:
        """The engine's answer to a request for a move; the time it takes is its own."""
        turn, left = self._seconds, self._left
        if limit.is_timed:
            turn = math.inf if limit.seconds is None else limit.seconds
            left = math.inf if limit.clock is None else limit.clock.left
        try:
            if turn != self._told:
                process.send(f"INFO timeout_turn {_milliseconds(turn)}")
                self._told = turn
            process.send(f"INFO time_left {_milliseconds(left)}", *request)
            began = time.perf_counter()
            answer = process.answer(min(turn, max(left, 0.0)) + GRACE_SECONDS, "made no move")
            self._left -= time.perf_counter() - began
            process.check_memory()
        except BaseException:  # Ctrl-C too: a late answer would be read as the next one
            self._kill()
            raise
        return answer

    def _legal(self, position: Position, answer: str) -> int:
        """The action that an answer means; an engine that says something else is killed."""
        try:
            found = MOVE.fullmatch(answer)
            if not found:
                fail(f"said {quoted(answer)} instead of a move x,y")
            x, y = int(found[1]), int(found[2])
            if not (0 <= x < self.game.cols and 0 <= y < self.game.rows):
                fail(f"played {quoted(answer)}, off the board of {self.game.rows}×{self.game.cols}")
            action = y * self.game.cols + x
            if not position.legal_mask[action]:
                move, why = self.game.moves.name(action), position.why_illegal(action)
                fail(f"played {quoted(answer)}, which is {move}: {why}")
        except BaseException:
            self._kill()
            raise
        return action

    def _point(self, action: int) -> str:
        return f"{action % self.game.cols},{action // self.game.cols}"

    def _kill(self) -> None:
        if self._process is not None:
            self._peak = max(self._peak, self._process.peak_memory)
            self._finalizer()
            self._process = None


def _command(cmd: str) -> list[str]:
    """The command as a list of words, to start without a shell."""
    words = shlex.shlex(cmd, posix=True)
    words.whitespace_split, words.commenters = True, ""
    if sys.platform == "win32":
        words.escape = ""  # on Windows a backslash is part of a path
    try:
        command = list(words)
    except ValueError as error:
        raise UserError(f"player 'engine': cmd={cmd}: {error}") from None
    if not command:
        raise UserError("player 'engine' needs a command: engine:cmd=./pbrain-x --flag")
    if shutil.which(command[0]) is None:
        raise UserError(f"player 'engine': there is no program '{command[0]}' that can be started")
    return command


def _stones(position: Position) -> list[int]:
    """The cells with stones, in the order played if it is known: renju needs it."""
    cells = position.state[position.game.cells]
    stones = [cell for cell in range(len(cells)) if cells[cell] in (1, 2)]
    return position.actions if len(position.actions) == len(stones) else stones


def _milliseconds(seconds: float) -> int:
    return int(min(seconds * 1000, UNLIMITED_MS))
