"""How long a player may think about a move: given with each move; the first limit reached counts.

    >>> Limit(seconds=1.0, simulations=400)
    Limit(simulations=400, nodes=None, depth=None, seconds=1.0, clock=None)
    >>> Limit(clock=Clock(left=60.0, increment=1.0)).thinking_seconds
    3.1492

`Limit()` is no limit: a search runs until it is stopped or nothing is left to find. A player obeys the parts
that apply to it; if none applies (alpha-beta has no simulations), it uses its default.
"""

from dataclasses import dataclass

from tengen.errors import UserError

MOVES_TO_GO = 25  # the time is divided as if this many moves of the player were left
INCREMENT_SHARE = 0.75  # of the increment, spent on the move that earns it
MOST_OF_CLOCK = 0.5  # of what is left, on one move
LAG = 0.02  # seconds reserved on a clock for everything except thinking


@dataclass(frozen=True)
class Clock:
    """The time left for the rest of the game, and what each move adds; in seconds."""

    left: float
    increment: float = 0.0

    def after(self, seconds: float) -> "Clock":
        """The clock after a move that took `seconds`; negative if the time was exceeded."""
        left = self.left - seconds
        return Clock(left + self.increment if left >= 0 else left, self.increment)


@dataclass(frozen=True)
class Limit:
    """Limits of one move; None means no limit of that kind."""

    simulations: int | None = None  # new ones: simulations kept from the last move are not counted
    nodes: int | None = None  # positions added to a tree, or searched
    depth: int | None = None  # plies, for players with iterative deepening
    seconds: float | None = None
    clock: Clock | None = None

    def __post_init__(self) -> None:
        for name in ("simulations", "nodes", "depth"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UserError(f"a limit of {name} is 1 or more, got {value}")
        if self.seconds is not None and not 0 <= self.seconds < float("inf"):
            raise UserError(f"a limit of seconds is a number from 0 up, got {self.seconds}")

    @property
    def is_timed(self) -> bool:
        """Does wall time end the search? Then its result is not reproducible."""
        return self.seconds is not None or self.clock is not None

    @property
    def is_empty(self) -> bool:
        return self == Limit()

    def obeyed(self, kinds: tuple[str, ...], default: "Limit") -> "Limit":
        """The parts of this limit that apply to a player that obeys time and these kinds."""
        kept = Limit(seconds=self.seconds, clock=self.clock, **{kind: getattr(self, kind) for kind in kinds})
        return default if kept.is_empty and not self.is_empty else kept

    @property
    def thinking_seconds(self) -> float | None:
        """The seconds to think about this move; None if time does not matter."""
        if self.clock is None:
            return self.seconds
        left = max(0.0, self.clock.left - LAG)
        share = min(
            left / MOVES_TO_GO + INCREMENT_SHARE * self.clock.increment,
            left * MOST_OF_CLOCK,
        )
        share = round(share, 6)
        return share if self.seconds is None else min(share, self.seconds)
