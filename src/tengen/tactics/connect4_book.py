"""An opening book of Connect 4: the score of every position with few stones, up to mirror images.

Only the positions with the most stones are searched; the scores of earlier positions follow from theirs.
This takes long, so the file is saved from time to time, and an interrupted book is continued.

    start    key of the position that the book starts from           uint64
    plies    from there to the positions that are searched           int64
    keys     of the positions that are searched, sorted              uint64[P]
    scores   of these positions, UNKNOWN if not searched yet         int8[P]
"""

import io
import time
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tengen import files
from tengen.errors import UserError
from tengen.games.position import Position
from tengen.tactics.connect4_search import BOARD, COLS, book_key, drop, has_four, win_now
from tengen.tactics.connect4_solver import Solver, bitboards

UNKNOWN = -128
SECONDS_BETWEEN_WRITES = 30
MAX_PLIES = 12
# What NumPy and zipfile raise for a file that is damaged, truncated or of another format.
UNREADABLE = (
    KeyError, ValueError, TypeError, AttributeError, EOFError, OSError, RuntimeError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip

Progress = Callable[[int, int], None]  # positions done, out of total


@dataclass(frozen=True)
class BookFile:
    """What the file holds, a plain .npz."""

    start: int
    plies: int
    keys: npt.NDArray[np.uint64]
    scores: npt.NDArray[np.int8]

    def write(self, file: Path) -> None:
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer, start=np.uint64(self.start), plies=self.plies, keys=self.keys, scores=self.scores
        )
        files.write_bytes(file, buffer.getvalue())

    @classmethod
    def read(cls, file: Path) -> "BookFile":
        data = files.read_bytes(file)
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
                book = cls(int(arrays["start"]), int(arrays["plies"]), arrays["keys"], arrays["scores"])
        except UNREADABLE:
            raise UserError(f"{file} is not a book of connect4") from None
        is_right = book.keys.dtype == np.uint64 and book.scores.dtype == np.int8 and book.keys.ndim == 1
        if not (is_right and book.keys.shape == book.scores.shape and 1 <= book.plies <= MAX_PLIES):
            raise UserError(f"{file} is not a book of connect4")
        return book


def make_book(file: Path, plies: int, start: Position, solver: Solver, progress: Progress) -> int:
    """Searches all positions `plies` after the start; returns their number. Continues an interrupted book."""
    first = book_key(*bitboards(start))
    keys = np.array(sorted(layers(first, plies)[-1]), np.uint64)  # similar positions share table entries
    book = BookFile(first, plies, keys, np.full(len(keys), UNKNOWN, np.int8))
    if file.exists():
        book = BookFile.read(file)
        if (book.start, book.plies, len(book.keys)) != (first, plies, len(keys)):
            raise UserError(f"{file} is another book, of {book.plies} plies: choose another name")
    written = time.monotonic()
    done = int((book.scores != UNKNOWN).sum())
    try:
        for i in np.flatnonzero(book.scores == UNKNOWN):
            progress(done, len(keys))
            book.scores[i] = solver.score_of(*boards_of(int(keys[i])))
            done += 1
            if time.monotonic() - written > SECONDS_BETWEEN_WRITES:
                book.write(file)
                written = time.monotonic()
    finally:  # after Ctrl-C too
        book.write(file)
    progress(done, len(keys))
    return len(keys)


def read_book(file: Path) -> dict[int, int]:
    """Scores by key, of the searched positions and of all positions before them."""
    stored = BookFile.read(file)
    if (stored.scores == UNKNOWN).any():
        raise UserError(f"{file} is not finished: go on with --make-book {file} --plies {stored.plies}")
    book = dict(zip(stored.keys.tolist(), stored.scores.tolist(), strict=True))
    found = layers(stored.start, stored.plies)
    if book.keys() != found[-1]:
        raise UserError(f"{file} is not a book of connect4: it lacks positions")
    for layer in reversed(found[:-1]):
        for key in layer:
            mine, taken = boards_of(key)
            scores = []
            for move in moves(taken):
                if has_four(np.uint64(mine | move)):
                    scores.append(win_now(taken.bit_count()))
                elif taken | move == int(BOARD):
                    scores.append(0)
                else:
                    scores.append(-book[book_key(mine ^ taken, taken | move)])
            book[key] = max(scores)
    return book


def layers(start: int, plies: int) -> list[set[int]]:
    """The keys of the positions after 0, 1, … plies in which the game is not over."""
    found = [{start}]
    for _ in range(plies):
        after = set()
        for key in found[-1]:
            mine, taken = boards_of(key)
            for move in moves(taken):
                if not has_four(np.uint64(mine | move)) and taken | move != int(BOARD):
                    after.add(book_key(mine ^ taken, taken | move))
        found.append(after)
    return found


def moves(taken: int) -> list[int]:
    """The bits on which a stone can land."""
    return [drop(taken, column) for column in range(COLS) if drop(taken, column)]


def boards_of(key: int) -> tuple[int, int]:
    """(mine, taken) of a key: in each column the highest 1 bit is just above the highest stone."""
    mine = taken = 0
    for column in range(COLS):
        bits = key >> 7 * column & 0b1111111
        top = 1 << bits.bit_length() - 1
        mine |= (bits - top) << 7 * column
        taken |= (top - 1) << 7 * column
    return mine, taken
