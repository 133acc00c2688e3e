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
    Floats,
    Int8s,
    Int16s,
    Int32s,
    Trees,
    inlined,
    kernel,
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
    """Searches each of the states, int16[B, S], with at most so many nodes, until its result is settled."""
    num_trees = len(states)
    trees, slots = new_trees(game, num_trees, max_nodes), new_slots(game, num_trees, per_tree=1)
    batched = lift(game)
    soonest = np.zeros(num_trees * max_nodes, np.int16)
    powers = np.ones(2, np.float32)
    logits = np.zeros((num_trees, game.num_actions), np.float32)
    values = np.zeros(num_trees, np.float32)

    roots = trees.roots
    trees.states[roots] = states
    trees.used[:] = 1
    for array in (trees.parents, trees.actions, trees.first_child, trees.next_sibling, trees.num_legal):
        array[roots] = NONE
    slots.leaves[:], slots.is_new[:] = roots, True
    while (slots.leaves != NONE).any():
        count = batched.expand(
            trees.states, trees.parents, trees.actions, slots.leaves, slots.is_new, trees.to_move,
            trees.proven, slots.waiting, slots.states, slots.legal,
        )  # fmt: skip
        back_up(trees, slots, Evaluation(logits[:count], values[:count]), count, powers, 0.0)
        _close_in(
            slots.leaves, True, soonest, trees.to_move, trees.num_legal, trees.parents, trees.first_child,
            trees.next_sibling, trees.num_children, trees.proven,
        )  # fmt: skip
        _descend(
            trees.capacity, soonest, trees.used, slots.leaves, slots.is_new, trees.to_move, trees.priors,
            trees.num_legal, trees.parents, trees.actions, trees.first_child, trees.next_sibling,
            trees.num_children, trees.best_action, trees.best_prior, trees.visits, trees.value_sums, trees.q,
            trees.edge_priors, trees.proven, trees.distance,
        )  # fmt: skip
    proofs = []
    for tree, root in enumerate(roots):
        result, distance = int(trees.proven[root]), int(trees.distance[root])
        is_exact = result == DRAW or (result != UNKNOWN and distance == soonest[root])
        line = principal_variation(trees, tree) if result != UNKNOWN else []
        proofs.append(Proof(result, distance, is_exact, line, int(trees.used[tree])))
    return proofs


@inlined
def is_settled(node: int, soonest: Int16s, proven: Int8s, distance: Int16s) -> bool:
    """Is everything known about a node?"""
    if proven[node] == UNKNOWN:
        return False
    return bool(proven[node] == DRAW or distance[node] == soonest[node])


@inlined
def is_good(node: int, child: int, to_move: Int8s, proven: Int8s) -> bool:
    """Is a child proven won for the player to move at the node?"""
    return bool(proven[child] == (WIN if to_move[child] == to_move[node] else LOSS))


def lower_bounds(trees: Trees) -> Int16s:
    """`soonest` of every node, after any search: where it equals the proven distance, that is exact;  [M]"""
    soonest = np.zeros(len(trees.visits), np.int16)
    for tree in range(trees.num_trees):
        first = tree * trees.capacity
        nodes = np.arange(first + trees.used[tree] - 1, first - 1, -1, dtype=np.int32)  # children first
        _close_in(nodes, False, soonest, trees.to_move, trees.num_legal, trees.parents, trees.first_child,
                  trees.next_sibling, trees.num_children, trees.proven)  # fmt: skip
    return soonest


@kernel
def _close_in(
    leaves: Int32s,
    up_to_root: bool,
    soonest: Int16s,
    to_move: Int8s,
    num_legal: Int16s,
    parents: Int32s,
    first_child: Int32s,
    next_sibling: Int32s,
    num_children: Int16s,
    proven: Int8s,
) -> None:
    """Brings the lower bounds of nodes up to date, and those of all above them if asked to."""
    for slot in range(leaves.size):
        node = leaves[slot]
        while node >= 0:
            if proven[node] != UNKNOWN and first_child[node] == NONE:
                soonest[node] = 0
            else:
                least, largest = 30000, 0
                if num_children[node] < num_legal[node] or num_legal[node] == NONE:
                    least = 0
                child = first_child[node]
                while child >= 0:
                    can_be_good = proven[child] == UNKNOWN or is_good(node, child, to_move, proven)
                    if proven[node] != WIN or can_be_good:
                        least = min(least, soonest[child])
                    largest = max(largest, soonest[child])
                    child = next_sibling[child]
                soonest[node] = 1 + (largest if proven[node] == LOSS else least)
            node = parents[node] if up_to_root else NONE


@kernel
def _descend(
    capacity: int,
    soonest: Int16s,
    used: Int32s,
    leaves: Int32s,
    is_new: Mask,
    to_move: Int8s,
    priors: Floats,
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
    """Finds a leaf that can bring each unsettled root closer to being settled; NONE if there is none."""
    for tree in range(leaves.size):
        node = tree * capacity
        leaves[tree] = NONE
        is_new[tree] = False
        if is_settled(node, soonest, proven, distance) or used[tree] == capacity:
            continue
        while True:
            # 1. a move nobody has tried: it might end the game at once
            wanted = proven[node] == UNKNOWN or (proven[node] == WIN and distance[node] > 1)
            if wanted and best_action[node] != NONE:
                leaf = tree * capacity + used[tree]
                used[tree] += 1
                leaves[tree], is_new[tree] = leaf, True
                add_child(
                    node, best_action[node], leaf, priors, num_legal, parents, actions, first_child,
                    next_sibling, num_children, best_action, best_prior, visits, value_sums, q, edge_priors,
                    proven, distance,
                )  # fmt: skip
                break
            # 2. else the child that matters and has been looked at least
            best, fewest = NONE, 0
            child = first_child[node]
            while child >= 0:
                if proven[node] == UNKNOWN:
                    matters = proven[child] == UNKNOWN
                elif proven[node] == WIN:
                    can_be_good = proven[child] == UNKNOWN or is_good(node, child, to_move, proven)
                    matters = can_be_good and soonest[child] + 1 < distance[node]
                else:  # lost: the line that lasts longest counts
                    matters = distance[child] + 1 > soonest[node]
                matters &= not is_settled(child, soonest, proven, distance)
                if matters and (best == NONE or visits[child] < fewest):
                    best, fewest = child, visits[child]
                child = next_sibling[child]
            node = best
