"""Brings what was found at the leaves up to the roots.

In the searches with an evaluator, this is the one place where a value changes its sign, and only if the
player to move changes. UCT, which has its own loop, does it in uct_nodes.back_up; the targets for training,
made of finished games, in training/targets.py.
"""

import numpy as np

from tengen.evaluators.evaluator import Evaluation
from tengen.games.game import Mask
from tengen.search.edges import exact_value, exp
from tengen.search.tree import (
    DRAW,
    LOSS,
    LOWEST,
    NONE,
    UNKNOWN,
    WIN,
    Array,
    Floats,
    Int8s,
    Int16s,
    Int32s,
    Nodes,
    Slots,
    Trees,
    inlined,
    kernel,
)

NOTHING = Evaluation(np.zeros((0, 0), np.float32), np.zeros(0, np.float32))  # where nothing was evaluated
NO_RESULTS, NO_DISTANCES = np.zeros(0, np.int8), np.zeros(0, np.int16)  # where nothing is certain


def back_up(
    trees: Trees, slots: Slots, evaluation: Evaluation | None, count: int, virtual_loss: float
) -> bool:
    """Stores what the evaluator said of the first `count` waiting leaves, and visits every path.

    Returns whether the result of a root has been proven.
    """
    found = evaluation or NOTHING
    return _back_up(
        count,
        slots.per_tree,
        virtual_loss,
        trees.powers,
        slots.leaves,
        slots.is_new,
        slots.waiting,
        slots.legal if found.playable is None else found.playable,
        found.logits,
        found.values,
        NO_RESULTS if found.proven is None else found.proven,
        NO_DISTANCES if found.distance is None else found.distance,
        *trees.nodes,
    )


@inlined
def store(nodes: Nodes, leaf: int, legal: Mask, logits: Floats) -> None:
    """Gives a leaf its priors: the softmax of the logits of the legal actions."""
    # Without branches, loops are vectorised.
    priors = nodes.priors
    num_actions = priors.shape[1]
    peak = LOWEST
    for a in range(num_actions):
        peak = max(peak, logits[a] if legal[a] else LOWEST)
    total = np.float32(0.0)
    for a in range(num_actions):
        # A legal move keeps a little: 0 would mean illegal, and the move would never be found.
        weight = max(exp(logits[a] - peak), np.float32(1e-9))
        weight = weight if legal[a] else np.float32(0.0)
        priors[leaf, a] = weight
        total += weight
    number = 0
    for a in range(num_actions):
        number += legal[a]
    best = 0  # the weight of the highest logit is exp(0), exactly 1
    while best < num_actions - 1 and priors[leaf, best] < np.float32(1.0):
        best += 1
    scale = np.float32(1.0) / total
    for a in range(num_actions):
        priors[leaf, a] *= scale
    nodes.num_legal[leaf] = number
    nodes.best_action[leaf] = best
    nodes.best_prior[leaf] = priors[leaf, best]


@kernel
def _back_up(
    count: int,
    per_tree: int,
    virtual_loss: float,
    powers: Floats,
    leaves: Int32s,
    is_new: Mask,
    waiting: Int32s,
    legal: Mask,
    logits: Floats,
    values: Floats,
    results: Int8s,
    distances: Int16s,
    *arrays: Array,
) -> bool:
    nodes = Nodes(*arrays)
    for i in range(count):
        leaf = max(0, waiting[i])
        nodes.values[leaf] = values[i]
        store(nodes, leaf, legal[i], logits[i])
        if results.size > 0:
            if results[i] == UNKNOWN:
                nodes.pruned[leaf] = distances[i]
            elif nodes.parents[leaf] >= 0:  # a root stays open: its search shows how long each move lasts
                nodes.proven[leaf], nodes.distance[leaf] = results[i], distances[i]
    to_move, proven, distance = nodes.to_move, nodes.proven, nodes.distance
    visits, value_sums = nodes.visits, nodes.value_sums
    visit = 1
    root_proven = False
    undo = np.float32(0.0)
    if per_tree > 1:  # the visit was counted on the way down, as a loss
        visit, undo = 0, np.float32(virtual_loss)
    discount = powers[1]
    for slot in range(leaves.size):
        node = leaves[slot]
        if node == NONE:
            continue
        # 1. the leaf's value, for the player to move there
        if proven[node] == UNKNOWN:
            value = nodes.values[node]
        elif proven[node] == DRAW:
            value = np.float32(0.0)
        else:
            value = powers[distance[node]] if proven[node] == WIN else -powers[distance[node]]
        news = is_new[slot] and proven[node] != UNKNOWN  # is there a new proof to pass on?
        # 2. up to the root
        parent = nodes.parents[node]
        while parent >= 0:
            value *= discount if to_move[parent] == to_move[node] else -discount
            visits[node] += visit
            value_sums[node] += value + undo
            if proven[node] == UNKNOWN:
                nodes.q[node] = value_sums[node] / np.float32(visits[node])
            else:
                same_player = to_move[parent] == to_move[node]
                nodes.q[node] = exact_value(proven[node], distance[node], same_player, powers)
            if news:
                # 3. what the proof of a child says about its parent (MCTS-Solver, Winands et al. 2008)
                before, distance_before = proven[parent], distance[parent]
                is_good = proven[node] == (WIN if to_move[parent] == to_move[node] else LOSS)
                if is_good:
                    if before != WIN or distance[node] + 1 < distance_before:
                        proven[parent], distance[parent] = WIN, distance[node] + 1
                elif before != WIN and nodes.num_children[parent] == nodes.num_legal[parent]:
                    # A sibling may have been found good in this very round: then its own slot says so.
                    all_bad, any_draw, longest = True, False, nodes.pruned[parent]
                    child = nodes.first_child[parent]
                    while child >= 0:
                        good = WIN if to_move[child] == to_move[parent] else LOSS
                        all_bad &= proven[child] != UNKNOWN and proven[child] != good
                        any_draw |= proven[child] == DRAW
                        longest = max(longest, distance[child] + 1)
                        child = nodes.next_sibling[child]
                    if all_bad:
                        proven[parent], distance[parent] = DRAW if any_draw else LOSS, longest
                news = proven[parent] != before or distance[parent] != distance_before
            node, parent = parent, nodes.parents[parent]
        visits[node] += visit
        value_sums[node] += value + undo
        root_proven |= news
    return root_proven
