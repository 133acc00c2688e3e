"""The first positions of self-play: playable, from the seed alone, and balanced if there is a choice."""

from dataclasses import replace

import numpy as np
import pytest

from tengen import games
from tengen.evaluators.uniform import UniformEvaluator
from tengen.games.position import Position
from tengen.training.config import SelfPlayConfig
from tengen.training.first_positions import first_positions
from tengen.training.selfplay import play_shard
from tests.search.fakes import HashEvaluator

SETTINGS = SelfPlayConfig(random_opening_plies=6, simulations=4, fast_simulations=4, at_once=16)
GAME = games.find("gomoku9")


def drawn(settings: SelfPlayConfig, num_games: int, seed: int = 1) -> list[Position]:
    return first_positions(GAME, HashEvaluator(), settings, num_games, np.random.default_rng(seed))


def values(positions: list[Position]) -> list[float]:
    states = np.stack([position.state for position in positions])
    legal = np.stack([position.legal_mask for position in positions])
    return [float(value) for value in HashEvaluator().evaluate(states, legal).values]


@pytest.mark.parametrize("name", ["tictactoe", "gomoku9", "connect4", "othello6", "hex7"])
@pytest.mark.parametrize("candidates", [1, 3])
def test_games_begin_with_at_most_so_many_moves_and_are_not_over(name: str, candidates: int) -> None:
    game = games.find(name)
    settings = replace(SETTINGS, opening_candidates=candidates)
    random = np.random.default_rng(2)
    positions = first_positions(game, UniformEvaluator(), settings, 60, random)
    assert len(positions) == 60 and {len(one.actions) for one in positions} == set(range(7))
    for position in positions:
        assert not position.is_over and position == Position.from_moves(game, position.moves)


def test_of_several_candidates_the_one_nearest_to_a_draw_is_played() -> None:
    few, many = (np.abs(values(drawn(replace(SETTINGS, opening_candidates=n), 200))).mean() for n in (1, 8))
    assert few > 0.4 and many < 0.25  # a seventh of the games begin with the empty board


def test_the_same_seed_gives_the_same_positions() -> None:
    for settings in (SETTINGS, replace(SETTINGS, opening_candidates=3)):
        assert drawn(settings, 20) == drawn(settings, 20) != drawn(settings, 20, seed=2)


def test_self_play_begins_with_these_positions() -> None:
    settings = replace(SETTINGS, opening_candidates=3, full_share=1.0)  # every position is recorded
    random = np.random.default_rng([7])
    opened = first_positions(GAME, HashEvaluator(), settings, 20, random)
    samples, _ = play_shard(GAME, HashEvaluator(), settings, 4, 20, [7])
    assert {one.state.tobytes() for one in opened} <= {state.tobytes() for state in samples.states}


def test_half_of_the_candidates_have_their_stones_together() -> None:
    """Stones within three of an earlier one are rare on 15×15 unless they are asked for."""
    game = games.find("gomoku15")
    settings = replace(SETTINGS, opening_candidates=2)
    positions = first_positions(game, HashEvaluator(), settings, 200, np.random.default_rng(3))
    together = [is_together(one, game.cols) for one in positions if len(one.actions) > 2]
    assert 0.35 < np.mean(together) < 0.75


def is_together(position: Position, cols: int) -> bool:
    cells = [divmod(action, cols) for action in position.actions]
    return all(
        any(max(abs(a - c), abs(b - d)) <= 3 for c, d in cells[:number])
        for number, (a, b) in enumerate(cells)
        if number
    )
