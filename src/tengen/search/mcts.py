"""The loop: descend → play → evaluate → back up, one compiled call each for a whole batch of trees.

search = Search(game, evaluator, Puct(), num_trees=len(states), max_simulations=800)
search.begin(states, random)
search.run(800)                            # or in slices, with the same result:
search.plan(800)
while not search.run_for(seconds=0.01): ...
search.result().actions
search.advance(actions)                    # plays them, and keeps what was found below
"""

import time
from dataclasses import replace

import numpy as np

from tengen.errors import UserError
from tengen.evaluators.evaluator import Evaluation, Evaluator
from tengen.games.batch import lift
from tengen.games.game import Game, Mask, State
from tengen.search.backup import back_up
from tengen.search.edges import add_children
from tengen.search.result import Result, read_roots
from tengen.search.reuse import keep_subtree
from tengen.search.selection import Plan, Selection
from tengen.search.tree import (
    LOSS,
    NONE,
    UNKNOWN,
    WIN,
    Int32s,
    Slots,
    bytes_per_node,
    children,
    make_roots,
    new_slots,
    new_trees,
    restrict_roots,
)


class Search:
    """A batch of trees that grow together; each is as if it were alone."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        settings: Selection,
        num_trees: int = 1,
        max_simulations: int = 800,
        leaves_per_round: int = 1,
        discount: float = 1.0,
        visits_per_leaf: int = 0,
    ) -> None:
        """max_simulations: a tree has this many nodes and a root; tree.nodes_in(memory, game) counts them.
        leaves_per_round > 1: for a single game, so that it too evaluates in batches (virtual loss).
        visits_per_leaf: a small tree has fewer leaves per round, one and another one for this many visits of
        its root; 0: always all of them.
        discount: what a result loses with every ply, so that sooner wins are worth more."""
        if leaves_per_round > settings.max_leaves_per_round:
            raise UserError(
                f"{type(settings).__name__} search finds at most {settings.max_leaves_per_round} leaf per "
                f"round, got {leaves_per_round}: use PUCT for several"
            )
        self.game, self.evaluator, self.settings = game, evaluator, settings
        self.leaves_per_round, self._visits_per_leaf = leaves_per_round, visits_per_leaf
        self.trees = new_trees(game, num_trees, max_simulations + 1, discount)
        self.kept_visits = np.zeros(num_trees, np.int32)  # of the roots, when they became roots
        self._expand = lift(game).loops.expand
        self._bytes_per_node = bytes_per_node(game)
        self._slots = {leaves_per_round: new_slots(game, num_trees, leaves_per_round)}
        self.seen: Mask | None = None  # [B, A], the moves of the roots that are looked at; None: all
        self._random: np.random.Generator | None = None
        self._all_proven = False
        self._plan: Plan | None = None
        self._done = 0  # simulations of the plan
        self._fitting = 0  # of them, so many surely fit
        self._wanted: int | None = None  # all of them; None: as many as fit

    def begin(
        self, states: State, random: np.random.Generator | None = None, seen: Mask | None = None
    ) -> None:
        """New trees for these positions, int16[B, S]. With `random`, the search explores (noise).

        seen: bool[B, A], the moves of the roots that are looked at; None: all legal ones."""
        trees = self.trees
        if states.shape != (trees.num_trees, self.game.state_size):
            raise UserError(
                f"expected {trees.num_trees} states of {self.game.name}, got an array of {states.shape}"
            )
        trees.nodes.states[:: trees.capacity] = states
        self._evaluate_roots(np.ones(trees.num_trees, np.bool_))
        self.seen = seen
        if seen is not None:
            restrict_roots(trees, seen)
        self._start(random)

    def plan(self, num_simulations: int | None = None) -> None:
        """Decides on the next simulations: as many as fit, and no more than this. run_for does them."""
        self._wanted = None if num_simulations is None else min(num_simulations, self.room)
        self._plan = self.settings.plan(self.trees, self._wanted, self._random)
        self._done, self._fitting = 0, self.room if self._wanted is None else self._wanted

    def run_for(self, seconds: float) -> bool:
        """Goes on with the plan for about so long, at least a round. Without one: as many as fit.

        Returns whether it is done: no simulation is left, the trees are full, or all results are proven."""
        ends = time.perf_counter() + seconds
        if self._plan is None:
            self.plan()
        return self._run(ends)

    def run(self, num_simulations: int) -> None:
        """Plans simulations and does them all, or fewer if all results are proven."""
        if num_simulations > self.room:
            raise UserError(
                f"{num_simulations} simulations do not fit: the trees have room for {self.room} more; "
                "make the search with a larger max_simulations"
            )
        self.plan(num_simulations)
        self._run(ends=None)

    def result(self) -> Result:
        """What has been found so far; may be asked at any time between two slices."""
        result = read_roots(self.trees)
        if self._plan is not None:
            self._plan.improve(result)
        return result

    def advance(self, actions: Int32s, random: np.random.Generator | None = None) -> Mask:
        """Plays a move in every tree, or none (NONE). Returns where what was found below it is kept."""
        self.seen = None
        trees, nodes = self.trees, self.trees.nodes
        kept, fresh = np.zeros(trees.num_trees, np.bool_), np.zeros(trees.num_trees, np.bool_)
        for tree, (root, action) in enumerate(zip(trees.roots.tolist(), actions.tolist(), strict=True)):
            count = keep_subtree(nodes, root, int(trees.used[tree]), action) if action != NONE else 0
            if count:
                kept[tree], trees.used[tree] = True, count
                is_bare = nodes.proven[root] != UNKNOWN and nodes.first_child[root] == NONE
                if is_bare and not self.game.outcome(nodes.states[root])[0]:
                    kept[tree], fresh[tree] = False, True  # the evaluator proved it: no move was looked at
                    continue
                if nodes.num_legal[root] != NONE:  # a root's sum is for the player to move there
                    nodes.value_sums[root] = nodes.values[root] + sum(
                        nodes.value_sums[child] for child in children(nodes, root)
                    )
            elif action != NONE:
                fresh[tree] = True
                nodes.states[root] = self.game.after(nodes.states[root].copy(), action)
        self._evaluate_roots(fresh)
        self._start(random)
        return kept

    def refute(self, action: int, distance: int, tree: int = 0) -> None:
        """Takes it as proven that a move of a root loses in this many plies."""
        nodes, root = self.trees.nodes, int(self.trees.roots[tree])
        slots = self._slots_for(1)
        slots.leaves[:], slots.is_new[:] = NONE, False
        visited = [child for child in children(nodes, root) if nodes.actions[child] == action]
        if visited:
            [child] = visited
        elif self.room == 0:
            return  # nothing can be kept about it
        else:
            child = int(add_children(self.trees, np.array([root], np.int32), np.array([action], np.int16))[0])
        slots.leaves[tree], slots.is_new[tree] = child, True
        if not visited:
            self._make_states(slots)
        is_same_player = nodes.to_move[child] == nodes.to_move[root]
        nodes.proven[child], nodes.distance[child] = LOSS if is_same_player else WIN, distance - 1
        if back_up(self.trees, slots, None, 0, self.settings.virtual_loss):
            self._all_proven = self.is_proven

    @property
    def new_simulations(self) -> int:
        """Simulations since begin or advance, of the tree that has most."""
        return int((self.trees.nodes.visits[self.trees.roots] - self.kept_visits).max())

    @property
    def room(self) -> int:
        """How many more simulations surely fit. Trees whose result is known need no more."""
        is_open = self.trees.nodes.proven[self.trees.roots] == UNKNOWN
        return self.trees.capacity - int(self.trees.used.max(where=is_open, initial=1))

    @property
    def is_full(self) -> bool:
        return self.room == 0

    @property
    def is_proven(self) -> bool:
        """Are all results known?"""
        return bool((self.trees.nodes.proven[self.trees.roots] != UNKNOWN).all())

    @property
    def memory(self) -> int:
        """Bytes of the nodes in use, and of the buffers. The rest of the pool is only reserved."""
        buffers = self.trees.powers.nbytes + sum(slots.memory for slots in self._slots.values())
        return int(self.trees.used.sum()) * self._bytes_per_node + buffers

    def _start(self, random: np.random.Generator | None) -> None:
        """From these roots on, simulations are new."""
        self._random, self._plan = random, None
        self._all_proven = self.is_proven
        self.kept_visits[:] = self.trees.nodes.visits[self.trees.roots]
        if random is not None:
            self.settings.explore(self.trees, random)

    def _run(self, ends: float | None) -> bool:
        """Rounds of the plan until it is done, or until a moment of time.perf_counter. Is it done?"""
        # With one tree and a cheap evaluator this loop itself takes time: it looks up what it can beforehand.
        assert self._plan is not None
        descend, finish_round = self._plan.descend, self._finish_round
        per_round, slots = self.leaves_per_round, self._slots_for(self.leaves_per_round)
        is_single, grows = self.trees.num_trees == 1, self._visits_per_leaf > 0
        while left := self._left():
            if grows:
                per_round = self._leaves_now()
            if slots.per_tree != per_round or left < per_round:
                slots = self._slots_for(min(per_round, left))
            shares_leaves = is_single and slots.per_tree > 1
            descend(slots, self._done)
            finish_round(slots)
            # Slots of one tree that meet at the same leaf share it.
            self._done += int((slots.leaves != NONE).sum()) if shares_leaves else slots.per_tree
            if ends is not None and time.perf_counter() >= ends:
                return self._left() == 0
        return True

    def _leaves_now(self) -> int:
        """The leaves of the next round: more, the larger the tree is."""
        visits = int(self.trees.nodes.visits[self.trees.roots].max())
        return min(self.leaves_per_round, 1 + visits // self._visits_per_leaf)

    def _left(self) -> int:
        """Simulations of the plan that are still to be done, and surely fit."""
        if self._all_proven:
            return 0
        if self._done == self._fitting and self._wanted is None:
            self._fitting += self.room  # visits of proven nodes need no new ones
        return self._fitting - self._done

    def _evaluate_roots(self, chosen: Mask) -> None:
        """Makes single nodes of some trees and evaluates them."""
        trees, slots = self.trees, self._slots_for(1)
        make_roots(trees, chosen)
        slots.leaves[:] = np.where(chosen, trees.roots, NONE)
        slots.is_new[:] = chosen
        found = self._finish_round(slots)
        if found is not None and found.proven is not None and (found.proven == WIN).any():
            self._take_wins(slots, found)

    def _finish_round(self, slots: Slots) -> Evaluation | None:
        """Play, evaluate, back up."""
        count = self._make_states(slots)
        evaluation = self._evaluate(slots.states[:count], slots.legal[:count]) if count else None
        if back_up(self.trees, slots, evaluation, count, self.settings.virtual_loss):
            self._all_proven = self.is_proven
        return evaluation

    def _evaluate(self, states: State, legal: Mask) -> Evaluation:
        found = self.evaluator.evaluate(states, legal)
        if (temperature := self.settings.prior_temperature) == 1.0:
            return found
        return replace(found, logits=found.logits / np.float32(temperature))

    def _take_wins(self, slots: Slots, found: Evaluation) -> None:
        """Visits the winning move of every root that the evaluator knows to be won."""
        assert found.proven is not None and found.distance is not None
        trees, nodes, won = self.trees, self.trees.nodes, np.flatnonzero(found.proven == WIN)
        roots, distances = slots.waiting[won].copy(), found.distance[won].copy()
        children = add_children(trees, roots, nodes.best_action[roots])
        slots.leaves[:], slots.is_new[:] = NONE, False
        slots.leaves[roots // trees.capacity], slots.is_new[roots // trees.capacity] = children, True
        self._make_states(slots)
        for child, distance in zip(children.tolist(), distances.tolist(), strict=True):
            if nodes.proven[child] == UNKNOWN:  # not over yet
                mine = nodes.to_move[child] == nodes.to_move[nodes.parents[child]]
                nodes.proven[child], nodes.distance[child] = WIN if mine else LOSS, distance - 1
        back_up(trees, slots, None, 0, self.settings.virtual_loss)

    def _make_states(self, slots: Slots) -> int:
        """Plays the moves of new leaves. Returns how many of them must be evaluated."""
        nodes = self.trees.nodes
        count: int = self._expand(
            nodes.states, nodes.parents, nodes.actions, slots.leaves, slots.is_new, nodes.to_move,
            nodes.proven, slots.waiting, slots.states, slots.legal,
        )  # fmt: skip
        return count

    def _slots_for(self, per_tree: int) -> Slots:
        if per_tree not in self._slots:
            self._slots[per_tree] = new_slots(self.game, self.trees.num_trees, per_tree)
        return self._slots[per_tree]
