"""Swap2, an opening rule of five in a row: one player puts stones, the other chooses a colour.

    1. the proposer puts three stones: black, white, black
    2. the other takes white and plays the fourth stone, or takes black,
       or puts two more stones: white, black
    3. after two more stones, the proposer takes white and plays the sixth stone, or takes black

An outside engine is asked by SWAP2BOARD. The other players decide by their own search: they propose the most
equal of a few openings, and take the colour that they think better. They never put two more stones: by their
own evaluation that is not better than the better colour. A player without an evaluation takes white.
"""

from dataclasses import dataclass

import numpy as np

from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.limit import Limit
from tengen.players.player import Choice, Player

PROPOSALS = 8  # openings to compare
REACH = 3  # of a stone from the first one, in rows and columns


@dataclass(frozen=True)
class Swap2Reply:
    """What a player does at its turn. Neither stones nor a move: it takes black."""

    stones: tuple[int, ...] = ()  # actions: three on an empty board, or two more after three
    move: Choice | None = None  # it takes white, and plays this


def by_value(player: Player, position: Position, seed: int, limit: Limit | None) -> Swap2Reply:
    """What a player's own evaluation says."""
    if not position.actions:
        return Swap2Reply(stones=_most_equal(player, seed, limit))
    choice = player.choose(position, limit)
    takes_black = choice.value is not None and choice.value < 0
    return Swap2Reply() if takes_black else Swap2Reply(move=choice)


def _most_equal(player: Player, seed: int, limit: Limit | None) -> tuple[int, ...]:
    """Three stones after which neither side is better, as far as the player can tell."""
    random = np.random.default_rng(seed)
    proposals = [_random_stones(player.game, random) for _ in range(PROPOSALS)]
    seconds = (player.limit if limit is None else limit).thinking_seconds
    share = limit if seconds is None else Limit(seconds=seconds / PROPOSALS)
    choices = player.choose_many(proposals, share)
    best = min(range(PROPOSALS), key=lambda i: abs(choices[i].value or 0.0))
    return tuple(proposals[best].actions)


def _random_stones(game: Game, random: np.random.Generator) -> Position:
    """Three random stones near each other, the first one near the centre."""
    middle = game.rows // 2 * game.cols + game.cols // 2
    position = Position.start(game)
    while len(position.actions) < 3:
        centre = position.actions[0] if position.actions else middle
        row, col = np.array(divmod(centre, game.cols)) + random.integers(-REACH, REACH + 1, 2)
        if 0 <= row < game.rows and 0 <= col < game.cols:
            action = int(row * game.cols + col)
            if position.legal_mask[action]:
                position = position.play(action)
    return position
