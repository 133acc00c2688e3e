"""The interface of everything that picks a move. Arena, terminal and servers use players only through it.

with players.find("alphabeta:depth=6", game) as player:
    player.prepare()                                        # compile and load before a clock runs
    player.new_game(seed=1)
    player.choose(position, Limit(seconds=1)).action
    for snapshot in player.analyse(position): ...           # the same search, watched; analysis.py
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Self

from tengen.errors import UserError
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.limit import Limit

if TYPE_CHECKING:
    from tengen.players.analysis import Analysis
    from tengen.players.swap2 import Swap2Reply
    from tengen.search.snapshot import Snapshot


@dataclass(frozen=True)
class Choice:
    """A move, and what its player thinks of the position."""

    action: int
    value: float | None = None  # from -1 (lost) to 1 (won) for the player to move
    line: tuple[int, ...] = ()  # the actions expected, this one first
    note: str = ""  # how it was found, in a few words: "depth 6, 81,250 nodes"
    distance: int | None = None  # plies to a win or loss that the player has proven
    simulations: int = 0  # new ones; 0 here and below: the player has no such number
    nodes: int = 0  # positions in its tree, or searched
    depth: int = 0  # plies of the longest line looked at


class PlayerFailedError(Exception):
    """A player could not move: it hung, crashed or played nonsense. It loses the game; this says why."""


class Thinking(ABC):
    """A search of one position in progress. It works in slices, so that it can be read and stopped."""

    @abstractmethod
    def run(self, seconds: float) -> bool:
        """Thinks for about `seconds`, a few milliseconds more at most. Is there nothing left to find?

        Obeys the limits of simulations, nodes and depth; the caller checks the time limit."""

    @abstractmethod
    def choice(self) -> Choice:
        """The best move so far. Can be called between any two slices, and before the first."""

    @abstractmethod
    def snapshot(self) -> "Snapshot":
        """What has been found so far, as an immutable value."""

    def tree_text(self, depth: int) -> str:
        """The search tree to a depth, as text."""
        raise UserError("this player has no tree to show: --tree is for zero, and for bare searches")


class Player(ABC):
    """Its settings, as in a spec, are keyword arguments of the constructor, with a type and a default."""

    summary: ClassVar[str]  # one line for lists
    obeys: ClassVar[tuple[str, ...]] = ()  # the limits it obeys besides time: simulations, nodes, depth

    def __init__(self, game: Game, limit: Limit | None = None) -> None:
        """limit: the default, for moves without their own limit."""
        self.game, self.limit = game, limit or Limit()

    def prepare(self, limit: Limit | None = None) -> None:
        """Compiles and loads what the first move under a limit needs, so that it takes no longer than others.

        Forgets the game, like new_game."""
        thinking = self.begin(Position.start(self.game), self._obeyed(limit))
        thinking.run(0.0)
        thinking.choice()
        self.new_game(0)

    def new_game(self, seed: int) -> None:  # noqa: B027  (most players remember nothing)
        """Forgets the last game. From now on the player's random choices depend only on the seed."""

    @abstractmethod
    def begin(self, position: Position, limit: Limit) -> Thinking:
        """Starts to think about a position that is not over, within a limit that this player obeys.

        One position at a time: the next call ends the previous thinking."""

    def analyse(self, position: Position, limit: Limit | None = None, every: float = 0.1) -> "Analysis":
        """A search that can be watched and stopped; gives a snapshot about every `every` seconds."""
        from tengen.players.analysis import Analysis

        return Analysis(self, position, self._obeyed(limit), every)

    def choose(self, position: Position, limit: Limit | None = None) -> Choice:
        """A move in a position that is not over: runs an analysis to its end."""
        return self.analyse(position, limit).best

    def choose_many(self, positions: Sequence[Position], limit: Limit | None = None) -> list[Choice]:
        """Moves in unrelated positions; players that work in batches are faster with many at once."""
        return [self.choose(position, limit) for position in positions]

    def swap2(self, position: Position, seed: int, limit: Limit | None = None) -> "Swap2Reply":
        """What it does at its turn of the opening rule swap2, after 0, 3 or 5 stones."""
        from tengen.players import swap2

        return swap2.by_value(self, position, seed, limit)

    def _obeyed(self, limit: Limit | None) -> Limit:
        """The limit that applies to a move."""
        return self.limit if limit is None else limit.obeyed(self.obeys, self.limit)

    @property
    def outside_mib(self) -> int:
        """Peak memory of the processes that this player has started, in MiB; 0: none, or not known."""
        return 0

    def close(self) -> None:  # noqa: B027
        """Frees the player's resources; it is not used again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
