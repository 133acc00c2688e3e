"""What the rules alone say for certain: a win in one move, and moves that let the opponent win at once."""

import numpy as np

from tengen.evaluators.evaluator import Int16s
from tengen.evaluators.forced import Certain, Look
from tengen.games.batch import LOSS, WIN, lift
from tengen.games.game import Game, Mask, State

MOST_ACTIONS = 32  # with more, looking at all replies to all moves takes longer than a network


def sees_replies(game: Game) -> bool:
    """Has the game few enough actions to look at all replies to all moves?"""
    return game.num_actions <= MOST_ACTIONS


def sees_wins(game: Game) -> Look:
    """Finds wins in one move; in games with few actions also the moves that prevent the opponent's."""
    rules, looks_at_replies = lift(game), sees_replies(game)

    def look(states: State, legal: Mask) -> Certain:
        wins, playable = np.zeros(legal.shape, np.bool_), legal.copy()
        rules.wins(states, legal, wins)
        is_won = wins.any(axis=1)
        proven = np.where(is_won, WIN, 0).astype(np.int8)
        distance: Int16s = np.where(is_won, 1, 0).astype(np.int16)
        if looks_at_replies and len(open_rows := np.flatnonzero(~is_won)):
            safe = np.zeros((len(open_rows), legal.shape[1]), np.bool_)
            rules.safe(states[open_rows], legal[open_rows], safe)
            is_lost, is_threatened = ~safe.any(axis=1), (safe != legal[open_rows]).any(axis=1)
            proven[open_rows[is_lost]] = LOSS
            distance[open_rows[is_threatened]] = 2
            playable[open_rows[~is_lost]] = safe[~is_lost]
        return Certain(proven, distance, playable, wins)

    return look
