"""Runs a game's rules over batches: the only place where a compiled loop calls the rules of any game.

Compiling such a loop takes 0.2-2 s, so each is compiled when it is first used, once for all games that share
their functions (every size and rule of the m,n,k family uses the same loops), and cached on disk for the
next process.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numba import njit

from tengen import kernel_cache
from tengen.games.game import Game, Mask, Planes, Random, State
from tengen.games.randomness import random_below

Kernel = Callable[..., Any]  # Numba's compiled functions
Ints = np.ndarray[Any, Any]

OPTIONS: Any = {"nogil": True, "no_cfunc_wrapper": True}  # nobody calls the loops from C (search/tree.py)
UNKNOWN, WIN, LOSS, DRAW = 0, 1, 2, 3  # results that are certain, for the player to move


@dataclass(frozen=True)
class BatchedGame:
    """A game's functions over B states at once; the caller provides the arrays."""

    game: Game
    loops: "Loops"

    def legal(self, states: State, masks: Mask) -> None:
        """masks[b] = the legal actions of states[b];  [B, S] → [B, A]"""
        self.loops.legal(states, masks)

    def play(self, states: State, actions: np.ndarray[Any, Any], next_states: State) -> None:
        """next_states[b] = states[b] after actions[b];  [B, S], [B] → [B, S]"""
        self.loops.play(states, actions, next_states)

    def outcomes(self, states: State) -> tuple[Mask, np.ndarray[Any, np.dtype[np.float32]]]:
        """Which games are over, and the value of each for the player to move;  [B, S] → [B], [B]"""
        is_over, values = np.empty(len(states), np.bool_), np.empty(len(states), np.float32)
        self.loops.outcomes(states, is_over, values)
        return is_over, values

    def planes(self, states: State, out: Planes) -> None:
        """out[b] = what a network sees of states[b];  [B, S] → [B, C, H, W]"""
        self.loops.planes(states, out)

    def wins(self, states: State, legal: Mask, wins: Mask) -> None:
        """wins[b] = the actions with which the player to move wins at once;  [B, S], [B, A] → [B, A]"""
        self.loops.wins(states, legal, wins)

    def safe(self, states: State, legal: Mask, safe: Mask) -> None:
        """safe[b] = the actions after which the opponent cannot win at once;  [B, S], [B, A] → [B, A]

        For positions in which the player to move cannot win at once."""
        self.loops.safe(states, legal, safe)

    def expand(
        self,
        states: State,
        parents: Ints,
        actions: Ints,
        leaves: Ints,
        is_new: Mask,
        to_move: Ints,
        ended: Ints,
        waiting: Ints,
        waiting_states: State,
        waiting_legal: Mask,
    ) -> int:
        """Makes the states of new nodes in a pool: states[leaf] = states[parents[leaf]] after actions[leaf].

        ended[leaf] = UNKNOWN if it is not over, else WIN, LOSS or DRAW for the player to move. Leaves that
        are not over are listed in `waiting`, with copies of their states and of their legal actions. Returns
        their number.
        """
        return int(
            self.loops.expand(
                states,
                parents,
                actions,
                leaves,
                is_new,
                to_move,
                ended,
                waiting,
                waiting_states,
                waiting_legal,
            )
        )

    def playouts(self, state: State, count: int, random: Random) -> float:
        """The sum of the results of random games from a state, for the player to move there."""
        return float(self.loops.playouts(state, count, random, self.game.num_actions))

    def perft(self, state: State, depth: int) -> int:
        """The number of move sequences of this length from a state."""
        if depth == 0:
            return 1
        states = np.empty((depth, state.size), np.int16)
        masks = np.empty((depth, self.game.num_actions), np.bool_)
        states[0] = state
        return int(self.loops.perft(states, masks))


def lift(game: Game) -> BatchedGame:
    """The game's functions over batches of states."""
    return BatchedGame(
        game, _loops(game.legal, game.play, game.outcome, game.planes, game.rollout, game.wins)
    )


