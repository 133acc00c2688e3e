"""Game records: SGF for five in a row and Othello, piskvork's psq for five in a row, text for every game.

    >>> record = Record("gomoku15", ("h8", "i9"), players=("Ann", "Bob"))
    >>> from_sgf(to_sgf(record)) == record
    True

What we write, we read back exactly. What other programs write is read too: the first game of a file, its
main line, played from the start of the game; `game=` says which game it is where the file does not. Whatever
is wrong with a file is a UserError with the line:

    game.sgf line 3: illegal move 'h8' in gomoku15: there is a stone already

How the others write:

    SGF      five in a row (GM[4]): `hh`, column and row letter from the top left, as in Go; a few `h8`.
             Othello (GM[2]): `f5` (Edax, Cassio, OthelloTk); a pass is `[]`, `[PA]`, or left out.
             Ours name the game in a property of their own, TENGEN[gomoku15].
    psq      see psq.py; the rule is not in the file, so without our name for the game it is freestyle,
             unless the tournament's name says otherwise.
    text     `# tengen gomoku15`, lines such as `first: Ann`, then the moves.
"""

import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tengen import __version__, games
from tengen.errors import UserError
from tengen.games import mnk, othello, psq, sgf
from tengen.games.coordinates import LETTERS
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.games.spec import did_you_mean

RESULTS = ("1-0", "0-1", "1/2", "*")  # the first player wins, the second, a draw, not finished or not known
TEXT_KEYS = ("first", "second", "result", "date", "comment")
FIVE_IN_A_ROW, OTHELLO = "4", "2"  # GM in SGF
SGF_RESULTS = {"1-0": "B+", "0-1": "W+", "1/2": "0", "*": "Void"}
SGF_PASSES = ("", "tt", "pa", "pass", "--", "@@@@")


@dataclass(frozen=True)
class Record:
    """A game from its start, who played it and how it ended. Making one plays it: the moves are legal."""

    game: str  # name or spec
    moves: tuple[str, ...] = ()
    players: tuple[str, str] = ("", "")  # first, second
    result: str = ""  # one of RESULTS; left out, it is what the board says
    date: str = ""  # 2026-09-10
    comment: str = ""  # one line, as are the names: white space becomes one space

    def __post_init__(self) -> None:
        position = self.position()
        on_board = _result(position)
        result = self.result or on_board
        if result not in RESULTS:
            raise UserError(f"a result is one of {', '.join(RESULTS)}, got '{result}'")
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
    to_form: Callable[[Record], str] = {".sgf": to_sgf, ".psq": to_psq}.get(file.suffix.lower(), to_text)
    text = to_form(record)
    partial = file.with_name(f".{file.name}.{secrets.token_hex(4)}")  # renamed when complete
    try:
        partial.write_text(text, encoding="utf-8", newline="\n")
        os.replace(partial, file)
    finally:
        partial.unlink(missing_ok=True)


def read(path: Path | str, game: str | None = None) -> Record:
    """Reads a file; its ending says the form. `game` says which game it is if the file does not, or wrongly."""
    file = Path(path)
    if game is not None:
        games.find(game)  # a mistake in the name is not the file's
    from_form = {".sgf": from_sgf, ".psq": from_psq}.get(file.suffix.lower(), from_text)
    try:
        return from_form(_decode(file.read_bytes()), game)
    except ValueError as error:
        between = " " if str(error).startswith("line ") else ": "
        raise UserError(f"{file.name}{between}{error}") from None


def to_text(record: Record) -> str:
    """The record as plain text."""
    facts = zip(TEXT_KEYS, (*record.players, record.result, record.date, record.comment), strict=True)
    lines = [f"{key}: {value}" for key, value in facts if value]
    return "\n".join([f"# tengen {record.game}", *lines, *_rows(list(record.moves), " ")]) + "\n"


