"""Games to play and games that were played: values, which are sent to workers and written to logs.

Games come in pairs: a game with an even index and the next one have the same opening, with colours swapped.
`A` is the player who moves first in the even game.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tengen import files
from tengen.arena.openings import Opening
from tengen.games.position import Position
from tengen.games.records import Record


@dataclass(frozen=True)
class GameTask:
    """A game to play."""

    index: int  # in the schedule; also its name in a log
    players: tuple[str, str]  # specs or names of networks (contestants.py), first and second player
    opening: Opening
    seeds: tuple[int, int]
    time: tuple[float, float] | None = None  # a clock for each: seconds per game, added per move
    rule: str = ""  # swap2: the players make the opening, and may exchange their colours

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
class Thought:
    """How a move was chosen. 0, None or nothing: the player does not say, or the log is an older one."""

    side: int  # whose move it is: 0 the first player's, 1 the second's
    seconds: float  # moves chosen in a batch get an equal share of its time
    value: float | None = None  # of the position, from -1 (lost) to 1 (won) for this player
    simulations: int = 0
    nodes: int = 0  # positions in the tree, or searched
    depth: int = 0  # plies of the longest line looked at
    line: tuple[str, ...] = ()  # the moves expected, this one first


@dataclass(frozen=True)
class PlayedGame:
    """A game that was played: a line of games.jsonl."""

    index: int
    game: str
    players: tuple[str, str]  # as in its task, exchanged if `is_swapped`
    opening: int  # number of moves that belong to the opening
    moves: tuple[str, ...]
    result: str  # 1-0, 0-1 or 1/2
    reason: str  # why a player forfeited the game; empty if the board decided
    # For each move after the opening. One more if a player forfeited the game instead of a move.
    thoughts: tuple[Thought, ...]
    # Peak resident memory of the process that played, up to here: Python, compiled rules and both players
    # (of earlier games too), without the processes of external engines. 0 if the system does not tell it.
    peak_mib: int
    engine_mib: tuple[int, int] = (0, 0)  # of the first and the second player, if they are external engines
    is_swapped: bool = False  # by swap2: the player who put the first stone is the second player

    @property
    def is_a_first(self) -> bool:
        """Did A move first?"""
        return (self.index % 2 == 0) != self.is_swapped

    @property
    def points_of_a(self) -> float:
        """1, ½ or 0."""
        points_of_first = {"1-0": 1.0, "0-1": 0.0, "1/2": 0.5}[self.result]
        return points_of_first if self.is_a_first else 1 - points_of_first

    @property
    def seconds(self) -> tuple[list[float], list[float]]:
        """The time of each move of the first and of the second player."""
        first, second = ([one.seconds for one in self.thoughts if one.side == side] for side in (0, 1))
        return first, second

    def record(self) -> Record:
        """The game as a record, which can be written as SGF, psq or text."""
        return Record(self.game, self.moves, self.players, self.result, comment=self.reason)

    def to_line(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_line(cls, line: str) -> "PlayedGame":
        """The game in a line; ValueError if it is something else. Lines of older versions know less."""
        fields = files.parse_json(line)
        needed = set(cls.__dataclass_fields__) - {"thoughts", "engine_mib", "is_swapped"}
        if not isinstance(fields, dict) or not needed <= fields.keys() <= {
            *cls.__dataclass_fields__,
            "seconds",
        }:
            raise ValueError("these are not the fields of a game")
        pair = _items(fields, "engine_mib", 2) if "engine_mib" in fields else [0, 0]
        whole = (fields["index"], fields["opening"], fields["peak_mib"], *pair)
        texts = (fields["game"], fields["reason"], *_items(fields, "players", 2), *_items(fields, "moves"))
        if not all(_is_count(number) for number in whole):
            raise ValueError("index, opening, peak_mib and engine_mib are whole numbers")
        if not all(isinstance(text, str) for text in texts) or fields["result"] not in ("1-0", "0-1", "1/2"):
            raise ValueError("game, players, moves and reason are text, the result is 1-0, 0-1 or 1/2")
        if not isinstance(fields.get("is_swapped", False), bool):
            raise ValueError("is_swapped is true or false")
        if "seconds" in fields:  # by side, up to 2026-11
            fields["thoughts"] = [{"side": side, "seconds": time} for side, time in _times(fields)]
            del fields["seconds"]
        fields["thoughts"] = tuple(map(_thought, _items(fields, "thoughts")))
        fields["players"], fields["moves"] = tuple(fields["players"]), tuple(fields["moves"])
        return cls(**{**fields, "engine_mib": (pair[0], pair[1])})


def pair_tasks(
    index: int,
    a: str,
    b: str,
    opening: Opening,
    key: tuple[int, ...],
    time: tuple[float, float] | None = None,
    rule: str = "",
) -> list[GameTask]:
    """The two games of one opening; `key` determines their random numbers."""
    assert index % 2 == 0
    seeds = np.random.SeedSequence(key).generate_state(4, np.uint64)
    return [
        GameTask(index, (a, b), opening, (int(seeds[0]), int(seeds[1])), time, rule),
        GameTask(index + 1, (b, a), opening, (int(seeds[2]), int(seeds[3])), time, rule),
    ]


def _thought(fields: Any) -> Thought:
    """A thought of a log; ValueError if it is something else."""
    if not isinstance(fields, dict) or not {"side", "seconds"} <= fields.keys():
        raise ValueError("a thought has a side and seconds")
    found = Thought(**{**fields, "line": tuple(_items({"line": [], **fields}, "line"))})
    is_right = (
        found.side in (0, 1)
        and type(found.seconds) in (int, float)
        and (found.value is None or type(found.value) in (int, float))
        and all(_is_count(number) for number in (found.simulations, found.nodes, found.depth))
        and all(isinstance(move, str) for move in found.line)
    )
    if not is_right:
        raise ValueError("the fields of a thought are numbers, and moves in its line")
    return found


def _times(fields: dict[str, Any]) -> Iterator[tuple[int, float]]:
    """(side, seconds) of each move of an older log, which lists the seconds of each side."""
    left = [list(_items({"seconds": side}, "seconds")) for side in _items(fields, "seconds", 2)]
    position = Position.start(fields["game"])
    for number, move in enumerate(fields["moves"]):
        side = position.to_move - 1
        if number >= fields["opening"] and left[side]:
            yield side, left[side].pop(0)
        position = position.play(move)
    for side in (0, 1):
        yield from ((side, time) for time in left[side])


def _is_count(number: object) -> bool:
    return type(number) is int and number >= 0


def _items(fields: dict[str, Any], key: str, count: int | None = None) -> list[Any]:
    """The list under this key; ValueError if it does not have `count` items."""
    items = fields.get(key)
    if not isinstance(items, list) or (count is not None and len(items) != count):
        raise ValueError(f"{key} is a list" + (f" of {count}" if count else ""))
    return items
