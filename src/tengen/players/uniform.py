"""Plays any legal move, each with the same chance. A player that does not beat it has learned nothing."""

import numpy as np

from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.decision import Decision
from tengen.players.limit import Limit
from tengen.players.player import Choice, Player


class Uniform(Player):
    """Random moves."""

    summary = "random legal moves"

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.new_game(0)

    def new_game(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def begin(self, position: Position, limit: Limit) -> Decision:
        return Decision(position, lambda: Choice(int(self._random.choice(position.legal_actions))))
