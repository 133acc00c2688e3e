"""The players of a task as values: a spec, or a network that is sent with the work.

A spec is text, `uct:sims=200`, and means the same for every worker. A network of a run is not on every
worker's disk: it is sent as bytes, once to each worker. Tasks refer to it by its name, or by the path in a
spec, `zero:runs/c4`. (`engine:cmd=…` names a program, which each worker must have.)
"""

from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Self, cast

from tengen import games, players
from tengen.evaluators.card import Card, Precision
from tengen.evaluators.network import Network, SentNetwork, received
from tengen.games.game import Game
from tengen.games.spec import parse_spec
from tengen.players.limit import Limit
from tengen.players.player import Player
from tengen.players.zero import Zero


@dataclass(frozen=True)
class NetworkPlayer:
    """A network with a search, as a value."""

    name: str  # in tasks and played games
    card: Card
    data: bytes  # ONNX
    simulations: int  # per move; 1: the network alone

    def new_player(self, game: Game) -> Player:
        return Zero.of(game, Network(self.card, self.data), self.simulations)


def to_send(specs: Iterable[str], game: Game) -> tuple[SentNetwork, ...]:
    """The networks that specs name by a path. Every worker has the bundled ones already."""
    found = {}
    for spec in specs:
        if spec.partition(":")[0].strip() == "zero":
            parsed = parse_spec(spec)
            precision = cast(Precision | None, parsed.settings.get("precision"))
            if parsed.path and not parsed.path.startswith("zoo/"):
                found[parsed.path, precision] = SentNetwork.of(parsed.path, precision, game)
    return tuple(found.values())


class Contestants:
    """Players by name, created when first needed and then kept, because a network is slow to load."""

    def __init__(
        self, game: str, networks: tuple[NetworkPlayer, ...] = (), sent: tuple[SentNetwork, ...] = ()
    ) -> None:
        """networks: found by their names. sent: found by their paths in specs."""
        self._game, self._networks = game, {network.name: network for network in networks}
        self._sent = {(one.path, one.asked): one.open() for one in sent}
        self._players: dict[tuple[str, bool], Player] = {}
        self._prepared: set[tuple[str, bool]] = set()
        self._outside_mib: dict[tuple[str, bool], int] = {}  # of players that were removed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._players:
            self._players.popitem()[1].close()

    def get(self, name: str, is_second: bool = False) -> Player:
        """The player of that name: a network's name or a spec. A player that plays against itself exists
        twice, because a player may remember its game: `is_second` is the other one."""
        key = name, is_second
        if key not in self._players:
            game, network = games.find(self._game), self._networks.get(name)
            with received(self._sent):
                self._players[key] = network.new_player(game) if network else players.find(name, game)
        return self._players[key]

    def ready(self, name: str, is_second: bool, limit: Limit | None) -> Player:
        """The same player, prepared for moves with this limit, so that its first move is not slower."""
        player = self.get(name, is_second)
        if (name, is_second) not in self._prepared:
            player.prepare(limit)
            self._prepared.add((name, is_second))
        return player

    def drop(self, name: str, is_second: bool = False) -> None:
        """Removes a player that failed, because its state is unknown: the next `get` creates a new one."""
        self._outside_mib[name, is_second] = self.outside_mib(name, is_second)
        player = self._players.pop((name, is_second), None)
        self._prepared.discard((name, is_second))
        if player is not None:
            player.close()

    def outside_mib(self, name: str, is_second: bool) -> int:
        """Peak memory of the processes that a player has started, in MiB."""
        player = self._players.get((name, is_second))
        return max(self._outside_mib.get((name, is_second), 0), player.outside_mib if player else 0)
