"""The interface: anyone who picks a move. Arena, terminal and servers know players only by this.

with players.find("alphabeta:depth=6", game) as player:
    player.new_game(seed=1)
    player.choose(position).action
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import ClassVar, Self

from tengen.games.game import Game
from tengen.games.position import Position


@dataclass(frozen=True)
class Choice:
    """A move, and what its player thinks of the position."""

    action: int
    value: float | None = None  # from -1 (lost) to 1 (won) for the player to move
    line: tuple[int, ...] = ()  # the actions expected, this one first
    note: str = ""  # how it was found, in a few words: "depth 6, 81,250 nodes"


class PlayerFailedError(Exception):
    """A player could not move: it hung, crashed or played nonsense. It loses the game; this says why."""


class Player(ABC):
    """Settings are keyword arguments of the constructor, with a type and a default: those of a spec."""

    summary: ClassVar[str]  # one line for lists

    def __init__(self, game: Game) -> None:
        self.game = game

    def new_game(self, seed: int) -> None:  # noqa: B027  (most players remember nothing)
        """Forgets the last game. From here on the player's chances depend on the seed alone."""

    @abstractmethod
    def choose(self, position: Position) -> Choice:
        """A move in a position that is not over."""

    def choose_many(self, positions: Sequence[Position]) -> list[Choice]:
        """Moves in unrelated positions; players who think in batches do it faster together."""
        return [self.choose(position) for position in positions]

    def close(self) -> None:  # noqa: B027
        """Frees what the player holds; it is not asked again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
