"""A batch of search trees in one pool of arrays.

Tree b owns the nodes from b · capacity; its root is the first of them, and a child always comes after its
parent. A node holds the state it stands for, and the statistics of the edge that led to it, **seen by the
player who chose that edge**: so selection compares value_sums / visits as they are and never negates.

Children are a linked list of those that have been visited. Of the actions not yet visited only the one with
the highest prior can be chosen next, so each node remembers that one. Nothing is recursive. The memory of a
pool is only reserved: the system provides it page by page, as nodes are used.

How a kernel gets the nodes: Python passes the arrays, `_descend(..., *trees.nodes)`; the kernel takes them as
`*arrays` and begins with `nodes = Nodes(*arrays)`. Inside compiled code such a tuple costs nothing, and
inlined parts take `nodes` as one argument. Passed from Python as one tuple, it costs up to a fifth of the
speed.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt
from numba import njit

from tengen.errors import UserError
from tengen.games.batch import DRAW as DRAW
from tengen.games.batch import LOSS as LOSS
from tengen.games.batch import UNKNOWN as UNKNOWN
from tengen.games.batch import WIN as WIN
from tengen.games.game import Game, Mask, State

Array = npt.NDArray[Any]
Int8s = npt.NDArray[np.int8]
Int16s = npt.NDArray[np.int16]
Int32s = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]

LOWEST = np.float32(-1e30)  # fastmath needs finite numbers, so not -inf

NONE = -1
MAX_NODES = 2**31 - 1  # nodes are numbered by int32
MAX_PLIES = 8192  # proven distances are below this

Function = TypeVar("Function", bound=Callable[..., Any])


# Kernels over trees see arrays only and allocate nothing, so they can do without reference counting (`_nrt`,
# a private option of Numba's): Gumbel search runs 3 × as fast. Nobody calls them from C; without a wrapper
# for that, each compiles in 11 ms less.
OPTIONS: Any = {"cache": True, "nogil": True, "fastmath": True, "_nrt": False, "no_cfunc_wrapper": True}


def kernel(function: Function) -> Function:
    """Compiles a loop over trees."""
    return cast(Function, njit(**OPTIONS)(function))


def inlined(function: Function) -> Function:
    """Compiles a part of a kernel, inlined where it is called."""
    return cast(Function, njit(**OPTIONS, forceinline=True)(function))


def spliced(function: Function) -> Function:
    """A part of one kernel: Numba copies it there before it compiles, so it is not compiled by itself."""
    return cast(Function, njit(**OPTIONS, inline="always")(function))


class Linked(Protocol):
    """The links of any tree of this folder: its nodes' arrays have a row per node."""

    @property
    def parents(self) -> Int32s: ...
    @property
    def actions(self) -> Int16s: ...
    @property
    def first_child(self) -> Int32s: ...
    @property
    def next_sibling(self) -> Int32s: ...
    def __iter__(self) -> Iterator[Array]: ...


class Nodes(NamedTuple):
    """M nodes, an array for each field. Kernels take the arrays in this order."""

    states: State  # [M, S]
    to_move: Int8s  # [M]
    priors: Floats  # [M, A], of the actions without a child; 0 if illegal or already a child
    values: Floats  # [M], the evaluator's, for the player to move
    num_legal: Int16s  # [M], legal actions; NONE until the node has been evaluated

    parents: Int32s  # [M], NONE at the root
    actions: Int16s  # [M], from the parent
    first_child: Int32s  # [M]
    next_sibling: Int32s  # [M]
    num_children: Int16s  # [M]
    best_action: Int16s  # [M], the unvisited action with the highest prior; NONE if there is none
    best_prior: Floats  # [M], its prior

    visits: Int32s  # [M], of the edge from the parent
    value_sums: Floats  # [M], of that edge, for the player who chose it (at the root: to move)
    q: Floats  # [M], value_sums / visits; exact once it is proven
    edge_priors: Floats  # [M], of that edge
    proven: Int8s  # [M], UNKNOWN, WIN, LOSS or DRAW for the player to move
    distance: Int16s  # [M], plies to the proven end; prove.py says how exact
    pruned: Int16s  # [M], plies to the end after moves that the evaluator knows to lose; 0: there are none


def new_nodes(game: Game, m: int) -> Nodes:
    """Room for M nodes."""
    return Nodes(
        states=np.zeros((m, game.state_size), np.int16),
        to_move=np.zeros(m, np.int8),
        priors=np.zeros((m, game.num_actions), np.float32),
        values=np.zeros(m, np.float32),
        num_legal=np.zeros(m, np.int16),
        parents=np.zeros(m, np.int32),
        actions=np.zeros(m, np.int16),
        first_child=np.zeros(m, np.int32),
        next_sibling=np.zeros(m, np.int32),
        num_children=np.zeros(m, np.int16),
        best_action=np.zeros(m, np.int16),
        best_prior=np.zeros(m, np.float32),
        visits=np.zeros(m, np.int32),
        value_sums=np.zeros(m, np.float32),
        q=np.zeros(m, np.float32),
        edge_priors=np.zeros(m, np.float32),
        proven=np.zeros(m, np.int8),
        distance=np.zeros(m, np.int16),
        pruned=np.zeros(m, np.int16),
    )


