"""A trained network and a search: `zero:runs/c4:sims=400`. Plays without PyTorch."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tengen import notices
from tengen.errors import UserError
from tengen.evaluators.card import FILES
from tengen.evaluators.evaluator import Evaluator, Floats
from tengen.evaluators.forced import SeesForced
from tengen.evaluators.network import Network, open_network
from tengen.evaluators.zoo import nearest
from tengen.games.game import Game, Mask
from tengen.games.position import Position
from tengen.players.decision import Decision
from tengen.players.fours import Fours
from tengen.players.limit import Limit
from tengen.players.mcts import MOST_PLANNED, Mcts
from tengen.players.player import Choice, Thinking
from tengen.search.gumbel import Gumbel
from tengen.search.puct import Puct
from tengen.search.tree import MAX_NODES as MAX_NODES_OF_A_TREE
from tengen.tactics.fours import MAX_NODES, SeesFours, has_fours

# PUCT's weight of the prior against the value, and what its logits are divided by: what learned from Gumbel
# search has sharp priors and good values. LOG.md, 'the search of play'.
C_PUCT, TEMPERATURE = 0.7, 1.5
LCB = 0.5  # Connect 4: 0.1 to 1.1 % more perfect moves than the most visited one, in each of nine settings
PUCT = Puct(C_PUCT, fpu_reduction=0.2, prior_temperature=TEMPERATURE, lcb=LCB)  # the reduction: see mcts.py
SIMULATIONS = 400  # for moves without a limit
MEBIBYTE = 2**20
TREE_SHARE = 0.75  # of the memory; the rest is for the cache of evaluations


class Zero(Mcts):
    """A network with its search; sims=1 plays the network's most likely move without search."""

    summary = (
        "a trained network (path; sims=400 or seconds, search=gumbel or puct, precision, vcf, vct, fours, "
        "memory, threads, c, temperature, lcb)"
    )

    def __init__(
        self,
        game: Game,
        path: str = "",
        sims: int | None = None,
        seconds: float | None = None,
        search: str | None = None,
        precision: str | None = None,
        vcf: bool | None = None,
        vct: bool = False,
        fours: int = MAX_NODES,
        leaves: int = 8,
        memory: int = 256,
        reuse: bool = True,
        threads: int = 1,
        c: float = C_PUCT,
        temperature: float = TEMPERATURE,
        lcb: float = LCB,
    ) -> None:
        """search: for a known number of simulations; by default the one it was trained with, or PUCT for more
        than a few hundred (mcts.py). vcf: look for a
        win by continuous fours first, and for the opponent's after the best move; by default in games that
        have fours, except for the network alone. vct: look for wins by threes and fours in the same way.
        fours: nodes of the search for fours at every leaf; 0: none. leaves: per round of PUCT. memory: MiB.
        reuse: keep PUCT's tree. threads: of one call of the network. c, temperature, lcb:
        PUCT's weight of the priors, what their logits are divided by, and how it takes the move to play."""
        if search not in (None, "puct", "gumbel"):
            raise UserError(f"player 'zero': search is puct or gumbel, got '{search}'")
        if search == "gumbel" and seconds is not None:
            raise UserError("player 'zero': gumbel search takes sims, not seconds: use search=puct")
        if precision not in (None, *FILES):
            raise UserError(f"player 'zero': precision is fp32, int8 or lookup, got '{precision}'")
        if sims is not None and sims < 1:
            raise UserError(f"player 'zero': sims is 1 or more, got {sims}")
        network = open_network(path or _bundled(game), precision, game, threads)
        network.check_plays(game)
        if path and (notice := network.notice(game)):
            notices.say_once(notice)
        simulations = sims or (SIMULATIONS if seconds is None else None)
        limit = Limit(simulations=simulations, seconds=seconds)
        puct = replace(PUCT, c_puct=c, prior_temperature=temperature, lcb=lcb)
        self._equip(game, network, limit, search, fours, leaves, memory, reuse, puct)
        looks = has_fours(game) if vcf is None else vcf
        self._fours = Fours(game, network.card.discount, threes=vct) if looks or vct else None

    @classmethod
    def of(cls, game: Game, network: Network, sims: int) -> "Zero":
        """The player of a network that is already open."""
        player = cls.__new__(cls)
        player._equip(game, network, Limit(simulations=sims))
        player._fours = None
        return player

    def _equip(
        self,
        game: Game,
        network: Network,
        limit: Limit,
        search: str | None = None,
        fours: int = MAX_NODES,
        leaves: int = 8,
        memory: int = 256,
        reuse: bool = True,
        puct: Puct = PUCT,
    ) -> None:
        tree_memory = int(TREE_SHARE * memory * MEBIBYTE)
        self.network = network
        self._answers = network.evaluator(game, memory * MEBIBYTE - tree_memory)
        evaluator: Evaluator = self._answers
        self._leaf_fours: SeesFours | None = None
        if fours and has_fours(game):
            self._leaf_fours = SeesFours(game, fours)
            evaluator = SeesForced(self._answers.alone, game, self._leaf_fours, network.card.discount)
        is_gumbel = (search or network.card.search) == "gumbel"
        planned = Gumbel(noise=0.0, c_scale=network.card.c_scale) if is_gumbel else puct
        discount = network.card.discount
        most = MOST_PLANNED if search is None else MAX_NODES_OF_A_TREE
        super().__init__(game, evaluator, limit, tree_memory, planned, discount, leaves, reuse, puct, most)

    def new_game(self, seed: int) -> None:
        super().new_game(seed)
        self._answers.clear()
        if self._leaf_fours is not None:
            self._leaf_fours.clear()
        if self._fours is not None:
            self._fours.new_game()

    def begin(self, position: Position, limit: Limit, seen: Mask | None = None) -> Thinking:
        """seen: the moves that it looks at (level.py); None: all."""
        if limit == Limit(simulations=1) and seen is None:
            return Decision(position, lambda: self._glance([position])[0])
        thinking = self.search(position, limit, seen)
        return self._fours.around(position, thinking, limit) if self._fours else thinking

    def choose_many(self, positions: Sequence[Position], limit: Limit | None = None) -> list[Choice]:
        if self._obeyed(limit) == Limit(simulations=1):
            return self._glance(positions)
        return super().choose_many(positions, limit)

    def look(self, position: Position) -> tuple[Floats, float]:
        """What the network alone says: logits, of which only those of legal moves count, and the value."""
        found = self._answers.alone.evaluate(position.state[None], position.legal_mask[None])
        return found.logits[0].copy(), float(found.values[0])

    def _glance(self, positions: Sequence[Position]) -> list[Choice]:
        """The choices of the network alone, without search."""
        states = np.stack([position.state for position in positions])
        legal = np.stack([position.legal_mask for position in positions])
        found = self._answers.alone.evaluate(states, legal)
        actions = np.where(legal, found.logits, -np.inf).argmax(axis=1)
        return [
            Choice(int(action), float(value), (int(action),), "the network alone")
            for action, value in zip(actions, found.values, strict=True)
        ]


def _bundled(game: Game) -> str:
    """The path of a game's bundled network, or of the nearest one of its family; tells the user if so."""
    found = nearest(game)
    if found is None:
        return f"zoo/{game.name}"  # there is none: opening it says so
    if found.reason:
        notices.say_once(found.reason)
    return f"zoo/{found.name}"
