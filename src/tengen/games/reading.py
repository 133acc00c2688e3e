"""What the readers of game files share: errors with a line, moves played one by one, names of rules."""

from collections.abc import Iterator
from contextlib import contextmanager

from tengen import games
from tengen.errors import UserError
from tengen.games import mnk
from tengen.games.game import Game
from tengen.games.position import Position

# How files name a rule, by its first letters; the numbers are Gomocup's.
RULES = {
    "caro-exact": "caro-exact", "9": "caro-exact",
    "caro": "caro", "8": "caro",
    "free": "freestyle", "gomoku": "freestyle", "0": "freestyle",
    "renju": "renju", "rif": "renju", "4": "renju",
    "standard": "standard", "1": "standard",
}  # fmt: skip


@contextmanager
def at_line(number: int) -> Iterator[None]:
    """Adds a line number to the errors raised inside."""
    try:
        yield
    except ValueError as error:
        raise UserError(f"line {number}: {error}") from None


def split_lines(text: str) -> list[str]:
    """The lines of a text, which may end with \\n, \\r\\n or \\r."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def shown(text: str) -> str:
    """The beginning of a text, on one line, for an error message."""
    words = " ".join(text[:200].split())
    return words if len(words) <= 20 else words[:20] + "…"


def play(position: Position, move: str, player: int | None = None) -> Position:
    """The position after a move of a file; adds a forced pass that the file leaves out."""
    if move != "pass" and position.legal_mask.sum() == 1 and position.legal_moves == ["pass"]:
        position = position.play("pass")
    if player not in (None, position.to_move) and not position.is_over:
        turn = ("first", "second")[position.to_move - 1]
        raise UserError(f"'{move}' is a move of the wrong side: the {turn} player is to move")
    return position.play(move)


def rule_named(text: str) -> str | None:
    """The rule that `Freestyle15_1`, `Renju` or `4` means; None if it is none of ours."""
    name = text.strip().lower()
    return next((rule for start, rule in RULES.items() if name.startswith(start)), None)


def five_in_a_row(rows: int, cols: int, rule: str) -> str:
    """Our name for the game: `renju15`, or `mnk:rows=7,cols=9,k=5,rule=renju` if it has no name."""
    header = (rows, cols, 5, mnk.RULES.index(rule))
    for name in games.names():
        game = games.find(name)
        if mnk.is_mnk(game) and game.header == header:
            return name
    return f"mnk:rows={rows},cols={cols},k=5,rule={rule}"


def check_size(game: Game, rows: int, cols: int) -> None:
    if (game.rows, game.cols) != (rows, cols):
        raise UserError(f"{game.name} is played on {game.rows}×{game.cols}, this board is {rows}×{cols}")
