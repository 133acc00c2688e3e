r"""SGF, for five in a row (GM[4], all of the m,n,k family) and Othello (GM[2]). FF[4], red-bean.com/sgf.

    (;FF[4]GM[4]SZ[15]PB[Ann]    a tree in parentheses; a node begins with a semicolon;
     ;B[hh];W[ig]                a property is capital letters and one or more values in brackets
     (;B[gg])(;B[ii]))           variations: the first one goes on with the game

So the main line is all that comes before the first closing parenthesis. Within a value a backslash makes
the next character ordinary (`\]`, `\\`), and a line break after it vanishes.

The standard says no more about these two games. In five in a row everybody writes `hh` as in Go: letters
for the column and the row, from the top left. In Othello Edax, Cassio and OthelloTk write `f5`, begin with
the four stones (AB, AW) and write a pass as `[PA]`, as `[@@@@]`, or not at all; ours is `[]`. We put our
name for the game into a property of our own, TENGEN[gomoku15].
"""

import re
from dataclasses import dataclass

from tengen import __version__, games
from tengen.errors import UserError
from tengen.games import mnk, othello
from tengen.games.coordinates import LETTERS
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.games.reading import at_line, check_size, five_in_a_row, play, rule_named, shown, split_lines

VALUE = r"\[[^\]\\]*(?:\\.[^\]\\]*)*\]"
PROPERTY = re.compile(rf"([A-Za-z]+)((?:\s*{VALUE})+)", re.DOTALL)
SIZE = re.compile(r"\s*([0-9]{1,3})\s*(?::\s*([0-9]{1,3})\s*)?")

FIVE_IN_A_ROW, OTHELLO = "4", "2"  # GM
RESULTS = {"1-0": "B+", "0-1": "W+", "1/2": "0", "*": "Void"}  # RE
PASSES = ("", "tt", "pa", "pass", "--", "@@@@")


@dataclass(frozen=True)
class Property:
    """A property of the main line."""

    line: int
    name: str
    values: tuple[str, ...]


def render(position: Position, facts: dict[str, str]) -> str:
    """A game and its facts (first, second, result, date, comment) as a file."""
    game = position.game
    kind = _kind(game)
    root = {
        "FF": "4",
        "GM": kind,
        "CA": "UTF-8",
        "AP": f"tengen:{__version__}",
        "SZ": str(game.rows) if game.rows == game.cols else f"{game.cols}:{game.rows}",
        "RU": mnk.RULES[game.header[3]] if kind == FIVE_IN_A_ROW else "",
        "TENGEN": game.name,
        "PB": facts["first"],
        "PW": facts["second"],
        "DT": facts["date"],
        "RE": RESULTS[facts["result"]],
        "GC": facts["comment"],
    }
    text = "(;" + "".join(_property(name, value) for name, value in root.items() if value)
    stones = _stones_at_start(game)
    for name, player in (("AB", 1), ("AW", 2)):
        if stones:
            text += _property(name, *(move for move in stones if stones[move] == player))
    nodes = []
    before = Position.start(game)
    for action in position.actions:
        colour = "BW"[before.to_move - 1]
        nodes.append(f";{colour}[{_point(game, action)}]")
        before = before.play(action)
    lines = ["".join(nodes[i : i + 10]) for i in range(0, len(nodes), 10)]
    return "\n".join([text, *lines]) + ")\n"


def parse(text: str, game: str | None = None) -> tuple[Position, dict[str, str]]:
    """The first game of a file, its main line, and the facts."""
    properties = main_line(text)
    first = {found.name: found for found in reversed(properties)}
    position = Position.start(_game(first, game))
    _check_set_up(position.game, properties)
    for found in properties:
        with at_line(found.line):
            if found.name in ("B", "W"):
                if len(found.values) > 1:
                    raise UserError(f"expected one move, got {len(found.values)}")
                move = _move(position.game, found.values[0])
                position = play(position, move, player="BW".index(found.name) + 1)
            elif found.name == "PL" and " BW".find(found.values[0].strip().upper()[:1]) != position.to_move:
                raise UserError(f"PL[{shown(found.values[0])}] changes who is to move: that is not read")
    said = {name: found.values[0] for name, found in first.items()}
    names = {"first": "PB", "second": "PW", "date": "DT", "comment": "GC"}
    facts = {key: said.get(name, "") for key, name in names.items()}
    facts["result"] = _result(said.get("RE", ""))
    return position, facts


