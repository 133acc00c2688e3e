"""Game records, written and read back exactly: SGF (sgf.py), piskvork's psq (psq.py), text for every game.

    >>> record = Record("gomoku15", ("h8", "i9"), players=("Ann", "Bob"))
    >>> from_sgf(to_sgf(record)) == record
    True

Files of other programs are read too: the first game, its main line, from the start of the game. `game=`
says which game it is where the file does not. Whatever is wrong with a file is a UserError with the line:

    game.sgf line 3: illegal move 'h8' in gomoku15: there is a stone already

Text is for every game and for people:

    # tengen connect4
    first: Ann
    result: *
    4 4 3 5            run together, 4435, is read too
"""

import re
from dataclasses import dataclass
from pathlib import Path

from tengen import files, games
from tengen.errors import UserError
from tengen.games import psq, sgf
from tengen.games.position import Position
from tengen.games.reading import at_line, play, shown, split_lines
from tengen.games.spec import did_you_mean

RESULTS = ("1-0", "0-1", "1/2", "*")  # the first player wins, the second, a draw, not finished or not known
FACTS = ("first", "second", "result", "date", "comment")


@dataclass(frozen=True)
class Record:
    """A game from its start, who played it and how it ended. Making one plays it: the moves are legal."""

    game: str  # name or spec
    moves: tuple[str, ...] = ()
    players: tuple[str, str] = ("", "")  # first, second
    result: str = ""  # one of RESULTS; left out, it is what the board says
    date: str = ""  # 2026-09-10
    comment: str = ""  # one line, like the names: white space becomes one space

    def __post_init__(self) -> None:
        position = self.position()
        on_board = _result(position)
        result = self.result or on_board
        if result not in RESULTS:
            raise UserError(f"a result is one of {', '.join(RESULTS)}, got '{shown(result)}'")
        if position.is_over and result != on_board:
            raise UserError(f"the result is {result}, but on the board: {position.outcome}")
        first, second = self.players
        tidy = {
            "game": position.game.name,
            "moves": tuple(position.moves),
            "players": (_one_line(first), _one_line(second)),
            "result": result,
            "date": _one_line(self.date),
            "comment": _one_line(self.comment),
        }
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
        """The record of a game that has come this far."""
        record = cls(position.game.name, tuple(position.moves), players, result, date, comment)
        if record.position() != position:
            raise UserError("a record needs every move from the start; this position was set up by hand")
        return record

    def position(self) -> Position:
        """Where the game stands after the last move."""
        return Position.from_moves(self.game, self.moves)


def write(record: Record, path: Path | str) -> None:
    """Writes a file; its ending chooses the form: .sgf, .psq, anything else is text."""
    file = Path(path)
    text = {".sgf": to_sgf, ".psq": to_psq}.get(file.suffix.lower(), to_text)(record)
    files.write_text(file, text)


def read(path: Path | str, game: str | None = None) -> Record:
    """Reads a file; its ending says the form. `game` says which game it is, where the file does not."""
    file = Path(path)
    if game is not None:
        games.find(game)  # a mistake here is not the file's
    data = files.read_bytes(file)
    from_form = {".sgf": from_sgf, ".psq": from_psq}.get(file.suffix.lower(), from_text)
    try:
        return from_form(_decode(data), game)
    except ValueError as error:
        between = " " if str(error).startswith("line ") else ": "
        raise UserError(f"{file.name}{between}{error}") from None


def to_sgf(record: Record) -> str:
    """The record as SGF, for five in a row (all of the m,n,k family) and Othello."""
    return sgf.render(record.position(), _facts(record))


def from_sgf(text: str, game: str | None = None) -> Record:
    """The record that an SGF holds; of several games the first, without its variations."""
    return _record(*sgf.parse(text, game))


def to_psq(record: Record) -> str:
    """The record as a psq file, for five in a row."""
    return psq.render(record.position(), _facts(record))


def from_psq(text: str, game: str | None = None) -> Record:
    """The record that a psq file holds."""
    return _record(*psq.parse(text, game))


def to_text(record: Record) -> str:
    """The record as text, for every game."""
    facts = [f"{key}: {value}" for key, value in _facts(record).items() if value]
    moves = [" ".join(record.moves[i : i + 10]) for i in range(0, len(record.moves), 10)]
    return "\n".join([f"# tengen {record.game}", *facts, *moves]) + "\n"


def from_text(text: str, game: str | None = None) -> Record:
    """The record that a text holds; a bare list of moves needs `game`."""
    game_line = 1
    facts: dict[str, str] = {}
    move_lines: dict[int, str] = {}
    for number, line in enumerate(split_lines(text), start=1):
        header = re.fullmatch(r"\s*#\s*tengen\s+(.+)", line)
        fact = re.fullmatch(r"\s*([A-Za-z]+)\s*:(.*)", line)
        if header and game is None:
            game, game_line = header[1], number
        elif fact:
            with at_line(number):
                facts[fact[1]] = _checked_fact(fact[1], fact[2].strip())
        elif line.strip() and not line.lstrip().startswith("#"):
            move_lines[number] = line
    if game is None:
        number = min(move_lines, default=1)
        got = shown(move_lines.get(number, text))
        raise UserError(f"line {number}: expected '# tengen GAME' before the moves, got '{got}'")
    with at_line(game_line):
        position = Position.start(game)
    for number, line in move_lines.items():
        with at_line(number):
            for move in position.game.moves.split(line):
                position = play(position, move)
    return _record(position, facts)


def _facts(record: Record) -> dict[str, str]:
    values = (*record.players, record.result, record.date, record.comment)
    return dict(zip(FACTS, values, strict=True))


def _record(position: Position, facts: dict[str, str]) -> Record:
    """The record of a game as read. A finished board says who won, whatever the file says: some are wrong."""
    first, second, result, date, comment = (facts.get(key, "") for key in FACTS)
    return Record.from_position(position, (first, second), "" if position.is_over else result, date, comment)


def _result(position: Position) -> str:
    if not position.is_over:
        return "*"
    return "1/2" if position.winner is None else ("1-0", "0-1")[position.winner - 1]


def _one_line(text: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise UserError(f"this cannot be written as text: {text!r}")
    return " ".join(text.split())


def _checked_fact(key: str, value: str) -> str:
    if key not in FACTS:
        hint = did_you_mean(key, FACTS) or f": known are {', '.join(FACTS)}"
        raise UserError(f"unknown key {shown(key)}{hint}")
    if key == "result" and value not in RESULTS:
        raise UserError(f"a result is one of {', '.join(RESULTS)}, got '{shown(value)}'")
    return value


def _decode(data: bytes) -> str:
    """UTF-8, or the encoding that an SGF names in CA, or Latin-1, in which everything is text."""
    named = re.search(rb"(?i)CA\[\s*((?:gb|big5|shift|euc|koi8|windows|iso)[a-z0-9_-]*)\s*\]", data)
    for encoding in ("utf-8-sig", named[1].decode() if named else "latin-1"):
        try:
            return data.decode(encoding)
        except (LookupError, UnicodeError):
            continue
    return data.decode("latin-1")
