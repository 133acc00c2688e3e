"""UCT with rollouts: argmax_a Q(a) + c·√(ln N / N(a)).  Kocsis & Szepesvári 2006; UCB1, Auer et al. 2002.

One simulation, from plain rules without a network:

    1. select      descend while every legal action has a child
    2. expand      add one child, for a random action not tried yet
    3. roll out    play random moves from there to the end of the game
    4. back up     visit the path; pass on what is proven (MCTS-Solver, Winands et al. 2008)

It works in slices like mcts.Search: begin, plan, run_for, result, advance.
"""

import time
from dataclasses import dataclass

import numpy as np

from tengen.errors import UserError
from tengen.games.game import Game, Random, State
from tengen.games.randomness import new_random
from tengen.search.result import max_depth
from tengen.search.reuse import keep_subtree
from tengen.search.tree import (
    DRAW,
    LOSS,
    MAX_PLIES,
    UNKNOWN,
    WIN,
    Floats,
    Int8s,
    Int16s,
    Int32s,
    children,
    count_nodes,
)
from tengen.search.uct_nodes import UctNodes, best_line, make_root, new_nodes, simulate_kernel

CHUNK_SECONDS = 0.003  # between two looks at the clock, about; also how long Ctrl-C may wait
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
    simulations: int  # new ones: fewer than planned when the root was proven, or time was up
    root_proven: int  # UNKNOWN, WIN, LOSS or DRAW: the position itself
    visits: Int32s  # [A], their sum is `simulations`, and those kept from the last move
    values: Floats  # [A], Q; exact once proven (such a move is not visited again), 0 where unvisited
    proven: Int8s  # [A], UNKNOWN, WIN, LOSS or DRAW after this action
    distance: Int16s  # [A], plies to a proven end, this one included: the winner needs no more; else 0


def nodes_in(memory: int, game: Game) -> int:
    """How many nodes fit into this many bytes."""
    return count_nodes(memory, sum(array.nbytes for array in new_nodes(game, 1)), game)


