"""The options `vcf` and `vct` of several players: forced wins, looked for before and after thinking.

before    Does the player to move win by force? Then nothing else needs to be thought about.
after     Would the opponent win by force after the move that looks best? Then that move is refuted, and the
          search goes on without it.

vcf looks for wins by continuous fours (tactics/threats.py), vct for wins by threes and fours
(tactics/vct.py).
"""

import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.decision import snapshot_of
from tengen.players.limit import Limit
from tengen.players.player import Choice, Thinking
from tengen.search.snapshot import Snapshot
from tengen.tactics import threats, windows

if TYPE_CHECKING:
    from tengen.players.threes import Threes

FOURS_PER_SLICE = 1000  # about 3 ms
MAX_FOURS = 20_000
FOURS_PER_SIMULATION = 20  # of a search with a known number of simulations: a tenth of its time

MAX_THREATS = 100_000
THREATS_PER_SIMULATION = 10
MOST_CHECKS = 3  # times the nodes of one search, for all moves that are checked together
SHARE_BEFORE, SHARE_AFTER = 0.05, 0.1  # of the time
SECONDS = 2.0  # without a limit, as in live analysis


class Refutable(Thinking):
    """A search that can be told that a move loses."""

    @abstractmethod
    def refute(self, action: int, distance: int) -> None:
        """Takes it as proven that a move at the root loses in this many plies."""


class Finder(ABC):
    """A search for a forced win of the player to move, in slices, of at most `max_nodes` nodes."""

    name: str  # of what it finds: "fours"
    max_nodes: int

    @abstractmethod
    def begin(self, position: Position) -> None:
        """Starts to look, in place of the last search."""

    @abstractmethod
    def advance(self) -> bool:
        """Runs a slice. Is there more to look at?"""

    @property
    @abstractmethod
    def nodes(self) -> int:
        """Nodes since `begin`."""

    @abstractmethod
    def win(self) -> tuple[tuple[int, ...], int, str] | None:
        """The line of a win, its plies, and a note; None if none has been found."""


class FoursFinder(Finder):
    """Wins by continuous fours."""

    name = "Fours"

    def __init__(self, work: windows.Work, max_nodes: int) -> None:
        self._work, self.max_nodes = work, max_nodes

    def begin(self, position: Position) -> None:
        threats.begin(self._work, position)

    def advance(self) -> bool:
        status = threats.advance(self._work, FOURS_PER_SLICE)
        return status == threats.OPEN and self.nodes < self.max_nodes

    @property
    def nodes(self) -> int:
        return threats.result(self._work).nodes

    def win(self) -> tuple[tuple[int, ...], int, str] | None:
        found = threats.result(self._work)
        if found.status != "found":
            return None
        return found.line, len(found.line), f"wins by fours, {found.depth} moves"


class Fours:
    """Finds forced wins; remembers positions without one."""

    def __init__(self, game: Game, discount: float = 1.0, threes: bool = False) -> None:
        """discount: what a win loses in value with every ply, as the player who uses it counts. threes: look
        for wins by threes and fours too."""
        self._work, self._discount = threats.new_work(game), discount  # UserError if the game has no fours
        self._threes: Threes | None = _threes(game) if threes else None

    def new_game(self) -> None:
        """Forgets the threats of the last game."""
        if self._threes is not None:
            self._threes.forget()

    def before(self, position: Position, thinking: Thinking, max_nodes: int = MAX_FOURS) -> Thinking:
        """The same thinking after a search for fours; it only runs if that finds no win."""
        return WinFirst(FoursFinder(self._work, max_nodes), position, thinking, self._discount)

    def around(self, position: Position, thinking: Refutable, limit: Limit) -> Thinking:
        """The same thinking after a search for forced wins, and its best move checked for the opponent's."""
        max_fours = MAX_FOURS
        if limit.simulations is not None:
            max_fours = min(MAX_FOURS, FOURS_PER_SIMULATION * limit.simulations)
        fours = FoursFinder(threats.new_work(position.game), max_fours)
        checked = Checked(fours, position, thinking)
        if self._threes is None:
            return self.before(position, checked, max_fours)
        # The same for threats, within a share of the time or, if simulations are counted, a number of nodes
        simulations = limit.simulations or limit.nodes
        if simulations is not None:
            finder = self._threes.finder(min(MAX_THREATS, THREATS_PER_SIMULATION * simulations))
            share, seconds = 0.0, None
        else:
            finder, share = self._threes.finder(MAX_THREATS), SHARE_AFTER
            total = limit.thinking_seconds
            seconds = SHARE_BEFORE * (SECONDS if total is None else total)
        after = Checked(finder, position, checked, share)
        return self.before(position, WinFirst(finder, position, after, self._discount, seconds), max_fours)


