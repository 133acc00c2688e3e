"""Positions to try a network on, before there are any from real games."""

import numpy as np

from tengen.evaluators.evaluator import Evaluator
from tengen.games.batch import lift
from tengen.games.game import Game, Planes

PLIES = 32  # of each game: positions from the opening and the middle game
MOST_RANDOM = 4  # moves at the start of a game, for variety


def random_planes(game: Game, count: int, seed: int | list[int] = 1) -> Planes:
    """The planes of positions from random games;  [count, C, H, W]"""
    random = np.random.default_rng(seed)
    planes = np.zeros((count, *game.planes_shape), np.float32)
    made = 0
    while made < count:
        state = game.new_state()
        while made < count and not game.outcome(state)[0]:
            game.planes(state, planes[made])
            made += 1
            state = game.after(state, int(random.choice(np.flatnonzero(game.legal_mask(state)))))
    return planes


def played_planes(game: Game, network: Evaluator, count: int, seed: int | list[int] = 1) -> Planes:
    """The planes of positions from games in which each move is drawn from a network's policy;
    [count, C, H, W]

    A trained network has never seen the positions of random games. Its answers there are guesses, and int8
    guesses differently: for one network of gomoku15 the policies differ by KL 0.11 there and by 0.009 here.
    """
    random, rules = np.random.default_rng(seed), lift(game)
    num_games = -(-count // PLIES)
    states = np.stack([game.new_state() for _ in range(num_games)])
    num_random = random.integers(MOST_RANDOM + 1, size=num_games)  # moves that are still to be random
    planes = np.zeros((PLIES, num_games, *game.planes_shape), np.float32)
    legal, following = np.zeros((num_games, game.num_actions), np.bool_), np.empty_like(states)
    for ply in range(PLIES):
        rules.planes(states, planes[ply])
        rules.legal(states, legal)
        logits = np.where(num_random[:, None] > 0, 0.0, network.evaluate(states, legal).logits)
        noise = random.gumbel(size=logits.shape)  # the maximum is then a draw from the softmax
        actions = np.where(legal, logits + noise, -np.inf).argmax(axis=1)
        rules.play(states, actions, following)
        is_over, _ = rules.outcomes(following)
        following[is_over] = game.new_state()
        num_random = np.where(is_over, random.integers(MOST_RANDOM + 1, size=num_games), num_random - 1)
        states, following = following, states
    return planes.reshape(-1, *game.planes_shape)[:count]
