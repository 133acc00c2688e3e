"""Plays legal moves at random, all equally likely. A player that does not beat it has learned nothing."""

import numpy as np

from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.decision import Decider
from tengen.players.limit import Limit
from tengen.players.player import Choice


class Uniform(Decider):
    """Random moves."""

    summary = "random legal moves"

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.new_game(0)

    def new_game(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def decide(self, position: Position, limit: Limit) -> Choice:
        return Choice(int(self._random.choice(position.legal_actions)))