@lru_cache(maxsize=64)
def _loops(
    legal: Kernel, play: Kernel, outcome: Kernel, planes: Kernel, rollout: Kernel | None, wins: Kernel | None
) -> "Loops":
    return Loops(legal, play, outcome, planes, rollout, wins)


class Loops:
    """Compiled loops over one set of rules, each compiled on first use."""

    def __init__(
        self,
        legal: Kernel,
        play: Kernel,
        outcome: Kernel,
        planes: Kernel,
        rollout: Kernel | None,
        wins: Kernel | None,
    ) -> None:
        self._legal, self._play, self._outcome, self._planes = legal, play, outcome, planes
        self._rollout, self._wins = rollout, wins

    def compiled(self, loop: Kernel) -> Kernel:
        """A compiled loop over these rules, cached on disk: a decorator for closures."""
        dispatcher: Kernel = njit(**OPTIONS)(loop)
        rules = (self._legal, self._play, self._outcome, self._planes, self._rollout, self._wins)
        kernel_cache.keep(dispatcher, rules)
        return dispatcher

    @cached_property
    def legal(self) -> Kernel:
        legal_one = self._legal

        @self.compiled
        def legal(states: State, masks: Mask) -> None:
            for b in range(len(states)):
                legal_one(states[b], masks[b])

        return legal

    @cached_property
    def play(self) -> Kernel:
        play_one = self._play

        @self.compiled
        def play(states: State, actions: np.ndarray[Any, Any], next_states: State) -> None:
            for b in range(len(states)):
                play_one(states[b], actions[b], next_states[b])

        return play

    @cached_property
    def outcomes(self) -> Kernel:
        outcome_one = self._outcome

        @self.compiled
        def outcomes(states: State, is_over: Mask, values: np.ndarray[Any, Any]) -> None:
            for b in range(len(states)):
                is_over[b], values[b] = outcome_one(states[b])

        return outcomes

    @cached_property
    def planes(self) -> Kernel:
        planes_one = self._planes

        @self.compiled
        def planes(states: State, out: Planes) -> None:
            for b in range(len(states)):
                planes_one(states[b], out[b])

        return planes

    @cached_property
    def wins(self) -> Kernel:
        own, play_one, outcome_one = self._wins, self._play, self._outcome
        if own is not None:

            @self.compiled
            def own_wins(states: State, legal: Mask, wins: Mask) -> None:
                for b in range(len(states)):
                    for action in range(legal.shape[1]):
                        wins[b, action] = legal[b, action] and own(states[b], action)

            return own_wins

        @self.compiled
        def any_wins(states: State, legal: Mask, wins: Mask) -> None:
            next_state = np.empty(states.shape[1], np.int16)
            for b in range(len(states)):
                for action in range(legal.shape[1]):
                    wins[b, action] = False
                    if legal[b, action]:
                        play_one(states[b], action, next_state)
                        value = outcome_one(next_state)[1]
                        wins[b, action] = value > 0 if next_state[-1] == states[b, -1] else value < 0

        return any_wins

    @cached_property
    def safe(self) -> Kernel:
        wins, legal_one, play_one, outcome_one = self.wins, self._legal, self._play, self._outcome

        @self.compiled
        def safe(states: State, legal: Mask, safe: Mask) -> None:
            next_states, replies = (
                np.empty((1, states.shape[1]), np.int16),
                np.empty((1, legal.shape[1]), np.bool_),
            )
            winning = np.empty((1, legal.shape[1]), np.bool_)
            for b in range(len(states)):
                for action in range(legal.shape[1]):
                    safe[b, action] = legal[b, action]
                    if not legal[b, action]:
                        continue
                    play_one(states[b], action, next_states[0])
                    if outcome_one(next_states[0])[0] or next_states[0, -1] == states[b, -1]:
                        continue
                    legal_one(next_states[0], replies[0])
                    wins(next_states, replies, winning)
                    for reply in range(legal.shape[1]):
                        safe[b, action] &= not winning[0, reply]

        return safe

    @cached_property
    def expand(self) -> Kernel:
        # Copies of the rules that are inlined into this loop.
        play_one, outcome_one, legal_one = (
            njit(forceinline=True)(rule.py_func)  # type: ignore[attr-defined]
            for rule in (self._play, self._outcome, self._legal)
        )

        @self.compiled
        def expand(
            states: State,
            parents: Ints,
            actions: Ints,
            leaves: Ints,
            is_new: Mask,
            to_move: Ints,
            ended: Ints,
            waiting: Ints,
            waiting_states: State,
            waiting_legal: Mask,
        ) -> int:
            count = 0
            for slot in range(leaves.size):
                if not is_new[slot]:
                    continue
                leaf = leaves[slot]
                state = states[leaf]
                if parents[leaf] >= 0:  # a root has its state already
                    play_one(states[parents[leaf]], np.int64(actions[leaf]), state)
                to_move[leaf] = state[-1]
                is_over, value = outcome_one(state)
                if is_over:
                    ended[leaf] = DRAW if value == 0 else WIN if value > 0 else LOSS
                    continue
                ended[leaf] = UNKNOWN
                waiting[count] = leaf
                for i in range(state.size):
                    waiting_states[count, i] = state[i]
                legal_one(state, waiting_legal[count])
                count += 1
            return count

        return expand

    @cached_property
    def rollout(self) -> Kernel:
        """Plays random moves to the end, in place: rollout(state, random, scratch state, scratch mask)."""
        own, legal_one, play_one, outcome_one = self._rollout, self._legal, self._play, self._outcome
        if own is not None:

            @self.compiled
            def own_rollout(state: State, random: Random, next_state: State, mask: Mask) -> None:
                own(state, random)

            return own_rollout

        @self.compiled
        def any_rollout(state: State, random: Random, next_state: State, mask: Mask) -> None:
            while not outcome_one(state)[0]:
                legal_one(state, mask)
                count = 0
                for action in range(mask.size):
                    count += mask[action]
                chosen = random_below(random, count)
                for action in range(mask.size):
                    if mask[action]:
                        if chosen == 0:
                            play_one(state, action, next_state)
                            break
                        chosen -= 1
                for i in range(state.size):
                    state[i] = next_state[i]

        return any_rollout

    @cached_property
    def playouts(self) -> Kernel:
        rollout, outcome_one = self.rollout, self._outcome

        @self.compiled
        def playouts(state: State, count: int, random: Random, num_actions: int) -> float:
            current, next_state = np.empty_like(state), np.empty_like(state)
            mask = np.empty(num_actions, np.bool_)
            total = 0.0
            for _ in range(count):
                for i in range(state.size):
                    current[i] = state[i]
                rollout(current, random, next_state, mask)
                value = outcome_one(current)[1]
                total += value if current[-1] == state[-1] else -value
            return total

        return playouts

    @cached_property
    def perft(self) -> Kernel:
        legal_one, play_one, outcome_one = self._legal, self._play, self._outcome

        @self.compiled
        def perft(states: State, masks: Mask) -> int:
            """Depth-first search; states[d] is the position at depth d, masks[d] its moves still to try."""
            last = len(states) - 1
            total = 0
            depth = 0
            arrived = True
            while depth >= 0:
                if arrived:
                    if outcome_one(states[depth])[0]:
                        depth, arrived = depth - 1, False
                        continue
                    legal_one(states[depth], masks[depth])
                    if depth == last:
                        for action in range(masks.shape[1]):
                            total += masks[depth, action]
                        depth, arrived = depth - 1, False
                        continue
                arrived = False
                for action in range(masks.shape[1]):
                    if masks[depth, action]:
                        masks[depth, action] = False
                        play_one(states[depth], action, states[depth + 1])
                        arrived = True
                        break
                depth += 1 if arrived else -1
            return total

        return perft
