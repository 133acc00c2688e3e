"""Openings: legal, not the end, new while there are new ones, the same for the same seed."""

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tengen import games
from tengen.arena.book import Book, canonical
from tengen.arena.openings import BOOKS as BOOKS_FOLDER
from tengen.arena.openings import Openings, read_openings
from tengen.errors import UserError
from tengen.games.position import Position
from tengen.search.prove import prove
from tengen.search.tree import LOSS, WIN
from tengen.tactics.connect4_solver import Solver


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "othello6", "gomoku15", "hex7"])
def test_random_openings_are_legal_unfinished_and_different(name: str) -> None:
    game = games.find(name)
    plies = 2 if name == "tictactoe" else 4
    found = list(islice(Openings(game, 3, plies), 30))
    assert found == list(islice(Openings(game, 3, plies), 30)) != list(islice(Openings(game, 4, plies), 30))
    assert len(set(found)) == 30
    for moves in found:
        assert len(moves) == plies
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


BOOKS = ("gomoku9", "gomoku11", "gomoku13", "gomoku15", "gomoku20", "standard15", "caro15", "caro19", "renju15", "connect4")  # fmt: skip


@pytest.mark.parametrize("name", BOOKS)
def test_the_book_of_a_game_is_balanced_and_varied(name: str) -> None:
    game = games.find(name)
    book = Book.from_text(game, (BOOKS_FOLDER / f"{name}.txt").read_text(encoding="utf-8"))
    positions = [Position.from_moves(game, one.moves) for one in book.openings]
    assert len(positions) >= 200 and not any(position.is_over for position in positions)
    assert all(abs(one.value) <= 0.15 for one in book.openings)
    assert len({canonical(position) for position in positions}) == len(positions)
    lengths = [len(one.moves) for one in book.openings]
    assert len(set(lengths)) >= 6 and max(lengths.count(n) for n in set(lengths)) <= len(lengths) / 3
    places = {move for one in book.openings for move in one.moves}
    assert len(places) >= 0.5 * game.num_actions, "all over the board"


def test_a_game_with_a_book_starts_from_it_in_an_order_of_the_seed() -> None:
    game = games.find("gomoku15")
    book = read_openings(game, BOOKS_FOLDER / "gomoku15.txt")
    found = list(islice(Openings(game, seed=1), len(book) + 5))
    assert sorted(found[: len(book)]) == sorted(book) and found[len(book) :] == found[:5]
    assert found[:9] == list(islice(Openings(game, seed=1), 9)) != list(islice(Openings(game, seed=2), 9))
    assert Openings(game).in_words == "openings of the book of gomoku15, each with both colours"
    assert len(next(iter(Openings(game, plies=2)))) == 2, "asked for random ones"
    assert str(Openings(game, undecided=100)) == "openings of 4 random moves, undecided by 100 simulations"
    assert str(Openings(games.find("hex7"))) == "openings of 4 random moves"


def test_drawn_by_the_solver() -> None:
    game, solver = games.find("connect4"), Solver()
    late = [one for one in read_openings(game, BOOKS_FOLDER / "connect4.txt") if len(one) >= 10][:10]
    assert late and not any(solver.score(Position.from_moves(game, one), weak=True) for one in late)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("gomoku15", {"rule": "swap3"}, "an opening rule is swap2, got 'swap3'"),
        ("connect4", {"rule": "swap2"}, "swap2 is an opening rule of five in a row, which connect4 is not"),
        (
            "gomoku15",
            {"rule": "swap2", "plies": 3},
            "with swap2 the players make the openings: leave out the others",
        ),
    ],
)
def test_a_rule_that_cannot_be(name: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as error:
        Openings(games.find(name), **settings)
    assert str(error.value) == message


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
