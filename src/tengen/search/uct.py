"""UCT with rollouts: argmax_a Q(a) + c·√(ln N / N(a)).  Kocsis & Szepesvári 2006; UCB1, Auer et al. 2002.

One simulation, from plain rules without a network:

    1. select      descend while every legal action has a child
    2. expand      add one child, for a random action not tried yet
    3. roll out    play random moves from there to the end of the game
    4. back up     visit the path; pass on what is proven (MCTS-Solver, Winands et al. 2008)

The one search that calls the game in its loop, so that loop is compiled for each set of rules, once per
process. The tree has a node for the root and one for each simulation: its memory is fixed. As in tree.py, a
node holds its state and the statistics of the edge that led to it, seen by the player who chose that edge.
"""

import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tengen.errors import UserError
from tengen.games.batch import Kernel, Loops, lift
from tengen.games.game import TO_MOVE, Game, Mask, Random, State
from tengen.games.randomness import new_random, random_below
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
    inlined,
    kernel,
)

Sums = npt.NDArray[np.float64]

UNLISTED = -1  # num_untried of a node whose legal actions have not been asked for yet
CHUNK_SECONDS = 0.003  # between two looks at the clock, about; also how long Ctrl-C may wait
PROVEN_RANK = 1e12  # above any number of visits
OPPOSITE = np.array([UNKNOWN, LOSS, WIN, DRAW], np.int8)  # a proven result, for the other player


@dataclass(frozen=True)
class Uct:
    """How UCT explores, and how it judges a leaf."""

    # Weight of exploration, against values in [-1, 1]; against win rates in [0, 1] it would be c / 2. So the
    # usual √2 for win rates is 2√2 here, and explores too much: against √2 it scores 46 % at Connect 4 (400
    # simulations, 400 games), 37 % at gomoku9 (800, 120 games). Boards with many moves like still less: 0.7
    # scores 72 % at gomoku9, 48 % at Connect 4.
    c: float = 2**0.5
    rollouts_per_leaf: int = 1  # random games; more cost time and make each visit's value less noisy
    max_mebibytes: int = 2048  # of memory for the tree; a search that would need more is refused

    def __post_init__(self) -> None:
        if not 0 <= self.c < float("inf"):
            raise UserError(f"uct: c is a number from 0 up, got {self.c}")
        if self.rollouts_per_leaf < 1:
            raise UserError(f"uct: rollouts_per_leaf is 1 or more, got {self.rollouts_per_leaf}")


@dataclass(frozen=True)
class UctResult:
    """What a search found. Values and results are for the player to move at the root."""

    action: int  # the best, as best_line says: a proven win, the most visited, a proven draw, a slow loss
    principal_variation: list[int]  # actions, `action` first
    simulations: int  # done: fewer than asked for when the root was proven, or time was up
    root_proven: int  # UNKNOWN, WIN, LOSS or DRAW: the position itself
    visits: Int32s  # [A], their sum is `simulations`
    values: Floats  # [A], Q; exact once proven (such a move is not visited again), 0 where unvisited
    proven: Int8s  # [A], UNKNOWN, WIN, LOSS or DRAW after this action
    distance: Int16s  # [A], plies to a proven end, this one included: the winner needs no more; else 0


