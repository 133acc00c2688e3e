"""Openings: the first moves of the games of a match. Each opening is played twice, once with each colour.

Without openings, two deterministic players would play the same two games again and again. Random openings
often decide the game: then each player wins once, and the match says nothing. So some games have a book of
balanced openings (books/, made by book.py), which is the default. By the rule swap2 the players make the
opening.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, repeat
from pathlib import Path

import numpy as np

from tengen import files
from tengen.errors import UserError
from tengen.games import mnk
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.games.randomness import new_random
from tengen.games.reading import at_line, split_lines
from tengen.search import uct
from tengen.search.tree import UNKNOWN
from tengen.tactics import guide

Opening = tuple[str, ...]  # moves

BOOKS = Path(__file__).parent.parent / "books"  # GAME.txt, made by `tengen openings make`
RULES = ("swap2",)

MAX_PLIES = 4  # by default: 2401 openings of Connect 4, enough variety without losing at once
TRIES = 50  # to find a new opening; a small board has only a few
DECIDED_IN_A_ROW = 500  # give up after this many decided openings
STREAM = 0x0BE9  # makes these random numbers independent of the players'


@dataclass(frozen=True)
class Openings:
    """Openings for a game without end, the same for the same settings: those of a file in order, or of
    the game's book in an order that the seed decides, or random ones."""

    game: Game
    seed: int = 0
    plies: int | None = None  # number of random moves; 0: the start of the game; None: the book, or a few
    file: Path | None = None  # one list of moves per line; # begins a comment
    undecided: int = 0  # skip random ones whose result UCT can prove with this many simulations; 0: keep all
    rule: str = ""  # swap2: there are none, the players make them

    def __post_init__(self) -> None:
        if self.rule:
            self._check_rule()
        if self.file is not None and self.plies is not None:
            raise UserError("openings come from a file or are random: give one of the two")
        if self.undecided and (self.file is not None or not self.random_plies):
            raise UserError("undecided openings are random ones: leave out the file, ask for 1 move or more")
        if self.file is not None:
            read_openings(self.game, self.file)  # reports a mistake in it at once

    def _check_rule(self) -> None:
        if self.rule not in RULES:
            raise UserError(f"an opening rule is {' or '.join(RULES)}, got '{self.rule[:40]}'")
        if not mnk.is_five_in_a_row(self.game):
            raise UserError(f"{self.rule} is an opening rule of five in a row, which {self.game.name} is not")
        if self.file is not None or self.plies is not None or self.undecided:
            raise UserError(f"with {self.rule} the players make the openings: leave out the others")

    def __iter__(self) -> Iterator[Opening]:
        if self.rule:
            return repeat(())
        if self.file is not None:
            return cycle(read_openings(self.game, self.file))
        if self.book is not None:
            book = read_openings(self.game, self.book)
            order = np.random.default_rng([self.seed, STREAM]).permutation(len(book))
            return cycle([book[i] for i in order])
        plies = self.random_plies
        openings = random_openings(self.game, plies, self.seed) if plies else repeat(())
        return undecided(self.game, openings, self.undecided, self.seed) if self.undecided else openings

    @property
    def book(self) -> Path | None:
        """The book that they come from: if nothing else was asked for and the game has one."""
        is_else = self.plies is not None or self.file is not None or self.undecided or self.rule
        file = BOOKS / f"{self.game.name}.txt"
        return file if not is_else and file.is_file() else None

    @property
    def random_plies(self) -> int:
        """The number of random moves; at most a quarter of a small board."""
        return min(MAX_PLIES, self.game.rows * self.game.cols // 4) if self.plies is None else self.plies

    @property
    def in_words(self) -> str:
        """The openings in words: `openings of 4 random moves, each with both colours`."""
        if self.rule:
            return f"{self.rule}, each player proposes in one game of a pair"
        has_openings = self.file is not None or self.book is not None or self.random_plies > 0
        return f"{self}, each with both colours" if has_openings else "the start of the game"

    def __str__(self) -> str:
        if self.file is not None:
            return f"openings of {self.file.name}"
        if self.book is not None:
            return f"openings of the book of {self.game.name}"
        if self.rule:
            return self.rule
        plies = self.random_plies
        kept = f", undecided by {self.undecided:,} simulations" if self.undecided else ""
        return f"openings of {plies} random moves{kept}" if plies else "no openings"


def random_openings(game: Game, plies: int, seed: int) -> Iterator[Opening]:
    """Openings of random legal moves that do not end the game; no opening twice while others are found."""
    random = np.random.default_rng([seed, STREAM])
    seen: set[Position] = set()
    while True:
        found: Position | None = None
        for _ in range(TRIES):
            found = _random_position(game, plies, random) or found
            if found is not None and found not in seen:
                break
        if found is None:
            raise UserError(f"{game.name} ends too early for {plies} random moves: ask for fewer")
        seen.add(found)
        yield tuple(found.moves)


def undecided(game: Game, openings: Iterator[Opening], simulations: int, seed: int) -> Iterator[Opening]:
    """The openings whose result UCT cannot prove with this many simulations."""
    rules, settings, random = guide.guided(game) or game, uct.Uct(), new_random(seed)
    decided = 0
    for opening in openings:
        found = uct.search(rules, Position.from_moves(game, opening).state, simulations, settings, random)
        if found.root_proven == UNKNOWN:
            decided = 0
            yield opening
        else:
            decided += 1
            if decided == DECIDED_IN_A_ROW:
                raise UserError(
                    f"{decided} openings of {game.name} in a row, {len(opening)} random moves each, "
                    f"are decided by {simulations:,} simulations: "
                    "ask for another number of moves, or fewer simulations"
                )


def read_openings(game: Game, file: Path) -> list[Opening]:
    """The openings of a file, one per line."""
    found: list[Opening] = []
    lines = split_lines(files.read_bytes(file).decode("utf-8", errors="replace"))
    for number, line in enumerate(lines, start=1):
        moves = line.partition("#")[0].strip()
        if not moves:
            continue
        try:
            with at_line(number):
                position = Position.from_moves(game, moves)
                if position.is_over:
                    raise UserError(f"this is a whole game, not an opening: {position.outcome}")
        except UserError as error:
            raise UserError(f"{file.name} {error}") from None
        found.append(tuple(position.moves))
    if not found:
        raise UserError(f"{file.name} has no openings: expected moves of {game.name}, one opening per line")
    return found


def _random_position(game: Game, plies: int, random: np.random.Generator) -> Position | None:
    position = Position.start(game)
    for _ in range(plies):
        for action in random.permutation(position.legal_actions):
            following = position.play(int(action))
            if not following.is_over:
                break
        else:
            return None  # every move ends the game
        position = following
    return position
