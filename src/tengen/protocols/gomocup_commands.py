"""What the lines of a Gomocup manager mean: the board, the settings, and what is asked for.

commands = Commands(say, ask, start, prepare)
commands.obey("TURN 7,7")      # puts the stone; calls ask(request) for our move
commands.answer(answered)      # puts our stone and says 8,7
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import tengen
from tengen.errors import UserError
from tengen.protocols.gomocup_board import (
    OWN,
    THEIRS,
    Board,
    Point,
    quoted,
    read_numbers,
    read_point,
    read_stone,
)
from tengen.protocols.gomocup_player import Wanted
from tengen.protocols.gomocup_settings import Settings
from tengen.protocols.gomocup_thinking import Answered, Request

ABOUT = f'name="Tengen", version="{tengen.__version__}", author="the Tengen authors", country="INT"'
FULL = "the board is full: there is no move left"
LONGEST = 400  # characters of a line of ours

BoardWord = Literal["BOARD", "YXBOARD", "SWAP2BOARD"]


@dataclass
class Reading:
    """A board of which more lines follow."""

    word: BoardWord
    board: Board
    problem: str = ""  # of the first line that is wrong


class Commands:
    """The game as the manager knows it. A line that is wrong changes nothing, and gives one ERROR."""

    def __init__(
        self,
        say: Callable[[str], None],
        ask: Callable[[Request], None],
        start: Callable[[Wanted], None],
        prepare: Callable[[Wanted], None],
    ) -> None:
        """ask: think about this, and call `answer`. start: a game, START has to be answered. prepare: for a
        game in which something has changed."""
        self._say, self._ask, self._start_game, self._prepare = say, ask, start, prepare
        self.settings, self._board = Settings(), Board(15, 15)
        self._has_started = False
        self._reading: Reading | None = None
        self._commands: dict[str, Callable[[str], None]] = {
            "START": self._start,
            "RECTSTART": self._rect_start,
            "RESTART": self._restart,
            "BEGIN": self._begin,
            "TURN": self._turn,
            "PLAY": self._play,
            "TAKEBACK": self._take_back,
            "BOARD": lambda rest: self._read_board("BOARD"),
            "YXBOARD": lambda rest: self._read_board("YXBOARD"),
            "SWAP2BOARD": lambda rest: self._read_board("SWAP2BOARD"),
            "DONE": lambda rest: self.error("DONE ends BOARD, which has not come"),
            "ABOUT": lambda rest: self._say(ABOUT),
            "STOP": lambda rest: None,  # nothing to stop
            "YXSTOP": lambda rest: None,
            "YXSHOWFORBID": self._show_forbidden,
            "YXNBEST": self._best_moves,
            "YXSHOWINFO": lambda rest: None,  # we are told that this is Yixin-Board
            "YXHASHCLEAR": lambda rest: None,
        }

    @property
    def wanted(self) -> Wanted:
        """What the player must be able to play."""
        settings, (first, second) = self.settings, self._board.sizes
        rows, cols = (first, second) if settings.is_yixin else (second, first)
        game = f"mnk:rows={rows},cols={cols},k=5,rule={settings.rule}"
        return Wanted(game, settings.allowed_memory, settings.hash_kib // 1024, settings.threads)

    def inform(self, text: str) -> None:
        """INFO: answers nothing."""
        settings, problem = self.settings.informed(text.strip()[4:])
        if problem:
            self._say(f"DEBUG {problem}")
        self._change(settings)

    def obey(self, text: str) -> None:
        """Any other line, while nothing is asked for."""
        word, _, rest = text.strip().replace("\t", " ").partition(" ")
        word = word.upper()
        if word.startswith("YX"):
            self._change(replace(self.settings, is_yixin=True))
        if self._reading is not None and word not in self._commands:
            self._read_stone(self._reading, text)
        elif self._reading is not None and word == "DONE":
            self._end_board(self._reading)
        elif word not in self._commands:
            self._say(f"UNKNOWN {quoted(text)}")
        else:
            if self._reading is not None:
                self.error(f"{self._reading.word} was not ended by DONE")
                self._reading = None
            try:
                self._commands[word](rest)
            except UserError as error:
                self.error(str(error))

    def answer(self, answered: Answered) -> None:
        """Says the answer to a request; our stone is put on the board."""
        request = answered.request
        points = [self._board.point(cell, request.settings.is_yixin) for cell in answered.cells]
        if request.kind == "forbid":
            digits = "".join(f"{first:02}{second:02}" for first, second in points)
            self._say(f"FORBID {digits}.")
        elif request.kind == "swap2":
            self._say(" ".join(_text(point) for point in points) or "SWAP")
        else:
            self._board.put(points[0], OWN)
            self._say(_text(points[0]))
        if request.kind != "forbid":
            self.settings = self.settings.after_move(time.monotonic() - request.began)

    def error(self, text: str) -> None:
        self._say(f"ERROR {one_line(text)}")

    def message(self, text: str) -> None:
        """A line for people. Cells, written {112}, become points of the manager."""
        parts = text.replace("}", "{").split("{")
        for i in range(1, len(parts), 2):
            parts[i] = _text(self._board.point(int(parts[i]), self.settings.is_yixin))
        self._say(f"MESSAGE {one_line(''.join(parts))}")

    def _change(self, settings: Settings) -> None:
        before, self.settings = self.wanted, settings
        if self._has_started and self.wanted != before:
            self._prepare(self.wanted)

    # The game.

    def _start(self, rest: str) -> None:
        sizes = read_numbers(rest, 1, 2, form="a size such as START 15")
        self._new_board(Board(sizes[0], sizes[-1]))

    def _rect_start(self, rest: str) -> None:
        first, second = read_numbers(rest, 2, form="columns and rows such as RECTSTART 20,15")
        self._new_board(Board(first, second))

    def _new_board(self, board: Board) -> None:
        self._board, self._has_started = board, True
        self.settings = self.settings.restarted()
        self._start_game(self.wanted)

    def _restart(self, rest: str) -> None:
        self._check_started()
        self._board = Board(*self._board.sizes)
        self.settings = self.settings.restarted()
        self._say("OK")

    def _begin(self, rest: str) -> None:
        self._check_started()
        if self._board.stones:
            raise UserError(f"BEGIN is for an empty board, there are {len(self._board.stones)} stones")
        self._request("move", self._board)

    def _turn(self, rest: str) -> None:
        self._check_started()
        point = read_point(rest)
        self._board.put(point, THEIRS)
        if self._board.is_full:
            self._board.take_back(point)
            raise UserError(FULL)
        self._request("move", self._board)

    def _play(self, rest: str) -> None:
        self._check_started()
        point = read_point(rest)
        self._board.put(point, OWN)
        self._say(_text(point))

    def _take_back(self, rest: str) -> None:
        self._check_started()
        self._board.take_back(read_point(rest))
        self._say("OK")

    def _show_forbidden(self, rest: str) -> None:
        self._check_started()
        if self.settings.rule == "renju":
            self._request("forbid", self._board)
        else:
            self._say("FORBID .")

    def _best_moves(self, rest: str) -> None:
        self._check_started()
        (count,) = read_numbers(rest or "1", 1, form="a number such as YXNBEST 3")
        if self._board.is_full:
            raise UserError(FULL)
        self._request("move", self._board, max(1, count))

    # A board, line by line.

    def _read_board(self, word: BoardWord) -> None:
        self._check_started()
        self._reading = Reading(word, Board(*self._board.sizes))

    def _read_stone(self, reading: Reading, text: str) -> None:
        if reading.problem:
            return
        try:
            if reading.word == "SWAP2BOARD":
                reading.board.put(read_point(text), OWN)
                return
            point, owner = read_stone(text)
            if not (reading.word == "YXBOARD" and point == (-1, -1)):  # a pass
                reading.board.put(point, owner)
        except UserError as error:
            reading.problem = str(error)

    def _end_board(self, reading: Reading) -> None:
        self._reading = None
        board, word, problem = reading.board, reading.word, reading.problem
        if not problem and word == "BOARD" and board.is_full:
            problem = FULL
        if not problem and word == "SWAP2BOARD" and len(board.stones) not in (0, 3, 5):
            problem = f"there are 0, 3 or 5 stones, got {len(board.stones)}"
        if problem:
            self.error(f"{word}: {problem}")
        elif word == "SWAP2BOARD":
            count = len(board.stones)  # black, white, black, …, and we decide for the next one
            owners = (OWN if i % 2 == count % 2 else THEIRS for i in range(count))
            board.stones = dict(zip(board.stones, owners, strict=True))
            self._request("swap2", board)
        else:
            self._board = board
            if word == "BOARD":
                self._request("move", board)

    def _request(self, kind: Literal["move", "swap2", "forbid"], board: Board, num_best: int = 1) -> None:
        view = board.view(self.settings.is_yixin)
        self._ask(Request(kind, view, self.settings, self.wanted, time.monotonic(), num_best))

    def _check_started(self) -> None:
        if not self._has_started:
            raise UserError("there is no board: START comes first")


def one_line(text: str) -> str:
    """A text as one short line of ASCII."""
    return " ".join(text.encode("ascii", "replace").decode().split())[:LONGEST]


def _text(point: Point) -> str:
    return f"{point[0]},{point[1]}"
