"""How long GTP lets a move take: time_settings and time_left, as a limit for a player.

A side has a main time for the game. After it come periods of overtime, each for a number of moves (Canadian
byo-yomi). Programs that do not send time_left before each move are not trusted to: the clocks run here too.
"""

from dataclasses import dataclass

from tengen.errors import UserError
from tengen.players.limit import LAG, Clock, Limit

MOST_SECONDS = 10_000_000.0
MOST_STONES = 10_000
OVERTIME_SHARE = 0.9  # of the time per move in a period


@dataclass
class SideClock:
    left: float  # seconds, of the main time or of the period
    stones: int  # moves left in the period; 0: main time


class TimeControl:
    """The clocks of both sides; without settings there is no limit."""

    def __init__(self) -> None:
        self._overtime, self._stones = 0.0, 0  # seconds and moves of a period
        self._clocks: tuple[SideClock, SideClock] | None = None

    def set(self, main: float, overtime: float, stones: int) -> None:
        """time_settings. An overtime without a number of moves is GTP's way to say: no limit."""
        self._overtime, self._stones = (overtime, stones) if stones else (0.0, 0)
        is_limited = stones > 0 or (overtime == 0 and main > 0)
        self._clocks = (SideClock(main, 0), SideClock(main, 0)) if is_limited else None
        for clock in self._clocks or ():
            self._end_main_time(clock)

    def tell(self, side: int, left: float, stones: int) -> None:
        """time_left."""
        if self._clocks is None:
            self._clocks = (SideClock(left, stones), SideClock(left, stones))
        clock = self._clocks[side - 1]
        clock.left, clock.stones = left, stones

    def spend(self, side: int, seconds: float) -> None:
        """A side has moved in so many seconds."""
        if self._clocks is None:
            return
        clock = self._clocks[side - 1]
        clock.left -= seconds
        if clock.stones > 1:
            clock.stones -= 1
        elif clock.stones == 1:
            clock.left, clock.stones = self._overtime, self._stones
        self._end_main_time(clock)

    def limit(self, side: int) -> Limit | None:
        """The limit of a side's next move; None: none."""
        if self._clocks is None:
            return None
        clock = self._clocks[side - 1]
        if clock.stones:
            return Limit(seconds=_share(clock.left / clock.stones))
        limit = Limit(clock=Clock(clock.left))
        if not self._stones:
            return limit
        # The main time may run out: what comes then is at least as much as a move of a period.
        return Limit(seconds=max(limit.thinking_seconds or 0.0, _share(self._overtime / self._stones)))

    def _end_main_time(self, clock: SideClock) -> None:
        if clock.stones == 0 and clock.left <= 0 and self._stones:
            clock.left, clock.stones = self._overtime + clock.left, self._stones


def _share(seconds: float) -> float:
    return max(0.0, OVERTIME_SHARE * seconds - LAG)


def seconds_of(text: str) -> float:
    """A number of seconds; UserError if it is none."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= MOST_SECONDS:
        raise UserError(f"a time is a number of seconds from 0 to {MOST_SECONDS:.0f}, got '{text[:20]}'")
    return seconds


def stones_of(text: str) -> int:
    """A number of moves; UserError if it is none."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 9) or int(text) > MOST_STONES:
        raise UserError(f"a number of stones is from 0 to {MOST_STONES}, got '{text[:20]}'")
    return int(text)