class UctSearch:
    """One tree; a node for the root and one for each simulation. When it is full, the search ends."""

    def __init__(self, game: Game, settings: Uct, max_nodes: int) -> None:
        """max_nodes: nodes_in(memory, game) counts those of a memory."""
        self.game, self.settings, self.max_nodes = game, settings, max_nodes
        self.nodes = new_nodes(game, max_nodes)
        self.used = 0
        self._simulate = simulate_kernel(game)
        self._scratch = (
            np.empty(game.state_size, np.int16),
            np.empty(game.state_size, np.int16),
            np.empty(game.num_actions, np.bool_),
        )
        self._random = new_random(0)
        self._chunk = max(1, 64 // settings.rollouts_per_leaf)  # simulations between two looks at the clock
        self._kept = self._planned = 0  # nodes in use at the start, and when the plan is done

    def begin(self, state: State, random: Random) -> None:
        """A new tree for a position that is not over."""
        if self.game.outcome(state)[0]:
            raise UserError(f"uct: this game of {self.game.name} is over, there is no move to search for")
        make_root(self.nodes, state)
        self._start(1, random)

    def plan(self, num_simulations: int | None = None) -> None:
        """Decides on the next simulations: as many as fit, and no more than this. run_for does them."""
        wanted = self.room if num_simulations is None else min(num_simulations, self.room)
        self._planned = self.used + wanted

    def run_for(self, seconds: float | None) -> bool:
        """Goes on with the plan for about so long (None: to its end), at least some simulations.

        Returns whether it is done: no simulation is left, the tree is full, or the result is proven."""
        began = now = time.perf_counter()
        while not self._is_done:
            asked, chunk_began = min(self._chunk, self._planned - self.used), now
            self.used += self._simulate(
                asked,
                self.used,
                np.float32(self.settings.c),
                self.settings.rollouts_per_leaf,
                self._random,
                *self._scratch,
                *self.nodes,
            )
            now = time.perf_counter()
            if now - chunk_began < CHUNK_SECONDS / 2 and asked == self._chunk:
                self._chunk *= 2
            elif now - chunk_began > CHUNK_SECONDS * 2:
                self._chunk = max(1, self._chunk // 2)
            if seconds is not None and now - began >= seconds:
                break
        return self._is_done

    def run(self, num_simulations: int) -> None:
        """Plans simulations and does them all, or fewer if the result is proven."""
        if num_simulations > self.room:
            raise UserError(
                f"uct: {num_simulations} simulations do not fit: the tree has room for {self.room} more; "
                "make the search with a larger max_nodes"
            )
        self.plan(num_simulations)
        self.run_for(None)

    def result(self) -> UctResult:
        """What has been found so far; may be asked at any time between two slices."""
        return _result(self.game, self.nodes, self.used, self.new_simulations)

    def line_to(self, child: int, max_plies: int = MAX_PLIES) -> list[int]:
        """The moves expected after the one that leads to a child of the root, that one first."""
        return _line(self.nodes, child, True, max_plies)

    def advance(self, action: int, random: Random) -> bool:
        """Plays a move. Returns whether what was found below it is kept; else a new tree begins."""
        state = self.game.after(self.nodes.states[0].copy(), action)
        if self.game.outcome(state)[0]:
            raise UserError(f"uct: this game of {self.game.name} is over, there is no move to search for")
        count = keep_subtree(self.nodes, 0, self.used, action)
        if count == 0:
            make_root(self.nodes, state)
        else:  # a root's sum is for the player to move there
            self.nodes.value_sums[0] = sum(self.nodes.value_sums[child] for child in children(self.nodes, 0))
        self._start(count or 1, random)
        return count > 0

    @property
    def new_simulations(self) -> int:
        """Simulations since begin or advance."""
        return self.used - self._kept

    @property
    def room(self) -> int:
        """How many more simulations fit."""
        return self.max_nodes - self.used

    @property
    def is_full(self) -> bool:
        return self.room == 0

    @property
    def is_proven(self) -> bool:
        """Is the result known?"""
        return bool(self.nodes.proven[0] != UNKNOWN)

    @property
    def memory(self) -> int:
        """Bytes of the nodes in use; the rest of the tree is only reserved."""
        return self.used * (sum(array.nbytes for array in self.nodes) // self.max_nodes)

    @property
    def depth(self) -> int:
        """Plies from the root to the deepest node."""
        return max_depth(self.nodes.parents, 0, self.used)

    @property
    def _is_done(self) -> bool:
        return self.used >= self._planned or self.is_proven

    def _start(self, used: int, random: Random) -> None:
        """From these nodes on, simulations are new; without a plan, as many as fit."""
        self.used = self._kept = used
        self._random = random
        self.plan()


def search(
    game: Game,
    state: State,
    num_simulations: int,
    settings: Uct,
    random: Random,
    seconds: float | None = None,
) -> UctResult:
    """What that many simulations find in a position, or as many as fit in the time."""
    if num_simulations < 1:
        raise UserError(f"uct: the number of simulations is 1 or more, got {num_simulations}")
    tree = UctSearch(game, settings, num_simulations + 1)
    tree.begin(state, random)
    tree.run_for(seconds)
    return tree.result()


def prepare(game: Game) -> None:
    """Compiles the search for the rules of a game (1-3 s, the first time), before a clock runs."""
    search(game, game.new_state(), 1, Uct(), new_random(0))


def _result(game: Game, nodes: UctNodes, used: int, simulations: int) -> UctResult:
    visits = np.zeros(game.num_actions, np.int32)
    values = np.zeros(game.num_actions, np.float32)
    proven = np.zeros(game.num_actions, np.int8)
    distance = np.zeros(game.num_actions, np.int16)
    tried = np.flatnonzero(nodes.parents[:used] == 0)
    actions, results = nodes.actions[tried], nodes.proven[tried]
    visits[actions] = nodes.visits[tried]
    values[actions] = nodes.value_sums[tried] / nodes.visits[tried] + 0.0  # never -0.0
    proven[actions] = np.where(nodes.to_move[tried] == nodes.to_move[0], results, OPPOSITE[results])
    distance[actions] = np.where(results == UNKNOWN, 0, nodes.distance[tried] + 1)
    line = _line(nodes, 0, False, MAX_PLIES)
    if not line:  # nothing has been tried
        line = [int(np.flatnonzero(game.legal_mask(nodes.states[0]))[0])]
    elif proven[line[0]] == LOSS and nodes.num_untried[0] > 0:  # what nobody has tried cannot be worse
        line = [int(nodes.untried[0, 0])]
    return UctResult(
        action=line[0],
        principal_variation=line,
        simulations=simulations,
        root_proven=int(nodes.proven[0]),
        visits=visits,
        values=values,
        proven=proven,
        distance=distance,
    )


def _line(nodes: UctNodes, node: int, with_first: bool, max_plies: int) -> list[int]:
    line = np.empty(max_plies, np.int16)
    length = best_line(node, with_first, line, *nodes)
    return line[:length].tolist()  # type: ignore[no-any-return]
