"""What a search has found: the statistics of the roots' edges, the move to play, the line expected."""

from dataclasses import dataclass

import numpy as np

from tengen.games.game import Mask
from tengen.search.tree import (
    DRAW,
    LOSS,
    LOWEST,
    MAX_PLIES,
    NONE,
    UNKNOWN,
    WIN,
    Array,
    Floats,
    Int8s,
    Int16s,
    Int32s,
    Nodes,
    Trees,
    children,
    inlined,
    kernel,
)


@dataclass(frozen=True)
class Result:
    """The roots of B trees. Everything is for the player to move at the root."""

    visits: Int32s  # [B, A]
    q: Floats  # [B, A], 0 where unvisited
    priors: Floats  # [B, A], noise included
    legal: Mask  # [B, A]
    proven: Int8s  # [B, A], of each move: UNKNOWN, WIN, LOSS or DRAW
    distance: Int16s  # [B, A], plies from the root to that end

    values: Floats  # [B], the mean of all visits; exact if proven
    root_proven: Int8s  # [B]
    root_distance: Int16s  # [B]
    simulations: Int32s  # [B], visits of the root, the one that evaluated it included

    policy: Floats  # [B, A], what the search would have the network say
    actions: Int32s  # [B], the move to play; NONE if the game is over


def read_roots(trees: Trees) -> Result:
    """The result by visits: policy in proportion to them, the most visited move."""
    nodes, roots = trees.nodes, trees.roots
    shape = (trees.num_trees, nodes.priors.shape[1])
    result = Result(
        visits=np.zeros(shape, np.int32),
        q=np.zeros(shape, np.float32),
        priors=nodes.priors[roots],
        legal=np.zeros(shape, np.bool_),
        proven=np.zeros(shape, np.int8),
        distance=np.zeros(shape, np.int16),
        values=np.zeros(len(roots), np.float32),
        root_proven=nodes.proven[roots],
        root_distance=nodes.distance[roots],
        simulations=nodes.visits[roots],
        policy=np.zeros(shape, np.float32),
        actions=np.zeros(len(roots), np.int32),
    )
    result.priors[nodes.num_legal[roots] == NONE] = 0  # finished games are not evaluated
    _read(
        trees.powers,
        roots,
        result.visits,
        result.q,
        result.priors,
        result.legal,
        result.proven,
        result.distance,
        result.values,
        result.policy,
        result.actions,
        *nodes,
    )
    return result


def root_log_priors(trees: Trees, kept: Mask) -> Floats:
    """log P of every action at the roots, LOWEST where illegal;  [B, A]. kept: which roots have children."""
    nodes, roots = trees.nodes, trees.roots
    priors = nodes.priors[roots]
    priors[nodes.num_legal[roots] == NONE] = 0  # finished games are not evaluated
    for tree in np.flatnonzero(kept):
        visited = children(nodes, int(roots[tree]))
        priors[tree, nodes.actions[visited]] = nodes.edge_priors[visited]
    logs = np.full(priors.shape, LOWEST, np.float32)
    np.log(priors, out=logs, where=priors > 0)
    return logs


@inlined
def best_action_of(
    tree: int,
    root_proven: int,
    visits: Int32s,
    q: Floats,
    priors: Floats,
    legal: Mask,
    proven: Int8s,
    distance: Int16s,
) -> int:
    """The move to play: the fastest proven win; else the most visited move that is not a proven loss; else
    the slowest loss. Ties go to the better value, then to the better prior: among equal losses, to the move
    that looks best to the evaluator. NONE if the game is over."""
    best_rank, best_tie, best = -1e30, 0.0, NONE
    for a in range(visits.shape[1]):
        rank = float(visits[tree, a])
        if proven[tree, a] == WIN:
            rank = 1e12 - distance[tree, a]
        elif proven[tree, a] == LOSS:
            rank = -1e12 + distance[tree, a]
        elif proven[tree, a] == DRAW and root_proven == DRAW:  # the rest are losses, or no better
            rank += 1e9
        tie = q[tree, a] + 1e-4 * priors[tree, a]  # apart from the rank: next to 1e12 it would be rounded off
        if legal[tree, a] and (rank > best_rank or (rank == best_rank and tie > best_tie)):
            best_rank, best_tie, best = rank, tie, a
    return best


