"""UCT with rollouts. Plain UCT knows only the rules; guided UCT completes winning rows and blocks the
opponent's, also in its random games."""

from tengen.errors import UserError
from tengen.games import mnk
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.games.randomness import new_random
from tengen.players.fours import Fours
from tengen.players.limit import Limit
from tengen.players.mcts import LEAST_ROOM, moves_between
from tengen.players.player import Choice, Player, Thinking
from tengen.search.snapshot import Snapshot, of_uct
from tengen.search.tree import DRAW, LOSS, WIN
from tengen.search.uct import Uct, UctSearch, nodes_in
from tengen.tactics import guide

PROVEN_VALUES = {WIN: 1.0, LOSS: -1.0, DRAW: 0.0}
SIMULATIONS = 1000  # for moves without a limit
MEBIBYTE = 2**20


class UctPlayer(Player):
    """Without a limit of simulations, it keeps the tree from move to move."""

    summary = "Monte-Carlo tree search with random games: sims=1000 or seconds=1, guided, vcf, c, rollouts"
    obeys = ("simulations", "nodes")

    def __init__(
        self,
        game: Game,
        sims: int | None = None,
        seconds: float | None = None,
        c: float = Uct.c,
        rollouts: int = 1,
        guided: bool | None = None,
        vcf: bool = False,
        memory: int = 256,
        reuse: bool = True,
    ) -> None:
        """guided: on by default in five in a row, where plain UCT is weak: it has two hundred moves to try.
        vcf: look for a win by continuous fours first. memory: MiB of the tree."""
        if sims is not None and sims < 1:
            raise UserError(f"player 'uct': sims is 1 or more, got {sims}")
        simulations = sims or (SIMULATIONS if seconds is None else None)
        super().__init__(game, Limit(simulations=simulations, seconds=seconds))
        self._rules = game
        if guided or (guided is None and mnk.is_five_in_a_row(game)):
            rules = guide.guided(game)
            if rules is None:
                raise UserError(
                    f"player 'uct': there is no guide to {game.name}, only to the m,n,k family and Connect 4"
                )
            self._rules = rules
        settings = Uct(c=c, rollouts_per_leaf=rollouts)
        self._search = UctSearch(self._rules, settings, nodes_in(memory * MEBIBYTE, game))
        self._fours = Fours(game) if vcf else None
        self._reuse = reuse
        self.new_game(0)

    def new_game(self, seed: int) -> None:
        self._random = new_random(seed)
        self._root: Position | None = None  # the position of the kept tree

    def begin(self, position: Position, limit: Limit) -> Thinking:
        is_kept = self._reuse and limit.simulations is None and self._advance(position)
        if not is_kept or self._search.room < LEAST_ROOM * self._search.max_nodes:
            self._search.begin(position.state.copy(), self._random)
        self._root = position
        thinking = UctThinking(position, self._search, limit)
        return self._fours.before(position, thinking) if self._fours else thinking

    def _advance(self, position: Position) -> bool:
        """Moves the tree to a position that follows from its own. Is anything kept?"""
        actions = moves_between(self._root, position) if self._root is not None else None
        return actions is not None and all(self._search.advance(action, self._random) for action in actions)


class UctThinking(Thinking):
    """Simulations in one tree."""

    def __init__(self, position: Position, search: UctSearch, limit: Limit) -> None:
        self._position, self._search = position, search
        limits = [number for number in (limit.simulations, limit.nodes) if number is not None]
        search.plan(min(limits) if limits else None)
        search.run_for(0.0)  # there is no best move before the first simulations
        self._is_forced = limit.is_timed and len(position.legal_actions) == 1

    def run(self, seconds: float) -> bool:
        return self._search.run_for(seconds) or self._is_forced

    def choice(self) -> Choice:
        found = self._search.result()
        value = PROVEN_VALUES.get(found.root_proven, float(found.values[found.action]))
        distance = int(found.distance[found.action]) if found.root_proven in (WIN, LOSS) else None
        line = tuple(found.principal_variation)
        return Choice(
            found.action,
            value,
            line,
            f"{found.simulations:,} simulations",
            distance,
            found.simulations,
            self._search.used,
            self._search.depth,
        )

    def snapshot(self) -> Snapshot:
        return of_uct(self._position, self._search)