def bytes_per_node(game: Game) -> int:
    """Memory that one node takes."""
    return sum(array.nbytes for array in new_nodes(game, 1))


def nodes_in(memory: int, game: Game) -> int:
    """How many nodes fit into this many bytes."""
    return count_nodes(memory, bytes_per_node(game), game)


def count_nodes(memory: int, per_node: int, game: Game) -> int:
    """How many nodes of so many bytes fit: a root and one child at least, or UserError."""
    if memory < 2 * per_node:
        raise UserError(
            f"a search tree of {game.name} needs at least {2 * per_node:,} bytes, got {memory:,}: "
            "give it more memory"
        )
    return min(memory // per_node, MAX_NODES)


@dataclass(frozen=True)
class Trees:
    """B trees of at most `capacity` nodes each; M = B · capacity."""

    capacity: int
    used: Int32s  # [B], nodes in each tree
    powers: Floats  # [MAX_PLIES], powers[d] is what a result in d plies is worth: the discount, d times
    nodes: Nodes

    @property
    def num_trees(self) -> int:
        return len(self.used)

    @cached_property
    def roots(self) -> Int32s:
        """[B]"""
        return np.arange(self.num_trees, dtype=np.int32) * np.int32(self.capacity)


def memory_of_machine() -> int:
    """Bytes; where the system does not tell, more than any search needs."""
    if not hasattr(os, "sysconf"):
        return 2**62
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def new_trees(game: Game, num_trees: int, capacity: int, discount: float = 1.0) -> Trees:
    """Empty trees with room for `capacity` nodes each: one for the root and one for each simulation."""
    m = num_trees * capacity
    if m > MAX_NODES:
        raise UserError(
            f"{num_trees} trees of {capacity} nodes do not fit in a pool of {MAX_NODES} nodes: "
            "search fewer positions at once, or with fewer simulations"
        )
    needed = m * bytes_per_node(game)
    if needed > memory_of_machine():
        raise UserError(
            f"{num_trees} × {capacity} nodes of {game.name} need {needed / 2**30:.1f} GiB, this machine has "
            f"{memory_of_machine() / 2**30:.1f}: search fewer positions at once, or with fewer simulations"
        )
    return Trees(
        capacity=capacity,
        used=np.zeros(num_trees, np.int32),
        powers=(discount ** np.arange(MAX_PLIES)).astype(np.float32),
        nodes=new_nodes(game, m),
    )


def make_roots(trees: Trees, chosen: Mask) -> None:
    """Single, unevaluated nodes of the chosen trees; their states are there already."""
    _make_roots(trees.capacity, chosen, trees.used, *trees.nodes)


@kernel
def _make_roots(capacity: int, chosen: Mask, used: Int32s, *arrays: Array) -> None:
    nodes = Nodes(*arrays)
    for tree in range(chosen.size):
        if chosen[tree]:
            root = tree * capacity
            used[tree] = 1
            nodes.parents[root] = nodes.actions[root] = nodes.num_legal[root] = NONE
            nodes.first_child[root] = nodes.next_sibling[root] = NONE
            nodes.num_children[root] = nodes.visits[root] = nodes.value_sums[root] = 0
            nodes.proven[root] = nodes.distance[root] = nodes.pruned[root] = 0


def restrict_roots(trees: Trees, seen: Mask) -> None:
    """Takes the moves that are not seen, bool[B, A], from new roots. A root whose result is known stays as it
    is, and so does one whose other moves surely lose.

    The number of legal moves stays the same: the moves that are not seen may be better, so the result of such
    a root is never proven lost or drawn."""
    nodes = trees.nodes
    for root, mask in zip(trees.roots.tolist(), seen, strict=True):
        left = np.where(mask, nodes.priors[root], np.float32(0.0))
        if nodes.proven[root] == UNKNOWN and left.any():
            nodes.priors[root] = left / left.sum()
            nodes.best_action[root] = left.argmax()
            nodes.best_prior[root] = nodes.priors[root].max()


def children(nodes: Linked, node: int) -> list[int]:
    """The visited children of a node, first visited first."""
    found = []
    child = int(nodes.first_child[node])
    while child != NONE:
        found.append(child)
        child = int(nodes.next_sibling[child])
    return found[::-1]


@dataclass(frozen=True)
class Slots:
    """Where the leaves of one round are kept: L slots, `per_tree` of them for each tree."""

    per_tree: int
    leaves: Int32s  # [L], NONE if this slot found no leaf
    is_new: Mask  # [L], must the leaf's state still be made?
    waiting: Int32s  # [L], the first n are the leaves that must be evaluated
    states: State  # [L, S], theirs
    legal: Mask  # [L, A], theirs

    @property
    def memory(self) -> int:
        """Bytes."""
        arrays = (self.leaves, self.is_new, self.waiting, self.states, self.legal)
        return sum(array.nbytes for array in arrays)


def new_slots(game: Game, num_trees: int, per_tree: int) -> Slots:
    """Slots for a number of leaves per tree and round."""
    count = num_trees * per_tree
    return Slots(
        per_tree,
        leaves=np.zeros(count, np.int32),
        is_new=np.zeros(count, np.bool_),
        waiting=np.zeros(count, np.int32),
        states=np.zeros((count, game.state_size), np.int16),
        legal=np.zeros((count, game.num_actions), np.bool_),
    )
