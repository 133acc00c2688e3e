"""What is forced: an evaluator that takes what is certain for granted and asks another one about the rest.

A `Look` finds out what is certain of positions: by the rules alone (wins.py) or by a search for fours
(tactics/fours.py). With that, of a position

    won              the answer is known, with the winning move; the other evaluator is not asked
    lost             it is known too; the other evaluator says which move looks best all the same
    one move left    the move is played and the position after it is evaluated in its place, and so on:
                     a reply without a choice needs no simulation of its own
    otherwise        the other evaluator answers; moves that surely lose are left out of `playable`

A network needs long to learn what a single move does, and few simulations cannot make up for it: 32 of them
cannot look at all of 81 replies. The rules are much cheaper than the network.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tengen.evaluators.evaluator import Evaluation, Evaluator, Floats, Int8s, Int16s
from tengen.games.batch import LOSS, UNKNOWN, WIN, lift
from tengen.games.game import TO_MOVE, Game, Mask, State

SURE = np.float32(20.0)  # the logit of a winning or forced move; the others have 0
MOST_REPLIES = 8  # forced moves that are played before the other evaluator is asked


class Certain(NamedTuple):
    """What is certain of B positions that are not over; as in Evaluation."""

    proven: Int8s  # [B]
    distance: Int16s  # [B]
    playable: Mask  # [B, A]
    wins: Mask  # [B, A], winning moves; none where the position is not proven won


class End(NamedTuple):
    """The positions that are evaluated in place of B others, some plies later."""

    states: State  # [B, S]
    legal: Mask  # [B, A]
    factors: Floats  # [B], the value of the earlier position is the later one's times this
    plies: Int16s  # [B], 0: it is the position itself


Look = Callable[[State, Mask], Certain]  # states [B, S], legal [B, A]


class SeesForced:
    """Answers for positions where there is no choice left; asks another evaluator about all others."""

    def __init__(self, evaluator: Evaluator, game: Game, look: Look, discount: float) -> None:
        self._evaluator, self._look, self._discount = evaluator, look, np.float32(discount)
        self._rules = lift(game)
        none = np.empty((0, game.state_size), np.int16)  # compiles what forced moves need before a clock runs
        self._rules.play(none, np.empty(0, np.int64), none.copy())
        self._rules.outcomes(none)
        self._rules.legal(none, np.empty((0, game.num_actions), np.bool_))

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        certain = self._look(states, legal)
        is_forced = (certain.proven == UNKNOWN) & (certain.playable.sum(axis=1) == 1)
        if not (is_forced.any() or (certain.proven == WIN).any()):
            found = self._evaluator.evaluate(states, legal)
            return Evaluation(
                found.logits,
                found.values,
                found.plies_left,
                certain.proven,
                certain.distance,
                certain.playable,
            )
        end = End(states, legal, np.ones(len(states), np.float32), np.zeros(len(states), np.int16))
        if is_forced.any():
            certain, end = self._follow(certain, end, np.flatnonzero(is_forced))
        logits = np.where(certain.wins, SURE, np.float32(0.0))
        values, plies_left = self._discount**certain.distance, certain.distance.astype(np.float32)
        has_plies_left = True
        if len(others := np.flatnonzero(certain.proven != WIN)):
            found = self._evaluator.evaluate(end.states[others], end.legal[others])
            logits[others], values[others] = found.logits, end.factors[others] * found.values
            has_plies_left = found.plies_left is not None
            if found.plies_left is not None:
                plies_left[others] = found.plies_left + end.plies[others]
        moved = np.flatnonzero(end.plies > 0)  # the logits are those of a later position: there is one move
        logits[moved] = np.where(certain.playable[moved], SURE, np.float32(0.0))
        return Evaluation(
            logits,
            values,
            plies_left if has_plies_left else None,
            certain.proven,
            certain.distance,
            certain.playable,
        )

    def _follow(self, certain: "Certain", end: "End", rows: npt.NDArray[np.int64]) -> tuple["Certain", "End"]:
        """Plays the forced moves of some rows. Returns what that says about them, and where it leads to."""
        before, certain, end = end, deepcopy(certain), deepcopy(end)
        states, legal, factors, plies = end
        proven, distance, playable, wins = certain
        actions = playable[rows].argmax(axis=1)
        for _ in range(MOST_REPLIES):
            # 1. one more move
            after = np.empty((len(rows), states.shape[1]), np.int16)
            self._rules.play(states[rows], actions, after)
            is_open = ~self._rules.outcomes(after)[0]  # a forced move can only fill the board: a draw
            rows, after = rows[is_open], after[is_open]
            after_legal = np.zeros((len(rows), legal.shape[1]), np.bool_)
            self._rules.legal(after, after_legal)
            is_same = after[:, TO_MOVE] == states[rows, TO_MOVE]
            factors[rows] *= np.where(is_same, self._discount, -self._discount)
            plies[rows] += 1
            states[rows], legal[rows] = after, after_legal
            # 2. what it leads to, for the player to move at first
            found = self._look(after, after_legal)
            is_won = (found.proven != UNKNOWN) & ((found.proven == WIN) == (factors[rows] > 0))
            is_lost = (found.proven != UNKNOWN) & ~is_won
            won, lost = rows[is_won], rows[is_lost]
            proven[won], distance[won] = WIN, plies[won] + found.distance[is_won]
            wins[won] = playable[won]
            proven[lost] = LOSS
            distance[lost] = np.maximum(distance[lost], plies[lost] + found.distance[is_lost])
            states[lost], legal[lost] = before.states[lost], before.legal[lost]  # its own moves are asked for
            factors[lost], plies[lost] = 1.0, 0
            playable[lost] = legal[lost]
            # 3. the next forced moves
            goes_on = (found.proven == UNKNOWN) & (found.playable.sum(axis=1) == 1)
            rows, actions = rows[goes_on], found.playable[goes_on].argmax(axis=1)
            if not len(rows):
                break
        return certain, end
