"""Games to play and games that were played: values, which are sent to workers and written to logs.

Games come in pairs: a game with an even index and the next one have the same opening, with colours swapped.
`A` is the player who moves first in the even game.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tengen import files
from tengen.arena.openings import Opening
from tengen.games.records import Record


@dataclass(frozen=True)
class GameTask:
    """A game to play."""

    index: int  # in the schedule; also its name in a log
    players: tuple[str, str]  # specs or names of networks (contestants.py), first and second player
    opening: Opening
    seeds: tuple[int, int]
    time: tuple[float, float] | None = None  # a clock for each: seconds per game, added per move

    def __str__(self) -> str:
        return f"game {self.index + 1}, {self.players[0]} against {self.players[1]}"


@dataclass(frozen=True)
class GameGroup:
    """Games that one worker plays: all at the same time if a player evaluates batches (see referee.py)."""

    games: tuple[GameTask, ...]

    def __str__(self) -> str:
        first, others = self.games[0], len(self.games) - 1
        return f"{first} and {others} more" if others else str(first)


@dataclass(frozen=True)
class PlayedGame:
    """A game that was played: a line of games.jsonl."""

    index: int
    game: str
    players: tuple[str, str]  # as in its task
    opening: int  # number of moves that belong to the opening
    moves: tuple[str, ...]
    result: str  # 1-0, 0-1 or 1/2
    reason: str  # why a player forfeited the game; empty if the board decided
    # For each move of the first and of the second player. Moves chosen in a batch get an equal share of it.
    seconds: tuple[tuple[float, ...], tuple[float, ...]]
    # Peak resident memory of the process that played, up to here: Python, compiled rules and both players
    # (of earlier games too), without the processes of external engines. 0 if the system does not tell it.
    peak_mib: int

    @property
    def points_of_a(self) -> float:
        """1, ½ or 0 for the player who is first in the even games."""
        points_of_first = {"1-0": 1.0, "0-1": 0.0, "1/2": 0.5}[self.result]
        return points_of_first if self.index % 2 == 0 else 1 - points_of_first

    def record(self) -> Record:
        """The game as a record, which can be written as SGF, psq or text."""
        return Record(self.game, self.moves, self.players, self.result, comment=self.reason)

    def to_line(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_line(cls, line: str) -> "PlayedGame":
        """The game in a line; ValueError if it is something else."""
        fields = files.parse_json(line)
        if not isinstance(fields, dict) or fields.keys() != cls.__dataclass_fields__.keys():
            raise ValueError("these are not the fields of a game")
        whole = (fields["index"], fields["opening"], fields["peak_mib"])
        texts = (fields["game"], fields["reason"], *_items(fields, "players", 2), *_items(fields, "moves"))
        sides = [_items({"seconds": side}, "seconds") for side in _items(fields, "seconds", 2)]
        if not all(type(number) is int and number >= 0 for number in whole):
            raise ValueError("index, opening and peak_mib are whole numbers")
        if not all(isinstance(text, str) for text in texts) or fields["result"] not in ("1-0", "0-1", "1/2"):
            raise ValueError("game, players, moves and reason are text, the result is 1-0, 0-1 or 1/2")
        if not all(type(number) in (int, float) for side in sides for number in side):
            raise ValueError("seconds are numbers")
        fields["players"], fields["moves"] = tuple(fields["players"]), tuple(fields["moves"])
        fields["seconds"] = tuple(tuple(side) for side in fields["seconds"])
        return cls(**fields)


def pair_tasks(
    index: int,
    a: str,
    b: str,
    opening: Opening,
    key: tuple[int, ...],
    time: tuple[float, float] | None = None,
) -> list[GameTask]:
    """The two games of one opening; `key` determines their random numbers."""
    assert index % 2 == 0
    seeds = np.random.SeedSequence(key).generate_state(4, np.uint64)
    return [
        GameTask(index, (a, b), opening, (int(seeds[0]), int(seeds[1])), time),
        GameTask(index + 1, (b, a), opening, (int(seeds[2]), int(seeds[3])), time),
    ]


def _items(fields: dict[str, Any], key: str, count: int | None = None) -> list[Any]:
    """The list under this key; ValueError if it does not have `count` items."""
    items = fields[key]
    if not isinstance(items, list) or (count is not None and len(items) != count):
        raise ValueError(f"{key} is a list" + (f" of {count}" if count else ""))
    return items
