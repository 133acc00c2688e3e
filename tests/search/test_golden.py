"""Small trees as text, with the board drawn: `pytest --regen` rewrites them, the diff is reviewed."""

from collections.abc import Callable

import numpy as np
import pytest

from tengen.games.position import Position
from tengen.search.gumbel import Gumbel
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tengen.search.snapshot import tree_text

from .fakes import HashEvaluator

CASES = [
    ("puct-tictactoe", "tictactoe", "a1 b2 c3", Puct(), 40),
    ("puct-connect4-win-in-one", "connect4", "445566", Puct(), 12),
    ("puct-connect4-threat", "connect4", "4455", Puct(fpu_reduction=0.2), 60),
    ("puct-noise-gomoku6", "gomoku6", "c3 c4", Puct(dirichlet_fraction=0.25), 30),
    ("gumbel-connect4", "connect4", "443", Gumbel(num_considered=4), 16),
    ("gumbel-othello6", "othello6", "", Gumbel(noise=0.0), 20),
]


@pytest.mark.parametrize(
    ("name", "game", "moves", "settings", "simulations"), CASES, ids=[c[0] for c in CASES]
)
def test_tree(
    name: str,
    game: str,
    moves: str,
    settings: Puct | Gumbel,
    simulations: int,
    golden: Callable[[str, str], None],
) -> None:
    position = Position.from_moves(game, moves)
    search = Search(position.game, HashEvaluator(), settings, max_simulations=simulations, discount=0.97)
    search.begin(position.state[None], np.random.default_rng(1))
    search.run(simulations)
    golden(f"{name}.txt", tree_text(position.game, search.trees, depth=3))
