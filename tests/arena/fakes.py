"""Players that fail, each in its own way."""

from tengen.games.position import Position
from tengen.players.decision import Decider
from tengen.players.limit import Limit
from tengen.players.player import Choice, PlayerFailedError


class Illegal(Decider):
    summary = "plays where a stone is already, or nowhere at all"

    def decide(self, position: Position, limit: Limit) -> Choice:
        return Choice(position.actions[-1] if position.actions else 999)


class Crashing(Decider):
    summary = "fails at its second move"

    def new_game(self, seed: int) -> None:
        self._moves = 0

    def decide(self, position: Position, limit: Limit) -> Choice:
        self._moves += 1
        if self._moves > 1:
            raise PlayerFailedError("the engine hung up")
        return Choice(position.legal_actions[0])


class Hungry(Decider):
    summary = "asks for more memory than there is"

    def decide(self, position: Position, limit: Limit) -> Choice:
        raise MemoryError


class Buggy(Decider):
    summary = "has a bug"

    def decide(self, position: Position, limit: Limit) -> Choice:
        raise KeyError("where is it?")


class Lowest(Decider):
    summary = "plays the lowest legal action; remembers whether it was closed"

    closed = 0

    def decide(self, position: Position, limit: Limit) -> Choice:
        return Choice(position.legal_actions[0])

    def close(self) -> None:
        Lowest.closed += 1


REGISTRY = {
    name.lower(): f"tests.arena.fakes:{name}" for name in ("Illegal", "Crashing", "Hungry", "Buggy", "Lowest")
}
