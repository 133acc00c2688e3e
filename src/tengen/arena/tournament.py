"""A round robin: in each round every pair of players plays one opening twice, once with each colour. With
`within`, only players that are listed near each other meet: for a ladder whose order is known.

All pairs of a round play the same opening. The number of rounds is not part of the settings, so rounds can be
added later.
"""

import csv
import io
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from tengen.arena import elo
from tengen.arena.log import GameLog
from tengen.arena.match import duration
from tengen.arena.openings import Openings
from tengen.arena.played import GameTask, PlayedGame, pair_tasks
from tengen.arena.referee import check_players, play_games
from tengen.errors import UserError
from tengen.games.game import Game
from tengen.workers.tasks import RunTasks


@dataclass(frozen=True)
class Tournament:
    """The game and the players of a tournament."""

    game: Game
    players: tuple[str, ...]  # specs
    seed: int = 0
    openings: Openings | None = None  # None: of the game's book, or a few random moves
    anchor: str | None = None  # the player whose Elo is 0; None: the mean is 0
    time: tuple[float, float] | None = None  # a clock for each: seconds per game, added per move
    within: int = 0  # only players at most so many places apart in `players` meet; 0: all

    def __post_init__(self) -> None:
        if len(self.players) < 2:
            raise UserError(f"a tournament needs at least two players, got {len(self.players)}")
        for spec in self.players:
            if self.players.count(spec) > 1:
                raise UserError(f"{spec} was given twice: name every player once")
        if self.anchor is not None and self.anchor not in self.players:
            raise UserError(f"the anchor is one of the players, got {self.anchor}")

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The players who meet, by their numbers."""
        pairs = combinations(range(len(self.players)), 2)
        return [(i, j) for i, j in pairs if not self.within or j - i <= self.within]

    @property
    def games_per_round(self) -> int:
        return 2 * len(self.pairs)

    @property
    def starts(self) -> Openings:
        return self.openings or Openings(self.game, self.seed)

    def tasks(self, rounds: int) -> Iterator[GameTask]:
        """The games, round by round."""
        for number, opening in zip(range(rounds), self.starts, strict=False):
            for pair, (i, j) in enumerate(self.pairs):
                index = number * self.games_per_round + 2 * pair
                key = (self.seed, number, i, j)
                a, b = self.players[i], self.players[j]
                yield from pair_tasks(index, a, b, opening, key, self.time, self.starts.rule)

    def settings(self) -> dict[str, object]:
        """The settings that must not change when a tournament is continued."""
        return {
            "game": self.game.name,
            "players": list(self.players),
            "seed": self.seed,
            "openings": str(self.starts),
            **({} if self.time is None else {"time": list(self.time)}),
            **({"within": self.within} if self.within else {}),
        }


@dataclass(frozen=True)
class Standing:
    """A player's line of the leaderboard."""

    player: str
    games: int
    wins: int
    draws: int
    losses: int
    points: float
    elo: float
    error: float  # half the width of the 95 % interval of elo
    seconds: float  # per move, mean
    forfeits: int  # of `losses`: by an illegal move, an error or on time
    engine_mib: int  # peak memory, if it is an external engine; else 0


