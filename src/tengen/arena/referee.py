"""The match engine: plays groups of games between two players. Matches, tournaments, gates and measurements
all use it.

A group is one task of a worker. Its games depend only on the group, which contains the seeds of its players:
not on other players, the number of processes, or the order. (Players with a time limit are not repeatable.)

How the games of a group are played:

    one after another   each with its own seeds. A group of one game, as in matches and tournaments, is a game
                        that depends only on its task.
    all at once         if a player evaluates batches (`choose_many`), which makes a network several times
                        as fast. Then players are seeded once, by the first game, and the last digit of a
                        network's output may depend on the batch. So the group is repeatable, not the single
                        game, and groups do not depend on the number of workers: a gate's 40 games are one
                        group.

With clocks, and with the opening rule swap2, games are always played one after another.
"""

import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import chain

from tengen import players
from tengen.arena.contestants import Contestants, NetworkPlayer, to_send
from tengen.arena.log import GameLog
from tengen.arena.played import GameGroup, GameTask, PlayedGame, Thought
from tengen.errors import UserError
from tengen.evaluators.network import SentNetwork
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.games.records import Record
from tengen.players.limit import Clock, Limit
from tengen.players.player import Choice, Player, PlayerFailedError
from tengen.players.swap2 import Swap2Reply
from tengen.workers.tasks import RunTasks

MAX_LINE = 20  # plies of the lines that are kept

Seat = tuple[str, bool]  # the arguments of Contestants.get


def check_players(game: Game, specs: Iterable[str]) -> None:
    """UserError if a spec cannot play: now, not hours later in a worker."""
    for spec in dict.fromkeys(specs):
        if spec.partition(":")[0] == "human":
            raise UserError("human cannot be used here, worker processes play: use tengen play")
        players.find(spec, game).close()


def play_games(
    game: Game,
    specs: Iterable[str],
    tasks: Iterable[GameTask],
    log: GameLog[PlayedGame] | None,
    run_tasks: RunTasks,
) -> Generator[PlayedGame, None, None]:
    """The games of these players as they finish. Games in the log are not played again; new ones are added
    to it."""
    known = log.read(PlayedGame.from_line) if log else {}
    left = iter(tasks)
    for task in left:  # 1. known games at the beginning need no worker
        if task.index not in known:
            break
        yield _same(known[task.index], task)
    else:
        return
    passed_by: list[PlayedGame] = []

    def unknown() -> Iterator[GameGroup]:
        for one in chain([task], left):
            if one.index in known:
                passed_by.append(_same(known[one.index], one))
            else:
                yield GameGroup((one,))

    with closing(
        run_tasks(PlayGames(game.name, sent=to_send(specs, game)), unknown())
    ) as results:  # 2. play the others
        for _, group in results:
            for played in group:
                if log:
                    log.append(played.to_line())
                yield played
            while passed_by:
                yield passed_by.pop()
    yield from passed_by


@dataclass(frozen=True)
class PlayGames:
    """Work: plays groups of games. A task names each player by its spec or as one of these `networks`."""

    game: str
    networks: tuple[NetworkPlayer, ...] = ()
    sent: tuple[SentNetwork, ...] = ()  # that specs name by their paths

    @contextmanager
    def open(self) -> Iterator[Callable[[GameGroup], tuple[PlayedGame, ...]]]:
        with Contestants(self.game, self.networks, self.sent) as contestants:
            yield Referee(self.game, contestants).play


