"""Gumbel search: improves on the prior even with two simulations.  Danihelka et al., ICLR 2022.

At the root, k actions are drawn without replacement (the largest g(a) + log P(a), g Gumbel noise) and share
the simulations by sequential halving: after each phase the better half go on, by g(a) + log P(a) + σ(q(a)).
Below the root the search visits actions in proportion to the improved policy

    π'(a) ∝ P(a) · exp σ(q(a)),      σ(q) = (c_visit + max N) · c_scale · q

where an unvisited action is taken to be worth v_mix, a mean of the evaluator's value and what was found.
π' at the root is what a network is trained on.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from tengen.errors import UserError
from tengen.games.game import Mask
from tengen.search.edges import add_child, exp
from tengen.search.result import Result, read_roots, root_log_priors
from tengen.search.tree import (
    LOSS,
    LOWEST,
    NONE,
    UNKNOWN,
    Array,
    Floats,
    Int8s,
    Int16s,
    Int32s,
    Nodes,
    Slots,
    Trees,
    kernel,
)


@dataclass(frozen=True)
class Gumbel:
    """How many actions share the simulations, and what a value is worth against a prior."""

    num_considered: int = 16  # actions at the root; fewer than simulations is best
    noise: float = 1.0  # scale of the Gumbel noise: 1 explores (self-play), 0 plays its best
    c_visit: float = 50.0  # as published
    # For values in [-1, 1]. A trained network's deserve 0.5 (its card says; LOG.md), rollouts less.
    c_scale: float = 0.1

    max_leaves_per_round: ClassVar[int] = 1
    virtual_loss: ClassVar[float] = 0.0
    prior_temperature: ClassVar[float] = 1.0

    def explore(self, trees: Trees, random: np.random.Generator) -> None:
        """Nothing: Gumbel's noise is drawn with each plan."""

    def plan(
        self, trees: Trees, num_simulations: int | None, random: np.random.Generator | None
    ) -> "GumbelPlan":
        """Draws the candidates of every root, and decides which of them is visited when."""
        if num_simulations is None:
            raise UserError(
                "Gumbel search shares out its simulations beforehand: give their number, or use PUCT"
            )
        return make_plan(self, trees, num_simulations, random)


class Candidates(NamedTuple):
    """The k actions of each root that share its simulations. Kernels take the arrays in this order."""

    actions: Int16s  # [B, k]; those after `counts` do not count
    counts: Int16s  # [B], how many there are
    scores: Floats  # [B, k], g(a) + log P(a)
    nodes: Int32s  # [B, k], the child of each; NONE until it is visited
    visits: Int32s  # [B, k], of the plan: those kept from the last move are not counted


@dataclass(frozen=True)
class GumbelPlan:
    """What is decided at the roots before the search: the candidates, and who is visited when."""

    settings: Gumbel
    trees: Trees
    candidates: Candidates
    schedule: Int32s  # [k + 1, n]: simulation t goes to a candidate with schedule[counts, t] visits
    log_priors: Floats  # [B, A], LOWEST where illegal
    scratch: Floats  # [3, A]

    def descend(self, slots: Slots, simulation: int) -> None:
        """Finds a leaf for every tree, from the root down."""
        _descend(
            simulation,
            self.trees.capacity,
            self.settings.c_visit,
            self.settings.c_scale,
            self.scratch,
            self.schedule,
            *self.candidates,
            self.trees.used,
            slots.leaves,
            slots.is_new,
            *self.trees.nodes,
        )

    def improve(self, result: Result) -> None:
        """Gives the roots that are not proven Gumbel's policy and action."""
        settings, roots = self.settings, self.trees.roots
        _improve(
            settings.c_visit, settings.c_scale, self.trees.nodes.values[roots], self.log_priors,
            result.visits, result.q, result.root_proven, result.policy,
        )  # fmt: skip
        _choose_action(
            settings.c_visit, settings.c_scale, *self.candidates, result.visits, result.q, result.proven,
            result.root_proven, result.actions,
        )  # fmt: skip


