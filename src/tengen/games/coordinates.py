"""Names of moves, and the one place where rows and letters are translated.

Inside, row 0 is the top row and cell = row · cols + col. Outside:

    gomoku, renju, caro, tic-tac-toe   "h8": a letter for the column (none left out), rows from the bottom
    Othello, Hex                       "d3": the same, rows from the top
    Connect 4                          "4": the column, from 1 at the left
"""

import re
from dataclasses import dataclass
from typing import Literal, Protocol

from tengen.errors import UserError

LETTERS = "abcdefghijklmnopqrstuvwxyz"
MAX_SIDE = len(LETTERS)


class MoveNames(Protocol):
    """Turns actions into text and back."""

    def name(self, action: int) -> str:
        """The move as people write it."""

    def action(self, text: str) -> int:
        """The action meant by a text; UserError says what was expected."""

    def split(self, text: str) -> list[str]:
        """The moves of a text that may run together ("4435", "h8h9i8")."""


@dataclass(frozen=True)
class Cells:
    """Actions are cells; with_pass adds one more action, "pass"."""

    rows: int
    cols: int
    row_one: Literal["top", "bottom"] = "bottom"
    with_pass: bool = False

    def name(self, action: int) -> str:
        if self.with_pass and action == self.rows * self.cols:
            return "pass"
        row, col = divmod(action, self.cols)
        return f"{LETTERS[col]}{self.rows - row if self.row_one == 'bottom' else row + 1}"

    def action(self, text: str) -> int:
        move = text.strip().lower()
        if self.with_pass and move == "pass":
            return self.rows * self.cols
        match = re.fullmatch(r"([a-z])([0-9]{1,3})", move)
        if not match:
            raise UserError(f"a move is a letter and a number such as '{self.name(0)}'{self._or_pass()}")
        col, number = LETTERS.index(match[1]), int(match[2])
        if col >= self.cols:
            raise UserError(f"columns are a-{LETTERS[self.cols - 1]}")
        if not 1 <= number <= self.rows:
            raise UserError(f"rows are 1-{self.rows}")
        row = self.rows - number if self.row_one == "bottom" else number - 1
        return row * self.cols + col

    def split(self, text: str) -> list[str]:
        return re.findall(r"pass|[a-z][0-9]+|[^\s,;]+", text.lower())

    def _or_pass(self) -> str:
        return " or 'pass'" if self.with_pass else ""


@dataclass(frozen=True)
class Columns:
    """Actions are columns, counted from 1 at the left."""

    cols: int

    def name(self, action: int) -> str:
        return str(action + 1)

    def action(self, text: str) -> int:
        move = text.strip()
        if not re.fullmatch(r"[0-9]{1,3}", move) or not 1 <= int(move) <= self.cols:
            raise UserError(f"columns are 1-{self.cols}")
        return int(move) - 1

    def split(self, text: str) -> list[str]:
        if self.cols > 9:  # "12" is a column
            return re.findall(r"[^\s,;]+", text)
        return re.findall(r"[^\s,;]", text)
