"""Keeps the subtree below a move when it is played, moved to the front of the tree's nodes, in place."""

import numpy as np

from tengen.games.game import Mask, State
from tengen.search.tree import NONE, Floats, Int8s, Int16s, Int32s, Trees, kernel


def keep_subtrees(trees: Trees, actions: Int32s) -> Mask:
    """Makes the child after actions[b] the root of tree b; False where there is no such child."""
    kept = np.zeros(trees.num_trees, np.bool_)
    _keep(
        trees.capacity,
        np.ascontiguousarray(actions, np.int32),
        kept,
        np.empty(trees.capacity, np.int32),
        trees.used,
        trees.states,
        trees.to_move,
        trees.priors,
        trees.values,
        trees.num_legal,
        trees.parents,
        trees.actions,
        trees.first_child,
        trees.next_sibling,
        trees.num_children,
        trees.best_action,
        trees.best_prior,
        trees.visits,
        trees.value_sums,
        trees.q,
        trees.edge_priors,
        trees.proven,
        trees.distance,
    )
    return kept


@kernel
def _keep(
    capacity: int,
    chosen: Int32s,
    kept: Mask,
    moved_to: Int32s,
    used: Int32s,
    states: State,
    to_move: Int8s,
    priors: Floats,
    values: Floats,
    num_legal: Int16s,
    parents: Int32s,
    actions: Int16s,
    first_child: Int32s,
    next_sibling: Int32s,
    num_children: Int16s,
    best_action: Int16s,
    best_prior: Floats,
    visits: Int32s,
    value_sums: Floats,
    q: Floats,
    edge_priors: Floats,
    proven: Int8s,
    distance: Int16s,
) -> None:
    """A child comes after its parent, so one pass upwards finds the subtree, and moving down is safe."""
    for tree in range(chosen.size):
        root = tree * capacity
        start = first_child[root]
        while start >= 0 and actions[start] != chosen[tree]:
            start = next_sibling[start]
        if start == NONE:
            continue
        kept[tree] = True
        for i in range(used[tree]):
            moved_to[i] = NONE
        moved_to[start - root] = root
        count = 1
        for node in range(start, root + used[tree]):
            if node != start:
                parent = moved_to[parents[node] - root]
                if parent == NONE:
                    continue
                moved_to[node - root] = root + count
                count += 1
            to = moved_to[node - root]
            for i in range(states.shape[1]):
                states[to, i] = states[node, i]
            for a in range(priors.shape[1]):
                priors[to, a] = priors[node, a]
            to_move[to] = to_move[node]
            values[to] = values[node]
            num_legal[to] = num_legal[node]
            actions[to] = actions[node]
            num_children[to] = num_children[node]
            best_action[to] = best_action[node]
            best_prior[to] = best_prior[node]
            visits[to] = visits[node]
            value_sums[to] = value_sums[node]
            q[to] = q[node]
            edge_priors[to] = edge_priors[node]
            proven[to] = proven[node]
            distance[to] = distance[node]
            first_child[to] = NONE
            next_sibling[to] = NONE
            if node == start:
                parents[to] = NONE
            else:  # newest child first, as before
                parents[to] = parent
                next_sibling[to] = first_child[parent]
                first_child[parent] = to
        used[tree] = count
        # The root's own statistics are for the player to move there: its value and its children's.
        value_sums[root] = (
            values[root] if proven[root] == 0 or first_child[root] != NONE else value_sums[root]
        )
        child = first_child[root]
        while child >= 0:
            value_sums[root] += value_sums[child]
            child = next_sibling[child]