def halving(num_candidates: int, num_simulations: int) -> list[int]:
    """How many visits the candidate of each simulation has had before: sequential halving.

    Each phase visits its candidates equally often, and the better half of them go on to the next. 4, 12:
    0 0 0 0 · 1 1 · 2 2 · 3 3 · 4 4, since each of the log₂ 4 phases gets about six.
    """
    phases = max(1, (num_candidates - 1).bit_length())
    sequence: list[int] = []
    visits, left = 0, num_candidates
    while len(sequence) < num_simulations:
        for _ in range(max(1, num_simulations // (phases * left))):
            sequence += [visits] * left
            visits += 1
        left = max(min(2, num_candidates), left // 2)
    return sequence[:num_simulations]


@lru_cache(maxsize=64)
def _schedule(max_candidates: int, num_simulations: int) -> Int32s:
    table = np.zeros((max_candidates + 1, num_simulations), np.int32)
    for count in range(1, max_candidates + 1):
        table[count] = halving(count, num_simulations)
    return table


def gumbel_noise(shape: tuple[int, ...], random: np.random.Generator) -> Floats:
    """Draws from the standard Gumbel distribution: -log of exponential ones (twice as fast as numpy's)."""
    return -np.log(np.maximum(random.standard_exponential(shape, np.float32), np.float32(1e-30)))


def make_plan(
    settings: Gumbel, trees: Trees, num_simulations: int, random: np.random.Generator | None
) -> GumbelPlan:
    """A plan whose candidates are the k actions with the highest g(a) + log P(a). Where the tree was kept
    from the last move, with the highest g(a) + log π'(a): what was found is not forgotten."""
    is_kept = trees.nodes.first_child[trees.roots] != NONE
    log_priors = root_log_priors(trees, is_kept)
    scores = log_priors
    if settings.noise > 0 and random is not None:
        scores = log_priors + np.float32(settings.noise) * gumbel_noise(log_priors.shape, random)
    num_trees, num_actions = log_priors.shape
    k = max(1, min(settings.num_considered, num_actions, num_simulations))
    candidates = Candidates(
        actions=np.zeros((num_trees, k), np.int16),
        counts=np.zeros(num_trees, np.int16),
        scores=np.full((num_trees, k), LOWEST, np.float32),
        nodes=np.full((num_trees, k), NONE, np.int32),
        visits=np.zeros((num_trees, k), np.int32),
    )
    scratch = np.zeros((3, num_actions), np.float32)
    plan = GumbelPlan(settings, trees, candidates, _schedule(k, num_simulations), log_priors, scratch)
    ranks = scores
    if is_kept.any():
        found = read_roots(trees)
        plan.improve(found)  # there are no candidates yet, so of the result only the policy changes
        learned = np.log(np.maximum(found.policy, np.float32(1e-30))) - log_priors
        ranks = np.where(is_kept[:, None] & found.legal, scores + learned, scores)
    _choose(ranks, scores, log_priors, trees.roots, *candidates, *trees.nodes)
    return plan


@kernel
def _choose(
    ranks: Floats,
    scores: Floats,
    log_priors: Floats,
    roots: Int32s,
    candidates: Int16s,
    counts: Int16s,
    candidate_scores: Floats,
    candidate_nodes: Int32s,
    new_visits: Int32s,
    *arrays: Array,
) -> None:
    """The legal actions with the highest ranks, best first."""
    nodes = Nodes(*arrays)
    for tree in range(ranks.shape[0]):
        ceiling, before, count = -LOWEST, NONE, 0
        while count < candidates.shape[1]:
            best_rank, best = LOWEST, NONE
            for a in range(ranks.shape[1]):
                below = ranks[tree, a] < ceiling or (ranks[tree, a] == ceiling and a > before)
                if log_priors[tree, a] > LOWEST and below and ranks[tree, a] > best_rank:
                    best_rank, best = ranks[tree, a], a
            if best == NONE:
                break
            candidates[tree, count] = best
            candidate_scores[tree, count] = scores[tree, best]
            ceiling, before, count = best_rank, best, count + 1
        counts[tree] = count
        child = nodes.first_child[roots[tree]]
        while child >= 0:  # of a kept tree
            for i in range(counts[tree]):
                if candidates[tree, i] == nodes.actions[child]:
                    candidate_nodes[tree, i] = child
            child = nodes.next_sibling[child]


@kernel
def _descend(
    simulation: int,
    capacity: int,
    c_visit: float,
    c_scale: float,
    scratch: Floats,
    schedule: Int32s,
    candidates: Int16s,
    counts: Int16s,
    scores: Floats,
    candidate_nodes: Int32s,
    new_visits: Int32s,
    used: Int32s,
    leaves: Int32s,
    is_new: Mask,
    *arrays: Array,
) -> None:
    nodes = Nodes(*arrays)
    proven, visits, q, next_sibling = nodes.proven, nodes.visits, nodes.q, nodes.next_sibling
    zero, one = np.float32(0.0), np.float32(1.0)
    for tree in range(leaves.size):
        root = tree * capacity
        is_new[tree] = False
        if proven[root] != UNKNOWN:  # nothing is left to find; and others in the batch may have more to do
            leaves[tree] = NONE
            continue
        # 1. at the root: the best candidate among those whose turn it is
        wanted = schedule[counts[tree], simulation]
        most = zero
        for i in range(counts[tree]):
            child = candidate_nodes[tree, i]
            if child != NONE:
                most = max(most, np.float32(visits[child]))
        scale = np.float32((c_visit + most) * c_scale)
        best_score, best = np.float32(2.0) * LOWEST, 0
        for i in range(counts[tree]):
            child = candidate_nodes[tree, i]
            if new_visits[tree, i] == wanted:
                score = scores[tree, i]
                if child != NONE:
                    score += scale * q[child]
                if score > best_score:
                    best_score, best = score, i
        node, action = candidate_nodes[tree, best], candidates[tree, best]
        new_visits[tree, best] += 1
        parent = root
        # 2. below the root: visits in proportion to the improved policy
        while node >= 0 and proven[node] == UNKNOWN:
            parent = node
            # what is known of the visited children, side by side: q, prior, visits
            share, share_q, total, most, count = zero, zero, zero, zero, 0
            child = nodes.first_child[node]
            while child >= 0:
                prior, n = nodes.edge_priors[child], np.float32(visits[child])
                scratch[0, count], scratch[1, count], scratch[2, count] = q[child], prior, n
                share += prior
                share_q += prior * q[child]
                total += n
                most = max(most, n)
                child, count = next_sibling[child], count + 1
            mixed = nodes.values[node]
            if share > zero:
                mixed = (mixed + total * share_q / share) / (one + total)
            # Weights relative to unvisited actions, whose exponent is 0; the peak is taken off first, for
            # float32 overflows near 375 visits otherwise.
            scale = np.float32((c_visit + most) * c_scale)
            peak = zero
            for i in range(count):
                scratch[0, i] = scale * (scratch[0, i] - mixed)
                peak = max(peak, scratch[0, i])
            unvisited = exp(-peak)
            normaliser = max(one - share, zero) * unvisited
            for i in range(count):
                scratch[0, i] = scratch[1, i] * exp(scratch[0, i] - peak)
                normaliser += scratch[0, i]
            best_score, node, child = LOWEST, NONE, nodes.first_child[parent]
            for i in range(count):
                score = scratch[0, i] / normaliser - scratch[2, i] / (one + total)
                if score > best_score:
                    best_score, node = score, child
                child = next_sibling[child]
            action = nodes.best_action[parent]
            if action != NONE and nodes.best_prior[parent] * unvisited / normaliser > best_score:
                node = NONE
        # 3. a new leaf, or one whose result is known
        if node == NONE:
            node = max(0, root + used[tree])
            used[tree] += 1
            is_new[tree] = True
            if parent == root:
                candidate_nodes[tree, best] = node
            add_child(nodes, max(0, parent), max(0, action), node)
        leaves[tree] = node


@kernel
def _improve(
    c_visit: float,
    c_scale: float,
    values: Floats,
    log_priors: Floats,
    visits: Int32s,
    q: Floats,
    root_proven: Int8s,
    policy: Floats,
) -> None:
    """π' of the roots that are not proven."""
    for tree in range(values.size):
        if root_proven[tree] != UNKNOWN:
            continue
        # 1. what unvisited actions are taken to be worth
        share, share_q, total, most = np.float32(0.0), np.float32(0.0), np.float32(0.0), 0
        for a in range(visits.shape[1]):
            if visits[tree, a] > 0:
                prior = exp(log_priors[tree, a])
                share += prior
                share_q += prior * q[tree, a]
                total += np.float32(visits[tree, a])
                most = max(most, visits[tree, a])
        mixed = values[tree]
        if share > 0:
            mixed = (mixed + total * share_q / share) / (np.float32(1.0) + total)
        scale = np.float32((c_visit + most) * c_scale)
        # 2. softmax of log P + σ(completed q)
        peak = LOWEST
        for a in range(visits.shape[1]):
            logit = log_priors[tree, a]
            if visits[tree, a] > 0:
                logit += scale * (q[tree, a] - mixed)
            policy[tree, a] = logit
            peak = max(peak, logit)
        weights = np.float32(0.0)
        for a in range(visits.shape[1]):
            weight = exp(policy[tree, a] - peak)
            policy[tree, a] = weight if log_priors[tree, a] > LOWEST else np.float32(0.0)
            weights += policy[tree, a]
        for a in range(visits.shape[1]):
            policy[tree, a] /= weights


@kernel
def _choose_action(
    c_visit: float,
    c_scale: float,
    candidates: Int16s,
    counts: Int16s,
    scores: Floats,
    candidate_nodes: Int32s,
    new_visits: Int32s,
    visits: Int32s,
    q: Floats,
    proven: Int8s,
    root_proven: Int8s,
    actions: Int32s,
) -> None:
    """Of the candidates that are not proven to lose, and of these the ones with the most new visits, the best
    by g + log P + σ(q)."""
    for tree in range(actions.size):
        if root_proven[tree] != UNKNOWN or counts[tree] == 0:
            continue
        most, most_new = 0, NONE
        for i in range(counts[tree]):
            most = max(most, visits[tree, candidates[tree, i]])
            if proven[tree, candidates[tree, i]] != LOSS:
                most_new = max(most_new, new_visits[tree, i])
        scale = np.float32((c_visit + most) * c_scale)
        best_score, best = np.float32(2.0) * LOWEST, actions[tree]
        for i in range(counts[tree]):
            a = candidates[tree, i]
            score = scores[tree, i] + scale * q[tree, a]
            if new_visits[tree, i] == most_new and proven[tree, a] != LOSS and score > best_score:
                best_score, best = score, a
        actions[tree] = best
