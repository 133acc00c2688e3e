"""Which games one network can play: games with the same rules and planes, on boards of any size.

Games are of one family if they share the function that makes their planes. Their sizes and variants are in
their headers: gomoku, standard, caro, renju and tic-tac-toe are one family, Connect 4 on any board another.
"""

from tengen import games
from tengen.errors import UserError
from tengen.evaluators.card import Card
from tengen.games.game import Game


def home_of(card: Card, game: Game | None = None) -> Game:
    """The game that a network was trained for. `game`: if it has that name, it need not be registered."""
    return game if game is not None and game.name == card.game else games.find(card.game)


def planes_for(card: Card, game: Game, source: str) -> tuple[int, ...]:
    """The numbers of a game's planes that a network sees, found by name; UserError if it cannot play it."""
    refused = f"{source} plays {card.game}, not {game.name}"
    try:
        home = home_of(card, game)
    except UserError:
        raise UserError(refused) from None
    if max(card.planes) >= home.num_planes:
        has = f"{home.name} has {home.num_planes}"
        raise UserError(f"{source}: its card.json names plane {max(card.planes)}, counted from 0; {has}")
    if home is game:
        return card.planes
    names = [home.plane_names[plane] for plane in card.planes]
    if home.planes is not game.planes or not set(names) <= set(game.plane_names):
        raise UserError(refused)
    if (home.rows, home.cols) != (game.rows, game.cols) and not card.any_size:
        size = f"its layers or its files are for {home.rows}×{home.cols} alone"
        raise UserError(f"{refused}: {size}")
    return game.planes_named(*names)


def differences(home: Game, game: Game) -> tuple[bool, ...]:
    """For every number in the headers of two games of a family, except the board's size: is it different?

    For m,n,k games: (different k, different rule)."""
    sizes = ((home.rows, game.rows), (home.cols, game.cols))  # a header begins with both, or the first
    pairs = enumerate(zip(home.header, game.header, strict=True))
    return tuple(pair[0] != pair[1] for i, pair in pairs if i >= len(sizes) or pair != sizes[i])
