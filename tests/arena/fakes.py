"""Players that fail, each in its own way."""

from tengen.games.position import Position
from tengen.players.player import Choice, Player, PlayerFailedError


class Illegal(Player):
    summary = "plays where a stone is already, or nowhere at all"

    def choose(self, position: Position) -> Choice:
        return Choice(position.actions[-1] if position.actions else 999)


class Crashing(Player):
    summary = "fails at its second move"

    def new_game(self, seed: int) -> None:
        self._moves = 0

    def choose(self, position: Position) -> Choice:
        self._moves += 1
        if self._moves > 1:
            raise PlayerFailedError("the engine hung up")
        return Choice(position.legal_actions[0])


class Hungry(Player):
    summary = "asks for more memory than there is"

    def choose(self, position: Position) -> Choice:
        raise MemoryError


class Buggy(Player):
    summary = "has a bug"

    def choose(self, position: Position) -> Choice:
        raise KeyError("where is it?")


class Lowest(Player):
    summary = "plays the lowest legal action; remembers whether it was closed"

    closed = 0

    def choose(self, position: Position) -> Choice:
        return Choice(position.legal_actions[0])

    def close(self) -> None:
        Lowest.closed += 1


REGISTRY = {
    name.lower(): f"tests.arena.fakes:{name}" for name in ("Illegal", "Crashing", "Hungry", "Buggy", "Lowest")
}
