"""The bundled networks, and the nearest one for a game without its own network."""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from tengen.errors import UserError
from tengen.evaluators.card import read_card
from tengen.evaluators.family import differences, home_of, planes_for
from tengen.games import mnk
from tengen.games.game import Game

ZOO = Path(__file__).parent.parent / "zoo"


class Nearest(NamedTuple):
    """A bundled network for a game."""

    name: str  # zoo/NAME is its path
    reason: str  # for the user, if it was trained for another game; else empty


@lru_cache(maxsize=1)
def bundled() -> tuple[str, ...]:
    """The names of all bundled networks: the games they were trained for, and perhaps `-small`."""
    return tuple(sorted(card.parent.name for card in ZOO.glob("*/card.json")))


def game_of(name: str) -> str:
    """The name of the game that a bundled network was trained for."""
    return read_card(ZOO / name).game


def find_network(path: str) -> Path:
    """The folder of a network: a bundled one (zoo/NAME), a run's best, or the folder itself."""
    if not path.startswith("zoo/"):
        best = Path(path) / "best"
        return best if (best / "card.json").is_file() else Path(path)
    name = path.removeprefix("zoo/")
    if name not in bundled():
        there = f"there are {', '.join(bundled())}" if bundled() else "there is none"
        raise UserError(f"no bundled network '{name}', {there}: tengen train {name} makes one")
    return ZOO / name


def nearest(game: Game) -> Nearest | None:
    """The bundled network to play a game with; None if there is none for it.

    A network of another game must be of the same family, with the same number in a row (k). The nearest rule
    comes first, then the nearest number of cells.
    """
    found: list[tuple[tuple[bool, ...], int, int, str]] = []
    for name in bundled():
        card = read_card(ZOO / name)
        try:
            planes_for(card, game, name)
        except UserError:
            continue
        home = home_of(card, game)
        other = differences(home, game)
        if not any(other[:1]):  # another k is another game
            rule = mnk.rule_distance(home, game) if mnk.is_mnk(game) else 0
            found.append((other, rule, abs(home.rows * home.cols - game.rows * game.cols), name))
    if not found:
        return None
    other, _, cells, name = min(found)
    is_own = name == game.name or not (any(other) or cells)
    return Nearest(name, "" if is_own else f"no network for {game.name}: playing with {name}'s")
