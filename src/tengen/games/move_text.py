"""Records as text that people can read, for every game.

# tengen connect4
first: Ann
result: *
4 4 3 5            4435, without spaces, can also be read
"""

import re

from tengen.errors import UserError
from tengen.games.facts import KEYS, Facts, check_result
from tengen.games.position import Position
from tengen.games.reading import at_line, play, shown, split_lines
from tengen.games.spec import did_you_mean

MOVES_PER_LINE = 10


def render(position: Position, facts: Facts) -> str:
    """The moves that led to a position and the facts of the game as a text."""
    said = [f"{key}: {value}" for key, value in facts.to_dict().items() if value]
    moves = position.moves
    rows = [" ".join(moves[i : i + MOVES_PER_LINE]) for i in range(0, len(moves), MOVES_PER_LINE)]
    return "\n".join([f"# tengen {position.game.name}", *said, *rows]) + "\n"


def parse(text: str, game: str | None = None) -> tuple[Position, Facts]:
    """The position after the last move of a text, and the facts; a bare list of moves needs `game`."""
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
    return position, Facts.from_dict(facts)


def _checked_fact(key: str, value: str) -> str:
    if key not in KEYS:
        hint = did_you_mean(key, KEYS) or f": known are {', '.join(KEYS)}"
        raise UserError(f"unknown key {shown(key)}{hint}")
    if key == "result":
        check_result(value)
    return value