def from_text(text: str, game: str | None = None) -> Record:
    """The record that a text holds; a bare list of moves needs `game`."""
    game_line = 1
    facts: dict[str, str] = {}
    move_lines: list[tuple[int, str]] = []
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        header = re.fullmatch(r"\s*#\s*tengen\s+(.+)", line)
        fact = re.fullmatch(r"\s*([A-Za-z]+)\s*:(.*)", line)
        if header and game is None:
            game, game_line = header[1], number
        elif fact:
            with _at_line(number):
                facts[fact[1]] = _checked_fact(fact[1], fact[2].strip())
        elif line.strip() and not line.lstrip().startswith("#"):
            move_lines.append((number, line))
    if game is None:
        number, line = move_lines[0] if move_lines else (1, text)
        raise UserError(f"line {number}: expected '# tengen GAME' before the moves, got '{sgf.shown(line)}'")
    with _at_line(game_line):
        position = Position.start(game)
    for number, line in move_lines:
        with _at_line(number):
            for move in position.game.moves.split(line):
                position = _play(position, move)
    return _record(position, facts)


def to_sgf(record: Record) -> str:
    """The record as SGF FF[4], for five in a row (all of the m,n,k family) and Othello."""
    game = games.find(record.game)
    kind = _sgf_kind(game)
    root = {
        "FF": ["4"],
        "GM": [kind],
        "CA": ["UTF-8"],
        "AP": [f"tengen:{__version__}"],
        "SZ": [str(game.rows) if game.rows == game.cols else f"{game.cols}:{game.rows}"],
        "RU": [mnk.RULES[game.header[3]]] if kind == FIVE_IN_A_ROW else [],
        "TENGEN": [record.game],
        "PB": [record.players[0]],
        "PW": [record.players[1]],
        "DT": [record.date] if record.date else [],
        "RE": [SGF_RESULTS[record.result]],
        "GC": [record.comment] if record.comment else [],
    }
    if kind == OTHELLO:  # all the others write the first four stones, and some need them
        stones = _stones_at_start(game)
        root["AB"] = [move for move in stones if stones[move] == 1]
        root["AW"] = [move for move in stones if stones[move] == 2]
        root["PL"] = ["B"]
    nodes = []
    position = Position.start(game)
    for move in record.moves:
        point = _sgf_point(game, position.parse(move))
        nodes.append(";" + sgf.property_text("BW"[position.to_move - 1], point))
        position = position.play(move)
    first_node = "".join(sgf.property_text(name, *values) for name, values in root.items() if values)
    return "\n".join(["(;" + first_node, *_rows(nodes, "")]) + ")\n"


def from_sgf(text: str, game: str | None = None) -> Record:
    """The record that the first game of an SGF holds, without its variations."""
    properties = sgf.main_line(text)
    first = {found.name: found for found in reversed(properties)}
    position = Position.start(_sgf_game(first, game))
    stones: dict[str, int] = {}
    for found in properties:
        with _at_line(found.line):
            if found.name in ("B", "W"):
                if len(found.values) > 1:
                    raise UserError(f"expected one move, got {len(found.values)}")
                move = _sgf_move(position.game, found.values[0])
                position = _play(position, move, player="BW".index(found.name) + 1)
            elif found.name in ("AB", "AW"):
                player = "BW".index(found.name[1]) + 1
                stones |= {_sgf_move(position.game, value): player for value in found.values}
            elif found.name == "AE" or (found.name == "PL" and found.values[0].strip().lower()[:1] != "b"):
                raise UserError(f"only games from the start can be read, this one has {found.name}")
    if stones and stones != _stones_at_start(position.game):
        set_up = first.get("AB") or first["AW"]
        raise UserError(f"line {set_up.line}: only games from the start can be read, this one has {set_up.name}")
    said = {name: found.values[0] for name, found in first.items()}
    ended = said.get("RE", "").strip().upper()
    results = [result for result, written in SGF_RESULTS.items() if ended.startswith(written.upper())]
    facts = {"first": "PB", "second": "PW", "date": "DT", "comment": "GC"}
    return _record(
        position, {key: said.get(name, "") for key, name in facts.items()} | {"result": "".join(results)}
    )