@kernel
def _read(
    powers: Floats,
    roots: Int32s,
    out_visits: Int32s,
    out_q: Floats,
    out_priors: Floats,
    out_legal: Mask,
    out_proven: Int8s,
    out_distance: Int16s,
    out_values: Floats,
    out_policy: Floats,
    out_actions: Int32s,
    *arrays: Array,
) -> None:
    nodes = Nodes(*arrays)
    for tree in range(roots.size):
        root = roots[tree]
        child = nodes.first_child[root]
        while child >= 0:
            a = nodes.actions[child]
            out_visits[tree, a] = nodes.visits[child]
            out_priors[tree, a] = nodes.edge_priors[child]
            out_distance[tree, a] = nodes.distance[child] + 1
            out_q[tree, a] = nodes.q[child]
            result = nodes.proven[child]
            if nodes.to_move[child] != nodes.to_move[root] and result != UNKNOWN and result != DRAW:
                result = LOSS if result == WIN else WIN
            out_proven[tree, a] = result
            child = nodes.next_sibling[child]
        for a in range(out_visits.shape[1]):
            out_legal[tree, a] = out_priors[tree, a] > 0
        result = nodes.proven[root]
        if result == UNKNOWN:
            out_values[tree] = nodes.value_sums[root] / np.float32(max(nodes.visits[root], 1))
        elif result != DRAW:
            out_values[tree] = (
                powers[nodes.distance[root]] if result == WIN else -powers[nodes.distance[root]]
            )
        best = best_action_of(
            tree, result, out_visits, out_q, out_priors, out_legal, out_proven, out_distance
        )
        out_actions[tree] = best
        total = 0
        for a in range(out_visits.shape[1]):
            total += out_visits[tree, a]
        for a in range(out_visits.shape[1]):
            out_policy[tree, a] = np.float32(out_visits[tree, a]) / np.float32(max(total, 1))
        if result == WIN:  # nothing else is worth learning
            for a in range(out_visits.shape[1]):
                out_policy[tree, a] = np.float32(a == best)


def temperatures(plies: Int32s, first_plies: int, temperature: float = 1.0) -> Floats:
    """τ of games that have come this far: a temperature for the first plies, then 0, the best move;  [B]"""
    return np.where(plies < first_plies, temperature, 0.0).astype(np.float32)


def sample_actions(result: Result, temperature: Floats | float, random: np.random.Generator) -> Int32s:
    """Moves drawn by N^(1/τ); τ = 0 is the best move. Proven wins are taken, proven losses avoided."""
    tau = np.broadcast_to(np.asarray(temperature, np.float64), len(result.actions))[:, None]
    weights = np.where(result.proven != LOSS, result.visits, 0).astype(np.float64)
    weights = (weights / np.maximum(weights.max(axis=1, keepdims=True), 1)) ** (1 / np.maximum(tau, 1e-3))
    totals = weights.sum(axis=1, keepdims=True)
    threshold = random.random((len(weights), 1)) * totals
    drawn = np.minimum((weights.cumsum(axis=1) <= threshold).sum(axis=1), weights.shape[1] - 1)
    sure = (tau[:, 0] == 0) | (result.root_proven != UNKNOWN) | (totals[:, 0] == 0)
    return np.where(sure, result.actions, drawn).astype(np.int32)


def principal_variation(
    trees: Trees, tree: int, child: int | None = None, max_plies: int = MAX_PLIES
) -> list[int]:
    """The line expected from a root, or after the move that leads to one of its children."""
    start = int(trees.roots[tree]) if child is None else child
    line = np.empty(max_plies, np.int16)
    length = _expected_line(start, child is not None, line, *trees.nodes)
    return line[:length].tolist()  # type: ignore[no-any-return]


@kernel
def _expected_line(node: int, with_first: bool, line: Int16s, *arrays: Array) -> int:
    """At each node the move to be played, by the order of best_action_of. Returns how many there are."""
    nodes = Nodes(*arrays)
    length = 0
    if with_first:
        line[0] = nodes.actions[node]
        length = 1
    while length < line.size and nodes.first_child[node] != NONE:
        best_rank, best = -1e30, NONE
        child = nodes.first_child[node]
        while child >= 0:
            rank = float(nodes.visits[child])
            proven = nodes.proven[child]
            if proven in (WIN, LOSS):
                is_good = (proven == WIN) == (nodes.to_move[child] == nodes.to_move[node])
                rank = 1e12 - nodes.distance[child] if is_good else nodes.distance[child] - 1e12
            elif proven == DRAW and nodes.proven[node] == DRAW:
                rank += 1e9
            if rank > best_rank:
                best_rank, best = rank, child
            child = nodes.next_sibling[child]
        line[length] = nodes.actions[best]
        node, length = best, length + 1
    return length


def max_depth(parents: Int32s, root: int, used: int) -> int:
    """Plies from a root to the deepest of the nodes that its tree uses, which follow it."""
    return _max_depth(root, np.zeros(used, np.int16), parents)


@kernel
def _max_depth(first: int, depths: Int16s, parents: Int32s) -> int:
    """Parents come before their children, so one pass is enough."""
    deepest = 0
    for i in range(1, depths.size):
        depths[i] = depths[parents[first + i] - first] + 1
        deepest = max(deepest, depths[i])
    return deepest
