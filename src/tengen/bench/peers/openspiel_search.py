"""Runs in the peers' environment: OpenSpiel's searches from a game's first position, on request.

{"search": "puct", "game": "connect_four", "simulations": 800, "repetitions": 3} → {"seconds": 0.05}

"puct" is its MCTS in Python where every position is worth 0 and all moves are alike; "uct" its MCTS in C++
with one random game per leaf. Both prove results, as ours do. The first search is checked, not timed.
"""

import json
import sys
import time
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.algorithms import mcts


class UniformEvaluator:
    """Knows nothing."""

    def evaluate(self, state: Any) -> list[float]:
        return [0.0, 0.0]

    def prior(self, state: Any) -> list[tuple[int, float]]:
        actions = state.legal_actions()
        return [(action, 1 / len(actions)) for action in actions]


def new_bot(search: str, game: Any, simulations: int) -> Any:
    if search == "uct":
        evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
        max_mebibytes, solve, seed, verbose = 1000, True, 1, False
        return pyspiel.MCTSBot(game, evaluator, 2.0, simulations, max_mebibytes, solve, seed, verbose)
    return mcts.MCTSBot(
        game,
        1.5,
        simulations,
        UniformEvaluator(),
        solve=True,
        random_state=np.random.RandomState(1),
        child_selection_fn=mcts.SearchNode.puct_value,
    )


for line in sys.stdin:
    request = json.loads(line)
    game = pyspiel.load_game(request["game"])
    bot, state = new_bot(request["search"], game, request["simulations"]), game.new_initial_state()
    done = bot.mcts_search(state).explore_count
    assert done == request["simulations"], f"{done} simulations instead of {request['simulations']}"
    began = time.process_time()
    for _ in range(request["repetitions"]):
        bot.step(state)
    print(json.dumps({"seconds": time.process_time() - began}), flush=True)