def search(
    game: Game,
    state: State,
    num_simulations: int,
    settings: Uct,
    random: Random,
    seconds: float | None = None,
) -> UctResult:
    """What that many simulations find in a position, or as many as fit in the time."""
    began = time.perf_counter()
    if num_simulations < 1:
        raise UserError(f"uct: the number of simulations is 1 or more, got {num_simulations}")
    if game.outcome(state)[0]:
        raise UserError(f"uct: this game of {game.name} is over, there is no move to search for")
    tree = _new_tree(game, state, num_simulations, settings)
    simulate = _simulate_kernel(game)
    arrays, scratch = tuple(vars(tree).values()), _scratch(game)
    done, chunk = 0, max(1, 64 // settings.rollouts_per_leaf)
    while True:
        chunk_began = time.perf_counter()
        asked = min(chunk, num_simulations - done)
        new = simulate(asked, np.float32(settings.c), settings.rollouts_per_leaf, random, *scratch, *arrays)
        done += new
        now = time.perf_counter()
        if new < asked or done == num_simulations or (seconds is not None and now - began >= seconds):
            return _result(game, tree, done)
        if now - chunk_began < CHUNK_SECONDS / 2:
            chunk *= 2


def prepare(game: Game) -> None:
    """Compiles the search for the rules of a game (1-3 s, the first time), before a clock runs."""
    tree = _new_tree(game, game.new_state(), 1, Uct())
    _simulate_kernel(game)(0, np.float32(0), 1, new_random(0), *_scratch(game), *vars(tree).values())


def max_simulations(game: Game, settings: Uct) -> int:
    """The most simulations of which the tree fits in memory."""
    bytes_per_node: int = sum(array.nbytes for array in vars(_empty_tree(game, 1)).values())
    return min(settings.max_mebibytes * 2**20 // bytes_per_node, 2**31 - 1) - 1


@dataclass(frozen=True)
class Tree:
    """M nodes, the root first. Kernels take the arrays in this order."""

    states: State  # [M, S]
    to_move: Int8s  # [M]
    untried: Int16s  # [M, A], the first num_untried are the legal actions without a child, in any order
    num_untried: Int16s  # [M], UNLISTED until the first child is to be made
    parents: Int32s  # [M], NONE at the root
    actions: Int16s  # [M], from the parent
    first_child: Int32s  # [M]
    next_sibling: Int32s  # [M]
    visits: Int32s  # [M], of the edge from the parent
    value_sums: Sums  # [M], of that edge, for the player who chose it; once proven, its exact value · visits
    proven: Int8s  # [M], UNKNOWN, WIN, LOSS or DRAW for the player to move
    distance: Int16s  # [M], plies to the proven end
    has_draw: Mask  # [M], is one of the children a proven draw?
    num_nodes: Int32s  # [1]


def _empty_tree(game: Game, m: int) -> Tree:
    return Tree(  # empty, not zeros: memory is not touched before a node needs it
        states=np.empty((m, game.state_size), np.int16),
        to_move=np.empty(m, np.int8),
        untried=np.empty((m, game.num_actions), np.int16),
        num_untried=np.empty(m, np.int16),
        parents=np.empty(m, np.int32),
        actions=np.empty(m, np.int16),
        first_child=np.empty(m, np.int32),
        next_sibling=np.empty(m, np.int32),
        visits=np.empty(m, np.int32),
        value_sums=np.empty(m, np.float64),
        proven=np.empty(m, np.int8),
        distance=np.empty(m, np.int16),
        has_draw=np.empty(m, np.bool_),
        num_nodes=np.empty(1, np.int32),
    )


def _new_tree(game: Game, state: State, num_simulations: int, settings: Uct) -> Tree:
    """A tree that is only its root."""
    if num_simulations > (most := max_simulations(game, settings)):
        raise UserError(
            f"uct: the tree of {num_simulations} simulations of {game.name} does not fit in "
            f"{settings.max_mebibytes} MiB: ask for at most {most}, or raise max_mebibytes"
        )
    tree = _empty_tree(game, num_simulations + 1)
    tree.states[0] = state
    tree.to_move[0] = state[TO_MOVE]
    tree.num_untried[0] = UNLISTED
    tree.parents[0] = tree.actions[0] = tree.first_child[0] = tree.next_sibling[0] = NONE
    tree.visits[0] = tree.value_sums[0] = tree.proven[0] = tree.distance[0] = tree.has_draw[0] = 0
    tree.num_nodes[0] = 1
    return tree


def _scratch(game: Game) -> tuple[State, State, Mask]:
    """Room for a rollout."""
    return (
        np.empty(game.state_size, np.int16),
        np.empty(game.state_size, np.int16),
        np.empty(game.num_actions, np.bool_),
    )


def _simulate_kernel(game: Game) -> Kernel:
    return _compile(game.legal, game.play, game.outcome, lift(game).loops)


@lru_cache(maxsize=64)
def _compile(legal: Kernel, play: Kernel, outcome: Kernel, loops: Loops) -> Kernel:
    """The loop of simulations over one set of rules."""
    rollout = loops.rollout

    # Plain options: rules that are first compiled from here would inherit others, and be cached with them.
    @loops.compiled
    def simulate(
        count: int,
        c: np.float32,
        rollouts_per_leaf: int,
        random: Random,
        rolled: State,
        next_state: State,
        mask: Mask,
        states: State,
        to_move: Int8s,
        untried: Int16s,
        num_untried: Int16s,
        parents: Int32s,
        actions: Int16s,
        first_child: Int32s,
        next_sibling: Int32s,
        visits: Int32s,
        value_sums: Sums,
        proven: Int8s,
        distance: Int16s,
        has_draw: Mask,
        num_nodes: Int32s,
    ) -> int:
        """How many simulations were done: fewer than `count` once the root is proven."""
        for simulation in range(count):
            if proven[0] != UNKNOWN:
                return simulation
            # 1. select
            node = 0
            while num_untried[node] == 0:
                node = best_bound(node, c, first_child, next_sibling, visits, value_sums, proven)
            # 2. expand
            if num_untried[node] == UNLISTED:
                legal(states[node], mask)
                listed = 0
                for a in range(mask.size):
                    untried[node, listed] = a
                    listed += mask[a]
                num_untried[node] = listed
            last = num_untried[node] - 1
            chosen = random_below(random, last + 1)
            action = untried[node, chosen]
            untried[node, chosen] = untried[node, last]
            num_untried[node] = last
            leaf = num_nodes[0]
            num_nodes[0] += 1
            play(states[node], action, states[leaf])
            to_move[leaf] = states[leaf, TO_MOVE]
            num_untried[leaf] = UNLISTED
            parents[leaf] = node
            actions[leaf] = action
            first_child[leaf] = NONE
            next_sibling[leaf] = first_child[node]
            first_child[node] = leaf
            visits[leaf] = 0
            value_sums[leaf] = 0.0
            proven[leaf] = UNKNOWN
            distance[leaf] = 0
            has_draw[leaf] = False
            # 3. roll out, unless the game is over
            is_over, value = outcome(states[leaf])
            if is_over:
                proven[leaf] = DRAW if value == 0 else WIN if value > 0 else LOSS
            else:
                value = 0.0  # for the player to move at the leaf
                for _ in range(rollouts_per_leaf):
                    for i in range(rolled.size):
                        rolled[i] = states[leaf, i]
                    rollout(rolled, random, next_state, mask)
                    result = outcome(rolled)[1]
                    value += result if rolled[TO_MOVE] == to_move[leaf] else -result
                value /= rollouts_per_leaf
            # 4. back up
            back_up(
                leaf, value, to_move, num_untried, parents, first_child, next_sibling, visits, value_sums,
                proven, distance, has_draw,
            )  # fmt: skip
        return count

    return simulate


@inlined
def best_bound(
    node: int,
    c: np.float32,
    first_child: Int32s,
    next_sibling: Int32s,
    visits: Int32s,
    value_sums: Sums,
    proven: Int8s,
) -> int:
    """The child with the highest Q + c·√(ln N / n), of those where something is left to learn: not proven.

    With r = 1 / √n that is r · (r · value sum + c·√ln N).
    """
    exploration = c * np.sqrt(np.log(np.float32(visits[node])))
    best_score, best = LOWEST, NONE
    child = first_child[node]
    while child != NONE:
        if proven[child] == UNKNOWN:
            r = np.float32(1.0) / np.sqrt(np.float32(visits[child]))
            score = r * (r * np.float32(value_sums[child]) + exploration)
            if score > best_score:
                best_score, best = score, child
        child = next_sibling[child]
    return best


@inlined
def back_up(
    node: int,
    value: float,
    to_move: Int8s,
    num_untried: Int16s,
    parents: Int32s,
    first_child: Int32s,
    next_sibling: Int32s,
    visits: Int32s,
    value_sums: Sums,
    proven: Int8s,
    distance: Int16s,
    has_draw: Mask,
) -> None:
    """Visits the path from a leaf to the root. Here, and only here, a value changes its sign."""
    news = proven[node] != UNKNOWN  # is there a new proof to pass on?
    parent = parents[node]
    while parent != NONE:
        # 1. the edge, for the player who chose it
        if to_move[parent] != to_move[node]:
            value = -value
        visits[node] += 1
        value_sums[node] += value
        # 2. what the proof of a child says about its parent
        if news:
            value_sums[node] = value * visits[node]
            has_draw[parent] |= value == 0
            if value > 0:
                proven[parent], distance[parent] = WIN, distance[node] + 1
            elif num_untried[parent] == 0:
                all_proven, longest = True, 0
                child = first_child[parent]
                while child != NONE and all_proven:
                    all_proven = proven[child] != UNKNOWN
                    if (proven[child] == DRAW) == has_draw[parent]:
                        longest = max(longest, distance[child] + 1)
                    child = next_sibling[child]
                if all_proven:
                    proven[parent], distance[parent] = DRAW if has_draw[parent] else LOSS, longest
            news = proven[parent] != UNKNOWN
        # 3. whoever has a sure draw does not play what looks worse
        if has_draw[parent] and value_sums[node] < 0:
            value = 0.0
        node, parent = parent, parents[parent]
    visits[node] += 1
    value_sums[node] += value


def _result(game: Game, tree: Tree, simulations: int) -> UctResult:
    visits = np.zeros(game.num_actions, np.int32)
    values = np.zeros(game.num_actions, np.float32)
    proven = np.zeros(game.num_actions, np.int8)
    distance = np.zeros(game.num_actions, np.int16)
    children = np.flatnonzero(tree.parents[: tree.num_nodes[0]] == 0)
    actions, results = tree.actions[children], tree.proven[children]
    visits[actions] = tree.visits[children]
    values[actions] = tree.value_sums[children] / tree.visits[children] + 0.0  # never -0.0
    proven[actions] = np.where(tree.to_move[children] == tree.to_move[0], results, OPPOSITE[results])
    distance[actions] = np.where(results == UNKNOWN, 0, tree.distance[children] + 1)
    line = np.empty(simulations, np.int16)
    length = best_line(
        line, tree.actions, tree.first_child, tree.next_sibling, tree.visits, tree.value_sums, tree.proven,
        tree.distance,
    )  # fmt: skip
    principal_variation: list[int] = line[:length].tolist()
    if proven[line[0]] == LOSS and tree.num_untried[0] > 0:  # what nobody has tried cannot be worse
        principal_variation = [int(tree.untried[0, 0])]
    return UctResult(
        action=principal_variation[0],
        principal_variation=principal_variation,
        simulations=simulations,
        root_proven=int(tree.proven[0]),
        visits=visits,
        values=values,
        proven=proven,
        distance=distance,
    )


@kernel
def best_line(
    line: Int16s,
    actions: Int16s,
    first_child: Int32s,
    next_sibling: Int32s,
    visits: Int32s,
    value_sums: Sums,
    proven: Int8s,
    distance: Int16s,
) -> int:
    """Fills in the best move, the best answer, and so on while the tree knows any; returns how many.

    Best is the fastest proven win; else the most visits, and of equal visits the higher value; a proven draw,
    the longest, if that value is below 0 or nothing else is left; else the slowest proven loss.
    """
    node, length = 0, 0
    while first_child[node] != NONE:
        best_rank, best, draw = -2 * PROVEN_RANK, NONE, NONE
        child = first_child[node]
        while child != NONE:
            if proven[child] == DRAW:
                if draw == NONE or distance[child] > distance[draw]:
                    draw = child
            else:
                if proven[child] == UNKNOWN:
                    rank = visits[child] + 0.25 * value_sums[child] / visits[child]
                elif value_sums[child] > 0:
                    rank = PROVEN_RANK - distance[child]
                else:
                    rank = distance[child] - PROVEN_RANK
                if rank > best_rank:
                    best_rank, best = rank, child
            child = next_sibling[child]
        if draw != NONE and (best == NONE or value_sums[best] < 0):
            best = draw
        line[length] = actions[best]
        node, length = best, length + 1
    return length
