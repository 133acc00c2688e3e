"""The option `vcf=yes` of several players: before thinking, look for a win by continuous fours."""

import time

from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.decision import snapshot_of
from tengen.players.player import Choice, Thinking
from tengen.search.snapshot import Snapshot
from tengen.tactics import threats

NODES_PER_SLICE = 1000  # about 3 ms
MAX_NODES = 20_000


class Fours:
    """Finds forced wins; remembers positions without one."""

    def __init__(self, game: Game) -> None:
        self._work = threats.new_work(game)  # UserError if the game has no fours

    def before(self, position: Position, thinking: Thinking) -> Thinking:
        """The same thinking after a search for fours; it only runs if that finds no win."""
        return FoursFirst(self._work, position, thinking)


class FoursFirst(Thinking):
    """Two searches, one after the other."""

    def __init__(self, work: threats.Work, position: Position, thinking: Thinking) -> None:
        self._position, self._work, self._thinking = position, work, thinking
        self._win: Choice | None = None
        self._is_looking = True
        threats.begin(work, position)

    def run(self, seconds: float) -> bool:
        ends = time.perf_counter() + seconds
        while self._is_looking:
            self._look()
            if self._is_looking and time.perf_counter() >= ends:
                return False
        if self._win:
            return True
        return self._thinking.run(max(0.0, ends - time.perf_counter()))

    def _look(self) -> None:
        """Runs a slice of the search for fours."""
        status = threats.advance(self._work, NODES_PER_SLICE)
        found = threats.result(self._work)
        if status == threats.FOUND:
            note = f"wins by fours, {found.depth} moves"
            self._win = Choice(found.line[0], 1.0, found.line, note, len(found.line))
        self._is_looking = status == threats.OPEN and found.nodes < MAX_NODES

    def choice(self) -> Choice:
        return self._win or self._thinking.choice()

    def snapshot(self) -> Snapshot:
        if self._win:
            return snapshot_of(self._position, self._win, "Fours", depth=len(self._win.line))
        return self._thinking.snapshot()

    def tree_text(self, depth: int) -> str:
        return self._thinking.tree_text(depth)
