"""How good the moves of a game were: one word for each, the worst moments, and tries to do better.

    best         what the judge would have played, or a move that loses nothing
    good         a move that loses little
    inaccuracy   a move that loses 0.15 or more
    mistake      a move that changes the result for the worse, or loses 0.5 or more
    missed win   a move that gives away a win that was proven or nearly sure (0.9 or more)

Values are from -1 (lost) to 1 (won) for the player who moved; blunders.py finds them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from tengen.arena.blunders import Judged

INACCURACY, MISTAKE = 0.15, 0.5  # value lost
SURE = 0.9  # a value from which a win counts as nearly sure; below -SURE: a loss
TRY_LOSES = 0.1  # less than this is lost by a try that is accepted
BAD = ("inaccuracy", "mistake", "missed win")


def judgement(judged: Judged) -> str:
    """One of variations.JUDGEMENTS."""
    if judged.better is None or judged.lost == 0:
        return "best"
    before = _result(judged.before, judged.win_before)
    after = _result(judged.after, judged.win_after)
    if judged.lost < INACCURACY:  # a small change around a limit is noise of the search
        return "good"
    if before == 1 and after < 1:
        return "missed win"
    if after < before or judged.lost >= MISTAKE:
        return "mistake"
    return "inaccuracy"


def worst(judged: Iterable[Judged], players: tuple[int, ...] = (1, 2), count: int = 3) -> list[Judged]:
    """The moves of these players that are worth a second look, the worst first."""
    bad = [one for one in judged if one.player in players and judgement(one) in BAD]
    return sorted(bad, key=lambda one: -one.lost)[:count]


@dataclass(frozen=True)
class Try:
    """Another move in the position before a bad one. Values are for the player who moves there."""

    before: float  # the position's value, if the best move is played
    played: float  # the value after the move of the game
    tried: float  # the value after the other move

    @property
    def lost(self) -> float:
        return max(0.0, self.before - self.tried)

    @property
    def played_lost(self) -> float:
        return max(0.0, self.before - self.played)

    @property
    def is_accepted(self) -> bool:
        """Does it lose little and much less than the played move, or keep the result which that one lost?"""
        loses_little = self.lost < TRY_LOSES and self.lost < self.played_lost / 2
        return loses_little or (self._keeps_result(self.tried) and not self._keeps_result(self.played))

    def _keeps_result(self, after: float) -> bool:
        return _result(after) >= _result(self.before) and self.before - after < MISTAKE


def _result(value: float, win: int | None = None) -> int:
    """1 a win, -1 a loss, 0 neither is nearly sure. win: plies to a proven win, negative: to a loss."""
    if win is not None:
        return 1 if win > 0 else -1
    return 1 if value >= SURE else -1 if value <= -SURE else 0
