"""Makes a book of balanced openings: positions that a strong player values near 0 after a search.

    with Judge.by_player("zero:zoo/gomoku15:search=puct,sims=800", game) as judge:
        for book in make_book(Book(game.name, judge.name), 300, judge):     # a longer book each time
            files.write_text("book.txt", book.to_text())

A batch has random positions with one number of stones, no two equal up to symmetry. The network alone chooses
those that are worth a search. A batch depends only on the seed, its number and the openings found before, so
a book that was interrupted continues as if it had not been. Connect 4 is judged by the exact solver: drawn.
"""

import math
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from types import TracebackType
from typing import Self

import numpy as np

import tengen
from tengen import games, players
from tengen.arena.openings import Opening
from tengen.arena.random_openings import random_opening
from tengen.errors import UserError
from tengen.evaluators.zoo import nearest
from tengen.games import mnk
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.games.reading import split_lines
from tengen.players.limit import Limit
from tengen.players.player import Player, PlayerFailedError
from tengen.players.zero import Zero
from tengen.tactics.connect4_solver import Solver

BALANCED = 0.15  # the largest value, for either side
LOOKS_BALANCED = 0.3  # the largest value of the network alone for a position that is searched
SIMULATIONS = 800  # of the default player
CANDIDATES, SEARCHED = 256, 32  # positions of a batch: at first, and those that are searched
FREE_BATCH, FREE_NUMBER = 4, 4  # each fourth batch takes at most four openings, with any number of stones
IN_VAIN = 50  # batches without a new opening: there are no more
SOLVED = "connect4"  # the game whose judge is the solver
STREAM = 0xB00C  # makes these random numbers independent of others with the same seed


@dataclass(frozen=True)
class Balanced:
    """An opening of a book."""

    moves: Opening
    value: float  # for the player to move


@dataclass(frozen=True)
class Book:
    """Openings, and all that is needed to find more."""

    game: str
    judge: str  # who valued them
    seed: int = 0
    options: str = ""  # of the command that makes it, besides seed and number
    openings: tuple[Balanced, ...] = ()
    batches: int = 0  # that were searched so far

    def to_text(self) -> str:
        """A file of openings, one per line, with a header of comments."""
        count = len(self.openings)
        options = self.options + (f" --seed {self.seed}" if self.seed else "")
        head = [
            f"# {count} balanced openings of {self.game}, no two equal up to symmetry. Each has its value",
            f"# after a search, for the player to move: from -{BALANCED} to +{BALANCED}; a win is 1.",
            f"# made by: tengen openings make {self.game} -n {count}{options}",
            f"# judge: {self.judge}",
            f"# version: {tengen.__version__}",
            f"# seed: {self.seed}",
            f"# batches: {self.batches}",
        ]
        lines = [f"{' '.join(one.moves)}  # {one.value:+.3f}" for one in self.openings]
        return "\n".join([*head, *lines]) + "\n"

    @classmethod
    def from_text(cls, game: Game, text: str) -> "Book":
        """The book that a text holds; UserError if it was not made by `to_text`."""
        facts: dict[str, str] = {}
        found: list[Balanced] = []
        for line in split_lines(text):
            moves, _, comment = line.partition("#")
            if fact := re.fullmatch(r"# (judge: .*|seed: [0-9]{1,18}|batches: [0-9]{1,9})", line):
                key, _, value = fact[1].partition(": ")
                facts[key] = value
            elif moves.strip():
                try:
                    position = Position.from_moves(game, moves.strip())
                    found.append(Balanced(tuple(position.moves), float(comment)))
                except ValueError as error:
                    raise UserError(f"'{moves.strip()[:40]}' is not an opening of a book: {error}") from None
        if facts.keys() != {"judge", "seed", "batches"}:
            raise UserError("its header does not say who made it, as `tengen openings make` does")
        seed, batches = int(facts["seed"]), int(facts["batches"])
        return cls(game.name, facts["judge"], seed, openings=tuple(found), batches=batches)


