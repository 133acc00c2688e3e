"""PUCT: argmax_a Q(a) + c·P(a)·√ΣN / (1 + N(a)).  Silver et al. 2017, Methods.

ΣN counts the visit that evaluated the node itself, so that the priors decide the very first choice.
"""

from dataclasses import dataclass

import numpy as np

from tengen.games.game import Mask
from tengen.search.edges import add_child
from tengen.search.tree import (
    LOWEST,
    NONE,
    UNKNOWN,
    Floats,
    Int8s,
    Int16s,
    Int32s,
    Slots,
    Trees,
    kernel,
)


@dataclass(frozen=True)
class Puct:
    """How PUCT chooses, and how much it explores."""

    c_puct: float = 1.5  # weight of the prior against the value
    dirichlet_alpha: float = 0.3  # of the noise at the root, ≈ 10 / typical number of legal moves
    dirichlet_fraction: float = 0.0  # of the root's priors that is noise; AlphaZero's self-play: 0.25
    # First-play urgency: what an unvisited move is taken to be worth. None: an even game, 0, as in AlphaZero;
    # in a lost position every unvisited move then looks good, and all are tried. A number: what the evaluator
    # says of the position, less this much, so that the search of a lost position stays deep (KataGo: 0.2).
    fpu_reduction: float | None = None
    virtual_loss: float = 1.0  # what a leaf that is being evaluated counts as, when a round has several


def descend(trees: Trees, slots: Slots, settings: Puct) -> None:
    """Finds a leaf for every slot, from the root down."""
    fpu = settings.fpu_reduction
    _descend(
        trees.capacity,
        slots.per_tree,
        settings.c_puct,
        0.0 if fpu is None else 1.0,
        0.0 if fpu is None else -fpu,
        settings.virtual_loss,
        trees.used,
        slots.leaves,
        slots.is_new,
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


@kernel
def _descend(
    capacity: int,
    per_tree: int,
    c_puct: float,
    fpu_weight: float,
    fpu_constant: float,
    virtual_loss: float,
    used: Int32s,
    leaves: Int32s,
    is_new: Mask,
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
    one = np.float32(1.0)
    c, weight, constant = np.float32(c_puct), np.float32(fpu_weight), np.float32(fpu_constant)
    loss = np.float32(virtual_loss)
    for slot in range(leaves.size):
        tree = slot // per_tree
        node = tree * capacity
        leaf = NONE
        is_new[slot] = False
        leaves[slot] = NONE
        if proven[node] != UNKNOWN:  # nothing is left to find; and others in the batch may have more to do
            continue
        while node >= 0:  # always; said so that Numba need not ask whether an index is negative
            if proven[node] != UNKNOWN:  # its value is known: visit it again, at no cost
                leaf = node
                break
            if num_legal[node] == NONE:  # another slot of this tree is evaluating it
                break
            # 1. the best of the visited children
            exploration = c * np.sqrt(np.float32(visits[node]))
            best_score, best = LOWEST, NONE
            child = first_child[node]
            while child >= 0:
                score = q[child] + exploration * edge_priors[child] / (one + np.float32(visits[child]))
                if score > best_score:
                    best_score, best = score, child
                child = next_sibling[child]
            # 2. or the best of the others, which becomes a child
            if best_action[node] != NONE:
                fpu = weight * values[node] + constant
                if fpu + exploration * best_prior[node] > best_score:
                    leaf = max(0, tree * capacity + used[tree])
                    used[tree] += 1
                    is_new[slot] = True
                    add_child(
                        node, max(0, best_action[node]), leaf, priors, num_legal, parents, actions,
                        first_child, next_sibling, num_children, best_action, best_prior, visits, value_sums,
                        q, edge_priors, proven, distance,
                    )  # fmt: skip
                    break
            node = best
        leaves[slot] = leaf
        if per_tree > 1 and leaf != NONE:  # the other slots of this tree shall look elsewhere
            while leaf >= 0:
                visits[leaf] += 1
                value_sums[leaf] -= loss
                if proven[leaf] == UNKNOWN:
                    q[leaf] = value_sums[leaf] / np.float32(visits[leaf])
                leaf = parents[leaf]


def add_noise(trees: Trees, settings: Puct, random: np.random.Generator) -> None:
    """Mixes Dirichlet noise into the priors of every root: P = (1 - ε)·p + ε·η, η ~ Dir(α)."""
    shape = (trees.num_trees, trees.priors.shape[1])
    _mix(
        np.float32(settings.dirichlet_fraction),
        random.standard_gamma(settings.dirichlet_alpha, shape, np.float32),
        trees.roots,
        trees.priors,
        trees.actions,
        trees.first_child,
        trees.next_sibling,
        trees.edge_priors,
        trees.best_action,
        trees.best_prior,
    )


@kernel
def _mix(
    fraction: np.float32,
    gammas: Floats,
    roots: Int32s,
    priors: Floats,
    actions: Int16s,
    first_child: Int32s,
    next_sibling: Int32s,
    edge_priors: Floats,
    best_action: Int16s,
    best_prior: Floats,
) -> None:
    """Gamma variates, divided by their sum over the legal actions, are a draw from the Dirichlet."""
    for tree in range(roots.size):
        root = roots[tree]
        total = np.float32(1e-30)
        for a in range(priors.shape[1]):
            if priors[root, a] > 0:
                total += gammas[tree, a]
        child = first_child[root]
        while child >= 0:
            total += gammas[tree, actions[child]]
            child = next_sibling[child]
        best, at = np.float32(0.0), NONE
        for a in range(priors.shape[1]):
            if priors[root, a] > 0:
                priors[root, a] += fraction * (gammas[tree, a] / total - priors[root, a])
                if priors[root, a] > best:
                    best, at = priors[root, a], a
        best_action[root], best_prior[root] = at, best
        child = first_child[root]
        while child >= 0:
            edge_priors[child] += fraction * (gammas[tree, actions[child]] / total - edge_priors[child])
            child = next_sibling[child]
