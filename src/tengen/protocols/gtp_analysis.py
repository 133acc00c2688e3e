"""`lz-analyze` and `kata-analyze`: what they ask for, and a snapshot as the line that programs for Go expect.

    kata-analyze [COLOR] [CENTISECONDS] [interval N] [minmoves N] [maxmoves N] …
    info move D4 visits 12 winrate 0.531000 prior 0.204000 lcb 0.531000 order 0 pv D4 E5 info move …

Values are for the side to move, from 0 (lost) to 1 (won). lz-analyze writes them as 0 to 10000.
"""

from dataclasses import dataclass
from typing import Literal

from tengen.errors import UserError
from tengen.games.position import Position
from tengen.protocols.gtp_board import COLORS, side_of, vertices
from tengen.search.snapshot import MoveInfo, Snapshot

Form = Literal["lz", "kata"]

EVERY = 50  # centiseconds
MOST_EVERY = 360_000  # centiseconds
MOST_MOVES = 1000
NUMBERS = {"interval": MOST_EVERY, "minmoves": MOST_MOVES, "maxmoves": MOST_MOVES}
IGNORED = ("ownership", "movesownership", "pvvisits", "rootinfo")  # they ask for what games of Go have


@dataclass(frozen=True)
class Wishes:
    """What an analysis is to show."""

    side: int | None  # None: the side to move
    every: float  # seconds
    min_moves: int
    max_moves: int


def read_wishes(words: list[str]) -> Wishes:
    """The arguments of lz-analyze, kata-analyze, and of genmove_analyze."""
    left = list(words)
    side = side_of(left.pop(0)) if left and left[0].lower() in COLORS else None
    numbers = {"interval": EVERY, "minmoves": 0, "maxmoves": MOST_MOVES}
    if left and left[0].isdecimal():
        left.insert(0, "interval")
    while left:
        key, value = left.pop(0).lower(), left.pop(0) if left else ""
        if key in NUMBERS:
            numbers[key] = _number(key, value)
        elif key not in IGNORED:
            known = ", ".join((*NUMBERS, *IGNORED))
            raise UserError(f"unknown argument '{key[:20]}': expected a colour, an interval, or {known}")
        elif not value:
            raise UserError(f"{key} needs a value")
    return Wishes(side, max(1, numbers["interval"]) / 100, numbers["minmoves"], numbers["maxmoves"])


def info_line(snapshot: Snapshot, position: Position, form: Form, wishes: Wishes) -> str:
    """A snapshot as one line; empty if nothing was found yet."""
    looked_at = [info for info in snapshot.moves if info.visits] or list(snapshot.moves[:1])
    others = [info for info in snapshot.moves if info not in looked_at]
    infos = (looked_at + others[: max(0, wishes.min_moves - len(looked_at))])[: wishes.max_moves]
    return " ".join(_info(info, order, snapshot, position, form) for order, info in enumerate(infos))


def _info(info: MoveInfo, order: int, snapshot: Snapshot, position: Position, form: Form) -> str:
    line = vertices(position, [position.game.moves.action(move) for move in info.line])
    value = snapshot.value if info.value is None else info.value
    winrate = _share((1 + value) / 2, form)
    prior = "" if info.prior is None else f" prior {_share(info.prior, form)}"
    # A player without visits, such as alpha-beta, has looked at many positions for its one move.
    visits = info.visits or (snapshot.nodes if not snapshot.simulations else 0)
    return (
        f"info move {line[0]} visits {visits} winrate {winrate}{prior} lcb {winrate} "
        f"order {order} pv {' '.join(line)}"
    )


def _share(value: float, form: Form) -> str:
    """A number from 0 to 1; Sabaki tells the two forms apart by the point."""
    value = min(1.0, max(0.0, value))
    return f"{value:.6f}" if form == "kata" else str(round(10_000 * value))


def _number(key: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 9) or int(text) > NUMBERS[key]:
        raise UserError(f"{key} is a whole number from 0 to {NUMBERS[key]}, got '{text[:20]}'")
    return int(text)
