"""How a game ended: on the board, or because a player resigned, failed or ran out of time."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Ending:
    """How a game ended. Only the first reason can be seen on the board."""

    winner: int | None  # 1, 2, or None for a draw
    reason: Literal["board", "resigned", "time", "failed"]
    detail: str = ""  # the message of a player that failed

    @property
    def result(self) -> str:
        """One of records.RESULTS."""
        return "1/2" if self.winner is None else ("1-0", "0-1")[self.winner - 1]

    def describe(self, names: tuple[str, str]) -> str:
        """The ending in words: `O wins (uct), X gave up`."""
        if self.winner is None:
            return "a draw"
        loser = "XO"[2 - self.winner]
        how = {"board": "", "time": f", {loser} lost on time"}.get(self.reason, f", {loser} gave up")
        return f"{'XO'[self.winner - 1]} wins ({names[self.winner - 1]}){how}"
