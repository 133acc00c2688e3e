"""Published numbers of move sequences, which the rules must reproduce exactly."""

import numpy as np
import pytest

from tengen import games
from tengen.games.batch import lift
from tengen.games.game import Game, State

PERFT = {
    "tictactoe": [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872],
    "connect4": [7, 49, 343, 2401, 16807, 117649, 823536, 5673234, 39394572],
    "othello8": [4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288],
}


@pytest.mark.parametrize("name", PERFT)
def test_perft(name: str) -> None:
    game = games.find(name)
    batched, start = lift(game), game.new_state()
    assert batched.perft(start, 0) == 1
    assert [batched.perft(start, depth) for depth in range(1, len(PERFT[name]) + 1)] == PERFT[name]


def test_perft_leaves_the_state_alone() -> None:
    game = games.find("othello8")
    start = game.new_state()
    lift(game).perft(start, 3)
    assert np.array_equal(start, game.new_state())


def test_all_finished_games_of_tictactoe() -> None:
    game = games.find("tictactoe")
    assert finished_games(game, game.new_state()) == 255168


def finished_games(game: Game, state: State) -> int:
    """The number of ways to play from here to an end."""
    if game.outcome(state)[0]:
        return 1
    legal_actions = np.flatnonzero(game.legal_mask(state)).tolist()
    return sum(finished_games(game, game.after(state, action)) for action in legal_actions)