def to_psq(record: Record) -> str:
    """The record as a psq file, as the Gomocup referee writes it; for five in a row."""
    game = games.find(record.game)
    if game.play is not mnk.play or game.header[2] != 5:
        raise UserError(f"psq is for five in a row, not for {record.game}: write a .txt")
    facts = {"date": record.date, "comment": record.comment}
    file = psq.Psq(
        game.rows,
        game.cols,
        tuple(game.moves.action(move) for move in record.moves),
        record.players,
        winner={"1-0": 1, "0-1": 2, "1/2": 0}.get(record.result),
        event=record.game,
        facts={key: value for key, value in facts.items() if value},
    )
    return psq.render(file)


def from_psq(text: str, game: str | None = None) -> Record:
    """The record that a psq file holds.

    The referee's winner is an engine, not a colour, so it is not taken over: the board says who won, or
    nobody does. In our own files it is a colour.
    """
    file = psq.parse(text)
    is_ours = file.event.startswith("mnk:") or file.event in games.names()
    line = 1
    if game is None and is_ours:
        game, line = file.event, file.event_line
    with _at_line(line):
        game = game or psq.five_in_a_row(file.rows, file.cols, psq.rule_named(file.event) or "freestyle")
        position = Position.start(game)
        if position.game.play is not mnk.play:
            raise UserError(f"psq is for five in a row, not for {game}")
        _check_size(position.game, file.rows, file.cols)
    for number, cell in zip(file.lines, file.cells, strict=True):
        with _at_line(number):
            position = _play(position, position.game.moves.name(cell))
    result = {0: "1/2", 1: "1-0", 2: "0-1"}.get(-1 if file.winner is None else file.winner, "")
    said = {"first": file.players[0], "second": file.players[1], "result": result if is_ours else ""}
    return _record(position, {**file.facts, **said})


@contextmanager
def _at_line(number: int) -> Iterator[None]:
    """Gives the errors inside a line number."""
    try:
        yield
    except ValueError as error:
        raise UserError(f"line {number}: {error}") from None


def _play(position: Position, move: str, player: int = 0) -> Position:
    """The position after a move of a file; a forced pass that the file leaves out is put in."""
    if move != "pass" and position.legal_mask.sum() == 1 and position.legal_moves == ["pass"]:
        position = position.play("pass")
    if player == 3 - position.to_move and not position.is_over:
        raise UserError(f"expected a move of {'BW'[position.to_move - 1]}, got {'BW'[player - 1]}[{move}]")
    return position.play(move)


def _record(position: Position, facts: dict[str, str]) -> Record:
    """The record of a game as read. A finished board says who won, whatever the file says."""
    return Record.from_position(
        position,
        (facts.get("first", ""), facts.get("second", "")),
        "" if position.is_over else facts.get("result", ""),
        facts.get("date", ""),
        facts.get("comment", ""),
    )


def _result(position: Position) -> str:
    if not position.is_over:
        return "*"
    return "1/2" if position.winner is None else ("1-0", "0-1")[position.winner - 1]


