"""UCT with rollouts: plain, it knows nothing but the rules; guided, nobody overlooks a row."""

from tengen.errors import UserError
from tengen.games import mnk
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.games.randomness import new_random
from tengen.players.fours import Fours
from tengen.players.player import Choice, Player
from tengen.search import uct
from tengen.search.tree import DRAW, LOSS, WIN
from tengen.search.uct import Uct
from tengen.tactics import guide

MEMORY = 2**31  # bytes of a tree that is limited by time
PROVEN_VALUES = {WIN: 1.0, LOSS: -1.0, DRAW: 0.0}


class UctPlayer(Player):
    """A search by simulations or by time."""

    summary = "Monte-Carlo tree search with random games: sims=1000 or seconds=1, guided, vcf, c, rollouts"

    def __init__(
        self,
        game: Game,
        sims: int = 1000,
        seconds: float | None = None,
        c: float = Uct.c,
        rollouts: int = 1,
        guided: bool | None = None,
        vcf: bool = False,
    ) -> None:
        """guided: by default with five in a row, where plain UCT is lost among two hundred moves.
        vcf: look for a win by continuous fours first."""
        super().__init__(game)
        if sims < 1:
            raise UserError(f"player 'uct': sims is 1 or more, got {sims}")
        self._settings = Uct(c=c, rollouts_per_leaf=rollouts)
        self._seconds = seconds
        self._sims = uct.nodes_in(MEMORY, game) - 1 if seconds is not None else sims
        self._rules = game
        if guided or (guided is None and mnk.is_five_in_a_row(game)):
            rules = guide.guided(game)
            if rules is None:
                raise UserError(
                    f"player 'uct': there is no guide to {game.name}, only to the m,n,k family and Connect 4"
                )
            self._rules = rules
        self._fours = Fours(game) if vcf else None
        uct.prepare(self._rules)
        self.new_game(0)

    def new_game(self, seed: int) -> None:
        self._random = new_random(seed)

    def choose(self, position: Position) -> Choice:
        if self._fours and (win := self._fours.win(position)):
            return win
        found = uct.search(
            self._rules, position.state, self._sims, self._settings, self._random, self._seconds
        )
        value = PROVEN_VALUES.get(found.root_proven, float(found.values[found.action]))
        line = tuple(found.principal_variation)
        return Choice(found.action, value, line, f"{found.simulations:,} simulations")
