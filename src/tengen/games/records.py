"""Game records, written and read back exactly: SGF (sgf.py), piskvork's psq (psq.py), text (move_text.py).

    >>> record = Record("gomoku15", ("h8", "i9"), players=("Ann", "Bob"))
    >>> from_sgf(to_sgf(record)) == record
    True

A Record is an immutable game from its start: the main line and the facts. Variations (variations.py) are a
game with variations, comments and perhaps a first position set up by hand. SGF keeps all of it; psq and text
keep only the line that was played. Both use the same readers and writers:

    variations, note = read_variations("game.sgf")     # the note says what could not be kept
    note = write_variations(variations, "game.txt")    # "left out: 2 variations; .sgf keeps all of it"

We also read files of other programs: the first game of a file. `game=` says which game it is if the file
does not. Anything wrong with a file is a UserError with the line:

    game.sgf line 3: illegal move 'h8' in gomoku15: there is a stone already
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tengen import files, games
from tengen.errors import UserError
from tengen.games import move_text, psq, sgf
from tengen.games.facts import RESULTS, Facts, check_result, result_on_board
from tengen.games.position import Position
from tengen.games.variations import Variations

__all__ = [
    "RESULTS", "Record", "from_psq", "from_sgf", "from_text", "parse_variations", "read", "read_variations",
    "render_variations", "to_psq", "to_sgf", "to_text", "write", "write_variations",
]  # fmt: skip


@dataclass(frozen=True)
class Record:
    """A game from its start, who played it and how it ended. Making one plays it: the moves are legal."""

    game: str  # name or spec
    moves: tuple[str, ...] = ()
    players: tuple[str, str] = ("", "")  # first, second
    result: str = ""  # one of RESULTS; if empty, taken from the board
    date: str = ""  # 2026-09-10
    comment: str = ""  # one line, like the names: white space becomes one space

    def __post_init__(self) -> None:
        position = self.position()
        on_board = result_on_board(position)
        result = self.result or on_board
        check_result(result)
        if position.is_over and result != on_board:
            raise UserError(f"the result is {result}, but on the board: {position.outcome}")
        facts = Facts(self.players, result, self.date, self.comment)
        tidy = {"game": position.game.name, "moves": tuple(position.moves), **vars(facts)}
        for name, value in tidy.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_position(
        cls,
        position: Position,
        players: tuple[str, str] = ("", ""),
        result: str = "",
        date: str = "",
        comment: str = "",
    ) -> "Record":
        """The record of the game that led to a position."""
        record = cls(position.game.name, tuple(position.moves), players, result, date, comment)
        if record.position() != position:
            raise UserError("a record needs every move from the start; this position was set up by hand")
        return record

    def position(self) -> Position:
        """The position after the last move."""
        return Position.from_moves(self.game, self.moves)

    @property
    def facts(self) -> Facts:
        return Facts(self.players, self.result, self.date, self.comment)

    def variations(self) -> Variations:
        """The same game, ready for variations and comments."""
        return Variations.from_position(self.position(), self.facts)


# Files.


def write(record: Record, path: Path | str) -> None:
    """Writes a file; its extension chooses the format: .sgf, .psq, anything else is text."""
    write_variations(record.variations(), path)


def read(path: Path | str, game: str | None = None) -> Record:
    """Reads the main line of a file; its extension says the format. `game`: for files that do not name it."""
    readers = {".sgf": from_sgf, ".psq": from_psq}
    return _read(path, game, lambda text, form: readers.get(form, from_text)(text, game))


def write_variations(variations: Variations, path: Path | str, end: int | None = None) -> str:
    """Writes a file like `write`; returns a note of what that format cannot keep, or an empty text.

    `end` is the node where the game stands, without it the end of the main line. For psq and text it is the
    last move; SGF marks it and keeps what follows."""
    text, note = render_variations(variations, Path(path).suffix, end)
    files.write_text(path, text)
    return note


def read_variations(path: Path | str, game: str | None = None) -> tuple[Variations, str]:
    """Reads a file like `read`, with its variations and comments, and a note of what was left out.

    The node where the game stands is the current one."""
    return _read(path, game, lambda text, form: _parse(text, form, game))


def render_variations(variations: Variations, form: str, end: int | None = None) -> tuple[str, str]:
    """The text and the note of write_variations, for a format (".sgf", ".psq", ".txt")."""
    if form.lower() == ".sgf":
        return sgf.render(variations, end), ""
    end = variations.main_line()[-1].id if end is None else end
    record = _record(variations, end)
    render = to_psq if form.lower() == ".psq" else to_text
    return render(record), _left_out(variations, end)


def parse_variations(data: bytes, form: str, game: str | None = None) -> tuple[Variations, str]:
    """The variations and the note that read_variations returns for a file with this content."""
    return _parse(_decode(data), form.lower(), game)


# Records as text in one format.


def to_sgf(record: Record) -> str:
    """The record as SGF."""
    return sgf.render(record.variations())


def from_sgf(text: str, game: str | None = None) -> Record:
    """The record that an SGF holds: the main line of its first game."""
    return _record(sgf.parse_main_line(text, game))


def to_psq(record: Record) -> str:
    """The record as a psq file, for five in a row."""
    return psq.render(record.position(), record.facts)


def from_psq(text: str, game: str | None = None) -> Record:
    """The record that a psq file holds."""
    return _record(_parse(text, ".psq", game)[0])


def to_text(record: Record) -> str:
    """The record as text, for every game."""
    return move_text.render(record.position(), record.facts)


def from_text(text: str, game: str | None = None) -> Record:
    """The record that a text holds; a bare list of moves needs `game`."""
    return _record(_parse(text, ".txt", game)[0])


def _parse(text: str, form: str, game: str | None) -> tuple[Variations, str]:
    if form == ".sgf":
        variations, note = sgf.parse(text, game)
    else:
        position, facts = (psq.parse if form == ".psq" else move_text.parse)(text, game)
        variations, note = Variations.from_position(position, facts), ""
    return variations, note


def _record(variations: Variations, end: int | None = None) -> Record:
    """The game up to a node, or the main line. A finished board decides who won: some files are wrong."""
    end = variations.main_line()[-1].id if end is None else end
    position, facts = variations[end].position, variations.facts
    result = "" if position.is_over else facts.result
    return Record.from_position(position, facts.players, result, facts.date, facts.comment)


def _left_out(variations: Variations, end: int) -> str:
    """What is lost of a game in a format that keeps only one line of moves."""
    kept = {node.id for node in variations.path(end)}
    num_variations = sum(node.id not in kept and node.parent in kept for node in variations)
    num_comments = sum(bool(node.comment) for node in variations)
    num_evaluations = sum(node.value is not None or bool(node.judgement) for node in variations)
    counts = {"variation": num_variations, "comment": num_comments, "evaluation": num_evaluations}
    lost = [f"{count} {what}{'s' if count > 1 else ''}" for what, count in counts.items() if count]
    return f"left out: {', '.join(lost)}; .sgf keeps all of it" if lost else ""


Read = TypeVar("Read")


def _read(path: Path | str, game: str | None, parse: Callable[[str, str], Read]) -> Read:
    """Reads a file and adds its name to errors."""
    file = Path(path)
    if game is not None:
        games.find(game)  # a mistake here is not the file's
    data = files.read_bytes(file)
    try:
        return parse(_decode(data), file.suffix.lower())
    except ValueError as error:
        between = " " if str(error).startswith("line ") else ": "
        raise UserError(f"{file.name}{between}{error}") from None


def _decode(data: bytes) -> str:
    """The text, decoded as UTF-8, else as the encoding in an SGF's CA, else as Latin-1, which never fails."""
    named = re.search(rb"(?i)CA\[\s*((?:gb|big5|shift|euc|koi8|windows|iso)[a-z0-9_-]*)\s*\]", data)
    for encoding in ("utf-8-sig", named[1].decode() if named else "latin-1"):
        try:
            return data.decode(encoding)
        except (LookupError, UnicodeError):
            continue
    return data.decode("latin-1")
