"""The loop: descend → play → evaluate → back up, one compiled call each for a whole batch of trees.

search = Search(game, evaluator, Puct(), num_trees=len(states), max_simulations=800)
search.begin(states, random)
search.run(800)
search.result().actions
"""

import time
from collections.abc import Callable

import numpy as np

from tengen.errors import UserError
from tengen.evaluators.evaluator import Evaluator
from tengen.games.batch import lift
from tengen.games.game import Game, State
from tengen.search import gumbel, puct
from tengen.search.backup import back_up
from tengen.search.gumbel import Gumbel
from tengen.search.puct import Puct
from tengen.search.result import Result, log_priors, read_roots
from tengen.search.reuse import keep_subtrees
from tengen.search.tree import NONE, UNKNOWN, Int32s, Slots, make_roots, new_slots, new_trees

MAX_PLIES = 8192  # proven distances are below this


class Search:
    """A batch of trees that grow together; each is as if it were alone."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        settings: Puct | Gumbel,
        num_trees: int = 1,
        max_simulations: int = 800,
        leaves_per_round: int = 1,
        discount: float = 1.0,
    ) -> None:
        """leaves_per_round > 1: for a single game, so that it too evaluates in batches (virtual loss).
        discount: what a result loses with every ply, so that sooner wins are worth more."""
        if isinstance(settings, Gumbel) and leaves_per_round > 1:
            raise UserError("Gumbel search takes one leaf a round: use PUCT for several")
        self.game, self.evaluator, self.settings = game, evaluator, settings
        self.leaves_per_round = leaves_per_round
        self.trees = new_trees(game, num_trees, max_simulations + 1)
        self._batched = lift(game)
        self._slots = {leaves_per_round: new_slots(game, num_trees, leaves_per_round)}
        self._powers = (discount ** np.arange(MAX_PLIES)).astype(np.float32)
        self._scratch = np.zeros((3, game.num_actions), np.float32)
        self._roots: gumbel.Roots | None = None
        self._random: np.random.Generator | None = None
        self._all_proven = False

    def begin(self, states: State, random: np.random.Generator | None = None) -> None:
        """New trees for these positions, int16[B, S]. With `random`, the search explores (noise)."""
        trees = self.trees
        if states.shape != (trees.num_trees, self.game.state_size):
            raise UserError(
                f"expected {trees.num_trees} states of {self.game.name}, got an array of {states.shape}"
            )
        trees.states[:: trees.capacity] = states
        self._evaluate_roots(np.ones(trees.num_trees, np.bool_))
        self._explore(random)

    def run(self, num_simulations: int, stop: Callable[[], bool] | None = None) -> None:
        """Adds simulations to every tree, until all results are proven or `stop` says so."""
        if num_simulations > self.room:
            raise UserError(
                f"{num_simulations} simulations do not fit: the trees have room for {self.room} more; "
                "make the search with a larger max_simulations"
            )
        if isinstance(self.settings, Gumbel):
            self._roots = gumbel.choose_candidates(
                self.settings, num_simulations, log_priors(self.trees), self._random
            )
        done = 0
        while done < num_simulations and not self._all_proven and not (stop and stop()):
            slots = self._slots_for(min(self.leaves_per_round, num_simulations - done))
            if isinstance(self.settings, Gumbel):
                assert self._roots is not None
                gumbel.descend(self.trees, slots, self.settings, self._roots, done, self._scratch)
            else:
                puct.descend(self.trees, slots, self.settings)
            self._finish_round(slots)
            done += self._leaves_found(slots)

    def run_for(self, seconds: float) -> None:
        """Adds simulations until the time is up or the trees are full (PUCT)."""
        deadline = time.perf_counter() + seconds
        self.run(self.room, stop=lambda: time.perf_counter() >= deadline)

    @property
    def room(self) -> int:
        """How many more simulations fit."""
        return self.trees.capacity - int(self.trees.used.max())

    @property
    def is_proven(self) -> bool:
        """Are all results known?"""
        return bool((self.trees.proven[self.trees.roots] != UNKNOWN).all())

    def result(self) -> Result:
        """What has been found so far; may be asked at any time between two rounds."""
        result = read_roots(self.trees, self._powers)
        if isinstance(self.settings, Gumbel) and self._roots is not None:
            gumbel.improve(self._roots, self.trees.values[self.trees.roots], self.settings, result)
        return result

    def advance(self, actions: Int32s, random: np.random.Generator | None = None) -> None:
        """Plays a move in every tree and keeps what was found below it. Games that are over stay."""
        trees = self.trees
        before = trees.states[trees.roots].copy()
        kept = keep_subtrees(trees, actions)
        fresh = ~kept & (actions != NONE)
        for tree in np.flatnonzero(fresh):
            trees.states[trees.roots[tree]] = self.game.after(before[tree], int(actions[tree]))
        self._evaluate_roots(fresh)
        self._explore(random)

    def _explore(self, random: np.random.Generator | None) -> None:
        self._random, self._roots = random, None
        if isinstance(self.settings, Puct) and self.settings.dirichlet_fraction > 0 and random is not None:
            puct.add_noise(self.trees, self.settings, random)

    def _evaluate_roots(self, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        """Makes single nodes of some trees and evaluates them."""
        trees, slots = self.trees, self._slots_for(1)
        make_roots(trees, chosen)
        slots.leaves[:] = np.where(chosen, trees.roots, NONE)
        slots.is_new[:] = chosen
        self._finish_round(slots)
        self._all_proven = self.is_proven

    def _finish_round(self, slots: Slots) -> None:
        """Play, evaluate, back up."""
        trees = self.trees
        count = self._batched.expand(
            trees.states, trees.parents, trees.actions, slots.leaves, slots.is_new, trees.to_move,
            trees.proven, slots.waiting, slots.states, slots.legal,
        )  # fmt: skip
        evaluation = self.evaluator.evaluate(slots.states[:count], slots.legal[:count]) if count else None
        virtual_loss = self.settings.virtual_loss if isinstance(self.settings, Puct) else 0.0
        if back_up(trees, slots, evaluation, count, self._powers, virtual_loss):
            self._all_proven = self.is_proven

    def _leaves_found(self, slots: Slots) -> int:
        """Simulations done this round. Slots of one tree that meet at the same leaf share it."""
        if slots.per_tree == 1 or self.trees.num_trees > 1:
            return slots.per_tree
        return int((slots.leaves != NONE).sum())

    def _slots_for(self, per_tree: int) -> Slots:
        if per_tree not in self._slots:
            self._slots[per_tree] = new_slots(self.game, self.trees.num_trees, per_tree)
        return self._slots[per_tree]
