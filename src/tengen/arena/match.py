"""A match: two players, n games, each opening played twice, once with each colour.

with LocalWorkers(2) as run_tasks:
    result = play_match(Match(games.find("connect4"), "uct:sims=400", "uct:sims=100"), 100, run_tasks)
result.score, result.elo
"""

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path

import numpy as np

from tengen.arena.contestants import NetworkPlayer, to_send
from tengen.arena.log import GameLog
from tengen.arena.openings import Openings
from tengen.arena.played import GameGroup, GameTask, PlayedGame, pair_tasks
from tengen.arena.referee import PlayGames, check_players, play_games
from tengen.arena.score import elo_of, interval, pair_counts
from tengen.errors import UserError
from tengen.games.game import Game
from tengen.workers.tasks import RunTasks


@dataclass(frozen=True)
class Match:
    """The game and the players of a match. The number of games is not part of it: it can be continued."""

    game: Game
    a: str  # a player's spec, or the name of a network (contestants.py)
    b: str
    seed: int = 0
    openings: Openings | None = None  # None: of the game's book, or a few random moves
    time: tuple[float, float] | None = None  # a clock for each: seconds per game, added per move

    @property
    def starts(self) -> Openings:
        return self.openings or Openings(self.game, self.seed)

    def tasks(self, num_games: int) -> Iterator[GameTask]:
        """The games, pair by pair; A moves first in the games with even index."""
        for pair, opening in zip(range(num_games // 2), self.starts, strict=False):
            key = (self.seed, pair)
            yield from pair_tasks(2 * pair, self.a, self.b, opening, key, self.time, self.starts.rule)

    def settings(self) -> dict[str, object]:
        """The settings that must not change when a match is continued."""
        clock = {} if self.time is None else {"time": list(self.time)}
        return {
            "game": self.game.name,
            "players": [self.a, self.b],
            "seed": self.seed,
            "openings": str(self.starts),
            **clock,
        }


@dataclass(frozen=True)
class Tally:
    """Wins, draws and losses of A."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        return self.wins + self.draws / 2

    @property
    def score(self) -> float:
        """From 0 to 1; a draw counts half. ½ if no game was played."""
        return self.points / self.games if self.games else 0.5

    def __str__(self) -> str:
        wins, draws = plural(self.wins, "win"), plural(self.draws, "draw")
        return f"{wins}, {draws}, {plural(self.losses, 'loss', 'losses')}"


@dataclass(frozen=True)
class ThinkingTime:
    """The time a player used."""

    moves: int
    mean_seconds: float
    max_seconds: float


@dataclass(frozen=True)
class MatchResult:
    """The result of A against B."""

    game: str
    a: str
    b: str
    openings: str  # where the games began
    total: Tally
    as_first: Tally  # A moved first
    as_second: Tally
    pairs: tuple[int, ...]  # openings that gave A 0, ½, 1, 1½ and 2 points
    score: float  # of A, from 0 to 1
    score_interval: tuple[float, float]  # 95 %, see score.py
    elo: float  # A above B; infinite when A won or lost everything
    elo_interval: tuple[float, float]
    forfeits: tuple[str, ...]  # reasons of games lost by an illegal move, an error or on time
    thinking: tuple[ThinkingTime, ThinkingTime]  # of A, of B
    peak_mib: int  # memory of the largest process that played; both players are in one process
    engine_mib: tuple[int, int]  # peak memory of A and of B, if they are external engines; else 0

    def to_json(self) -> dict[str, object]:
        fields = asdict(self)
        fields["elo"] = finite(self.elo)
        fields["elo_interval"] = [finite(bound) for bound in self.elo_interval]
        return fields

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        """The result as HTML, for notebooks."""
        return f"<pre>{escape(self.to_text())}</pre>"

    def to_text(self) -> str:
        low, high = self.score_interval
        lines = [
            f"{self.a} against {self.b} at {self.game}: {self.total}",
            f"  started     from {self.openings}",
            f"  as first    {self.as_first}",
            f"  as second   {self.as_second}",
            f"  score       {percent(self.score)} (95 % interval {percent(low)} to {percent(high)})",
            f"  Elo         {signed(self.elo)} (95 % interval {signed(self.elo_interval[0])}"
            f" to {signed(self.elo_interval[1])})",
            f"  openings    {' · '.join(map(str, self.pairs))} gave 0 · ½ · 1 · 1½ · 2 points",
            "  per move    on average and at most: "
            + ", ".join(
                f"{spec} {duration(thinking.mean_seconds)} and {duration(thinking.max_seconds)}"
                for spec, thinking in zip((self.a, self.b), self.thinking, strict=True)
            ),
        ]
        if self.peak_mib:
            lines.append(f"  memory      at most {self.peak_mib} MiB per process (both players and Python)")
        memory = zip((self.a, self.b), self.engine_mib, strict=True)
        engines = [f"{spec} at most {mib} MiB" for spec, mib in memory if mib]
        if engines:
            lines.append(f"  engines     {', '.join(engines)}, with their child processes")
        if self.forfeits:
            lines.append(f"  forfeits    {len(self.forfeits)}, the first: {self.forfeits[0]}")
        return "\n".join(lines)


def play_match(match: Match, num_games: int, run_tasks: RunTasks, out: Path | None = None) -> MatchResult:
    """The result of a match. `out`: a folder that keeps the games; a match in it is continued."""
    return match_result(match, list(match_games(match, num_games, run_tasks, out)))


def match_games(
    match: Match, num_games: int, run_tasks: RunTasks, out: Path | None = None
) -> Generator[PlayedGame, None, None]:
    """The games of a match as they finish, for example to show progress."""
    if num_games < 2 or num_games % 2:
        raise UserError(
            f"each opening is played with both colours: games must be 2, 4, 6, …, got {num_games}"
        )
    check_players(match.game, (match.a, match.b))
    log = GameLog[PlayedGame](out, "match", match.settings()) if out else None
    yield from play_games(match.game, (match.a, match.b), match.tasks(num_games), log, run_tasks)


def play_quick_matches(
    matches: Sequence[Match], num_games: int, run_tasks: RunTasks, networks: tuple[NetworkPlayer, ...] = ()
) -> list[Tally]:
    """The results of A in several matches of one game. A match is one task. Its games are played at the same
    time, so that networks evaluate batches; different matches go to different workers."""
    groups = [GameGroup(tuple(match.tasks(num_games))) for match in matches]
    game, names = matches[0].game, (name for match in matches for name in (match.a, match.b))
    found = dict(run_tasks(PlayGames(game.name, networks, to_send(names, game)), groups))
    return [tally(iter(found[number])) for number in range(len(matches))]


def match_result(match: Match, played: Sequence[PlayedGame]) -> MatchResult:
    """The result of the games so far, in any order."""
    total, as_first, as_second = (
        tally(game for game in played if game.is_a_first in colours)
        for colours in ((True, False), (True,), (False,))
    )
    pairs = pair_counts(played)
    score = total.score
    low, high = interval(pairs)
    low, high = min(low, score), max(high, score)  # half a pair may lie outside
    return MatchResult(
        game=match.game.name,
        a=match.a,
        b=match.b,
        openings=match.starts.in_words,
        total=total,
        as_first=as_first,
        as_second=as_second,
        pairs=tuple(pairs),
        score=score,
        score_interval=(low, high),
        elo=elo_of(score),
        elo_interval=(elo_of(low), elo_of(high)),
        forfeits=tuple(game.reason for game in sorted(played, key=lambda game: game.index) if game.reason),
        thinking=(thinking(played, 0), thinking(played, 1)),
        peak_mib=max((game.peak_mib for game in played), default=0),
        engine_mib=(engine_mib(played, 0), engine_mib(played, 1)),
    )


def tally(played: Iterator[PlayedGame]) -> Tally:
    """Wins, draws and losses of A."""
    points = [game.points_of_a for game in played]
    return Tally(points.count(1.0), points.count(0.5), points.count(0.0))


def thinking(played: Sequence[PlayedGame], side: int) -> ThinkingTime:
    """The time that A (side 0) or B (side 1) used."""
    seconds = [second for game in played for second in game.seconds[side ^ (not game.is_a_first)]]
    if not seconds:
        return ThinkingTime(0, 0.0, 0.0)
    return ThinkingTime(len(seconds), round(float(np.mean(seconds)), 6), max(seconds))


def engine_mib(played: Sequence[PlayedGame], side: int) -> int:
    """The peak memory of A (side 0) or B (side 1), if it is an external engine."""
    return max((game.engine_mib[side ^ (not game.is_a_first)] for game in played), default=0)


def plural(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def signed(elo: float) -> str:
    return f"{elo:+.0f}" if math.isfinite(elo) else "+∞" if elo > 0 else "-∞"


def finite(number: float) -> float | None:
    """The number for JSON, which has no infinity: then None."""
    return number if math.isfinite(number) else None
