"""The exact scores of the columns of Connect 4, a slice at a time beside an analysis."""

import threading

from tengen.errors import UserError
from tengen.games.position import Position
from tengen.tactics.connect4_solver import Solver, Solving
from tengen.web.opponents import is_connect4

SHARE = 1 / 16  # of the server's memory, for the solver's table


class ExactScores:
    """One solver for all pages. Its table is not made for two threads, so slices take turns."""

    def __init__(self, memory: int) -> None:
        """memory: MiB of the server."""
        self._table_mebibytes = max(1, int(SHARE * memory))
        self._solver: Solver | None = None
        self._lock = threading.Lock()

    def begin(self, position: Position) -> "Scores | None":
        """The scores of a position, being found; None if this game has no solver."""
        if not is_connect4(position.game):
            return None
        with self._lock:
            self._solver = self._solver or Solver(self._table_mebibytes)
            try:
                return Scores(self._solver.begin(position, "every"), self._lock)
            except UserError:  # a board set up by hand on which the players did not take turns
                return None


class Scores:
    """The columns of one position, for the player to move."""

    def __init__(self, solving: Solving, lock: threading.Lock) -> None:
        self._solving, self._lock = solving, lock

    def run(self, seconds: float) -> None:
        with self._lock:
            self._solving.run(seconds)

    @property
    def is_done(self) -> bool:
        return self._solving.is_done

    @property
    def columns(self) -> list[int | None]:
        """None: the column is full, or not solved yet."""
        return self._solving.scores
