"""A test whether A is stronger than B, which plays only as many games as needed.

The sequential probability ratio test (Wald 1945) compares two hypotheses after every pair of games:

    H0: A is better by elo0 only      H1: A is better by elo1

    LLR = L(score of elo1) - L(score of elo0)        with L of score.py (generalised: Van den Bergh 2017)

and stops when LLR leaves (log β/(1-α), log (1-β)/α). Then H0 is rejected wrongly with a probability of at
most about α, and H1 of at most about β. Pairs count in the order of the schedule, not in the order they
finish: the answer depends neither on the number of workers nor on which games were fast.
"""

import math
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from tengen.arena.log import GameLog
from tengen.arena.match import Match, MatchResult, match_result
from tengen.arena.played import PlayedGame
from tengen.arena.referee import check_players, play_games
from tengen.arena.score import log_likelihood, pair_counts, score_of
from tengen.errors import UserError
from tengen.workers.tasks import RunTasks

MOST_ELO = 2000  # with a larger difference, the weaker player scores no points


@dataclass(frozen=True)
class Sprt:
    """The hypotheses of the test, and its error rates."""

    elo0: float = 0.0
    elo1: float = 50.0  # closer to elo0 needs more games: half the distance, four times as many
    alpha: float = 0.05  # probability that "stronger" is wrong
    beta: float = 0.05  # probability that "not stronger" is wrong

    def __post_init__(self) -> None:
        for name, elo in (("elo0", self.elo0), ("elo1", self.elo1)):
            if not -MOST_ELO <= elo <= MOST_ELO:
                raise UserError(f"sprt: {name} is between -{MOST_ELO} and {MOST_ELO}, got {elo:g}")
        if not self.elo0 < self.elo1:
            raise UserError(f"sprt: elo0 is below elo1, got {self.elo0:g} and {self.elo1:g}")
        for name, share in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < share < 0.5:
                raise UserError(f"sprt: {name} is between 0 and 0.5, got {share:g}")

    @property
    def bounds(self) -> tuple[float, float]:
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def llr(self, pairs: Sequence[int]) -> float:
        """The log-likelihood ratio: how much more likely these pairs are under H1 than under H0."""
        return log_likelihood(pairs, score_of(self.elo1)) - log_likelihood(pairs, score_of(self.elo0))

    def verdict(self, pairs: Sequence[int]) -> str:
        """`stronger`, `not stronger`, or `undecided` so far."""
        low, high = self.bounds
        llr = self.llr(pairs)
        return "stronger" if llr >= high else "not stronger" if llr <= low else "undecided"


@dataclass(frozen=True)
class SprtResult:
    """The answer of the test, and the result of its games."""

    test: Sprt
    verdict: str
    llr: float
    match: MatchResult

    def to_json(self) -> dict[str, object]:
        return {
            "verdict": self.verdict,
            "llr": self.llr,
            "bounds": self.test.bounds,
            **asdict(self.test),
            "match": self.match.to_json(),
        }

    def to_text(self) -> str:
        test, (low, high) = self.test, self.test.bounds
        a, b, games = self.match.a, self.match.b, self.match.total.games
        words = {
            "stronger": f"{a} is stronger than {b}: {test.elo1:+g} Elo, not {test.elo0:+g}",
            "not stronger": f"{a} is not stronger than {b}: {test.elo0:+g} Elo, not {test.elo1:+g}",
            "undecided": f"after {games} games it is not known whether {a} is stronger than {b}",
        }
        test_line = f"  test        LLR {self.llr:+.2f} within ({low:.2f}, {high:.2f}) after {games} games"
        if self.verdict != "undecided":
            test_line = test_line.replace("within", "left")
        return "\n".join([words[self.verdict], test_line, *self.match.to_text().split("\n")])


def sprt_games(
    match: Match, test: Sprt, max_games: int, run_tasks: RunTasks, out: Path | None = None
) -> Generator[PlayedGame, None, None]:
    """The games that count, in order, until the answer is known or `max_games` were played."""
    if max_games < 2 or max_games % 2:
        raise UserError(
            f"each opening is played with both colours: games must be 2, 4, 6, …, got {max_games}"
        )
    check_players(match.game, (match.a, match.b))
    log = GameLog[PlayedGame](out, "sprt", {**match.settings(), **asdict(test)}) if out else None
    waiting: dict[int, PlayedGame] = {}
    counts = [0] * 5
    with closing(
        play_games(match.game, (match.a, match.b), match.tasks(max_games), log, run_tasks)
    ) as played:
        for game in played:
            waiting[game.index] = game
            following = 2 * sum(counts)
            while following in waiting and following + 1 in waiting:
                pair = [waiting.pop(following), waiting.pop(following + 1)]
                yield from pair
                counts = [before + new for before, new in zip(counts, pair_counts(pair), strict=True)]
                if test.verdict(counts) != "undecided":
                    return
                following += 2


def sprt_result(match: Match, test: Sprt, counted: Sequence[PlayedGame]) -> SprtResult:
    """The answer after these games."""
    pairs = pair_counts(counted)
    return SprtResult(test, test.verdict(pairs), test.llr(pairs), match_result(match, counted))
