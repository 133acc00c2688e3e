"""Names of moves and what an action means: the one place that translates rows and letters.

Inside, row 0 is the top row and cell = row · cols + col. Outside:

    gomoku, renju, caro, tic-tac-toe   "h8": a letter for the column (none left out), rows from the bottom
    Othello, Hex                       "d3": the same, rows from the top
    Connect 4                          "4": the column, from 1 at the left
    Breakthrough                       "b2-b3": a piece goes from one cell to another

    class     kind       an action                       for example
    Cells     "cells"    cell                            gomoku
    Columns   "columns"  column                          Connect 4
    Steps     "kinds"    cell · len(steps) + step        Breakthrough: few directions from every cell
    Kinds     "kinds"    cell · len(kinds) + kind        a small, a medium or a large piece on a cell
    FromTo    "pairs"    from · cells + to               pieces that move far, on a small board

All but Columns take with_pass=True: one more action, the last, is "pass".
"""

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, Protocol

import numpy as np
import numpy.typing as npt

from tengen.errors import UserError

LETTERS = "abcdefghijklmnopqrstuvwxyz"
MAX_SIDE = len(LETTERS)
BETWEEN = r"\s*(?:-|–|x|:|>|->)?\s*"  # the two cells of a move: b2-b3, b2b3, b2 b3, b2xc3
SEPARATORS = r"[^\s,;]+"

ActionKind = Literal["cells", "columns", "kinds", "pairs", "general"]
Numbers = npt.NDArray[np.int32]


class MoveNames(Protocol):
    """Turns actions into text and back. A class of your own may also have `kind`, an ActionKind."""

    def name(self, action: int) -> str:
        """The move as people write it. It depends on the action only, not on the position."""

    def action(self, text: str) -> int:
        """The action meant by a text; UserError says what was expected."""

    def split(self, text: str) -> list[str]:
        """The moves of a text, also when nothing separates them ("4435", "h8h9i8")."""


@dataclass(frozen=True)
class BoardMoves:
    """What the classes below share: names of cells, a pass, and how actions move when the board is turned."""

    kind: ClassVar[ActionKind]

    rows: int
    cols: int
    row_one: Literal["top", "bottom"] = "bottom"
    with_pass: bool = False

    @property
    @abstractmethod
    def num_moves(self) -> int:
        """The number of actions without the pass."""

    @abstractmethod
    def move_name(self, action: int) -> str:
        """The name of an action that is not a pass."""

    @abstractmethod
    def move_action(self, move: str) -> int:
        """The action of a name in lower case that is not a pass."""

    @abstractmethod
    def touched(self, action: int) -> tuple[int, ...]:
        """The cells of a move, with the cell where it ends last; empty for a pass."""

    @abstractmethod
    def turned(self, cells: Numbers) -> Numbers:
        """Where each action except the pass goes when cell i goes to cells[i]."""

    @property
    def num_cells(self) -> int:
        return self.rows * self.cols

    @property
    def num_actions(self) -> int:
        return self.num_moves + self.with_pass

    def name(self, action: int) -> str:
        return "pass" if action == self.num_moves else self.move_name(action)

    def action(self, text: str) -> int:
        move = text.strip().lower()
        if self.with_pass and move == "pass":
            return self.num_moves
        return self.move_action(move)

    def split(self, text: str) -> list[str]:
        return re.findall(rf"pass|[a-z][0-9]+|{SEPARATORS}", text.lower())

    def cell_name(self, cell: int) -> str:
        row, col = divmod(cell, self.cols)
        return f"{LETTERS[col]}{self.rows - row if self.row_one == 'bottom' else row + 1}"

    def cell(self, letter: str, number: str) -> int:
        """The cell of "h" and "8"; UserError if it is not on the board."""
        col, line = LETTERS.index(letter), int(number)
        if col >= self.cols:
            raise UserError(f"columns are a-{LETTERS[self.cols - 1]}")
        if not 1 <= line <= self.rows:
            raise UserError(f"rows are 1-{self.rows}")
        return (self.rows - line if self.row_one == "bottom" else line - 1) * self.cols + col

    def _or_pass(self) -> str:
        return " or 'pass'" if self.with_pass else ""


