"""Proofs: search until the result of a position is certain, and how soon it comes.

Every search proves what it can on the way (backup.py). Here proving is the aim. Two bounds close in on the
number of plies to the end: `distance`, what the lines found so far need, and `soonest`, before which no line
can end. For a win the distance is the winner's fastest, for a loss the loser's slowest. Where the bounds meet
the node is settled, and the search goes where they do not.

    soonest    a finished game 0; else one more than the least of the children's (an unvisited move's is 0),
               leaving out moves that are proven bad if the node is won; the largest if it is lost
"""

from dataclasses import dataclass

import numpy as np

from tengen.evaluators.evaluator import Evaluation
from tengen.games.batch import lift
from tengen.games.game import Game, Mask, State
from tengen.search.backup import back_up
from tengen.search.edges import add_child
from tengen.search.result import principal_variation
from tengen.search.tree import (
    DRAW,
    LOSS,
    NONE,
    UNKNOWN,
    WIN,
    Array,
    Int16s,
    Int32s,
    Nodes,
    Trees,
    inlined,
    kernel,
    make_roots,
    new_slots,
    new_trees,
)


@dataclass(frozen=True)
class Proof:
    """What is certain about a position, for the player to move."""

    result: int  # UNKNOWN if the nodes did not suffice, else WIN, LOSS or DRAW
    distance: int  # plies to the end of a win or a loss; of a draw, of the longest line looked at
    is_exact: bool  # else the distance is an upper bound
    line: list[int]  # best play, as far as it was looked at
    nodes: int


def prove(game: Game, states: State, max_nodes: int) -> list[Proof]:
    """Searches each of the states, int16[B, S], until its result is settled or it has max_nodes nodes."""
    num_trees = len(states)
    trees, slots = new_trees(game, num_trees, max_nodes), new_slots(game, num_trees, per_tree=1)
    batched, nodes, roots = lift(game), trees.nodes, trees.roots
    soonest = np.zeros(num_trees * max_nodes, np.int16)
    logits = np.zeros((num_trees, game.num_actions), np.float32)
    values = np.zeros(num_trees, np.float32)
    nodes.states[roots] = states
    make_roots(trees, np.ones(num_trees, np.bool_))
    slots.leaves[:], slots.is_new[:] = roots, True
    while (slots.leaves != NONE).any():
        count = batched.expand(
            nodes.states, nodes.parents, nodes.actions, slots.leaves, slots.is_new, nodes.to_move,
            nodes.proven, slots.waiting, slots.states, slots.legal,
        )  # fmt: skip
        back_up(trees, slots, Evaluation(logits[:count], values[:count]), count, 0.0)
        _close_in(0, slots.leaves, True, soonest, *nodes)
        _descend(trees.capacity, soonest, trees.used, slots.leaves, slots.is_new, *nodes)
    proofs = []
    for tree, root in enumerate(roots):
        result, distance = int(nodes.proven[root]), int(nodes.distance[root])
        is_exact = result == DRAW or (result != UNKNOWN and distance == soonest[root])
        line = principal_variation(trees, tree) if result != UNKNOWN else []
        proofs.append(Proof(result, distance, is_exact, line, int(trees.used[tree])))
    return proofs


@inlined
def is_settled(nodes: Nodes, soonest: Int16s, node: int) -> bool:
    """Is everything known about a node?"""
    if nodes.proven[node] == UNKNOWN:
        return False
    return bool(nodes.proven[node] == DRAW or nodes.distance[node] == soonest[node])


@inlined
def is_good(nodes: Nodes, node: int, child: int) -> bool:
    """Is a child proven won for the player to move at the node?"""
    return bool(nodes.proven[child] == (WIN if nodes.to_move[child] == nodes.to_move[node] else LOSS))


def lower_bounds(trees: Trees, tree: int = 0) -> Int16s:
    """`soonest` of each node of a tree, after any search; the root's first.  [number of nodes used]

    Where it equals the proven distance, that is exact."""
    first, used = int(trees.roots[tree]), int(trees.used[tree])
    soonest = np.zeros(used, np.int16)
    children_first = np.arange(first + used - 1, first - 1, -1, dtype=np.int32)
    _close_in(first, children_first, False, soonest, *trees.nodes)
    return soonest


@kernel
def _close_in(first: int, leaves: Int32s, up_to_root: bool, soonest: Int16s, *arrays: Array) -> None:
    """Brings the lower bounds of nodes up to date, and those of all above them if asked to.

    soonest[0] is the bound of the node `first`."""
    nodes = Nodes(*arrays)
    proven, num_legal = nodes.proven, nodes.num_legal
    for slot in range(leaves.size):
        node = leaves[slot]
        while node >= 0:
            if proven[node] != UNKNOWN and nodes.first_child[node] == NONE:
                # over, or proven by the evaluator: then it takes another ply at least
                soonest[node - first] = min(1, nodes.distance[node])
            else:
                least, largest = 30000, 0
                if nodes.num_children[node] < num_legal[node] or num_legal[node] == NONE:
                    least = 0
                child = nodes.first_child[node]
                while child >= 0:
                    can_be_good = proven[child] == UNKNOWN or is_good(nodes, node, child)
                    if proven[node] != WIN or can_be_good:
                        least = min(least, soonest[child - first])
                    largest = max(largest, soonest[child - first])
                    child = nodes.next_sibling[child]
                soonest[node - first] = 1 + (largest if proven[node] == LOSS else least)
            node = nodes.parents[node] if up_to_root else NONE


@kernel
def _descend(
    capacity: int, soonest: Int16s, used: Int32s, leaves: Int32s, is_new: Mask, *arrays: Array
) -> None:
    """Finds a leaf that can bring each unsettled root closer to being settled; NONE if there is none."""
    nodes = Nodes(*arrays)
    proven, distance, visits = nodes.proven, nodes.distance, nodes.visits
    for tree in range(leaves.size):
        node = tree * capacity
        leaves[tree] = NONE
        is_new[tree] = False
        if is_settled(nodes, soonest, node) or used[tree] == capacity:
            continue
        while True:
            # 1. a move nobody has tried: it might end the game at once
            wanted = proven[node] == UNKNOWN or (proven[node] == WIN and distance[node] > 1)
            if wanted and nodes.best_action[node] != NONE:
                leaf = tree * capacity + used[tree]
                used[tree] += 1
                leaves[tree], is_new[tree] = leaf, True
                add_child(nodes, node, nodes.best_action[node], leaf)
                break
            # 2. else the child that matters and has been looked at least
            best, fewest = NONE, 0
            child = nodes.first_child[node]
            while child >= 0:
                if proven[node] == UNKNOWN:
                    matters = proven[child] == UNKNOWN
                elif proven[node] == WIN:
                    can_be_good = proven[child] == UNKNOWN or is_good(nodes, node, child)
                    matters = can_be_good and soonest[child] + 1 < distance[node]
                else:  # lost: the line that lasts longest counts
                    matters = distance[child] + 1 > soonest[node]
                matters &= not is_settled(nodes, soonest, child)
                if matters and (best == NONE or visits[child] < fewest):
                    best, fewest = child, visits[child]
                child = nodes.next_sibling[child]
            node = best
