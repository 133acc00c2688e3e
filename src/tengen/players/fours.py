"""The option `vcf=yes` of several players: before thinking, look for a win by continuous fours."""

from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.player import Choice
from tengen.tactics.threats import find_win, new_work


class Fours:
    """Finds forced wins; remembers what it has excluded."""

    def __init__(self, game: Game, max_nodes: int = 20_000) -> None:
        self._game, self._max_nodes = game, max_nodes
        self._work = new_work(game)  # UserError if the game has no fours

    def win(self, position: Position) -> Choice | None:
        """The first move of a win by continuous fours, if there is one within reach."""
        found = find_win(position, self._game, self._max_nodes, work=self._work)
        if found.status != "found":
            return None
        return Choice(found.line[0], 1.0, found.line, f"wins by fours, {found.depth} moves")