@dataclass(frozen=True)
class Cells(BoardMoves):
    """Actions are cells: action = cell."""

    kind = "cells"

    @property
    def num_moves(self) -> int:
        return self.num_cells

    def move_name(self, action: int) -> str:
        return self.cell_name(action)

    def move_action(self, move: str) -> int:
        match = re.fullmatch(r"([a-z])([0-9]{1,3})", move)
        if not match:
            raise UserError(f"a move is a letter and a number such as '{self.name(0)}'{self._or_pass()}")
        return self.cell(match[1], match[2])

    def touched(self, action: int) -> tuple[int, ...]:
        return (action,) if action < self.num_moves else ()

    def turned(self, cells: Numbers) -> Numbers:
        return cells


@dataclass(frozen=True)
class Columns:
    """Actions are columns, counted from 1 at the left: action = column."""

    kind: ClassVar[ActionKind] = "columns"

    cols: int

    @property
    def num_actions(self) -> int:
        return self.cols

    def name(self, action: int) -> str:
        return str(action + 1)

    def action(self, text: str) -> int:
        move = text.strip()
        if not re.fullmatch(r"[0-9]{1,3}", move) or not 1 <= int(move) <= self.cols:
            raise UserError(f"columns are 1-{self.cols}")
        return int(move) - 1

    def split(self, text: str) -> list[str]:
        if self.cols > 9:  # "12" is a column
            return re.findall(SEPARATORS, text)
        return re.findall(r"[^\s,;]", text)

    def turned(self, cells: Numbers) -> Numbers:
        """Where each column goes; UserError if a column does not stay a column."""
        board: Numbers = cells.reshape(-1, self.cols) % self.cols
        if (board != board[0]).any():
            raise UserError("this symmetry turns columns into rows: where actions are columns, use mirror")
        columns: Numbers = board[0]
        return columns


@dataclass(frozen=True)
class _Journeys(BoardMoves):
    """Moves from one cell to another. The rules can use `sources` and `targets`."""

    @cached_property
    def sources(self) -> npt.NDArray[np.int16]:
        """int16[A]: the cell where each action begins; -1 for a pass."""
        ends = [self.touched(action) for action in range(self.num_actions)]
        return np.array([cells[0] if cells else -1 for cells in ends], np.int16)

    @cached_property
    def targets(self) -> npt.NDArray[np.int16]:
        """int16[A]: the cell where each action ends; -1 if that is off the board, and for a pass."""
        ends = [self.touched(action) for action in range(self.num_actions)]
        return np.array([cells[-1] if len(cells) == 2 else -1 for cells in ends], np.int16)

    def split(self, text: str) -> list[str]:
        return re.findall(rf"pass|[a-z][0-9]+{BETWEEN}[a-z][0-9]+|{SEPARATORS}", text.lower())

    def _two_cells(self, move: str) -> tuple[int, int]:
        match = re.fullmatch(rf"([a-z])([0-9]{{1,3}}){BETWEEN}([a-z])([0-9]{{1,3}})", move)
        if not match:
            real = (self.targets >= 0) & (self.targets != self.sources)
            first = self.name(int(np.argmax(real)))
            raise UserError(f"a move is two cells, from and to, such as '{first}'{self._or_pass()}")
        return self.cell(match[1], match[2]), self.cell(match[3], match[4])


@dataclass(frozen=True)
class FromTo(_Journeys):
    """Actions are pairs of cells: action = from · cells + to. Equal cells can mean a new piece there."""

    kind = "pairs"

    @property
    def num_moves(self) -> int:
        return self.num_cells**2

    def move_name(self, action: int) -> str:
        start, end = divmod(action, self.num_cells)
        return f"{self.cell_name(start)}-{self.cell_name(end)}"

    def move_action(self, move: str) -> int:
        start, end = self._two_cells(move)
        return start * self.num_cells + end

    def touched(self, action: int) -> tuple[int, ...]:
        return divmod(action, self.num_cells) if action < self.num_moves else ()

    def turned(self, cells: Numbers) -> Numbers:
        return (cells[:, None] * self.num_cells + cells).ravel()


