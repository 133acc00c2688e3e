"""A trained network and a search: `zero:runs/c4:sims=400`. Plays without PyTorch."""

from collections.abc import Sequence

import numpy as np

from tengen import notices
from tengen.errors import UserError
from tengen.evaluators.network import Network, open_network
from tengen.evaluators.zoo import nearest
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.fours import Fours
from tengen.players.player import Choice, Player
from tengen.search.gumbel import Gumbel
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tengen.search.result import principal_variation


class Zero(Player):
    """sims=1: the network alone, its most likely move."""

    summary = "a trained network (path; sims=400 or seconds, search=gumbel or puct, precision, vcf)"

    def __init__(
        self,
        game: Game,
        path: str = "",
        sims: int = 400,
        seconds: float | None = None,
        search: str | None = None,
        precision: str | None = None,
        vcf: bool = False,
        leaves: int = 8,
    ) -> None:
        """search: without, the one it was trained with; Gumbel search must know its simulations beforehand,
        so with seconds it is PUCT. leaves: evaluated together by PUCT, when there is a single game."""
        super().__init__(game)
        if search not in (None, "puct", "gumbel"):
            raise UserError(f"player 'zero': search is puct or gumbel, got '{search}'")
        if search == "gumbel" and seconds is not None:
            raise UserError("player 'zero': gumbel search takes sims, not seconds: use search=puct")
        if precision not in (None, "fp32", "int8"):
            raise UserError(f"player 'zero': precision is fp32 or int8, got '{precision}'")
        if sims < 1:
            raise UserError(f"player 'zero': sims is 1 or more, got {sims}")
        near = None if path else nearest(game)
        path = path or f"zoo/{near.name if near else game.name}"
        network = open_network(path, precision, game)  # type: ignore[arg-type]
        network.check_plays(game)
        if said := near.reason if near else network.notice(game):
            notices.say_once(said)
        chosen = "puct" if seconds is not None else search or network.card.search
        self._equip(network, chosen)
        self._sims, self._seconds = sims, seconds
        self._leaves = leaves if chosen == "puct" else 1
        self._fours = Fours(game) if vcf else None

    @classmethod
    def of(cls, game: Game, network: Network, sims: int) -> "Zero":
        """A network that is open already."""
        player = cls.__new__(cls)
        Player.__init__(player, game)
        player._equip(network, network.card.search)
        player._sims, player._seconds, player._leaves, player._fours = sims, None, 1, None
        return player

    def _equip(self, network: Network, search: str) -> None:
        card = network.card
        self._evaluator = network.evaluator(self.game)
        self._settings: Puct | Gumbel = (
            Puct(fpu_reduction=0.2) if search == "puct" else Gumbel(noise=0.0, c_scale=card.c_scale)
        )
        self._discount = card.discount
        self._searches: dict[int, Search] = {}

    def new_game(self, seed: int) -> None:
        self._evaluator.clear()

    def choose(self, position: Position) -> Choice:
        if self._fours and (win := self._fours.win(position)):
            return win
        return self.choose_many([position])[0]

    def choose_many(self, positions: Sequence[Position]) -> list[Choice]:
        states = np.stack([position.state for position in positions])
        if self._sims == 1 and self._seconds is None:
            return self._glance(positions, states)
        search = self._search(len(positions))
        search.begin(states)
        if self._seconds is None:
            search.run(self._sims)
        else:
            search.run_for(self._seconds)
        result = search.result()
        return [
            Choice(
                int(result.actions[i]),
                float(result.values[i]),
                tuple(principal_variation(search.trees, i)),
                f"{int(result.simulations[i]):,} simulations",
            )
            for i in range(len(positions))
        ]

    def _glance(
        self, positions: Sequence[Position], states: np.ndarray[tuple[int, int], np.dtype[np.int16]]
    ) -> list[Choice]:
        """The network's own opinion."""
        legal = np.stack([position.legal_mask for position in positions])
        found = self._evaluator.alone.evaluate(states, legal)
        actions = np.where(legal, found.logits, -np.inf).argmax(axis=1)
        return [
            Choice(int(action), float(value), (int(action),), "the network alone")
            for action, value in zip(actions, found.values, strict=True)
        ]

    def _search(self, num_trees: int) -> Search:
        if num_trees not in self._searches:
            limit = self._sims if self._seconds is None else 200_000
            self._searches[num_trees] = Search(
                self.game,
                self._evaluator,
                self._settings,
                num_trees,
                max_simulations=limit,
                leaves_per_round=self._leaves if num_trees == 1 else 1,
                discount=self._discount,
            )
        return self._searches[num_trees]
