"""The syntax of psq, the game files of piskvork and of the Gomocup referee.

    Piskvorky 15x15, 11:11, 0      width x height, the players' levels, who starts: 0 or 1
    8,8,0                          x,y,milliseconds: from 1 at the left, from 1 at the top
    9,8,1532
    Ann                            the players; missing in games saved by hand
    Bob
    -1                             why the game ended
    1,gomoku15                     Gomocup only: the winner (0 a draw) and the tournament

The rule of the game is not in the file. We write the referee's form and put our game's name where it has
the tournament's; then lines such as `date: 2026-09-10`, which piskvork does not look at.
Sources: openPsq and savePsq in piskvork's game.cpp, extend_pos in GomocupJudge's server.py.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tengen import games
from tengen.errors import UserError
from tengen.games import mnk
from tengen.games.sgf import shown

HEADER = re.compile(r"Piskvorky\s+([0-9]{1,3})\s*x\s*([0-9]{1,3})\s*(?:,(.*))?", re.IGNORECASE)
LEVELS_AND_START = re.compile(r"\s*[0-9]+\s*:\s*[0-9]+\s*,\s*([0-9]+)\s*")
MOVE = re.compile(r"\s*(-?[0-9]{1,9})\s*,\s*(-?[0-9]{1,9})\s*(?:,\s*-?[0-9]*\s*)?")
CODE = re.compile(r"\s*-?[0-9]+\s*")
OUTCOME = re.compile(r"\s*(-?[0-9])\s*,(.*)")

# How files name a rule, by its first letters; the numbers are Gomocup's.
RULES = {
    "caro-exact": "caro-exact", "9": "caro-exact",
    "caro": "caro", "8": "caro",
    "free": "freestyle", "gomoku": "freestyle", "0": "freestyle",
    "renju": "renju", "rif": "renju", "4": "renju",
    "standard": "standard", "1": "standard",
}  # fmt: skip


@dataclass(frozen=True)
class Psq:
    """What a file says."""

    rows: int
    cols: int
    cells: tuple[int, ...]  # the moves: row · cols + col, from the top left
    players: tuple[str, str]  # who moves first, who second
    winner: int | None = None  # 0 a draw, 1, 2; None if the file does not say
    event: str = ""  # the tournament, or our game
    facts: Mapping[str, str] = field(default_factory=dict)  # lines `key: value` at the end
    lines: tuple[int, ...] = ()  # where the moves are
    event_line: int = 1


def parse(text: str) -> Psq:
    """What a file says; UserError with the line if it is not a psq."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").rstrip().split("\n")
    rows, cols, second_starts = _header(lines[0])
    cells: dict[int, int] = {}  # by line
    for number, line in enumerate(lines[1:], start=2):
        move = MOVE.fullmatch(line)
        if move:
            cells[number] = _cell(rows, cols, int(move[1]), int(move[2]), number)
        elif line.strip():
            break
    players, rest = _players(lines, end=max(cells, default=1))
    outcome = OUTCOME.fullmatch(lines[rest]) if rest < len(lines) else None
    facts = [line.partition(":") for line in lines[rest + 1 :]]
    return Psq(
        rows,
        cols,
        tuple(cells.values()),
        (players[1], players[0]) if second_starts else players,
        winner=int(outcome[1]) if outcome and outcome[1] in "012" else None,
        event=outcome[2].strip() if outcome else "",
        facts={key.strip(): value.strip() for key, _, value in facts},
        lines=tuple(cells),
        event_line=rest + 1,
    )


def render(psq: Psq) -> str:
    """The file."""
    for player in psq.players:
        if MOVE.fullmatch(player):
            raise UserError(f"a psq file cannot hold the player's name '{player}': it would be read as a move")
    moves = [f"{cell % psq.cols + 1},{cell // psq.cols + 1},0" for cell in psq.cells]
    outcome = f"{-1 if psq.winner is None else psq.winner},{psq.event}"
    facts = [f"{key}: {value}" for key, value in psq.facts.items()]
    header = f"Piskvorky {psq.cols}x{psq.rows}, 11:11, 0"
    return "\n".join([header, *moves, *psq.players, "-1", outcome, *facts]) + "\n"


def rule_named(text: str) -> str | None:
    """The rule that `Freestyle15_1`, `Renju` or `4` means; None if it is none of ours."""
    name = text.strip().lower()
    return next((rule for start, rule in RULES.items() if name.startswith(start)), None)


def five_in_a_row(rows: int, cols: int, rule: str) -> str:
    """Our name for the game: `renju15`, or `mnk:rows=7,cols=9,k=5,rule=renju` if it has none of its own."""
    header = (rows, cols, 5, mnk.RULES.index(rule))
    for name in games.names():
        game = games.find(name)
        if game.play is mnk.play and game.header == header:
            return name
    return f"mnk:rows={rows},cols={cols},k=5,rule={rule}"


def _header(line: str) -> tuple[int, int, bool]:
    """(rows, cols, does the second of the players start?)"""
    match = HEADER.fullmatch(line.strip())
    if not match:
        raise UserError(f"line 1: expected 'Piskvorky 15x15, 11:11, 0', got '{shown(line)}'")
    start = LEVELS_AND_START.fullmatch(match[3] or "")
    if start and start[1] not in ("0", "1"):
        raise UserError(f"line 1: expected who starts, 0 or 1, at the end, got '{start[1]}'")
    return int(match[2]), int(match[1]), start is not None and start[1] == "1"


def _cell(rows: int, cols: int, x: int, y: int, line: int) -> int:
    if not 1 <= x <= cols:
        raise UserError(f"line {line}: x is 1-{cols}, got {x}")
    if not 1 <= y <= rows:
        raise UserError(f"line {line}: y is 1-{rows}, got {y}")
    return (y - 1) * cols + x - 1


def _players(lines: list[str], end: int) -> tuple[tuple[str, str], int]:
    """The players and where the line with the winner would be, given where the moves end.

    After the moves come [code], [player, player] or [player, player, code]; anything else there is
    most likely a broken move, and the moves behind it must not be lost.
    """
    tail = lines[end : end + 3]
    codes = [CODE.fullmatch(line) is not None for line in tail]
    if codes in ([], [True]) or codes[:2] == [True, False] and codes[2:] != [True]:
        return ("", ""), end + 1
    is_named = codes[2] if len(codes) == 3 else codes == [False, False]
    for i in range(len(tail[:2])):
        if not is_named or MOVE.fullmatch(tail[i]):
            raise UserError(f"line {end + i + 1}: expected x,y,milliseconds or a player, got '{shown(tail[i])}'")
    return (tail[0], tail[1]), end + 3