@dataclass(frozen=True)
class Steps(_Journeys):
    """A cell and one of a few steps: action = cell · len(steps) + step. A step is (rows down, columns right).

    Actions that leave the board also have a number and a name such as "a5+up1". They are never legal."""

    kind = "kinds"

    steps: tuple[tuple[int, int], ...] = ()

    @property
    def num_moves(self) -> int:
        return self.num_cells * len(self.steps)

    def move_name(self, action: int) -> str:
        cells, (down, right) = self.touched(action), self.steps[action % len(self.steps)]
        if len(cells) == 2:
            return f"{self.cell_name(cells[0])}-{self.cell_name(cells[1])}"
        words = [f"{'down' if down > 0 else 'up'}{abs(down)}"] if down else []
        words += [f"{'right' if right > 0 else 'left'}{abs(right)}"] if right else []
        return f"{self.cell_name(cells[0])}+{'+'.join(words)}"

    def move_action(self, move: str) -> int:
        if match := re.fullmatch(r"([a-z])([0-9]{1,3})\+[a-z0-9+]+", move):
            first = self.cell(match[1], match[2]) * len(self.steps)
            for action in range(first, first + len(self.steps)):
                if self.move_name(action) == move:
                    return action
        start, end = self._two_cells(move)
        step = end // self.cols - start // self.cols, end % self.cols - start % self.cols
        if step not in self.steps:
            raise UserError(
                f"no piece goes from {self.cell_name(start)} to {self.cell_name(end)} in this game"
            )
        return start * len(self.steps) + self.steps.index(step)

    def split(self, text: str) -> list[str]:
        move = rf"[a-z][0-9]+(?:{BETWEEN}[a-z][0-9]+|\+[a-z0-9+]+)"
        return re.findall(rf"pass|{move}|{SEPARATORS}", text.lower())

    def touched(self, action: int) -> tuple[int, ...]:
        if action == self.num_moves:
            return ()
        cell, step = divmod(action, len(self.steps))
        row, col = cell // self.cols + self.steps[step][0], cell % self.cols + self.steps[step][1]
        is_on_board = 0 <= row < self.rows and 0 <= col < self.cols
        return (cell, row * self.cols + col) if is_on_board else (cell,)

    def turned(self, cells: Numbers) -> Numbers:
        places = np.stack([cells // self.cols, cells % self.cols], axis=1)  # [cells, 2]
        down = places[self.cols] - places[0] if self.rows > 1 else np.array([1, 0])
        right = places[1] - places[0] if self.cols > 1 else np.array([0, 1])
        steps = [tuple(int(part) for part in a * down + b * right) for a, b in self.steps]
        for old, new in zip(self.steps, steps, strict=True):
            if new not in self.steps:
                raise UserError(f"this symmetry turns the step {old} into {new}, which is none of the steps")
        kinds = np.array([self.steps.index(step) for step in steps], np.int32)
        return (cells[:, None] * len(self.steps) + kinds).ravel()


@dataclass(frozen=True)
class Kinds(BoardMoves):
    """A cell and a kind of move on it: action = cell · len(kinds) + kind. Named "b2-large"."""

    kind = "kinds"

    kinds: Sequence[str] = ()

    @property
    def num_moves(self) -> int:
        return self.num_cells * len(self.kinds)

    def move_name(self, action: int) -> str:
        cell, kind = divmod(action, len(self.kinds))
        return f"{self.cell_name(cell)}-{self.kinds[kind]}"

    def move_action(self, move: str) -> int:
        words = [kind.lower() for kind in self.kinds]
        match = re.fullmatch(r"([a-z])([0-9]{1,3})[-\s]*(\S+)", move)
        if not match or match[3] not in words:
            choice = f"{', '.join(self.kinds)}, such as '{self.name(0)}'"
            raise UserError(f"a move is a cell and one of {choice}{self._or_pass()}")
        return self.cell(match[1], match[2]) * len(words) + words.index(match[3])

    def split(self, text: str) -> list[str]:
        return re.findall(SEPARATORS, text.lower())

    def touched(self, action: int) -> tuple[int, ...]:
        return (action // len(self.kinds),) if action < self.num_moves else ()

    def turned(self, cells: Numbers) -> Numbers:
        kinds = np.arange(len(self.kinds), dtype=np.int32)
        return (cells[:, None] * len(self.kinds) + kinds).ravel()
