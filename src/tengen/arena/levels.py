"""How strong the ten levels of a game are: neighbours play each other, and the differences add up.

The Elo of level n is the sum of the differences from 1-2 to (n-1)-n. Its interval comes from the intervals of
these matches, which are independent: squares of half widths add up. So a level far from level 1 has a wide
interval; the difference between two neighbours is known better than that.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tengen.arena.match import Match, MatchResult, match_result, percent, signed
from tengen.arena.openings import Openings
from tengen.arena.played import PlayedGame
from tengen.arena.tournament import Tournament, aligned
from tengen.games.game import Game
from tengen.players.level_settings import NUM_LEVELS
from tengen.players.level_strength import LevelStrength, levels_of, without_elo


def level_tournament(game: Game, seed: int = 0, openings: Openings | None = None) -> Tournament:
    """A tournament in which neighbouring levels meet, from 10-9 to 2-1."""
    specs = tuple(f"level:n={level}" for level in range(NUM_LEVELS, 0, -1))
    return Tournament(game, specs, seed, openings, within=1)


@dataclass(frozen=True)
class LevelTable:
    """The levels of a game, and the match of each one against the level below."""

    game: str
    openings: str
    levels: tuple[LevelStrength, ...]
    matches: tuple[MatchResult, ...]  # of level 2 against 1, 3 against 2, …

    def to_json(self) -> dict[str, object]:
        return {
            "game": self.game,
            "openings": self.openings,
            "levels": [level.to_json() for level in self.levels],
            "matches": [match.to_json() for match in self.matches],
        }

    def to_text(self) -> str:
        head = ("level", "settings", "Elo", "95 % interval", "games", "score against the level below")
        rows = [
            (*_row(level), str(match.total.games), _score(match)) if match else (*_row(level), "", "")
            for level, match in zip(self.levels, (None, *self.matches), strict=True)
        ]
        return "\n".join([f"{self.game}, from {self.openings}", *aligned([head, *rows])])


def level_table(tournament: Tournament, played: Sequence[PlayedGame]) -> LevelTable:
    """The strength of all levels after these games."""
    specs, matches = tournament.players[::-1], []
    for lower, higher in pairwise(specs):
        pairing = Match(tournament.game, higher, lower, tournament.seed, tournament.openings)
        games = [game for game in played if set(game.players) == {lower, higher}]
        matches.append(match_result(pairing, games))
    first, *others = without_elo(tournament.game)
    levels, elo, variances = [replace(first, elo=0, low=0, high=0)], 0.0, [0.0, 0.0]
    for level, match in zip(others, matches, strict=True):
        elo += match.elo
        variances = [
            variance + (bound - match.elo) ** 2
            for variance, bound in zip(variances, match.elo_interval, strict=True)
        ]
        below, above = map(math.sqrt, variances)
        if math.isfinite(elo) and math.isfinite(below + above):
            level = replace(level, elo=round(elo), low=round(elo - below), high=round(elo + above))
        levels.append(level)
    return LevelTable(tournament.game.name, tournament.starts.in_words, tuple(levels), tuple(matches))


def known_levels(game: Game) -> str:
    """The table of what is known about the levels, without playing."""
    levels = levels_of(game)
    rows = [("level", "settings", "Elo", "95 % interval"), *map(_row, levels)]
    measured = "measured by tengen levels" if levels[0].elo is not None else "Elo not measured"
    return "\n".join([f"{game.name}, {measured}", *aligned(rows)])


def _row(level: LevelStrength) -> tuple[str, str, str, str]:
    if level.elo is None or level.low is None or level.high is None:
        return str(level.level), level.settings, "?", ""
    interval = f"{signed(level.low)} to {signed(level.high)}" if level.level > 1 else ""
    return str(level.level), level.settings, signed(level.elo), interval


def _score(match: MatchResult) -> str:
    low, high = match.score_interval
    return f"{percent(match.score)} ({percent(low)} to {percent(high)})"
