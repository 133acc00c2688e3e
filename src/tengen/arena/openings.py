"""Where the games of a match begin. Each opening is played twice, once with each colour.

Without openings two players without chance would play the same two games again and again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, repeat
from pathlib import Path

import numpy as np

from tengen import files
from tengen.errors import UserError
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.games.reading import at_line, split_lines

Opening = tuple[str, ...]  # moves

MAX_PLIES = 4  # by default: 2401 openings at Connect 4; enough variety, not yet a lost game
TRIES = 50  # to find an opening that is new; a small board has only so many
STREAM = 0x0BE9  # keeps these random numbers apart from those of the players


@dataclass(frozen=True)
class Openings:
    """Endless openings for a game, the same for the same settings: from a file in turn, or random moves."""

    game: Game
    seed: int = 0
    plies: int | None = None  # of random moves; 0: the start of the game; None: a few
    file: Path | None = None  # a list of moves a line; # begins a comment

    def __post_init__(self) -> None:
        if self.file is not None and self.plies is not None:
            raise UserError("openings come from a file or are random: give one of the two")
        if self.file is not None:
            read_openings(self.game, self.file)  # a mistake in it shows at once

    def __iter__(self) -> Iterator[Opening]:
        if self.file is not None:
            return cycle(read_openings(self.game, self.file))
        plies = self.random_plies
        return random_openings(self.game, plies, self.seed) if plies else repeat(())

    @property
    def random_plies(self) -> int:
        """How many random moves; a quarter of a small board."""
        return min(MAX_PLIES, self.game.rows * self.game.cols // 4) if self.plies is None else self.plies

    def __str__(self) -> str:
        if self.file is not None:
            return f"openings of {self.file.name}"
        plies = self.random_plies
        return f"openings of {plies} random moves" if plies else "no openings"


def random_openings(game: Game, plies: int, seed: int) -> Iterator[Opening]:
    """Openings of random legal moves, none of which ends the game; none twice while others are found."""
    random = np.random.default_rng([seed, STREAM])
    seen: set[Position] = set()
    while True:
        found: Position | None = None
        for _ in range(TRIES):
            found = _random_position(game, plies, random) or found
            if found is not None and found not in seen:
                break
        if found is None:
            raise UserError(f"{game.name} is over too soon for {plies} random moves: ask for fewer")
        seen.add(found)
        yield tuple(found.moves)


def read_openings(game: Game, file: Path) -> list[Opening]:
    """The openings of a file, one a line."""
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
        raise UserError(f"{file.name} holds no openings: expected moves of {game.name}, one opening a line")
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
