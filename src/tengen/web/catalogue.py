"""The games that a page can offer, and what it must know about each."""

from functools import lru_cache

from tengen import games
from tengen.evaluators.zoo import nearest
from tengen.games import connect4, hex, mnk, othello
from tengen.games.coordinates import BoardMoves
from tengen.games.game import Game
from tengen.web.opponents import can_solve, levels
from tengen.web.schemas import Family, GameInfo

RULES: dict[str, Family] = {
    "freestyle": "gomoku", "standard": "standard", "renju": "renju", "caro": "caro", "caro-exact": "caro",
}  # fmt: skip
FAMILIES: dict[object, Family] = {connect4.play: "connect4", othello.play: "othello", hex.play: "hex"}
LINE_OF_THREE = 3


@lru_cache(maxsize=1)
def catalogue() -> list[GameInfo]:
    """All registered games, in their order."""
    return [describe(games.find(name)) for name in games.names()]


def describe(game: Game) -> GameInfo:
    network = nearest(game)
    return GameInfo(
        name=game.name,
        summary=game.summary,
        family=family_of(game),
        rows=game.rows,
        cols=game.cols,
        look=game.look,
        kind=game.action_kind,
        row_one=game.moves.row_one if isinstance(game.moves, BoardMoves) else "bottom",
        network=network.name if network else None,
        note=network.reason if network else "",
        can_set_up=game.settle is not None,
        can_solve=can_solve(game),
        levels=levels(game),
    )


def family_of(game: Game) -> Family:
    """The games that look and are played alike; "other" for those from outside this package."""
    if mnk.is_mnk(game):
        return "tictactoe" if game.header[2] <= LINE_OF_THREE else RULES[mnk.RULES[game.header[3]]]
    return FAMILIES.get(game.play, "other")
