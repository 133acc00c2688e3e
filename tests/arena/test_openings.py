"""Openings: legal, not the end, new while there are new ones, the same for the same seed."""

from itertools import islice
from pathlib import Path

import pytest

from tengen import games
from tengen.arena.openings import Openings
from tengen.errors import UserError
from tengen.games.position import Position
from tengen.search.prove import prove
from tengen.search.tree import LOSS, WIN


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "othello6", "gomoku15", "hex7"])
def test_random_openings_are_legal_unfinished_and_different(name: str) -> None:
    game = games.find(name)
    found = list(islice(Openings(game, seed=3), 30))
    assert found == list(islice(Openings(game, seed=3), 30)) != list(islice(Openings(game, seed=4), 30))
    assert len(set(found)) == 30
    for moves in found:
        assert len(moves) == (2 if name == "tictactoe" else 4)
        assert not Position.from_moves(game, moves).is_over


def test_when_there_are_no_new_ones_they_repeat() -> None:
    found = list(islice(Openings(games.find("tictactoe"), plies=1), 40))
    assert set(found[:9]) == set(found) and len(set(found)) == 9


def test_no_move_of_an_opening_ends_the_game() -> None:
    game = games.find("tictactoe")
    for moves in islice(Openings(game, plies=7), 50):
        assert not Position.from_moves(game, moves).is_over
    with pytest.raises(UserError, match="tictactoe ends too early for 9 random moves"):
        next(iter(Openings(game, plies=9)))


def test_none() -> None:
    assert list(islice(Openings(games.find("connect4"), plies=0), 2)) == [(), ()]


def test_decided_openings_are_left_out() -> None:
    """After ten random stones of Connect 4 some positions are won or lost within a few moves."""
    game = games.find("connect4")
    openings, kept = Openings(game, plies=10), Openings(game, plies=10, undecided=200)
    first = list(islice(openings, 60))
    undecided = list(islice(kept, 20))
    assert undecided == [opening for opening in first if opening in undecided]  # the same, in the same order
    left_out = [opening for opening in first[: first.index(undecided[-1])] if opening not in undecided]
    assert left_out and undecided == list(islice(kept, 20))
    for opening in left_out:
        (proof,) = prove(game, Position.from_moves(game, opening).state[None], max_nodes=100_000)
        assert proof.result in (WIN, LOSS)
    assert str(kept) == "openings of 10 random moves, undecided by 200 simulations"


def test_a_game_that_is_always_decided() -> None:
    openings = Openings(games.find("tictactoe"), plies=1, undecided=10_000)
    with pytest.raises(
        UserError, match="500 openings of tictactoe in a row, 1 random moves each, are decided by"
    ):
        next(iter(openings))
    with pytest.raises(UserError, match="undecided openings are random ones"):
        Openings(games.find("connect4"), plies=0, undecided=100)


def test_openings_of_a_file_come_in_turn(tmp_path: Path) -> None:
    file = tmp_path / "openings.txt"
    file.write_text("# mine\n4435  # a good one\n\n1 2 3\n")
    openings = Openings(games.find("connect4"), file=file)
    assert list(islice(openings, 3)) == [("4", "4", "3", "5"), ("1", "2", "3"), ("4", "4", "3", "5")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("44\n9\n", "openings.txt line 2: illegal move '9' in connect4: columns are 1-7"),
        ("1212121\n", "openings.txt line 1: this is a whole game, not an opening: first player wins"),
        ("# nothing\n", "openings.txt has no openings: expected moves of connect4, one opening per line"),
    ],
)
def test_a_mistake_in_a_file_is_named(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "openings.txt"
    file.write_text(text)
    with pytest.raises(UserError) as error:
        Openings(games.find("connect4"), file=file)
    assert str(error.value) == message
