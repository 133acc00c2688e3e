"""How strong the levels of a game are, as measured by `tengen levels`; and which level suits a person."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tengen import files
from tengen.evaluators.card import read_card
from tengen.evaluators.zoo import ZOO, nearest
from tengen.games.game import Game
from tengen.players.level_settings import NUM_LEVELS, words_of

FOLDER = Path(__file__).parent / "levels"  # GAME.json, written by `tengen levels GAME --save FILE`

FIRST_LEVEL = 3  # suggested to someone who has not played yet
NUM_GAMES = 3  # before another level is suggested
STEP = 150.0  # Elo between neighbouring levels, about: 100 at Connect 4, 169 at gomoku9


@dataclass(frozen=True)
class LevelStrength:
    """A level of a game. Its Elo is relative to level 1; None: not measured, or a match was won by 100 %."""

    level: int
    settings: str  # in words
    elo: int | None = None
    low: int | None = None  # of the 95 % interval
    high: int | None = None

    def to_json(self) -> dict[str, object]:
        return asdict(self)


def levels_of(game: Game) -> tuple[LevelStrength, ...]:
    """The ten levels of a game, with their Elo if it was measured for these settings and this network."""
    bare, measured = without_elo(game), {file.stem: file for file in FOLDER.glob("*.json")}
    if game.name in measured:
        saved = files.parse_json(files.read_bytes(measured[game.name]))
        found = tuple(LevelStrength(**level) for level in saved["levels"])
        is_same = [level.settings for level in found] == [level.settings for level in bare]
        if is_same and saved["network"] == network_of(game):
            return found
    return bare


def without_elo(game: Game) -> tuple[LevelStrength, ...]:
    """The ten levels of a game and their settings."""
    return tuple(LevelStrength(number, text) for number, text in enumerate(words_of(game), start=1))


def file_text(game: Game, levels: Sequence[LevelStrength], num_games: int) -> str:
    """The content of GAME.json. num_games: between each two neighbours."""
    found = {
        "game": game.name,
        "network": network_of(game),
        "games_per_pair": num_games,
        "levels": [level.to_json() for level in levels],
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def network_of(game: Game) -> str:
    """Identifies the bundled network that plays a game: a measured Elo is not valid for another one."""
    found = nearest(game)
    return "" if found is None else f"{found.name} {read_card(ZOO / found.name).hashes['fp32'][:16]}"


def suggested_level(results: Sequence[tuple[int, float]]) -> int:
    """The level that suits a person after some games: (level, score) of each, with a score of 1, ½ or 0.

    After fewer than three games it is the level of the last one. Then it is the level whose expected score
    equals the score of the last three games, and of a draw at their mean level: without it, three wins would
    lead straight to level 10.
    """
    if len(results) < NUM_GAMES:
        return results[-1][0] if results else FIRST_LEVEL
    last = results[-NUM_GAMES:]
    mean = sum(level for level, _ in last) / NUM_GAMES
    met = [*(level for level, _ in last), mean]
    score = sum(points for _, points in last) + 0.5
    low, high = -float(NUM_LEVELS), 2.0 * NUM_LEVELS
    for _ in range(50):  # bisection: the expected score rises with the level
        middle = (low + high) / 2
        expected = sum(1 / (1 + 10 ** ((level - middle) * STEP / 400)) for level in met)
        low, high = (middle, high) if expected < score else (low, middle)
    return min(NUM_LEVELS, max(1, round(low)))
