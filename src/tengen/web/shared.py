"""What all pages of a server share: threads, players' memory, the solver, the time."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tengen.protocols.kept_players import PlayerStore
from tengen.protocols.searches import Searches
from tengen.web.exact import ExactScores

MEMORY = 1024  # MiB
NUM_THREADS = 4  # more than most machines have cores for: a network answers several searches at once


@dataclass(frozen=True)
class Shared:
    searches: Searches
    players: PlayerStore
    exact: ExactScores
    now: Callable[[], float] = field(default=time.monotonic)  # seconds, for clocks and idle pages

    @classmethod
    def create(
        cls,
        memory: int = MEMORY,
        now: Callable[[], float] = time.monotonic,
        num_threads: int = NUM_THREADS,
    ) -> "Shared":
        """memory: MiB for all searches together. num_threads: for replies, and as many for analyses."""
        return cls(Searches(num_threads), PlayerStore(memory), ExactScores(memory), now)

    def close(self) -> None:
        self.searches.close()
