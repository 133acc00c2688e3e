"""How a new edge is made, and what a proven one is worth. Shared by every selection rule."""

import numpy as np

from tengen.search.tree import (
    DRAW,
    LOSS,
    NONE,
    UNKNOWN,
    WIN,
    Array,
    Floats,
    Int16s,
    Int32s,
    Nodes,
    Trees,
    inlined,
    kernel,
)


@inlined
def exact_value(result: int, distance: int, same_player: bool, powers: Floats) -> np.float32:
    """Q of an edge to a child that is proven; powers[d] is the discount of d plies."""
    if result == DRAW:
        return np.float32(0.0)
    worth: np.float32 = powers[distance + 1]
    return worth if (result == WIN) == same_player else -worth


@inlined
def is_bad(nodes: Nodes, node: int, child: int) -> bool:
    """Is a child proven lost for the player to move at the node?"""
    return bool(nodes.proven[child] == (LOSS if nodes.to_move[child] == nodes.to_move[node] else WIN))


@inlined
def add_child(nodes: Nodes, node: int, action: int, child: int) -> None:
    """Makes `child` a new, unvisited child of a node, and finds the next best unvisited action there."""
    priors = nodes.priors
    nodes.parents[child] = node
    nodes.actions[child] = action
    nodes.edge_priors[child] = priors[node, action]
    nodes.visits[child] = 0
    nodes.value_sums[child] = 0.0
    nodes.q[child] = 0.0
    nodes.proven[child] = UNKNOWN
    nodes.distance[child] = 0
    nodes.pruned[child] = 0
    nodes.first_child[child] = NONE
    nodes.num_children[child] = 0
    nodes.num_legal[child] = NONE
    nodes.next_sibling[child] = nodes.first_child[node]
    nodes.first_child[node] = child
    nodes.num_children[node] += 1
    priors[node, action] = 0.0
    best, at = np.float32(0.0), NONE
    for a in range(priors.shape[1]):
        if priors[node, a] > best:
            best, at = priors[node, a], a
    nodes.best_action[node] = at
    nodes.best_prior[node] = best


def add_children(trees: Trees, nodes: Int32s, actions: Int16s) -> Int32s:
    """New children of some nodes, each in another tree, after an action that has none yet;  [N]"""
    children = np.empty_like(nodes)
    _add_children(trees.capacity, trees.used, nodes, actions, children, *trees.nodes)
    return children


@kernel
def _add_children(
    capacity: int, used: Int32s, parents: Int32s, actions: Int16s, children: Int32s, *arrays: Array
) -> None:
    nodes = Nodes(*arrays)
    for i in range(parents.size):
        tree = parents[i] // capacity
        children[i] = tree * capacity + used[tree]
        used[tree] += 1
        add_child(nodes, max(0, parents[i]), max(0, actions[i]), max(0, children[i]))


@inlined
def exp(x: np.float32) -> np.float32:
    """e^x for x ≤ 0, to 2e-6: a loop over it is vectorised and takes 0.3 ns per number, libm's 3."""
    scaled = max(x, np.float32(-87.0)) * np.float32(1.44269504)  # log₂ e
    whole = np.rint(scaled)
    f = (scaled - whole) * np.float32(0.69314718)  # the rest, |f| ≤ ln 2 / 2, by its series
    series = np.float32(1 / 24) + f * (np.float32(1 / 120) + f * np.float32(1 / 720))
    series = np.float32(1 / 2) + f * (np.float32(1 / 6) + f * series)
    series = np.float32(1.0) + f * (np.float32(1.0) + f * series)
    bits = np.int32((np.int32(whole) + np.int32(127)) * np.int32(1 << 23))  # those of the float 2^whole
    return series * bits.view(np.float32)  # type: ignore[no-any-return]
