"""Wins by threes and fours, for the option `vct` of a player (fours.py)."""

from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.fours import Finder
from tengen.tactics import vct

NODES_PER_SLICE = 500  # positions; about 4 ms


class Threes:
    """The memory of searches for wins by threats; remembers positions with and without one."""

    def __init__(self, game: Game) -> None:
        self._work = vct.new_work(game)  # UserError if the game has no threes

    def finder(self, max_nodes: int) -> "ThreatsFinder":
        """A search of at most so many nodes for each position. All of them share the memory."""
        return ThreatsFinder(self._work, max_nodes)

    def forget(self) -> None:
        """Later answers are those of new memory."""
        vct.forget(self._work)


class ThreatsFinder(Finder):
    """Wins by continuous threats: threes and fours."""

    name = "Threats"

    def __init__(self, work: vct.Work, max_nodes: int) -> None:
        self._work, self.max_nodes = work, max_nodes

    def begin(self, position: Position) -> None:
        vct.begin(self._work, position)

    def advance(self) -> bool:
        status = vct.advance(self._work, min(NODES_PER_SLICE, max(1, self.max_nodes - self.nodes)))
        return status == vct.OPEN and self.nodes < self.max_nodes

    @property
    def nodes(self) -> int:
        return vct.num_nodes(self._work)

    def win(self) -> tuple[tuple[int, ...], int, str] | None:
        found = vct.result(self._work)
        if found.status != "found":
            return None
        return found.line, found.plies, f"wins by threats, {found.plies} plies"