class Judge:
    """Values positions, for the player to move, and closes what it needs for that."""

    def __init__(
        self,
        name: str,
        options: str,
        values: Callable[[list[Position]], list[float]],
        player: Player,
    ) -> None:
        """options: of the command line that asks for it. player: closed by this judge; if it is a network, it
        looks at positions before they are searched."""
        self.name, self.options, self._values, self._player = name, options, values, player

    @classmethod
    def by_player(cls, spec: str, game: Game) -> "Judge":
        """A player judges by its own search; UserError if it gives no value."""
        if spec.partition(":")[0] == "human":
            raise UserError("human cannot judge hundreds of openings: choose a player that searches")
        player = players.find(spec, game)
        network = f", network {_hash(player)}" if isinstance(player, Zero) else ""

        def values(positions: list[Position]) -> list[float]:
            try:
                found = [choice.value for choice in player.choose_many(positions)]
            except PlayerFailedError as error:
                raise UserError(f"{spec} cannot judge openings: {error}") from None
            if None in found:
                raise UserError(f"{spec} gives positions no value: choose one that searches, zero or uct")
            return [value for value in found if value is not None]

        return cls(spec + network, f" --player {shlex.quote(spec)}", values, player)

    @classmethod
    def by_solver(cls, game: Game) -> "Judge":
        """The exact solver judges Connect 4: 0 is a draw."""
        solver = Solver()

        def values(positions: list[Position]) -> list[float]:
            return [float(solver.score(position, weak=True)) for position in positions]

        return cls("the exact solver", "", values, players.find(f"zero:zoo/{SOLVED}", game))

    @classmethod
    def usual(cls, game: Game) -> "Judge":
        """The strongest judge of a game that we have."""
        if game.name == SOLVED:
            return cls.by_solver(game)
        found = nearest(game)
        spec = f"zero:zoo/{found.name}:search=puct,sims={SIMULATIONS}" if found else "uct:sims=20000"
        judge = cls.by_player(spec, game)
        judge.options = ""
        return judge

    def prepare(self, seed: int) -> None:
        """Forgets earlier positions, so that a batch depends on its own seed only."""
        self._player.new_game(seed)

    def balanced(self, positions: list[Position]) -> Iterator[tuple[Position, float]]:
        """The positions that are balanced, and their values."""
        if isinstance(self._player, Zero) and positions:
            looks = self._player.choose_many(positions, Limit(simulations=1))
            pairs = zip(positions, looks, strict=True)
            positions = [one for one, look in pairs if abs(look.value or 0.0) <= LOOKS_BALANCED]
        positions = positions[:SEARCHED]
        for position, value in zip(positions, self._values(positions) if positions else [], strict=True):
            if abs(value) <= BALANCED:
                yield position, value

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._player.close()


def make_book(book: Book, count: int, judge: Judge) -> Iterator[Book]:
    """The book after each batch, until it has `count` openings or there are no more to be found."""
    game = games.find(book.game)
    in_vain = 0
    while len(book.openings) < count and in_vain < IN_VAIN:
        new = _batch(game, book, count, judge)[: count - len(book.openings)]
        in_vain = 0 if new else in_vain + 1
        book = replace(book, openings=(*book.openings, *new), batches=book.batches + 1)
        yield book


def _batch(game: Game, book: Book, count: int, judge: Judge) -> list[Balanced]:
    random = np.random.default_rng([book.seed, book.batches, STREAM])
    judge.prepare(int(random.integers(2**63)))
    plies, wanted = _plies_and_number(game, book, count)
    seen = {canonical(Position.from_moves(game, one.moves)) for one in book.openings}
    positions: list[Position] = []
    for _ in range(CANDIDATES):
        position = random_opening(game, plies, random)
        if position is not None and (key := canonical(position)) not in seen:
            seen.add(key)
            positions.append(position)
    found = islice(judge.balanced(positions), wanted)
    return [Balanced(tuple(one.moves), round(value, 3)) for one, value in found]


def _plies_and_number(game: Game, book: Book, count: int) -> tuple[int, int]:
    """The number of stones of the next batch, and how many openings are wanted: each number of stones equally
    often. Each fourth batch takes a few of any number, because there may be too few of one."""
    if mnk.is_five_in_a_row(game):
        options = list(range(3, 10))
    elif game.name == SOLVED:
        options = list(range(6, 14))
    else:
        cells = game.rows * game.cols
        options = list(range(1 + (cells >= 16), max(2, min(8, cells // 4)) + 1))
    enough = math.ceil(count / len(options))
    lengths = [len(one.moves) for one in book.openings]
    wanted = [plies for plies in options if lengths.count(plies) < enough]
    if not wanted or book.batches % FREE_BATCH == FREE_BATCH - 1:
        return options[book.batches % len(options)], FREE_NUMBER
    plies = wanted[book.batches % len(wanted)]
    return plies, enough - lengths.count(plies)


def canonical(position: Position) -> bytes:
    """The same for positions that are equal up to symmetry, and for no others."""
    game = position.game
    cells = np.array(position.state[game.cells])
    cells[(cells != 1) & (cells != 2)] = 0  # renju marks forbidden points
    views = np.empty((len(game.symmetries), cells.size), cells.dtype)
    for view, where in zip(views, game.symmetries.cells, strict=True):
        view[where] = cells
    return min(view.tobytes() for view in views) + bytes([position.to_move])


def _hash(player: Zero) -> str:
    card = player.network.card
    return card.hashes.get(card.precision, "")[:12]


def check_continues(book: Book, judge: str, seed: int) -> None:
    """UserError if a book was made in another way."""
    for what, before, now in (("judge", book.judge, judge), ("seed", str(book.seed), str(seed))):
        if before != now:
            raise UserError(f"it was made with {what} {before}, not {now}")


def spread(openings: Sequence[Balanced]) -> str:
    """How many openings have how many moves: `12 of 3, 11 of 4 moves`."""
    lengths = [len(one.moves) for one in openings]
    return ", ".join(f"{lengths.count(n)} of {n}" for n in sorted(set(lengths))) + " moves"
