"""A person at the keyboard, as a player."""

from tengen.errors import UserError
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.decision import Decider
from tengen.players.limit import Limit
from tengen.players.player import Choice, PlayerFailedError
from tengen.players.terminal_game import Terminal


class Human(Decider):
    """Asks for moves until a legal one is typed."""

    summary = "a person at the keyboard"

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self._terminal = Terminal()

    def decide(self, position: Position, limit: Limit) -> Choice:
        self._terminal.show(position)
        while (line := self._terminal.ask()) is not None:
            try:
                position.play(line)
            except UserError as error:
                self._terminal.say(str(error))
            else:
                return Choice(position.parse(line))
        raise PlayerFailedError("the person at the keyboard has left")
