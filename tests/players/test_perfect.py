"""The perfect player: never errs, hurries to win, delays a loss."""

import numpy as np
import pytest

from tengen import games
from tengen.errors import UserError
from tengen.games.position import Position
from tengen.players.perfect import Perfect
from tengen.players.player import Player
from tengen.players.uniform import Uniform
from tengen.tactics.connect4_solver import Solver


@pytest.fixture(scope="module")
def perfect() -> Perfect:
    return Perfect(games.find("tictactoe"))


def play(first: Player, second: Player, position: Position, seed: int = 0) -> Position:
    for player in (first, second):
        player.new_game(seed)
    while not position.is_over:
        position = position.play((first, second)[position.to_move - 1].choose(position).action)
    return position


def test_tictactoe_is_a_draw_and_games_vary(perfect: Perfect) -> None:
    ends = [play(perfect, perfect, Position.start("tictactoe"), seed) for seed in range(12)]
    assert all(end.winner is None for end in ends)
    assert len({tuple(end.actions) for end in ends}) > 6


@pytest.mark.parametrize("me", [1, 2])
def test_never_loses_tictactoe_to_chance(perfect: Perfect, me: int) -> None:
    uniform = Uniform(perfect.game)
    first, second = (perfect, uniform) if me == 1 else (uniform, perfect)
    for seed in range(50):
        end = play(first, second, Position.start("tictactoe"), seed)
        assert end.winner in (None, me)


def test_the_first_player_wins_small_hex() -> None:
    player = Perfect(games.find("hex:size=3"))
    start = Position.start("hex:size=3")
    assert player.choose(start).value == 1.0
    assert play(player, player, start).winner == 1


def test_wins_at_once_and_says_so(perfect: Perfect) -> None:
    choice = perfect.choose(Position.from_moves("tictactoe", "a1 a2 b1 b2"))
    assert (choice.action, choice.value, choice.note) == (8, 1.0, "wins in 1 ply")


def test_connect4_keeps_the_score_to_the_end() -> None:
    position = Position.from_moves("connect4", "4444432232334")
    player, solver = Perfect(position.game), Solver(table_mebibytes=4)
    score = solver.score(position)
    choice = player.choose(position)
    assert choice.value == np.sign(score) and choice.note == f"score {score:+}"
    ends = [play(player, player, position, seed) for seed in range(5)]
    for end in ends:
        winner = position.to_move if score > 0 else 3 - position.to_move
        assert end.winner == (winner if score else None)
        stones = int((end.state[end.game.cells] == winner).sum())
        assert score == 0 or abs(score) == 22 - stones


def test_plays_only_what_it_can_know() -> None:
    with pytest.raises(
        UserError, match="plays connect4 and games of at most 9 cells such as tictactoe; gomoku15 has"
    ):
        Perfect(games.find("gomoku15"))
    with pytest.raises(UserError, match="connect:rows=5,cols=7,k=4 has 35"):
        Perfect(games.find("connect:rows=5,cols=7,k=4"))
    with pytest.raises(UserError, match="a book is for connect4, not for tictactoe"):
        Perfect(games.find("tictactoe"), book="some.npz")