@dataclass(frozen=True)
class TournamentResult:
    """The leaderboard, best player first, and the table of points between all players."""

    game: str
    openings: str  # where the games began
    games: int
    standings: tuple[Standing, ...]
    points: tuple[tuple[float, ...], ...]  # [i][j]: of standing i against standing j
    met: tuple[tuple[int, ...], ...]  # [i][j]: games between them
    peak_mib: int  # memory of the largest process that played; all players are in one process

    def to_json(self) -> dict[str, object]:
        return asdict(self)

    def to_text(self) -> str:
        head = ("", "player", "games", "wins", "draws", "losses", "points", "Elo", "± 95 %", "per move")
        rows = [
            (str(place), one.player, str(one.games), str(one.wins), str(one.draws), str(one.losses),
             f"{one.points:g}", f"{one.elo:+.0f}", f"{one.error:.0f}", duration(one.seconds))
            for place, one in enumerate(self.standings, start=1)
        ]  # fmt: skip
        cross_head = ("", "points against", *(str(place + 1) for place in range(len(self.standings))))
        cross = []
        for i, one in enumerate(self.standings):
            points = [
                f"{against:g}" if met else ""
                for against, met in zip(self.points[i], self.met[i], strict=True)
            ]
            cross.append((str(i + 1), one.player, *points))
        forfeits = [
            f"{one.player} forfeited {one.forfeits} of its games; games.jsonl says why"
            for one in self.standings
            if one.forfeits
        ]
        memory = [
            f"{one.player} took at most {one.engine_mib} MiB of memory, with its child processes"
            for one in self.standings
            if one.engine_mib
        ]
        title = [f"{self.game}, {self.games} games", f"from {self.openings}"]
        return "\n".join(
            [*title, *aligned([head, *rows]), "", *aligned([cross_head, *cross]), *forfeits, *memory]
        )

    def to_csv(self) -> str:
        text = io.StringIO()
        writer = csv.DictWriter(text, list(Standing.__dataclass_fields__), lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(one) for one in self.standings)
        return text.getvalue()


def tournament_games(
    tournament: Tournament, rounds: int, run_tasks: RunTasks, out: Path | None = None
) -> Generator[PlayedGame, None, None]:
    """The games as they finish. `out`: a folder that keeps them; a tournament in it is continued."""
    if rounds < 1:
        raise UserError(f"a tournament needs at least 1 round, got {rounds}")
    check_players(tournament.game, tournament.players)
    log = GameLog[PlayedGame](out, "tournament", tournament.settings()) if out else None
    yield from play_games(tournament.game, tournament.players, tournament.tasks(rounds), log, run_tasks)


def tournament_result(tournament: Tournament, played: Sequence[PlayedGame]) -> TournamentResult:
    """The leaderboard after these games."""
    n = len(tournament.players)
    number = {spec: i for i, spec in enumerate(tournament.players)}
    wins, draws = np.zeros((n, n)), np.zeros((n, n))
    seconds: list[list[float]] = [[] for _ in range(n)]
    forfeits, memory = [0] * n, [0] * n
    for game in played:
        first, second = (number[spec] for spec in game.players)
        winner, loser = (first, second) if game.result == "1-0" else (second, first)
        if game.result == "1/2":
            draws[first, second] += 1
            draws[second, first] += 1
        else:
            wins[winner, loser] += 1
            forfeits[loser] += bool(game.reason)
        seconds[first] += game.seconds[0]
        seconds[second] += game.seconds[1]
        for player, mib in zip((first, second), game.engine_mib, strict=True):
            memory[player] = max(memory[player], mib)
    ratings = elo.fit(wins, draws, None if tournament.anchor is None else number[tournament.anchor])
    points = wins + draws / 2
    order = sorted(range(n), key=lambda i: (-ratings.elo[i], i))
    standings = tuple(
        Standing(
            player=tournament.players[i],
            games=int((wins[i] + wins[:, i] + draws[i]).sum()),
            wins=int(wins[i].sum()),
            draws=int(draws[i].sum()),
            losses=int(wins[:, i].sum()),
            points=float(points[i].sum()),
            elo=round(float(ratings.elo[i]), 1),
            error=round(float(ratings.errors[i]), 1),
            seconds=round(float(np.mean(seconds[i])), 6) if seconds[i] else 0.0,
            forfeits=forfeits[i],
            engine_mib=memory[i],
        )
        for i in order
    )
    met = wins + wins.T + draws
    return TournamentResult(
        game=tournament.game.name,
        openings=tournament.starts.in_words,
        games=len(played),
        standings=standings,
        points=tuple(tuple(float(points[i, j]) for j in order) for i in order),
        met=tuple(tuple(int(met[i, j]) for j in order) for i in order),
        peak_mib=max((game.peak_mib for game in played), default=0),
    )


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines: the second column aligned left, numbers aligned right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if i == 1 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
