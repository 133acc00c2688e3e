"""One game between two players, and many of them: what matches, tournaments and tests are made of.

A game depends on its task alone, the seeds of its players included: not on who else plays, in how many
processes, or in what order. (Players who think by the clock are free of this, as ever.)

Games come in pairs: with an even index and the next one, the same opening with colours changed. `A` below is
the player who is first in the even game.
"""

import json
import sys
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import chain
from types import TracebackType
from typing import Any

import numpy as np

from tengen import files, games, players
from tengen.arena.log import GameLog
from tengen.arena.openings import Opening
from tengen.errors import UserError
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.games.records import Record
from tengen.players.player import Player, PlayerFailedError
from tengen.workers import local


@dataclass(frozen=True)
class GameTask:
    """A game to be played."""

    index: int  # in the schedule; also its name in a log
    players: tuple[str, str]  # specs, first and second player
    opening: Opening
    seeds: tuple[int, int]

    def __str__(self) -> str:
        return f"game {self.index + 1}, {self.players[0]} against {self.players[1]}"


@dataclass(frozen=True)
class PlayedGame:
    """A game that was played: a line of games.jsonl."""

    index: int
    game: str
    players: tuple[str, str]  # specs, first and second player
    opening: int  # how many of the moves were given
    moves: tuple[str, ...]
    result: str  # 1-0, 0-1 or 1/2
    reason: str  # why a player forfeited the game; empty if the board decided
    seconds: tuple[tuple[float, ...], tuple[float, ...]]  # each move of the first player, of the second
    # Peak resident memory of the process that played, up to here: Python, compiled rules and both players
    # (of earlier games too), without the processes of outside engines. 0 where the system does not tell.
    peak_mib: int

    @property
    def points_of_a(self) -> float:
        """1, ½ or 0 for the player who is first in the even games."""
        points_of_first = {"1-0": 1.0, "0-1": 0.0, "1/2": 0.5}[self.result]
        return points_of_first if self.index % 2 == 0 else 1 - points_of_first

    def record(self) -> Record:
        """For SGF, psq and text."""
        return Record(self.game, self.moves, self.players, self.result, comment=self.reason)

    def to_line(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_line(cls, line: str) -> "PlayedGame":
        """ValueError if the line is something else."""
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


def _items(fields: dict[str, Any], key: str, count: int | None = None) -> list[Any]:
    """The list of that name, of that many items."""
    items = fields[key]
    if not isinstance(items, list) or (count is not None and len(items) != count):
        raise ValueError(f"{key} is a list" + (f" of {count}" if count else ""))
    return items


def pair_tasks(index: int, a: str, b: str, opening: Opening, key: tuple[int, ...]) -> list[GameTask]:
    """The two games of one opening; `key` is what their chances depend on."""
    assert index % 2 == 0
    seeds = np.random.SeedSequence(key).generate_state(4, np.uint64)
    return [
        GameTask(index, (a, b), opening, (int(seeds[0]), int(seeds[1]))),
        GameTask(index + 1, (b, a), opening, (int(seeds[2]), int(seeds[3]))),
    ]


def check_players(game: Game, specs: Iterable[str]) -> None:
    """UserError if a spec cannot play: better now than in a worker, hours later."""
    for spec in dict.fromkeys(specs):
        if spec.partition(":")[0] == "human":
            raise UserError("a person has no place in a match, where processes play: tengen play is for you")
        players.find(spec, game).close()


def play_games(
    game: Game, tasks: Iterable[GameTask], log: GameLog["PlayedGame"] | None, processes: int
) -> Generator[PlayedGame, None, None]:
    """The games as they finish. Those that are in the log already are not played again; new ones join it."""
    known = log.read(PlayedGame.from_line) if log else {}
    left = iter(tasks)
    for task in left:  # 1. what is known and comes first needs no worker
        if task.index not in known:
            break
        yield _same(known[task.index], task)
    else:
        return
    passed_by: list[PlayedGame] = []

    def unknown() -> Iterator[GameTask]:
        for one in chain([task], left):
            if one.index in known:
                passed_by.append(_same(known[one.index], one))
            else:
                yield one

    with closing(local.run(Referee(game.name), unknown(), processes)) as results:  # 2. play the others
        for _, played in results:
            if log:
                log.append(played.to_line())
            yield played
            while passed_by:
                yield passed_by.pop()
    yield from passed_by


class Referee:
    """Plays games by their tasks. Its players are kept from game to game: a network is slow to load."""

    def __init__(self, game: str) -> None:
        self._game = game
        self._players: dict[tuple[str, bool], Player] = {}

    def __enter__(self) -> "Referee":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._players:
            self._players.popitem()[1].close()

    def __call__(self, task: GameTask) -> PlayedGame:
        position = Position.from_moves(self._game, task.opening)
        seconds: tuple[list[float], list[float]] = ([], [])
        result, reason = "", ""
        seat = 0  # 0 or 1: whose fault a failure is
        try:
            for seat in (0, 1):
                self._player(task, seat).new_game(task.seeds[seat])
            while not position.is_over:
                seat = position.to_move - 1
                began = time.perf_counter()
                try:
                    choice = self._player(task, seat).choose(position)
                finally:
                    seconds[seat].append(round(time.perf_counter() - began, 6))
                try:
                    position = position.play(choice.action)
                except UserError as error:
                    raise PlayerFailedError(str(error)) from error
        except (PlayerFailedError, MemoryError) as error:
            result = ("0-1", "1-0")[seat]
            why = "out of memory" if isinstance(error, MemoryError) else str(error)
            reason = f"{task.players[seat]}: {why}"
            self._drop(task, seat)
        return PlayedGame(
            index=task.index,
            game=self._game,
            players=task.players,
            opening=len(task.opening),
            moves=tuple(position.moves),
            result=result or Record.from_position(position).result,
            reason=reason,
            seconds=(tuple(seconds[0]), tuple(seconds[1])),
            peak_mib=peak_mebibytes(),
        )

    def _player(self, task: GameTask, seat: int) -> Player:
        """Who plays there; a player who meets itself is there twice, for it may remember its game."""
        key = self._key(task, seat)
        if key not in self._players:
            self._players[key] = players.find(task.players[seat], games.find(self._game))
        return self._players[key]

    def _drop(self, task: GameTask, seat: int) -> None:
        """A player that failed may be in any state: the next game gets a new one."""
        player = self._players.pop(self._key(task, seat), None)
        if player is not None:
            player.close()

    @staticmethod
    def _key(task: GameTask, seat: int) -> tuple[str, bool]:
        return task.players[seat], seat == 1 and task.players[0] == task.players[1]


def peak_mebibytes() -> int:
    """The most memory this process has held; 0 where the system does not tell."""
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB, on macOS bytes
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10))


def _same(played: PlayedGame, task: GameTask) -> PlayedGame:
    """The game of the log, if it is the one that the task asks for."""
    if (played.players, played.moves[: played.opening]) != (task.players, task.opening):
        raise UserError(f"{task} is another game in the log: has the file of openings changed?")
    return played
