"""The tree of UCT and its compiled parts: select, expand, roll out, back up. uct.py says what they are for.

The one search that calls the game in its loop, so that loop is compiled for each set of rules, once per
process. As in tree.py, a node holds its state and the statistics of the edge that led to it, seen by the
player who chose that edge; and kernels take the nodes as `*arrays`.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tengen.games.batch import Kernel, Loops, lift
from tengen.games.game import TO_MOVE, Game, Mask, Random, State
from tengen.games.randomness import random_below
from tengen.search.tree import (
    DRAW,
    LOSS,
    LOWEST,
    NONE,
    UNKNOWN,
    WIN,
    Array,
    Int8s,
    Int16s,
    Int32s,
    inlined,
    kernel,
)

Sums = npt.NDArray[np.float64]

UNLISTED = -1  # num_untried of a node whose legal actions have not been asked for yet
PROVEN_RANK = 1e12  # above any number of visits


class UctNodes(NamedTuple):
    """M nodes, the root first, an array for each field. Kernels take the arrays in this order."""

    states: State  # [M, S]
    to_move: Int8s  # [M]
    untried: Int16s  # [M, A], the first num_untried are the legal actions without a child, in any order
    num_untried: Int16s  # [M], UNLISTED until the first child is to be made
    parents: Int32s  # [M], NONE at the root
    actions: Int16s  # [M], from the parent
    first_child: Int32s  # [M]
    next_sibling: Int32s  # [M]
    visits: Int32s  # [M], of the edge from the parent
    value_sums: Sums  # [M], of that edge, for the player who chose it; once proven, its exact value · visits
    proven: Int8s  # [M], UNKNOWN, WIN, LOSS or DRAW for the player to move
    distance: Int16s  # [M], plies to the proven end
    has_draw: Mask  # [M], is one of the children a proven draw?


def new_nodes(game: Game, m: int) -> UctNodes:
    """Room for M nodes; empty, not zeros: memory is not touched before a node needs it."""
    return UctNodes(
        states=np.empty((m, game.state_size), np.int16),
        to_move=np.empty(m, np.int8),
        untried=np.empty((m, game.num_actions), np.int16),
        num_untried=np.empty(m, np.int16),
        parents=np.empty(m, np.int32),
        actions=np.empty(m, np.int16),
        first_child=np.empty(m, np.int32),
        next_sibling=np.empty(m, np.int32),
        visits=np.empty(m, np.int32),
        value_sums=np.empty(m, np.float64),
        proven=np.empty(m, np.int8),
        distance=np.empty(m, np.int16),
        has_draw=np.empty(m, np.bool_),
    )


def make_root(nodes: UctNodes, state: State) -> None:
    """A tree that is only its root."""
    nodes.states[0] = state
    nodes.to_move[0] = state[TO_MOVE]
    nodes.num_untried[0] = UNLISTED
    nodes.parents[0] = nodes.actions[0] = nodes.first_child[0] = nodes.next_sibling[0] = NONE
    nodes.visits[0] = nodes.value_sums[0] = nodes.proven[0] = nodes.distance[0] = nodes.has_draw[0] = 0


def simulate_kernel(game: Game) -> Kernel:
    """simulate(count, used, c, rollouts_per_leaf, random, 3 scratch arrays, *nodes) → simulations done."""
    return _compile(game.legal, game.play, game.outcome, lift(game).loops)


@lru_cache(maxsize=64)
def _compile(legal: Kernel, play: Kernel, outcome: Kernel, loops: Loops) -> Kernel:
    """The loop of simulations over one set of rules."""
    rollout = loops.rollout

    # Plain options: rules that are first compiled from here would inherit others, and be cached with them.
    @loops.compiled
    def simulate(
        count: int,
        used: int,
        c: np.float32,
        rollouts_per_leaf: int,
        random: Random,
        rolled: State,
        next_state: State,
        mask: Mask,
        *arrays: Array,
    ) -> int:
        """How many simulations were done, each of them a node: fewer than `count` once the root is proven."""
        nodes = UctNodes(*arrays)
        states, untried, num_untried = nodes.states, nodes.untried, nodes.num_untried
        for simulation in range(count):
            if nodes.proven[0] != UNKNOWN:
                return simulation
            # 1. select
            node = 0
            while num_untried[node] == 0:
                node = best_bound(nodes, node, c)
            # 2. expand
            if num_untried[node] == UNLISTED:
                legal(states[node], mask)
                listed = 0
                for a in range(mask.size):
                    untried[node, listed] = a
                    listed += mask[a]
                num_untried[node] = listed
            last = num_untried[node] - 1
            chosen = random_below(random, last + 1)
            action = untried[node, chosen]
            untried[node, chosen] = untried[node, last]
            num_untried[node] = last
            leaf = used + simulation
            play(states[node], action, states[leaf])
            nodes.to_move[leaf] = states[leaf, TO_MOVE]
            num_untried[leaf] = UNLISTED
            nodes.parents[leaf] = node
            nodes.actions[leaf] = action
            nodes.first_child[leaf] = NONE
            nodes.next_sibling[leaf] = nodes.first_child[node]
            nodes.first_child[node] = leaf
            nodes.visits[leaf] = 0
            nodes.value_sums[leaf] = 0.0
            nodes.proven[leaf] = UNKNOWN
            nodes.distance[leaf] = 0
            nodes.has_draw[leaf] = False
            # 3. roll out, unless the game is over
            is_over, value = outcome(states[leaf])
            if is_over:
                nodes.proven[leaf] = DRAW if value == 0 else WIN if value > 0 else LOSS
            else:
                value = 0.0  # for the player to move at the leaf
                for _ in range(rollouts_per_leaf):
                    for i in range(rolled.size):
                        rolled[i] = states[leaf, i]
                    rollout(rolled, random, next_state, mask)
                    result = outcome(rolled)[1]
                    value += result if rolled[TO_MOVE] == nodes.to_move[leaf] else -result
                value /= rollouts_per_leaf
            # 4. back up
            back_up(nodes, leaf, value)
        return count

    return simulate


@inlined
def best_bound(nodes: UctNodes, node: int, c: np.float32) -> int:
    """The child with the highest Q + c·√(ln N / n), of those where something is left to learn: not proven.

    With r = 1 / √n that is r · (r · value sum + c·√ln N).
    """
    exploration = c * np.sqrt(np.log(np.float32(nodes.visits[node])))
    best_score, best = LOWEST, NONE
    child = nodes.first_child[node]
    while child != NONE:
        if nodes.proven[child] == UNKNOWN:
            r = np.float32(1.0) / np.sqrt(np.float32(nodes.visits[child]))
            score = r * (r * np.float32(nodes.value_sums[child]) + exploration)
            if score > best_score:
                best_score, best = score, child
        child = nodes.next_sibling[child]
    return best


@inlined
def back_up(nodes: UctNodes, node: int, value: float) -> None:
    """Visits the path from a leaf to the root. In UCT, a value changes its sign here and in no other place
    (the searches with an evaluator have backup.back_up)."""
    visits, value_sums, proven, distance = nodes.visits, nodes.value_sums, nodes.proven, nodes.distance
    has_draw = nodes.has_draw
    news = proven[node] != UNKNOWN  # is there a new proof to pass on?
    parent = nodes.parents[node]
    while parent != NONE:
        # 1. the edge, for the player who chose it
        if nodes.to_move[parent] != nodes.to_move[node]:
            value = -value
        visits[node] += 1
        value_sums[node] += value
        # 2. what the proof of a child says about its parent
        if news:
            value_sums[node] = value * visits[node]
            has_draw[parent] |= value == 0
            if value > 0:
                proven[parent], distance[parent] = WIN, distance[node] + 1
            elif nodes.num_untried[parent] == 0:
                all_proven, longest = True, 0
                child = nodes.first_child[parent]
                while child != NONE and all_proven:
                    all_proven = proven[child] != UNKNOWN
                    if (proven[child] == DRAW) == has_draw[parent]:
                        longest = max(longest, distance[child] + 1)
                    child = nodes.next_sibling[child]
                if all_proven:
                    proven[parent], distance[parent] = DRAW if has_draw[parent] else LOSS, longest
            news = proven[parent] != UNKNOWN
        # 3. whoever has a sure draw does not play what looks worse
        if has_draw[parent] and value_sums[node] < 0:
            value = 0.0
        node, parent = parent, nodes.parents[parent]
    visits[node] += 1
    value_sums[node] += value


@kernel
def best_line(node: int, with_first: bool, line: Int16s, *arrays: Array) -> int:
    """Fills in the best move at a node, the best answer, and so on while the tree knows any and there is
    room; with_first: before them the move that leads to the node. Returns how many moves there are.

    Best is the fastest proven win; else the most visits, and of equal visits the higher value; a proven draw,
    the longest, if that value is below 0 or nothing else is left; else the slowest proven loss.
    """
    nodes = UctNodes(*arrays)
    visits, value_sums, proven, distance = nodes.visits, nodes.value_sums, nodes.proven, nodes.distance
    length = 0
    if with_first:
        line[0] = nodes.actions[node]
        length = 1
    while length < line.size and nodes.first_child[node] != NONE:
        best_rank, best, draw = -2 * PROVEN_RANK, NONE, NONE
        child = nodes.first_child[node]
        while child != NONE:
            if proven[child] == DRAW:
                if draw == NONE or distance[child] > distance[draw]:
                    draw = child
            else:
                if proven[child] == UNKNOWN:
                    rank = visits[child] + 0.25 * value_sums[child] / visits[child]
                elif value_sums[child] > 0:
                    rank = PROVEN_RANK - distance[child]
                else:
                    rank = distance[child] - PROVEN_RANK
                if rank > best_rank:
                    best_rank, best = rank, child
            child = nodes.next_sibling[child]
        if draw != NONE and (best == NONE or value_sums[best] < 0):
            best = draw
        line[length] = nodes.actions[best]
        node, length = best, length + 1
    return length
