"""The settings of the ten levels, in one table for each family of games; level.py says what they mean."""

from dataclasses import dataclass

from tengen.evaluators.zoo import nearest
from tengen.games import connect4, othello
from tengen.games.game import Game
from tengen.tactics.fours import has_fours

NUM_LEVELS = 10
FIRST_SAFE_LEVEL = 3  # from here on, no level overlooks a win in one move or the block of one


@dataclass(frozen=True)
class Settings:
    """How a level plays."""

    simulations: int  # per move; 1: the network alone
    seen: int | None = None  # moves that it looks at; None: all
    temperature: float = 1.0  # T of the draw of these moves: 1 draws from the policy, ∞ draws evenly
    fours: bool = True  # look for forced wins by fours, as `zero` does in games that have fours

    @property
    def in_words(self) -> str:
        sight = "all moves" if self.seen is None else f"{self.seen} moves, temperature {self.temperature:g}"
        thought = "the network alone" if self.simulations == 1 else f"{self.simulations:,} simulations"
        return f"{sight}; {thought}"


# One line per level, from 1 to 10. Chosen so that neighbours differ by about the same number of Elo points:
# `tengen levels GAME` measures it.
CONNECT4 = (
    Settings(1, seen=2, temperature=20),
    Settings(1, seen=3, temperature=20),
    Settings(1, seen=3, temperature=20),  # the same sight as level 2, but it overlooks no win in one move
    Settings(1, seen=3, temperature=6),
    Settings(1, seen=4, temperature=4),
    Settings(6, seen=5, temperature=3),
    Settings(12, seen=6, temperature=2),
    Settings(32),
    Settings(80),
    Settings(400),
)
GOMOKU9 = (
    Settings(1, seen=2, temperature=10, fours=False),
    Settings(1, seen=3, temperature=10, fours=False),
    Settings(1, seen=3, temperature=13, fours=False),  # sees less well than level 2, but no win is overlooked
    Settings(1, seen=4, temperature=8, fours=False),
    Settings(1, seen=5, temperature=7, fours=False),
    Settings(1, seen=5, temperature=5, fours=False),
    Settings(1, seen=6, temperature=4, fours=False),
    Settings(4, seen=10, temperature=3, fours=False),
    Settings(32),
    Settings(400),
)
GOMOKU15 = (
    Settings(1, seen=2, temperature=10, fours=False),
    Settings(1, seen=3, temperature=8, fours=False),
    Settings(1, seen=3, temperature=9, fours=False),  # sees as little as level 2, but no win is overlooked
    Settings(1, seen=4, temperature=6, fours=False),
    Settings(1, seen=5, temperature=4.5, fours=False),
    Settings(1, seen=6, temperature=4, fours=False),
    Settings(4, seen=10, temperature=2.5, fours=False),
    Settings(8),
    Settings(48),
    Settings(400),
)
OTHELLO = CONNECT4
WITHOUT_NETWORK = tuple(
    Settings(simulations) for simulations in (2, 5, 10, 20, 50, 100, 250, 700, 2000, 6000)
)


def words_of(game: Game) -> list[str]:
    """The settings of the ten levels of a game, in words."""
    words = [settings.in_words for settings in settings_of(game)]
    if nearest(game) is None:
        words = [f"UCT, {settings.simulations:,} simulations" for settings in WITHOUT_NETWORK]
    if has_fours(game) and nearest(game) is not None:
        fours = [settings.fours for settings in settings_of(game)]
        words = [f"{text}; looks for fours" if yes else text for text, yes in zip(words, fours, strict=True)]
    blind = FIRST_SAFE_LEVEL - 1
    return [*(f"{text}; may overlook a win in one move" for text in words[:blind]), *words[blind:]]


def settings_of(game: Game) -> tuple[Settings, ...]:
    """The settings of the ten levels of a game."""
    if nearest(game) is None:
        return WITHOUT_NETWORK
    if game.play is connect4.play:
        return CONNECT4
    if game.play is othello.play:
        return OTHELLO
    return GOMOKU9 if game.rows * game.cols < 150 else GOMOKU15
