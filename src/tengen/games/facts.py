"""What is known about a game besides its moves: the players, the result, the date and a comment.

>>> Facts(players=("Ann", "Bob"), result="1-0").result
'1-0'
"""

from dataclasses import dataclass

from tengen.errors import UserError
from tengen.games.position import Position
from tengen.games.reading import shown

RESULTS = ("1-0", "0-1", "1/2", "*")  # the first player wins, the second, a draw, not finished or not known
KEYS = ("first", "second", "result", "date", "comment")  # their names in text and psq files


@dataclass(frozen=True)
class Facts:
    """Each is one line of text: any white space becomes one space."""

    players: tuple[str, str] = ("", "")  # first, second
    result: str = "*"  # one of RESULTS; an empty one becomes "*"
    date: str = ""  # 2026-09-10
    comment: str = ""

    def __post_init__(self) -> None:
        first, second = self.players
        object.__setattr__(self, "players", (one_line(first), one_line(second)))
        object.__setattr__(self, "date", one_line(self.date))
        object.__setattr__(self, "comment", one_line(self.comment))
        object.__setattr__(self, "result", self.result or "*")
        check_result(self.result)

    @classmethod
    def from_dict(cls, facts: dict[str, str]) -> "Facts":
        """The facts by their KEYS; other keys are ignored."""
        first, second, result, date, comment = (facts.get(key, "") for key in KEYS)
        return cls((first, second), result, date, comment)

    def to_dict(self) -> dict[str, str]:
        return dict(zip(KEYS, (*self.players, self.result, self.date, self.comment), strict=True))


def check_result(result: str) -> None:
    if result not in RESULTS:
        raise UserError(f"a result is one of {', '.join(RESULTS)}, got '{shown(result)}'")


def result_on_board(position: Position) -> str:
    """The result by the rules: one of RESULTS."""
    if not position.is_over:
        return "*"
    return "1/2" if position.winner is None else ("1-0", "0-1")[position.winner - 1]


def check_is_text(text: str) -> None:
    """UserError for half a character (a surrogate), which no file can hold."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise UserError(f"this cannot be written as text: {text!r}")


def one_line(text: str) -> str:
    check_is_text(text)
    return " ".join(text.split())
