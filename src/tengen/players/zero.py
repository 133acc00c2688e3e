"""A trained network and a search: `zero:runs/c4:sims=400`. Plays without PyTorch."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tengen.errors import UserError
from tengen.evaluators.cache import CachedEvaluator
from tengen.evaluators.card import Card, Precision, read_card, read_network
from tengen.evaluators.evaluator import Evaluator
from tengen.evaluators.onnx import NetworkFile, OnnxEvaluator
from tengen.evaluators.precision import precision_here
from tengen.evaluators.wins import SeesWins
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.fours import Fours
from tengen.players.player import Choice, Player
from tengen.search.gumbel import Gumbel
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tengen.search.result import principal_variation

CACHED = 100_000  # positions
ZOO = Path(__file__).parent.parent / "zoo"


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
        network, card = open_network(path or f"zoo/{game.name}", game, precision)  # type: ignore[arg-type]
        chosen = "puct" if seconds is not None else search or card.search
        self._equip(network, card, chosen)
        self._sims, self._seconds = sims, seconds
        self._leaves = leaves if chosen == "puct" else 1
        self._fours = Fours(game) if vcf else None

    @classmethod
    def of(cls, game: Game, network: NetworkFile, card: Card, sims: int) -> "Zero":
        """A network that is not in a folder yet."""
        player = cls.__new__(cls)
        Player.__init__(player, game)
        player._equip(network, card, card.search)
        player._sims, player._seconds, player._leaves, player._fours = sims, None, 1, None
        return player

    def _equip(self, network: NetworkFile, card: Card, search: str) -> None:
        self._evaluator = evaluator_of(network, self.game)
        self._judge = judge_of(self._evaluator, card, self.game)
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
        found = self._evaluator.evaluate(states, legal)
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
                self._judge,
                self._settings,
                num_trees,
                max_simulations=limit,
                leaves_per_round=self._leaves if num_trees == 1 else 1,
                discount=self._discount,
            )
        return self._searches[num_trees]


def open_network(path: str, game: Game, precision: Precision | None = None) -> tuple[NetworkFile, Card]:
    """The network of a path and its card; UserError if it is for another game."""
    folder = find_network(path)
    card = read_card(folder)
    if card.game != game.name:
        raise UserError(f"the network in {folder} plays {card.game}, not {game.name}")
    if max(card.planes) >= game.num_planes:
        has = f"{game.name} has {game.num_planes}"
        raise UserError(f"{folder / 'card.json'} names plane {max(card.planes)}, counted from 0; {has}")
    return read_network(folder, precision or precision_here(folder, card, game)), card


def evaluator_of(network: NetworkFile, game: Game) -> CachedEvaluator:
    """What a network says, remembered."""
    evaluator = OnnxEvaluator(game, network)
    return CachedEvaluator(evaluator, game, CACHED, sees_last_move=game.shows_last_move(network.planes))


def judge_of(evaluator: Evaluator, card: Card, game: Game) -> Evaluator:
    """What a search asks: the network, or first the rules whether there is a win in one move."""
    return SeesWins(evaluator, game, card.discount) if card.sees_wins else evaluator


def find_network(path: str) -> Path:
    """The folder of a network: one of the zoo, a run's best, or a folder itself."""
    if path.startswith("zoo/"):
        return _in_the_box(path.removeprefix("zoo/"))
    best = Path(path) / "best"
    return best if (best / "card.json").is_file() else Path(path)


def _in_the_box(name: str) -> Path:
    there = sorted(card.parent.name for card in ZOO.glob("*/card.json"))
    if name not in there:
        names = f"there are {', '.join(there)}" if there else "there is none"
        raise UserError(f"no network '{name}' in the box, {names}: tengen train {name} makes one")
    return ZOO / name
