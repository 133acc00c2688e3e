"""The clocks of a game: one for each side; at most one of them runs.

clocks = GameClocks((Clock(60.0, 1.0), Clock(60.0, 1.0)))
clocks.run(1)                  # the first player thinks
clocks.press(1)                # and has moved: the increment is added, no clock runs
clocks.run(2)
clocks.fallen                  # the side whose time is used up, or None
"""

import time
from collections.abc import Callable
from dataclasses import replace

from tengen.players.limit import Clock

Clocks = tuple[Clock | None, Clock | None]  # of the first and the second player; None: no time limit


class GameClocks:
    def __init__(self, clocks: Clocks, now: Callable[[], float] = time.monotonic) -> None:
        """now: the time in seconds, from any starting point."""
        self._clocks, self._now = list(clocks), now
        self.running: int | None = None  # a side, 1 or 2
        self._since = 0.0

    def clock(self, side: int) -> Clock | None:
        """A side's clock at this moment."""
        clock = self._clocks[side - 1]
        if clock is None or side != self.running:
            return clock
        return replace(clock, left=clock.left - (self._now() - self._since))

    def run(self, side: int | None) -> None:
        """Starts this side's clock (None: no clock); the one that ran before stops and keeps its time."""
        if self.running is not None:
            self._clocks[self.running - 1] = self.clock(self.running)
        self.running, self._since = side, self._now()

    def press(self, side: int) -> None:
        """This side has moved: its clock stops and gets the increment."""
        self.run(None)
        clock = self._clocks[side - 1]
        if clock is not None:
            self._clocks[side - 1] = clock.after(0.0)

    @property
    def fallen(self) -> int | None:
        """The side whose time is used up, or None."""
        for side in (1, 2):
            clock = self.clock(side)
            if clock is not None and clock.left < 0:
                return side
        return None
