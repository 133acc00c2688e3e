"""A sensible move within a few milliseconds, without any compiled code: for when nothing else is ready.

Looks one move ahead: wins, prevents a win, makes or prevents fours and threes, else builds near the stones.
Plain Python, which imports nothing: a process that still compiles its kernels can use it. In renju it keeps
away from every point that might be forbidden for black, and from some that are not.
"""

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))  # rows down, columns right
REACH = 2  # of a candidate from the nearest stone, in rows and columns

# What a stone is worth by what it makes in a line: mine, and the opponent's that it prevents.
WIN, PREVENTS_WIN = 1_000_000, 100_000
STRAIGHT_FOUR, PREVENTS_STRAIGHT_FOUR = 20_000, 6_000
WORTH = (0, 1, 12, 120, 700)  # of a window of five with this many stones of one side and no other
OPENING = ((0, 0), (-1, 2), (2, 1))  # three stones around the centre, for swap2


class Quick:
    """A board on which points are judged."""

    def __init__(self, rows: int, cols: int, cells: list[int], rule: str) -> None:
        """cells: 0 empty, 1 the first player's, 2 the second player's, row by row from the top."""
        self._rows, self._cols, self._cells, self._rule = rows, cols, cells, rule

    def best_cell(self, me: int) -> int | None:
        """The cell to play for a player; None if the board is full."""
        empty = [cell for cell, value in enumerate(self._cells) if value == 0]
        if not empty:
            return None
        if len(empty) == len(self._cells):
            return self._rows // 2 * self._cols + self._cols // 2
        near = [cell for cell in empty if self._is_near_a_stone(cell)] or empty
        if self._rule == "renju" and me == 1:
            allowed = [cell for cell in near if not self._may_be_forbidden(cell)]
            allowed = allowed or [cell for cell in empty if not self._may_be_forbidden(cell)]
            near = allowed or near
        return max(near, key=lambda cell: self._score(cell, me))

    def opening(self) -> list[int]:
        """Three cells for swap2."""
        row, col = self._rows // 2, self._cols // 2
        return [(row + down) * self._cols + col + right for down, right in OPENING]

    def _score(self, cell: int, me: int) -> float:
        if self.wins(cell, me):
            return WIN
        if self.wins(cell, 3 - me):
            return PREVENTS_WIN
        row, col = divmod(cell, self._cols)
        score = -(abs(2 * row - self._rows + 1) + abs(2 * col - self._cols + 1)) / 100  # the centre is better
        for down, right in DIRECTIONS:
            for who, straight in ((me, STRAIGHT_FOUR), (3 - me, PREVENTS_STRAIGHT_FOUR)):
                counts = self._windows(cell, who, down, right)
                score += sum(WORTH[count] for count in counts)
                if counts.count(3) >= 2:  # a four that can be completed at two ends
                    score += straight
        return score

    def wins(self, cell: int, who: int) -> bool:
        """Does a stone of a player here complete a row?"""
        return any(self._is_row(cell, who, down, right) for down, right in DIRECTIONS)

    def _is_row(self, cell: int, who: int, down: int, right: int) -> bool:
        ahead, end = self._run(cell, who, down, right)
        behind, other_end = self._run(cell, who, -down, -right)
        length, is_exact = ahead + behind + 1, self._is_exact(who)
        if length < 5 or (length > 5 and is_exact):
            return False
        is_caro = self._rule in ("caro", "caro-exact")
        return not (is_caro and length == 5 and end == other_end == 3 - who)

    def _is_exact(self, who: int) -> bool:
        """Does a row of six count as nothing?"""
        return self._rule in ("standard", "caro-exact") or (self._rule == "renju" and who == 1)

    def _run(self, cell: int, who: int, down: int, right: int) -> tuple[int, int | None]:
        """How many stones of a player follow a cell, and what comes after them; None: the edge."""
        row, col = divmod(cell, self._cols)
        count = 0
        while True:
            row, col = row + down, col + right
            if self._at(row, col) != who:
                return count, self._at(row, col)
            count += 1

    def _windows(self, cell: int, who: int, down: int, right: int) -> list[int]:
        """How many stones a player has in every five cells of a line where the other has none."""
        row, col = divmod(cell, self._cols)
        line = [self._at(row + i * down, col + i * right) for i in range(-4, 5)]
        windows = [line[first : first + 5] for first in range(5)]
        return [window.count(who) for window in windows if all(one in (0, who) for one in window)]

    def _may_be_forbidden(self, cell: int) -> bool:
        """Might the rules of renju forbid this point to black? Never no where they do."""
        if self.wins(cell, 1):
            return False
        row, col = divmod(cell, self._cols)
        lines = 0
        for down, right in DIRECTIONS:
            ahead, _ = self._run(cell, 1, down, right)
            behind, _ = self._run(cell, 1, -down, -right)
            if ahead + behind >= 5:  # an overline
                return True
            line = [self._at(row + i * down, col + i * right) for i in range(-5, 6)]
            stones = line.count(1)
            if stones >= 4:  # two fours in one line
                return True
            lines += stones >= 2  # a three or a four
        return lines >= 2

    def _is_near_a_stone(self, cell: int) -> bool:
        row, col = divmod(cell, self._cols)
        reach = range(-REACH, REACH + 1)
        return any(self._at(row + down, col + right) in (1, 2) for down in reach for right in reach)

    def _at(self, row: int, col: int) -> int | None:
        if 0 <= row < self._rows and 0 <= col < self._cols:
            return self._cells[row * self._cols + col]
        return None
