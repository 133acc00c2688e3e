"""The option `vcf` of several players: wins by continuous fours, looked for before and after thinking.

before    Does the player to move win by fours? Then nothing else needs to be thought about.
after     Would the opponent win by fours after the move that looks best? Then that move is refuted, and the
          search goes on without it.
"""

import time
from abc import abstractmethod

from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.decision import snapshot_of
from tengen.players.limit import Limit
from tengen.players.player import Choice, Thinking
from tengen.search.snapshot import Snapshot
from tengen.tactics import threats
from tengen.tactics.windows import Work

NODES_PER_SLICE = 1000  # about 3 ms
MAX_NODES = 20_000
NODES_PER_SIMULATION = 20  # of a search with a known number of simulations: a tenth of its time


class Refutable(Thinking):
    """A search that can be told that a move loses."""

    @abstractmethod
    def refute(self, action: int, distance: int) -> None:
        """Takes it as proven that a move at the root loses in this many plies."""


class Fours:
    """Finds forced wins; remembers positions without one."""

    def __init__(self, game: Game, discount: float = 1.0) -> None:
        """discount: what a win loses in value with every ply, as the player who uses it counts."""
        self._work, self._discount = threats.new_work(game), discount  # UserError if the game has no fours

    def before(self, position: Position, thinking: Thinking, max_nodes: int = MAX_NODES) -> Thinking:
        """The same thinking after a search for fours; it only runs if that finds no win."""
        return FoursFirst(self._work, position, thinking, max_nodes, self._discount)

    def around(self, position: Position, thinking: Refutable, limit: Limit) -> Thinking:
        """The same thinking after a search for fours, and its best move checked for the opponent's."""
        max_nodes = MAX_NODES
        if limit.simulations is not None:
            max_nodes = min(MAX_NODES, NODES_PER_SIMULATION * limit.simulations)
        checked = FoursAfter(threats.new_work(position.game), position, thinking, max_nodes)
        return self.before(position, checked, max_nodes)


class FoursFirst(Thinking):
    """Two searches, one after the other."""

    def __init__(
        self,
        work: Work,
        position: Position,
        thinking: Thinking,
        max_nodes: int,
        discount: float,
    ) -> None:
        self._position, self._work, self._thinking = position, work, thinking
        self._max_nodes, self._discount = max_nodes, discount
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
            value = self._discount ** len(found.line)
            self._win = Choice(found.line[0], value, found.line, note, len(found.line))
        self._is_looking = status == threats.OPEN and found.nodes < self._max_nodes

    def choice(self) -> Choice:
        return self._win or self._thinking.choice()

    def snapshot(self) -> Snapshot:
        if self._win:
            return snapshot_of(self._position, self._win, "Fours", depth=len(self._win.line))
        return self._thinking.snapshot()

    def tree_text(self, depth: int) -> str:
        return self._thinking.tree_text(depth)


class FoursAfter(Thinking):
    """A search whose best move is checked for a win of the opponent by fours, in slices."""

    def __init__(self, work: Work, position: Position, thinking: Refutable, max_nodes: int) -> None:
        self._position, self._work, self._thinking, self._max_nodes = position, work, thinking, max_nodes
        self._has_begun = False
        self._checked: set[int] = set()  # actions
        self._checking: int | None = None  # the action that is being checked

    def run(self, seconds: float) -> bool:
        ends = time.perf_counter() + seconds
        if self._has_begun:
            self._check()
        self._has_begun = True
        is_done = self._thinking.run(max(0.0, ends - time.perf_counter()))
        return is_done and not self._is_open(self._thinking.choice())

    def _is_open(self, choice: Choice) -> bool:
        """Must the best move still be checked?"""
        return choice.distance is None and choice.action not in self._checked

    def _check(self) -> None:
        """Runs a slice of the check of the move that looks best now."""
        choice = self._thinking.choice()
        if not self._is_open(choice):
            return
        if self._checking != choice.action:
            self._checking = choice.action
            after = self._position.play(choice.action)
            if after.is_over:
                self._checked.add(choice.action)
                return
            threats.begin(self._work, after)
        status = threats.advance(self._work, NODES_PER_SLICE)
        found = threats.result(self._work)
        if status == threats.FOUND:
            self._thinking.refute(choice.action, len(found.line) + 1)
        if status != threats.OPEN or found.nodes >= self._max_nodes:
            self._checked.add(choice.action)

    def choice(self) -> Choice:
        return self._thinking.choice()

    def snapshot(self) -> Snapshot:
        return self._thinking.snapshot()

    def tree_text(self, depth: int) -> str:
        return self._thinking.tree_text(depth)
