"""Runs in the peers' environment: OpenSpiel's C++ random rollouts, on request.

{"game": "connect_four", "rollouts": 1000} → {"seconds": 0.013}

OpenSpiel's rollout evaluator cannot be called from Python by itself, so it is called through a search
of a single simulation, which evaluates the position that many times and does nothing else.
"""

import json
import sys
import time

import pyspiel

for line in sys.stdin:
    request = json.loads(line)
    game = pyspiel.load_game(request["game"])
    evaluator = pyspiel.RandomRolloutEvaluator(request["rollouts"], 1)
    bot = pyspiel.MCTSBot(game, evaluator, 2.0, 1, 100, False, 1, False)
    state = game.new_initial_state()
    began = time.perf_counter()
    bot.step(state)
    print(json.dumps({"seconds": time.perf_counter() - began}), flush=True)
