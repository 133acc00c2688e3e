"""The players of all pages within one amount of memory: made when first asked, kept while there is room.

    players = PlayerStore(memory=1024)
    player = players.reserve("zero:zoo/gomoku15", game, players.SEAT)    # nothing is made yet
    with player.taken() as ready:                                        # in a thread: made, or still there
        ready.choose(position)

A player keeps its search tree for the next move, so each belongs to one page and one purpose, or to one query
of `tengen analysis` at a time. If the memory does not suffice for another one, those that were not asked for
the longest time are closed. They are made again when they are asked again, and have lost only their tree.
Networks are shared and not counted.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tengen import players
from tengen.errors import UserError
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.limit import Limit
from tengen.players.player import Player, Thinking

SEAT, ADVISER = 1 / 64, 1 / 16  # of the memory: an opponent; a player for analysis, hints or reviews
LEAST = 256  # MiB in total: 4 for an opponent


class PlayerStore:
    """Counts the memory of the players that exist. Used by several threads."""

    def __init__(self, memory: int) -> None:
        """memory: MiB, for all players together."""
        if memory < LEAST:
            raise UserError(f"the memory of a server is {LEAST} MiB or more, got {memory}")
        self.memory = memory
        self._made: dict[KeptPlayer, None] = {}  # the one that was asked last comes last
        self._lock = threading.Lock()

    def reserve(self, spec: str, game: Game, share: float) -> "KeptPlayer":
        """A player that gets a share of the memory once it is made."""
        return KeptPlayer(self, spec, game, max(1, int(share * self.memory)))

    @property
    def used(self) -> int:
        """MiB of the players that exist."""
        with self._lock:
            return sum(player.memory for player in self._made)

    def _make_room(self, player: "KeptPlayer") -> None:
        """Counts a player that is about to be made; closes others if that is too much.

        At most as many are in use as the server has threads; together they take less than all."""
        with self._lock:
            self._made.pop(player, None)
            for other in list(self._made):
                if sum(one.memory for one in self._made) + player.memory <= self.memory:
                    break
                if other._close_if_idle():
                    del self._made[other]
            self._made[player] = None

    def _forget(self, player: "KeptPlayer") -> None:
        with self._lock:
            self._made.pop(player, None)


class KeptPlayer(Player):
    """A player that is made when it is first asked, and made again if it was closed since then."""

    summary = "for the pages of a server, and for queries"

    def __init__(self, store: PlayerStore, spec: str, game: Game, memory: int) -> None:
        super().__init__(game)
        self.spec, self.memory = spec, memory
        self._store = store
        self._player: Player | None = None
        self._seed, self._told_seed = 0, 0  # of the game, and of the last game that it was told of
        self._is_gone = False
        self._lock = threading.Lock()  # held while it is in use

    @contextmanager
    def taken(self) -> Iterator[Player]:
        """The player, ready, for this thread alone; another thread that has it has been told to stop."""
        with self._lock:
            self._store._make_room(self)
            try:
                yield self._ready()
            finally:
                if self._is_gone or self._player is None:
                    self._discard()
                    self._store._forget(self)

    def begin(self, position: Position, limit: Limit) -> Thinking:
        raise AssertionError("ask the player that taken() gives")

    def new_game(self, seed: int) -> None:
        """It forgets the last game when it is next asked; so this may be called while it thinks."""
        self._seed = seed

    def close(self) -> None:
        """Frees its memory: now, or when the thread that uses it leaves."""
        self._is_gone = True
        if self._close_if_idle():
            self._store._forget(self)

    def _ready(self) -> Player:
        is_new = self._player is None
        if self._player is None:
            made = players.find(with_memory(self.spec, self.memory), self.game)
            made.prepare()
            self._player = made
        seed = self._seed
        if is_new or seed != self._told_seed:
            self._player.new_game(seed)
            self._told_seed = seed
        return self._player

    def _close_if_idle(self) -> bool:
        if not self._lock.acquire(blocking=False):
            return False
        try:
            self._discard()
        finally:
            self._lock.release()
        return True

    def _discard(self) -> None:
        if self._player is not None:
            self._player.close()
            self._player = None


def with_memory(spec: str, memory: int) -> str:
    """A spec with a limit of memory in MiB, if its player has that setting: `uct:sims=100,memory=16`."""
    if not players.takes(spec, "memory"):
        return spec
    return f"{spec}{',' if '=' in spec else ':'}memory={memory}"
