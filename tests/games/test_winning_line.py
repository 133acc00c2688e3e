"""The cells that won: as the rules of each game say."""

import random

import pytest

from tengen.games.position import Position
from tengen.games.winning_line import winning_cells


def names(position: Position) -> str:
    """The winning cells as a1 names, in order."""
    game = position.game
    cells = winning_cells(position)
    if game.look == "columns":
        return " ".join(f"{'abcdefg'[cell % game.cols]}{game.rows - cell // game.cols}" for cell in cells)
    return " ".join(game.moves.name(cell) for cell in cells)


def set_up(name: str, stones: dict[int, str], to_move: int = 2) -> Position:
    game = Position.start(name).game
    cells = [0] * (game.rows * game.cols)
    for player, moves in stones.items():
        for move in moves.split():
            cells[game.moves.action(move)] = player
    return Position.from_cells(game, cells, to_move)


def test_rows_of_played_games() -> None:
    assert names(Position.from_moves("tictactoe", "a1 a2 b1 b2 c1")) == "a1 b1 c1"
    assert names(Position.from_moves("tictactoe", "c1 a1 b2 a2 a3")) == "a3 b2 c1"
    assert names(Position.from_moves("tictactoe", "a1 a2 b1 b2")) == ""
    assert names(Position.from_moves("tictactoe", "b2 a1 a2 c2 b3 b1 c1 a3 c3")) == ""  # a draw
    assert names(Position.from_moves("connect4", "1122334")) == "a1 b1 c1 d1"
    assert names(Position.from_moves("connect4", "12121212"[:7])) == "a4 a3 a2 a1"
    assert names(Position.from_moves("connect4", "12233434464")) == "d4 c3 b2 a1"


@pytest.mark.parametrize(
    ("game", "stones", "row"),
    [
        ("gomoku15", {1: "a1 b1 c1 d1 e1 f1 h8"}, "a1 b1 c1 d1 e1 f1"),  # six count
        ("gomoku15", {1: "a1 b1 c1 d1 e1 a2 a3 a4 a5"}, "a5 a4 a3 a2 a1 b1 c1 d1 e1"),  # two rows
        ("standard15", {1: "a1 b1 c1 d1 e1 f1 h1 h2 h3 h4 h5"}, "h5 h4 h3 h2 h1"),  # six do not
        ("renju15", {1: "a1 b1 c1 d1 e1 h15", 2: "f1"}, "a1 b1 c1 d1 e1"),
        ("renju15", {2: "a1 b1 c1 d1 e1 f1"}, "a1 b1 c1 d1 e1 f1"),  # white's six count
        ("caro15", {1: "b1 c1 d1 e1 f1 b3 c3 d3 e3 f3", 2: "a1 g1"}, "b3 c3 d3 e3 f3"),  # closed at both ends
    ],
)
def test_rows_by_every_rule(game: str, stones: dict[int, str], row: str) -> None:
    assert names(set_up(game, stones)) == row


def test_the_shortest_chain_of_hex() -> None:
    assert names(set_up("hex:size=3", {1: "b1 b2 b3 a3 c1", 2: "a1"})) in ("b1 b2 b3", "c1 b2 b3", "b1 b2 a3")
    assert names(set_up("hex:size=3", {2: "a2 b2 c2 c1"}, to_move=1)) == "a2 b2 c1"
    assert names(set_up("hex:size=3", {1: "b1 b2"})) == ""


@pytest.mark.parametrize("game", ["tictactoe", "gomoku9", "caro15-exact", "renju15", "connect4", "hex7"])
def test_random_games_are_won_by_the_winners_stones(game: str) -> None:
    chance = random.Random(5)
    for _ in range(10):
        position = Position.start(game)
        while not position.is_over:
            position = position.play(chance.choice(position.legal_actions))
        cells, board = winning_cells(position), position.state[position.game.cells]
        assert bool(cells) == (position.winner is not None)
        assert all(board[cell] == position.winner for cell in cells)


def test_othello_has_no_winning_cells() -> None:
    chance = random.Random(5)
    position = Position.start("othello:size=4")
    while not position.is_over:
        position = position.play(chance.choice(position.legal_actions))
    assert winning_cells(position) == ()
