"""UCT with rollouts: the strongest player that knows nothing but the rules."""

from tengen.errors import UserError
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.games.randomness import new_random
from tengen.players.player import Choice, Player
from tengen.search import uct
from tengen.search.tree import DRAW, LOSS, WIN
from tengen.search.uct import Uct

PROVEN_VALUES = {WIN: 1.0, LOSS: -1.0, DRAW: 0.0}


class UctPlayer(Player):
    """A search by simulations or by time."""

    summary = "Monte-Carlo tree search with random games (sims=1000 or seconds=1, c, rollouts)"

    def __init__(
        self,
        game: Game,
        sims: int = 1000,
        seconds: float | None = None,
        c: float = Uct.c,
        rollouts: int = 1,
    ) -> None:
        super().__init__(game)
        if sims < 1:
            raise UserError(f"player 'uct': sims is 1 or more, got {sims}")
        self._settings = Uct(c=c, rollouts_per_leaf=rollouts)
        self._seconds = seconds
        self._sims = uct.max_simulations(game, self._settings) if seconds is not None else sims
        uct.prepare(game)
        self.new_game(0)

    def new_game(self, seed: int) -> None:
        self._random = new_random(seed)

    def choose(self, position: Position) -> Choice:
        found = uct.search(self.game, position.state, self._sims, self._settings, self._random, self._seconds)
        value = PROVEN_VALUES.get(found.root_proven, float(found.values[found.action]))
        line = tuple(found.principal_variation)
        return Choice(found.action, value, line, f"{found.simulations:,} simulations")