@dataclass
class _Ongoing:
    """A game in progress."""

    task: GameTask
    position: Position
    clocks: list[Clock]  # of both players, if the task has time
    opening: int  # number of moves
    thoughts: list[Thought] = field(default_factory=list)
    is_swapped: bool = False  # by swap2
    result: str = ""  # set if a player forfeited
    reason: str = ""

    @classmethod
    def start(cls, game: str, task: GameTask) -> "_Ongoing":
        position = Position.from_moves(game, task.opening)
        clocks = [Clock(*task.time), Clock(*task.time)] if task.time is not None else []
        return cls(task, position, clocks, len(task.opening))

    @property
    def is_over(self) -> bool:
        return bool(self.result) or self.position.is_over

    @property
    def to_move(self) -> int:
        """The side to move: 0 or 1."""
        return self.position.to_move - 1

    @property
    def players(self) -> tuple[str, str]:
        """The first and the second player."""
        first, second = self.task.players
        return (second, first) if self.is_swapped else (first, second)

    def limit(self, side: int) -> Limit | None:
        """The limit of a side's next move; None: the player's default."""
        return Limit(clock=self.clocks[side]) if self.clocks else None

    def seat(self, side: int) -> Seat:
        """The player of a side. If a player plays against itself, side 1 is its second copy."""
        is_same = self.task.players[0] == self.task.players[1]
        return self.players[side], is_same and (side == 1) != self.is_swapped

    def swap(self) -> None:
        """Exchanges the colours of the players; each keeps its clock."""
        self.is_swapped = not self.is_swapped
        self.clocks.reverse()

    def note(self, seconds: float, choice: Choice | None) -> None:
        """Records how the next move was chosen."""
        side, name = self.to_move, self.position.game.moves.name
        thought = Thought(side, round(seconds, 6))
        if choice is not None:
            actions = [a for a in choice.line[:MAX_LINE] if 0 <= a < self.position.game.num_actions]
            thought = Thought(
                side,
                round(seconds, 6),
                None if choice.value is None else round(float(choice.value), 4),
                choice.simulations,
                choice.nodes,
                choice.depth,
                tuple(map(name, actions)),
            )
        self.thoughts.append(thought)

    def take_time(self, side: int, seconds: float) -> bool:
        """Takes time off a side's clock; False if it ran out."""
        if self.clocks:
            self.clocks[side] = self.clocks[side].after(seconds)
            return self.clocks[side].left >= 0
        return True

    def play(self, choice: Choice) -> bool:
        """Plays a move; False if it is illegal: then the game is lost."""
        try:
            self.position = self.position.play(choice.action)
        except UserError as error:
            self.forfeit(self.to_move, str(error))
            return False
        return True

    def forfeit(self, side: int, why: str) -> None:
        self.result, self.reason = ("0-1", "1-0")[side], f"{self.players[side]}: {why}"

    def record(self, game: str, contestants: Contestants) -> PlayedGame:
        memory = [contestants.outside_mib(*self.seat(side)) for side in (0, 1)]
        return PlayedGame(
            index=self.task.index,
            game=game,
            players=self.players,
            opening=self.opening,
            moves=tuple(self.position.moves),
            result=self.result or Record.from_position(self.position).result,
            reason=self.reason,
            thoughts=tuple(self.thoughts),
            peak_mib=peak_mebibytes(),
            engine_mib=(memory[0], memory[1]),
            is_swapped=self.is_swapped,
        )


