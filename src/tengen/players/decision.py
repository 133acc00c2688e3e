"""Players that decide in one step: players without a search, people, and external engines."""

from abc import abstractmethod
from collections.abc import Callable

from tengen.games.position import Position
from tengen.players.limit import Limit
from tengen.players.player import Choice, Player, Thinking
from tengen.search.snapshot import MoveInfo, Snapshot


class Decider(Player):
    """A player that cannot be stopped in the middle of a decision, and has nothing to show before it."""

    obeys = ("simulations", "nodes", "depth")

    def prepare(self, limit: Limit | None = None) -> None:
        """Does nothing: players that need more override it."""

    @abstractmethod
    def decide(self, position: Position, limit: Limit) -> Choice:
        """A move in a position that is not over."""

    def begin(self, position: Position, limit: Limit) -> Thinking:
        return Decision(position, lambda: self.decide(position, limit))


class Decision(Thinking):
    """A move that is found by one call. It cannot be stopped in the middle."""

    def __init__(self, position: Position, decide: Callable[[], Choice]) -> None:
        self._position, self._decide = position, decide
        self._choice: Choice | None = None

    def run(self, seconds: float) -> bool:
        self.choice()
        return True

    def choice(self) -> Choice:
        if self._choice is None:
            self._choice = self._decide()
        return self._choice

    def snapshot(self) -> Snapshot:
        return snapshot_of(self._position, self.choice(), "look")


def snapshot_of(position: Position, choice: Choice, search: str, nodes: int = 0, depth: int = 0) -> Snapshot:
    """A snapshot of a search that knows only the best move and nothing about the others."""
    name, value = position.game.moves.name, choice.value or 0.0
    line = tuple(name(action) for action in choice.line or (choice.action,))
    is_proven = choice.distance is not None
    info = MoveInfo(
        move=name(choice.action),
        visits=0,
        prior=None,
        value=value,
        proven=("win" if value > 0 else "loss") if is_proven else None,
        distance=choice.distance,
        is_exact=False,
        line=line,
    )
    return Snapshot(
        game=position.game.name,
        played=tuple(position.moves),
        to_move=position.to_move,
        search=search,
        simulations=0,
        value=value,
        best=info.move,
        moves=(info,),
        nodes=nodes,
        depth=depth,
    )
