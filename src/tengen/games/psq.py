"""psq, the game files of piskvork and of the Gomocup referee, for five in a row.

    Piskvorky 15x15, 11:11, 0      width x height, the players' levels, who starts: 0 or 1
    8,8,0                          x,y,milliseconds: from 1 at the left, from 1 at the top
    9,8,1532
    Ann                            the players; missing in games that a person saved
    Bob
    -1                             why the game ended
    1,gomoku15                     the referee's: the winner (0 a draw) and the tournament

The rule of the game is not in the file. The tournament's name may contain it; if not, we assume freestyle.
We write the referee's format with our name for the game as the tournament, then lines such as
`date: 2026-09-10`, which piskvork ignores. Sources: openPsq and savePsq in piskvork's game.cpp, extend_pos
and end in GomocupJudge's server.py.
"""

import re

from tengen import games
from tengen.errors import UserError
from tengen.games import mnk
from tengen.games.facts import Facts
from tengen.games.position import Position
from tengen.games.reading import at_line, check_size, five_in_a_row, play, rule_named, shown, split_lines

HEADER = re.compile(r"Piskvorky\s+([0-9]{1,3})\s*x\s*([0-9]{1,3})\s*(?:,(.*))?", re.IGNORECASE)
LEVELS_AND_START = re.compile(r"\s*[0-9]+\s*:\s*[0-9]+\s*,\s*([0-9]+)\s*")
MOVE = re.compile(r"\s*(-?[0-9]{1,9})\s*,\s*(-?[0-9]{1,9})\s*(?:,\s*-?[0-9]*\s*)?")
CODE = re.compile(r"\s*-?[0-9]+\s*")
OUTCOME = re.compile(r"\s*(-?[0-9])\s*,(.*)")
WINNERS = {"1-0": "1", "0-1": "2", "1/2": "0", "*": "-1"}


def render(position: Position, facts: Facts) -> str:
    """The moves that led to a position and the facts of the game as a file."""
    game, said = position.game, facts.to_dict()
    if not mnk.is_five_in_a_row(game):
        raise UserError(f"psq is for five in a row, not for {game.name}: use .sgf or .txt")
    for player in facts.players:
        if MOVE.fullmatch(player):
            raise UserError(f"a psq file cannot hold a player named '{player}': it reads as a move")
    moves = [f"{cell % game.cols + 1},{cell // game.cols + 1},0" for cell in position.actions]
    outcome = f"{WINNERS[facts.result]},{game.name}"
    others = [f"{key}: {said[key]}" for key in ("date", "comment") if said[key]]
    header = f"Piskvorky {game.cols}x{game.rows}, 11:11, 0"
    return "\n".join([header, *moves, *facts.players, "-1", outcome, *others]) + "\n"


def parse(text: str, game: str | None = None) -> tuple[Position, Facts]:
    """The position after the last move of a file, and the facts of the game."""
    lines = split_lines(text.rstrip())
    rows, cols, second_starts = _header(lines[0])
    moves: dict[int, tuple[int, int]] = {}  # line: x, y
    for number, line in enumerate(lines[1:], start=2):
        move = MOVE.fullmatch(line)
        if move:
            moves[number] = int(move[1]), int(move[2])
        elif line.strip():
            break
    players, rest = _players(lines, end=max(moves, default=1))
    outcome = OUTCOME.fullmatch(lines[rest]) if rest < len(lines) else None
    winner, event = (outcome[1], outcome[2].strip()) if outcome else ("", "")
    is_ours = event.partition(":")[0] in ("mnk", *games.names())

    with at_line(rest + 1 if is_ours and game is None else 1):
        if game is None:
            game = event if is_ours else five_in_a_row(rows, cols, rule_named(event) or "freestyle")
        position = Position.start(game)
        if not mnk.is_mnk(position.game):
            raise UserError(f"psq is for five in a row, not for {game}")
        check_size(position.game, rows, cols)
    for number, (x, y) in moves.items():
        with at_line(number):
            if not (1 <= x <= cols and 1 <= y <= rows):
                raise UserError(f"x is 1-{cols} and y is 1-{rows}, got {x},{y}")
            position = play(position, position.game.moves.name((y - 1) * cols + x - 1))

    facts = {key.strip(): value for key, _, value in (line.partition(":") for line in lines[rest + 1 :])}
    facts["first"], facts["second"] = players[::-1] if second_starts else players
    # The referee's winner is an engine, not a colour: if the board does not show it, we do not know.
    facts["result"] = {code: result for result, code in WINNERS.items()}.get(winner, "") if is_ours else ""
    return position, Facts.from_dict(facts)


def _header(line: str) -> tuple[int, int, bool]:
    """(rows, cols, does the second of the players start?)"""
    match = HEADER.fullmatch(line.strip())
    if not match:
        raise UserError(f"line 1: expected 'Piskvorky 15x15, 11:11, 0', got '{shown(line)}'")
    start = LEVELS_AND_START.fullmatch(match[3] or "")
    if start and start[1] not in ("0", "1"):
        raise UserError(f"line 1: expected 0 or 1 at the end, who starts, got {start[1]}")
    return int(match[2]), int(match[1]), start is not None and start[1] == "1"


def _players(lines: list[str], end: int) -> tuple[tuple[str, str], int]:
    """The players and the place of the line with the winner, given where the moves end.

    After the moves come [code], [player, player] or [player, player, code]. Anything else is most likely
    a broken move, and the moves after it must not be lost.
    """
    tail = lines[end : end + 3]
    codes = [CODE.fullmatch(line) is not None for line in tail]
    if codes in ([], [True], [True, False], [True, False, False]):
        return ("", ""), end + 1
    is_named = codes[2] if len(codes) == 3 else codes == [False, False]
    for number, line in enumerate(tail[:2], start=end + 1):
        if not is_named or MOVE.fullmatch(line):
            raise UserError(f"line {number}: expected x,y,milliseconds or a player, got '{shown(line)}'")
    return (tail[0], tail[1]), end + 3
