"""What a search has found: the statistics of the roots' edges, the move to play, the line expected."""

from dataclasses import dataclass

import numpy as np

from tengen.games.game import Mask
from tengen.search.tree import (
    DRAW,
    LOSS,
    LOWEST,
    NONE,
    UNKNOWN,
    WIN,
    Floats,
    Int8s,
    Int16s,
    Int32s,
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


def read_roots(trees: Trees, powers: Floats) -> Result:
    """The result as PUCT sees it: policy by visits, the most visited move."""
    roots = trees.roots
    shape = (trees.num_trees, trees.priors.shape[1])
    visits, q = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
    priors, legal = trees.priors[roots], np.zeros(shape, np.bool_)
    priors[trees.num_legal[roots] == NONE] = 0  # finished games are not evaluated
    proven, distance = np.zeros(shape, np.int8), np.zeros(shape, np.int16)
    values, policy = np.zeros(len(roots), np.float32), np.zeros(shape, np.float32)
    actions = np.zeros(len(roots), np.int32)
    _read(
        powers,
        roots,
        visits,
        q,
        priors,
        legal,
        proven,
        distance,
        values,
        policy,
        actions,
        trees.to_move,
        trees.actions,
        trees.first_child,
        trees.next_sibling,
        trees.visits,
        trees.value_sums,
        trees.q,
        trees.edge_priors,
        trees.proven,
        trees.distance,
    )
    return Result(
        visits, q, priors, legal, proven, distance, values, trees.proven[roots], trees.distance[roots],
        simulations=trees.visits[roots], policy=policy, actions=actions,
    )  # fmt: skip


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
    the slowest loss. Ties go to the better value, then to the better prior. NONE if the game is over."""
    best_rank, best = -1e30, NONE
    for a in range(visits.shape[1]):
        rank = float(visits[tree, a])
        if proven[tree, a] == WIN:
            rank = 1e12 - distance[tree, a]
        elif proven[tree, a] == LOSS:
            rank = -1e12 + distance[tree, a]
        elif proven[tree, a] == DRAW and root_proven == DRAW:  # the rest are losses, or no better
            rank += 1e9
        rank += 1e-3 * q[tree, a] + 1e-7 * priors[tree, a]
        if legal[tree, a] and rank > best_rank:
            best_rank, best = rank, a
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
    to_move: Int8s,
    actions: Int16s,
    first_child: Int32s,
    next_sibling: Int32s,
    visits: Int32s,
    value_sums: Floats,
    edge_q: Floats,
    edge_priors: Floats,
    proven: Int8s,
    distance: Int16s,
) -> None:
    for tree in range(roots.size):
        root = roots[tree]
        child = first_child[root]
        while child >= 0:
            a = actions[child]
            out_visits[tree, a] = visits[child]
            out_priors[tree, a] = edge_priors[child]
            out_distance[tree, a] = distance[child] + 1
            out_q[tree, a] = edge_q[child]
            result = proven[child]
            if to_move[child] != to_move[root] and result != UNKNOWN and result != DRAW:
                result = LOSS if result == WIN else WIN
            out_proven[tree, a] = result
            child = next_sibling[child]
        for a in range(out_visits.shape[1]):
            out_legal[tree, a] = out_priors[tree, a] > 0
        result = proven[root]
        if result == UNKNOWN:
            out_values[tree] = value_sums[root] / np.float32(max(visits[root], 1))
        elif result != DRAW:
            out_values[tree] = powers[distance[root]] if result == WIN else -powers[distance[root]]
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


def principal_variation(trees: Trees, tree: int, first_action: int | None = None) -> list[int]:
    """The line expected from a root, or after one of its moves: at each node the move to be played."""
    node = int(trees.roots[tree])
    line: list[int] = []
    action = first_action
    while trees.first_child[node] != NONE:
        child = _expected(trees, node) if action is None else _child(trees, node, action)
        if child == NONE:
            break
        line.append(int(trees.actions[child]))
        node, action = child, None
    return line


def _child(trees: Trees, node: int, action: int) -> int:
    return next((child for child in children(trees, node) if trees.actions[child] == action), NONE)


def _expected(trees: Trees, node: int) -> int:
    """The child whose move the search expects at a node."""
    best_rank, best = -np.inf, NONE
    for child in reversed(children(trees, node)):
        proven, distance = trees.proven[child], int(trees.distance[child])
        same = trees.to_move[child] == trees.to_move[node]
        rank = float(trees.visits[child])
        if proven in (WIN, LOSS):
            rank = 1e12 - distance if (proven == WIN) == same else -1e12 + distance
        elif proven == DRAW and trees.proven[node] == DRAW:
            rank += 1e9
        if rank > best_rank:
            best_rank, best = rank, child
    return best


def log_priors(trees: Trees) -> Floats:
    """log P at every root that has no children yet, LOWEST where illegal;  [B, A]"""
    priors = trees.priors[trees.roots]
    priors[trees.num_legal[trees.roots] == NONE] = 0
    logs = np.full(priors.shape, LOWEST, np.float32)
    np.log(priors, out=logs, where=priors > 0)
    return logs
