"""The first positions of the games of self-play: a few random moves, so that a network learns any position.

Random moves decide many games, from which a network learns little. So several positions can be drawn for each
game, of which the one is played whose value, by the network alone, is nearest to 0. At gomoku15, four instead
of one: mean size of that value 0.14 instead of 0.29, games of 32 moves instead of 23 (LOG.md).
"""

import numpy as np

from tengen.arena.random_openings import random_opening
from tengen.evaluators.evaluator import Evaluator
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.training.config import SelfPlayConfig


def first_positions(
    game: Game, evaluator: Evaluator, settings: SelfPlayConfig, num_games: int, random: np.random.Generator
) -> list[Position]:
    """One position for each game, not over yet."""
    drawn: list[Position] = []
    for _ in range(num_games):
        plies = int(random.integers(settings.random_opening_plies + 1))
        drawn += [_draw(game, plies, random, number) for number in range(settings.opening_candidates)]
    if settings.opening_candidates == 1:
        return drawn
    sizes = np.abs(_values(drawn, evaluator, settings.at_once)).reshape(num_games, -1)
    return [
        drawn[row * settings.opening_candidates + int(best)] for row, best in enumerate(sizes.argmin(axis=1))
    ]


def _draw(game: Game, plies: int, random: np.random.Generator, number: int) -> Position:
    """A random position. Of several candidates, each second one has its stones near each other."""
    while (position := random_opening(game, plies, random, is_dense=number % 2 == 1)) is None:
        plies = int(random.integers(plies + 1))  # at 0 it is the start of the game, so this ends
    return position


def _values(positions: list[Position], evaluator: Evaluator, batch: int) -> np.ndarray:
    """The values of positions, for the player to move, by the evaluator alone;  float32[N]"""
    states = np.stack([position.state for position in positions])
    legal = np.stack([position.legal_mask for position in positions])
    parts = [slice(first, first + batch) for first in range(0, len(states), batch)]
    return np.concatenate([evaluator.evaluate(states[part], legal[part]).values.copy() for part in parts])