def main_line(text: str) -> list[Property]:
    """The properties of the first game, without its variations, in the order of the file."""
    text = "\n".join(split_lines(text))
    start = re.search(r"\(\s*;", text)
    if start is None:
        raise UserError(f"line 1: expected '(;', got '{shown(text)}'")
    found: list[Property] = []
    at, line = start.start(), 1 + text.count("\n", 0, start.start())
    depth, is_main = 0, True
    while at < len(text):
        match = PROPERTY.match(text, at)
        if match:
            if is_main:
                values = [_unescape(value[1:-1]) for value in re.findall(VALUE, match[2], re.DOTALL)]
                found.append(Property(line, _name(match[1]), tuple(values)))
            line += text.count("\n", at, match.end())
            at = match.end()
            continue
        character = text[at]
        if character == "(":
            depth += 1
        elif character == ")":
            depth, is_main = depth - 1, False
            if depth == 0:
                return found
        elif character == "\n":
            line += 1
        elif character != ";" and not character.isspace():
            is_open = re.match(rf"(?!{VALUE})[A-Za-z]*\s*\[", text[at:], re.DOTALL)
            what = "']' at the end of" if is_open else "a property, got"
            raise UserError(f"line {line}: expected {what} '{shown(text[at:])}'")
        at += 1
    raise UserError(f"line {line}: expected ')', the file ends")


def _property(name: str, *values: str) -> str:
    """A property as it is written."""
    return name + "".join("[" + re.sub(r"([\]\\])", r"\\\1", value) + "]" for value in values)


def _name(letters: str) -> str:
    """Up to FF[3] small letters were decoration, `GaMe` for GM; without capitals they are a mistake."""
    return "".join(letter for letter in letters if letter.isupper()) or letters.upper()


def _unescape(value: str) -> str:
    return re.sub(r"\\(.)", lambda escaped: escaped[1].strip("\n"), value, flags=re.DOTALL)


def _kind(game: Game) -> str:
    """The number of a game in SGF."""
    if mnk.is_mnk(game):
        return FIVE_IN_A_ROW
    if game.play is othello.play:
        return OTHELLO
    raise UserError(f"SGF is for five in a row and Othello, not for {game.name}: use text")


def _game(first: dict[str, Property], game: str | None) -> Game:
    """Which game it is: the one asked for, the one our own file names, or what GM, SZ and RU say."""
    gm = first["GM"].values[0].strip() if "GM" in first else "none"
    size = first.get("SZ", Property(1, "SZ", ("8" if gm == OTHELLO else "15",)))
    sides = SIZE.fullmatch(size.values[0])
    if not sides:
        raise UserError(f"line {size.line}: expected SZ[15] or SZ[9:7], got SZ[{shown(size.values[0])}]")
    cols, rows = int(sides[1]), int(sides[2] or sides[1])
    line = size.line
    if game is None and "TENGEN" in first:
        game, line = first["TENGEN"].values[0], first["TENGEN"].line
    elif game is None and gm == FIVE_IN_A_ROW:
        game = five_in_a_row(rows, cols, _rule(first))
    elif game is None and gm == OTHELLO:
        game = f"othello{rows}" if f"othello{rows}" in games.names() else f"othello:size={rows}"
    elif game is None:
        line = first["GM"].line if "GM" in first else 1
        raise UserError(f"line {line}: expected GM[4], five in a row, or GM[2], Othello, got {shown(gm)}")
    with at_line(line):
        found = games.find(game)
        _kind(found)
        if "SZ" in first:
            check_size(found, rows, cols)
    return found


def _rule(first: dict[str, Property]) -> str:
    named = first.get("RU", Property(1, "RU", ("freestyle",)))
    rule = rule_named(named.values[0])
    if rule is None:
        raise UserError(f"line {named.line}: unknown rule '{shown(named.values[0])}': name the game yourself")
    return rule


def _result(text: str) -> str:
    """Our result for an RE such as `B+R`, `0` or `?`; empty if it is not known."""
    ended = text.strip().lower()
    if ended in RESULTS:
        return ended
    return {"b+": "1-0", "w+": "0-1", "0": "1/2", "draw": "1/2"}.get(ended[:2] if "+" in ended else ended, "")


def _check_set_up(game: Game, properties: list[Property]) -> None:
    """Stones may be set up if they are those of the first position."""
    set_up = [found for found in properties if found.name in ("AB", "AW", "AE")]
    stones: dict[str, int] = {}
    for found in set_up:
        with at_line(found.line):
            stones |= {_move(game, value): "EBW".index(found.name[1]) for value in found.values}
    if set_up and stones != _stones_at_start(game):
        raise UserError(f"line {set_up[0].line}: only games from the start can be read, not stones set up")


def _stones_at_start(game: Game) -> dict[str, int]:
    """The stones of the first position: {"e4": 1, …}."""
    cells = game.new_state()[game.cells]
    return {game.moves.name(i): int(cell) for i, cell in enumerate(cells) if cell}


def _point(game: Game, action: int) -> str:
    """A move as it is written."""
    if game.play is othello.play:
        return game.moves.name(action).replace("pass", "")
    return LETTERS[action % game.cols] + LETTERS[action // game.cols]


def _move(game: Game, value: str) -> str:
    """The move that a value means: `hh`, `h8`, or a pass in Othello."""
    point = value.strip().lower()
    if game.play is othello.play and point in PASSES:
        return "pass"
    if not re.fullmatch("[a-z]{2}", point):
        return point
    col, row = LETTERS.index(point[0]), LETTERS.index(point[1])
    if col >= game.cols or row >= game.rows:
        raise UserError(f"'{point}' is not on a board of {game.rows}×{game.cols}")
    return game.moves.name(row * game.cols + col)
