"""Making a book of balanced openings: repeatable, continued as if never interrupted, nothing twice."""

from itertools import islice

import numpy as np
import pytest

from tengen import games
from tengen.arena import book as book_module
from tengen.arena.book import Balanced, Book, Judge, canonical, make_book
from tengen.errors import UserError
from tengen.games.position import Position
from tengen.games.symmetry import transform
from tengen.tactics.connect4_solver import Solver

SPEC = "uct:sims=200"


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book_module, "SEARCHED", 6)
    monkeypatch.setattr(book_module, "IN_VAIN", 8)


def made(game: str, count: int, start: Book | None = None, batches: int | None = None, seed: int = 0) -> Book:
    """A book after so many batches, or when it is complete."""
    with Judge.by_player(SPEC, games.find(game)) as judge:
        *_, last = islice(make_book(start or Book(game, judge.name, seed), count, judge), batches)
    return last


def test_a_book_is_repeatable_and_continues_as_if_it_had_not_been_interrupted() -> None:
    whole = made("othello6", 20)
    assert len(whole.openings) == 20 and all(abs(one.value) <= 0.15 for one in whole.openings)
    assert whole == made("othello6", 20) != made("othello6", 20, seed=1)
    part = made("othello6", 20, batches=2)
    assert 0 < len(part.openings) < 20
    read = Book.from_text(games.find("othello6"), part.to_text())
    assert read == part and made("othello6", 20, read) == whole


def test_no_opening_twice_and_every_number_of_stones() -> None:
    found = made("othello6", 30)
    positions = [Position.from_moves("othello6", one.moves) for one in found.openings]
    assert len({canonical(position) for position in positions}) == 30
    assert len({len(one.moves) for one in found.openings}) >= 5


def test_where_there_are_no_more_it_ends() -> None:
    found = made("tictactoe", 1000)
    assert 0 < len(found.openings) < 20


@pytest.mark.parametrize("name", ["connect4", "renju15", "hex7", "othello6"])
def test_canonical_is_the_same_up_to_symmetry_and_only_then(name: str) -> None:
    random = np.random.default_rng(1)
    game = games.find(name)
    for _ in range(10):
        position = Position.start(game)
        for _ in range(6):
            position = position.play(int(random.choice(position.legal_actions)))
        turned = [
            Position(game, transform(game, position.state.copy(), g)) for g in range(len(game.symmetries))
        ]
        assert {canonical(one) for one in turned} == {canonical(position)}
        others = [position.play(action) for action in position.legal_actions[:2]]
        assert canonical(others[0]) != canonical(position)


def test_a_player_without_values_cannot_judge() -> None:
    judge = Judge.by_player("uniform", games.find("othello6"))
    with pytest.raises(UserError, match="uniform gives positions no value: choose one that searches"):
        next(make_book(Book("othello6", judge.name), 5, judge))


def test_the_default_judges() -> None:
    with Judge.usual(games.find("connect4")) as judge:
        assert judge.name == "the exact solver"
        *_, found = islice(make_book(Book("connect4", judge.name, batches=6), 3, judge), 1)
        scores = [Solver().score(Position.from_moves("connect4", one.moves)) for one in found.openings]
        assert scores and set(scores) == {0} and {len(one.moves) for one in found.openings} == {12}
    with Judge.usual(games.find("gomoku13")) as judge:
        assert judge.name.startswith("zero:zoo/gomoku15:search=puct,sims=800, network ")


def test_a_text_that_is_no_book_says_why() -> None:
    game = games.find("connect4")
    book = Book("connect4", "me", openings=(Balanced(("4", "4"), 0.0),))
    assert Book.from_text(game, book.to_text()) == book
    for text, message in (
        ("44  # +0.1\n", "its header does not say who made it"),
        (book.to_text() + "9  # 0\n", "'9' is not an opening of a book: illegal move '9'"),
        (book.to_text() + "44\n", "'44' is not an opening of a book: could not convert"),
    ):
        with pytest.raises(UserError, match=message):
            Book.from_text(game, text)
