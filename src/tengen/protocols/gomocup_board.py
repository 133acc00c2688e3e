"""The board of a Gomocup manager: stones at pairs of numbers, and what the pairs mean.

    plain dialect   x,y: the column, then the row        START n · RECTSTART columns,rows
    Yixin-Board     row,column                           start rows columns

A Board keeps the pairs as the manager writes them: a change of the dialect changes only what they mean.
"""

import re
from dataclasses import dataclass

from tengen.errors import UserError

Point = tuple[int, int]  # as the manager writes it

OWN, THEIRS, BLOCKED = 1, 2, 3  # who a stone belongs to; BLOCKED: a winning row of a continuous game
SMALLEST, LARGEST = 5, 22  # of a side

NUMBERS = re.compile(r"-?[0-9]{1,9}(?:\s*[,\s]\s*-?[0-9]{1,9})*")


@dataclass(frozen=True)
class View:
    """The stones of a board at one moment; cells are counted row by row from the top left."""

    rows: int
    cols: int
    stones: tuple[tuple[int, int], ...]  # (cell, owner), in the order of the manager

    @property
    def own_color(self) -> int:
        """1 if we are the first player (black), else 2. It is our turn."""
        owners = [owner for _, owner in self.stones if owner != BLOCKED]
        ahead = owners.count(THEIRS) - owners.count(OWN)
        if ahead in (0, 1):
            return 1 + ahead
        return 1 if owners[0] == OWN else 2  # black moved first

    @property
    def colored(self) -> list[tuple[int, int]]:
        """(cell, color) of every stone, in the order of the manager.

        The rules know no blocked cells: they get colors in a pattern without three in a row."""
        color = {OWN: self.own_color, THEIRS: 3 - self.own_color}
        return [
            (cell, color.get(owner) or 1 + (cell % self.cols + cell // self.cols * 2) % 4 // 2)
            for cell, owner in self.stones
        ]

    @property
    def cells(self) -> list[int]:
        """The board row by row from the top: 0 empty, 1 the first player's, 2 the second player's."""
        cells = [0] * (self.rows * self.cols)
        for cell, color in self.colored:
            cells[cell] = color
        return cells

    @property
    def is_full(self) -> bool:
        return len(self.stones) == self.rows * self.cols


class Board:
    """Stones in the order in which they were put; every mistake is a UserError and changes nothing."""

    def __init__(self, first: int, second: int) -> None:
        """The sizes in the two directions."""
        for size in (first, second):
            if not SMALLEST <= size <= LARGEST:
                raise UserError(f"boards are from {SMALLEST} to {LARGEST}, got {size}")
        self.sizes = first, second
        self.stones: dict[Point, int] = {}  # and their owners

    def check(self, point: Point) -> Point:
        """The point, if it is on the board."""
        if not all(0 <= number < size for number, size in zip(point, self.sizes, strict=True)):
            most = f"{self.sizes[0] - 1},{self.sizes[1] - 1}"
            raise UserError(f"points are from 0,0 to {most}, got {point[0]},{point[1]}")
        return point

    def put(self, point: Point, owner: int) -> None:
        if self.check(point) in self.stones:
            raise UserError(f"there is a stone at {point[0]},{point[1]} already")
        self.stones[point] = owner

    def take_back(self, point: Point) -> None:
        if self.check(point) not in self.stones:
            raise UserError(f"there is no stone at {point[0]},{point[1]}")
        del self.stones[point]

    @property
    def is_full(self) -> bool:
        return len(self.stones) == self.sizes[0] * self.sizes[1]

    def view(self, rows_first: bool) -> View:
        """rows_first: a point is row,column."""
        rows, cols = self.sizes if rows_first else self.sizes[::-1]
        stones = []
        for point, owner in self.stones.items():
            row, col = point if rows_first else point[::-1]
            stones.append((row * cols + col, owner))
        return View(rows, cols, tuple(stones))

    def point(self, cell: int, rows_first: bool) -> Point:
        """The manager's numbers for a cell of the view."""
        row, col = divmod(cell, self.sizes[1] if rows_first else self.sizes[0])
        return (row, col) if rows_first else (col, row)


def read_numbers(text: str, *counts: int, form: str) -> list[int]:
    """The whole numbers of a text, separated by commas or spaces; as many as one of `counts`.

    form: what is expected, for the message."""
    found = re.findall(r"-?[0-9]+", text) if NUMBERS.fullmatch(text.strip()) else []
    if len(found) not in counts:
        raise UserError(f"expected {form}, got '{quoted(text)}'")
    return [int(number) for number in found]


def read_point(text: str) -> Point:
    first, second = read_numbers(text, 2, form="a point such as 7,7")
    return first, second


def read_stone(text: str) -> tuple[Point, int]:
    """A line of BOARD: the point, and whose stone it is."""
    first, second, owner = read_numbers(text, 3, form="a stone such as 7,7,1, or DONE")
    if owner not in (OWN, THEIRS, BLOCKED):
        raise UserError(f"a stone is 1 (yours), 2 (the opponent's) or 3, got {owner}")
    return (first, second), owner


def quoted(text: str) -> str:
    """What a manager said, short and printable."""
    shown = "".join(letter if letter.isascii() and letter.isprintable() else "?" for letter in text.strip())
    return shown if len(shown) <= 60 else shown[:60] + "..."
