"""PUCT: argmax_a Q(a) + c·P(a)·√ΣN / (1 + N(a)).  Silver et al. 2017, Methods.

ΣN counts the visit that evaluated the node itself, so that the priors decide the very first choice. Moves
that are proven lost are not visited again: nothing is left to find there, and they would spoil the mean.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tengen.games.game import Mask
from tengen.search.edges import add_child, is_bad
from tengen.search.result import Result
from tengen.search.tree import LOSS, LOWEST, NONE, UNKNOWN, Array, Floats, Int32s, Nodes, Slots, Trees, kernel

LEAST_SHARE = 0.1  # of the visits of the most visited move, that a move to play must have


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
    prior_temperature: float = 1.0  # the priors are softmax(logits / this); above 1, they differ less (lc0)
    # The move to play has the highest lower confidence bound, Q - lcb / √N (as Leela Zero and KataGo choose).
    # 0: it is the most visited one, as in AlphaZero, which may have been overtaken by a better move late.
    lcb: float = 0.0

    max_leaves_per_round: ClassVar[int] = 4096

    def explore(self, trees: Trees, random: np.random.Generator) -> None:
        """Mixes Dirichlet noise into the priors of every root: P = (1 - ε)·p + ε·η, η ~ Dir(α)."""
        if self.dirichlet_fraction > 0:
            shape = (trees.num_trees, trees.nodes.priors.shape[1])
            gammas = random.standard_gamma(self.dirichlet_alpha, shape, np.float32)
            _mix(np.float32(self.dirichlet_fraction), gammas, trees.roots, *trees.nodes)

    def plan(
        self, trees: Trees, num_simulations: int | None, random: np.random.Generator | None
    ) -> "PuctPlan":
        """Every simulation is chosen like any other: nothing to prepare."""
        return PuctPlan(self, trees)


@dataclass(frozen=True)
class PuctPlan:
    """Any number of simulations."""

    settings: Puct
    trees: Trees

    def descend(self, slots: Slots, simulation: int) -> None:
        """Finds a leaf for every slot, from the root down."""
        settings, trees, fpu = self.settings, self.trees, self.settings.fpu_reduction
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
            *trees.nodes,
        )

    def improve(self, result: Result) -> None:
        """Takes the move with the highest lower confidence bound, among those with enough visits. The policy
        by visits is PUCT's own."""
        if self.settings.lcb == 0:
            return
        visits = np.maximum(result.visits, 1)
        bounds = result.q - self.settings.lcb / np.sqrt(visits)
        is_open = (result.visits >= LEAST_SHARE * visits.max(axis=1, keepdims=True)) & (result.proven != LOSS)
        best = np.where(is_open, bounds, LOWEST).argmax(axis=1)
        use = (result.root_proven == UNKNOWN) & is_open.any(axis=1)
        result.actions[use] = best[use]


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
    *arrays: Array,
) -> None:
    nodes = Nodes(*arrays)
    proven, visits, q = nodes.proven, nodes.visits, nodes.q
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
            if nodes.num_legal[node] == NONE:  # another slot of this tree is evaluating it
                break
            # 1. the best of the visited children
            exploration = c * np.sqrt(np.float32(visits[node]))
            best_score, best = LOWEST, NONE
            child = nodes.first_child[node]
            while child >= 0:
                score = q[child] + exploration * nodes.edge_priors[child] / (one + np.float32(visits[child]))
                if score > best_score and not is_bad(nodes, node, child):
                    best_score, best = score, child
                child = nodes.next_sibling[child]
            # 2. or the best of the others, which becomes a child
            if nodes.best_action[node] != NONE:
                fpu = weight * nodes.values[node] + constant
                if fpu + exploration * nodes.best_prior[node] > best_score:
                    leaf = max(0, tree * capacity + used[tree])
                    used[tree] += 1
                    is_new[slot] = True
                    add_child(nodes, node, max(0, nodes.best_action[node]), leaf)
                    break
            node = best
        leaves[slot] = leaf
        if per_tree > 1 and leaf != NONE:  # the other slots of this tree shall look elsewhere
            while leaf >= 0:
                visits[leaf] += 1
                nodes.value_sums[leaf] -= loss
                if proven[leaf] == UNKNOWN:
                    q[leaf] = nodes.value_sums[leaf] / np.float32(visits[leaf])
                leaf = nodes.parents[leaf]


@kernel
def _mix(fraction: np.float32, gammas: Floats, roots: Int32s, *arrays: Array) -> None:
    """Gamma variates, divided by their sum over the legal actions, are a draw from the Dirichlet."""
    nodes = Nodes(*arrays)
    priors, actions, edge_priors = nodes.priors, nodes.actions, nodes.edge_priors
    for tree in range(roots.size):
        root = roots[tree]
        total = np.float32(1e-30)
        for a in range(priors.shape[1]):
            if priors[root, a] > 0:
                total += gammas[tree, a]
        child = nodes.first_child[root]
        while child >= 0:
            total += gammas[tree, actions[child]]
            child = nodes.next_sibling[child]
        best, at = np.float32(0.0), NONE
        for a in range(priors.shape[1]):
            if priors[root, a] > 0:
                priors[root, a] += fraction * (gammas[tree, a] / total - priors[root, a])
                if priors[root, a] > best:
                    best, at = priors[root, a], a
        nodes.best_action[root], nodes.best_prior[root] = at, best
        child = nodes.first_child[root]
        while child >= 0:
            edge_priors[child] += fraction * (gammas[tree, actions[child]] / total - edge_priors[child])
            child = nodes.next_sibling[child]