def _one_line(text: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise UserError(f"not a text that can be written: {text!r}")
    return " ".join(text.split())


def _checked_fact(key: str, value: str) -> str:
    if key not in TEXT_KEYS:
        raise UserError(f"unknown key {key}{did_you_mean(key, TEXT_KEYS) or ': known are ' + ', '.join(TEXT_KEYS)}")
    if key == "result" and value not in RESULTS:
        raise UserError(f"a result is one of {', '.join(RESULTS)}, got '{value}'")
    return value


def _rows(parts: list[str], between: str) -> list[str]:
    """Parts joined to lines of ten."""
    return [between.join(parts[i : i + 10]) for i in range(0, len(parts), 10)]


def _decode(data: bytes) -> str:
    """UTF-8, or the encoding that an SGF names in CA, or Latin-1, in which everything is text."""
    named = re.search(rb"CA\[\s*((?:gb|big5|shift|euc|koi8|windows|iso)[a-z0-9_-]*)\s*\]", data, re.IGNORECASE)
    for encoding in ("utf-8-sig", named[1].decode() if named else "latin-1"):
        try:
            return data.decode(encoding)
        except (LookupError, UnicodeError):
            continue
    return data.decode("latin-1")


def _sgf_kind(game: Game) -> str:
    """The number of the game in SGF's list, GM."""
    if game.play is mnk.play:
        return FIVE_IN_A_ROW
    if game.play is othello.play:
        return OTHELLO
    raise UserError(f"SGF is for five in a row and Othello, not for {game.name}: write a .txt")


def _sgf_game(first: dict[str, sgf.Property], game: str | None) -> Game:
    """Which game an SGF holds: the one asked for, the one our own file names, or what GM, SZ and RU say."""
    kind = first["GM"].values[0].strip() if "GM" in first else ""
    size = first.get("SZ", sgf.Property(1, "SZ", ("8" if kind == OTHELLO else "15",)))
    sides = re.fullmatch(r"\s*([0-9]{1,3})\s*(?::\s*([0-9]{1,3})\s*)?", size.values[0])
    if not sides:
        raise UserError(f"line {size.line}: expected SZ[15] or SZ[9:7], got SZ[{sgf.shown(size.values[0])}]")
    cols, rows = int(sides[1]), int(sides[2] or sides[1])
    if game is None and "TENGEN" in first:
        with _at_line(first["TENGEN"].line):
            game = games.find(first["TENGEN"].values[0]).name
    elif game is None and kind == FIVE_IN_A_ROW:
        rules = first.get("RU", sgf.Property(1, "RU", ("freestyle",)))
        rule = psq.rule_named(rules.values[0])
        if rule is None:
            raise UserError(f"line {rules.line}: unknown rule RU[{sgf.shown(rules.values[0])}], say which game it is")
        game = psq.five_in_a_row(rows, cols, rule)
    elif game is None and kind == OTHELLO:
        game = f"othello{rows}" if f"othello{rows}" in games.names() else f"othello:size={rows}"
    elif game is None:
        line = first["GM"].line if "GM" in first else 1
        got = f"GM[{sgf.shown(kind)}]" if "GM" in first else "no GM"
        raise UserError(f"line {line}: expected GM[4], five in a row, or GM[2], Othello, got {got}")
    with _at_line(size.line):
        found = games.find(game)
        _sgf_kind(found)
        if "SZ" in first:
            _check_size(found, rows, cols)
    return found


def _check_size(game: Game, rows: int, cols: int) -> None:
    if (game.rows, game.cols) != (rows, cols):
        raise UserError(f"{game.name} is played on {game.rows}×{game.cols}, this board is {rows}×{cols}")


def _stones_at_start(game: Game) -> dict[str, int]:
    """The stones of the first position: {"e4": 1, …}."""
    cells = game.new_state()[game.cells]
    return {game.moves.name(i): int(cell) for i, cell in enumerate(cells) if cell}


def _sgf_point(game: Game, action: int) -> str:
    if game.play is othello.play:
        move = game.moves.name(action)
        return "" if move == "pass" else move
    return LETTERS[action % game.cols] + LETTERS[action // game.cols]


def _sgf_move(game: Game, value: str) -> str:
    """The move that a value of B or W means: `hh`, `h8`, or a pass in Othello."""
    point = value.strip().lower()
    if game.play is othello.play and point in SGF_PASSES:
        return "pass"
    if not re.fullmatch("[a-z]{2}", point):
        return point
    col, row = LETTERS.index(point[0]), LETTERS.index(point[1])
    if col >= game.cols or row >= game.rows:
        raise UserError(f"'{point}' is not on a board of {game.rows}×{game.cols}")
    return game.moves.name(row * game.cols + col)