def _threes(game: Game) -> "Threes":
    from tengen.players.threes import Threes  # only where it is used: importing it takes 0.3 s

    return Threes(game)


class WinFirst(Thinking):
    """Two searches, one after the other."""

    def __init__(
        self,
        finder: Finder,
        position: Position,
        thinking: Thinking,
        discount: float,
        seconds: float | None = None,
    ) -> None:
        """seconds: of the first search; None: as long as its nodes take."""
        self._position, self._finder, self._thinking = position, finder, thinking
        self._discount, self._seconds = discount, seconds
        self._win: Choice | None = None
        self._is_looking, self._has_begun = True, False

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
        """Runs a slice of the first search."""
        began = time.perf_counter()
        if not self._has_begun:
            self._finder.begin(self._position)
            self._has_begun = True
        self._is_looking = self._finder.advance()
        if won := self._finder.win():
            line, plies, note = won
            self._win = Choice(line[0], self._discount**plies, line, note, plies)
        if self._seconds is not None:
            self._seconds -= time.perf_counter() - began
            self._is_looking &= self._seconds > 0

    def choice(self) -> Choice:
        return self._win or self._thinking.choice()

    def snapshot(self) -> Snapshot:
        if self._win:
            return snapshot_of(self._position, self._win, self._finder.name, depth=len(self._win.line))
        return self._thinking.snapshot()

    def tree_text(self, depth: int) -> str:
        return self._thinking.tree_text(depth)


class Checked(Refutable):
    """A search whose best move is checked for a forced win of the opponent, in slices."""

    def __init__(
        self, finder: Finder, position: Position, thinking: Refutable, share: float | None = None
    ) -> None:
        """share: of the time, that checks may take while the search goes on; 0: they begin when it is done,
        and all together have MOST_CHECKS times the nodes of one. None: a check whenever the caller asks."""
        self._finder, self._position, self._thinking, self._share = finder, position, thinking, share
        self._has_begun = self._is_done = False
        self._checked: set[int] = set()  # actions
        self._checking: int | None = None  # the action that is being checked
        self._seconds = self._seconds_checked = 0.0
        self._nodes_left = MOST_CHECKS * finder.max_nodes if share == 0.0 else None

    def run(self, seconds: float) -> bool:
        began = time.perf_counter()
        if self._may_check():
            self._check()
        checked = time.perf_counter()
        self._has_begun = True
        self._is_done = self._thinking.run(max(0.0, seconds - (checked - began)))
        self._seconds_checked += checked - began
        self._seconds += time.perf_counter() - began
        return self._is_done and not self._is_open(self._thinking.choice())

    def _may_check(self) -> bool:
        """Is it time for a slice of a check?"""
        if self._share is None or self._is_done:
            return self._has_begun
        return self._seconds_checked < self._share * self._seconds

    def _is_open(self, choice: Choice) -> bool:
        """Must the best move still be checked?"""
        if self._nodes_left is not None and self._nodes_left <= 0:
            return False
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
            self._finder.begin(after)
        nodes = self._finder.nodes
        goes_on = self._finder.advance()
        if self._nodes_left is not None:
            self._nodes_left -= self._finder.nodes - nodes
        if won := self._finder.win():
            _, plies, _ = won
            self.refute(choice.action, plies + 1)
        if not goes_on:
            self._checked.add(choice.action)

    def refute(self, action: int, distance: int) -> None:
        self._thinking.refute(action, distance)

    def choice(self) -> Choice:
        return self._thinking.choice()

    def snapshot(self) -> Snapshot:
        return self._thinking.snapshot()

    def tree_text(self, depth: int) -> str:
        return self._thinking.tree_text(depth)
