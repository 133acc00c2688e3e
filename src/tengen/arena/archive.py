"""Games from files of any kind: records (.sgf, .psq, .txt), and games.jsonl of a match, with its thoughts.

archived = read_game("runs/match/games.jsonl", number=3)
archived.positions[22]                    # in which move 23 is played
archived.thought(23)                      # how its player chose it, if the file says
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tengen import files
from tengen.arena.played import PlayedGame, Thought
from tengen.errors import UserError
from tengen.games import records
from tengen.games.position import Position
from tengen.games.records import Record

LOG = ".jsonl"
KINDS = (".sgf", ".psq", ".txt", LOG)


@dataclass(frozen=True)
class Archived:
    """A game that was played, from a file."""

    record: Record
    opening: int = 0  # number of moves that no player chose
    thoughts: tuple[Thought, ...] = ()  # of the moves after the opening; empty: the file has none

    @cached_property
    def positions(self) -> tuple[Position, ...]:
        """The position in which each move was played, and the last one."""
        found = [Position.start(self.record.game)]
        for move in self.record.moves:
            found.append(found[-1].play(move))
        return tuple(found)

    @property
    def num_chosen(self) -> int:
        """The number of moves that the players chose."""
        return len(self.record.moves) - self.opening

    def before(self, number: int | None) -> Position:
        """The position in which move `number` (from 1) was played; None: the last one."""
        if number is None:
            return self.positions[-1]
        if not 1 <= number <= len(self.record.moves):
            raise UserError(f"there is no move {number}: the game has {len(self.record.moves)} moves")
        return self.positions[number - 1]

    def thought(self, number: int) -> Thought | None:
        """How move `number` was chosen, if the file says."""
        index = number - 1 - self.opening
        return self.thoughts[index] if 0 <= index < len(self.thoughts) else None

    def describe(self, number: int) -> str:
        """A move in words: `move 23: X played h8, value +0.12, 400 simulations, 0.81 s, line h8 i9`."""
        side = self.positions[number - 1].to_move
        said = [f"move {number}: {'XO'[side - 1]} played {self.record.moves[number - 1]}"]
        thought = self.thought(number)
        if thought is not None:
            said += [f"value {thought.value:+.2f}"] if thought.value is not None else []
            said += [f"{thought.simulations:,} simulations"] if thought.simulations else []
            said += [f"{thought.nodes:,} nodes"] if thought.nodes else []
            said += [f"depth {thought.depth}"] if thought.depth else []
            said += [f"{thought.seconds:.2f} s"]
            said += [f"line {' '.join(thought.line)}"] if thought.line else []
        elif number <= self.opening:
            said.append("of the opening")
        return ", ".join(said)


def is_record(name: str) -> bool:
    """Is this the name of a file with a game in it?"""
    return Path(name).suffix.lower() in KINDS


def is_log(name: str) -> bool:
    """Is this the name of a log of games?"""
    return Path(name).suffix.lower() == LOG


def read_game(path: Path | str, number: int | None = None) -> Archived:
    """The game of a file. number: which one of a log (from 1); a log with one game needs none."""
    file = Path(path)
    if not is_log(file.name):
        if number is not None:
            raise UserError(f"--game is for games{LOG} with several games, {file.name} has one: leave it out")
        return Archived(records.read(file))
    played = _read_log(file)
    if number is None and len(played) == 1:
        number = next(iter(played))
    if number is None:
        numbers = f"{min(played)} to {max(played)}"
        raise UserError(f"{file.name} has {len(played)} games: choose one, --game {numbers}")
    if number not in played:
        raise UserError(f"{file.name} has games {min(played)} to {max(played)}, but not game {number}")
    game = played[number]
    return Archived(game.record(), game.opening, game.thoughts)


def _read_log(file: Path) -> dict[int, PlayedGame]:
    """The games of a log by number, from 1."""
    found: dict[int, PlayedGame] = {}
    text = files.read_bytes(file).decode("utf-8", "replace")
    for line_number, line in enumerate(text.splitlines(), start=1):
        try:
            game = PlayedGame.from_line(line)
        except (ValueError, TypeError) as error:
            raise UserError(f"{file.name} line {line_number} is not a game of a match: {error}") from None
        found[game.index + 1] = game
    if not found:
        raise UserError(f"{file.name} has no games: expected the games of a match, one per line")
    return found