class Referee:
    """Plays games: asks the players for moves. A player that fails loses the game."""

    def __init__(self, game: str, contestants: Contestants) -> None:
        self._game, self._contestants = game, contestants

    def play(self, group: GameGroup) -> tuple[PlayedGame, ...]:
        """The games of a group, played, in order."""
        if len(group.games) > 1 and self._is_batch(group):
            return self._play_at_once(group.games)
        return tuple(played for task in group.games for played in self._play_at_once([task]))

    def _is_batch(self, group: GameGroup) -> bool:
        names = {name for task in group.games for name in task.players}
        is_alone = any(task.time is not None or task.rule for task in group.games)
        return not is_alone and any(_thinks_in_batches(self._contestants.get(name)) for name in names)

    def _play_at_once(self, tasks: Sequence[GameTask]) -> tuple[PlayedGame, ...]:
        games = [_Ongoing.start(self._game, task) for task in tasks]
        seeds: dict[Seat, int] = {}  # from the first game
        for game in games:
            for side in (0, 1):
                seeds.setdefault(game.seat(side), game.task.seeds[side])
        for seat, seed in seeds.items():
            self._begin(seat, seed, games)
        for game in games:
            if game.task.rule == "swap2" and not game.is_over:
                self._swap2(game)
        while not all(game.is_over for game in games):
            for seat, seed in seeds.items():
                turns = [game for game in games if not game.is_over and game.seat(game.to_move) == seat]
                if turns:
                    self._move(seat, seed, turns)
        return tuple(game.record(self._game, self._contestants) for game in games)

    def _begin(self, seat: Seat, seed: int, games: Sequence[_Ongoing]) -> None:
        """Starts a new game for a player. If the player fails here, it loses all its games."""
        own = [(game, side) for game in games for side in (0, 1) if game.seat(side) == seat]
        if all(game.is_over for game, _ in own):
            return
        try:
            self._contestants.ready(*seat, own[0][0].limit(own[0][1])).new_game(seed)
        except (PlayerFailedError, MemoryError) as error:
            self._contestants.drop(*seat)
            for game, side in own:
                if not game.is_over:
                    game.forfeit(side, _why(error))

    def _swap2(self, game: _Ongoing) -> None:
        """Plays the opening by swap2 (players/swap2.py): stones, who takes which colour, the first move."""
        proposer, other = 0, 1
        self._put(game, self._asked(game, proposer))
        if game.is_over:
            return
        reply = self._asked(game, other)
        if reply is not None and reply.stones:
            self._put(game, reply)
            reply = None if game.is_over else self._asked(game, proposer)
            takes_other_colour = reply is not None and reply.move is not None
        else:
            takes_other_colour = reply is not None and reply.move is None
        if takes_other_colour:
            game.swap()
        if reply is not None and reply.move is not None:
            game.play(reply.move)

    def _asked(self, game: _Ongoing, side: int) -> Swap2Reply | None:
        """What a side does at its turn of swap2; None if it failed: then the game is lost."""
        player, began = self._contestants.get(*game.seat(side)), time.perf_counter()
        try:
            reply = player.swap2(game.position, game.task.seeds[side], game.limit(side))
        except (PlayerFailedError, MemoryError) as error:
            self._contestants.drop(*game.seat(side))
            game.forfeit(side, _why(error))
            return None
        seconds = time.perf_counter() - began
        if reply.move is not None:
            game.note(seconds, reply.move)
        if not game.take_time(side, seconds):
            game.forfeit(side, "lost on time")
            return None
        return reply

    def _put(self, game: _Ongoing, reply: Swap2Reply | None) -> None:
        """Puts the stones of swap2."""
        for action in reply.stones if reply is not None else ():
            game.position = game.position.play(action)
        game.opening = len(game.position.actions)

    def _move(self, seat: Seat, seed: int, turns: Sequence[_Ongoing]) -> None:
        """Plays a move in each game: in one batch if the player evaluates batches, else one by one."""
        at_once = len(turns) > 1 and _thinks_in_batches(self._contestants.get(*seat))
        for games in [turns] if at_once else [[game] for game in turns]:
            games = [game for game in games if not game.is_over]  # `_begin` below may have lost some
            if not games:
                continue
            began = time.perf_counter()
            try:
                choices: list[Choice] | None = _choices(self._contestants.get(*seat), games)
                why = ""
            except (PlayerFailedError, MemoryError) as error:
                choices, why = None, _why(error)
            share = (time.perf_counter() - began) / len(games)
            has_failed = choices is None
            for i, game in enumerate(games):
                game.note(share, choices[i] if choices else None)
                is_in_time = game.take_time(game.to_move, share)
                if choices is None:
                    game.forfeit(game.to_move, why)
                elif not is_in_time:
                    game.forfeit(game.to_move, "lost on time")
                else:
                    has_failed |= not game.play(choices[i])
            if has_failed:
                self._contestants.drop(*seat)
                self._begin(seat, seed, turns)


def _thinks_in_batches(player: Player) -> bool:
    return type(player).choose_many is not Player.choose_many


def _choices(player: Player, games: Sequence[_Ongoing]) -> list[Choice]:
    if len(games) > 1:
        return player.choose_many([game.position for game in games])
    [game] = games
    return [player.choose(game.position, game.limit(game.to_move))]


def _why(error: Exception) -> str:
    return "out of memory" if isinstance(error, MemoryError) else str(error)


def peak_mebibytes() -> int:
    """The peak memory of this process in MiB; 0 if the system does not tell it."""
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB, on macOS bytes
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10))


def _same(played: PlayedGame, task: GameTask) -> PlayedGame:
    """The game of the log; UserError if it is not the one of the task."""
    players = played.players[::-1] if played.is_swapped else played.players
    opening = task.opening if task.rule else played.moves[: played.opening]  # a rule: the players make it
    if (players, opening) != (task.players, task.opening):
        raise UserError(f"{task} is a different game in the log: did the file of openings change?")
    return played
