"""Tree search with an evaluator, as a player: a number of simulations, or as many as the time allows.

With a limit of a few hundred simulations only, the search is the one that the network was trained with
(Gumbel, which must know its number of simulations in advance). With more, with any other limit, and in live
analysis, the search is PUCT. PUCT keeps its tree from move to move: what it found about the moves that were
then played is not searched again.
"""

from collections.abc import Sequence

import numpy as np

from tengen.evaluators.evaluator import Evaluator
from tengen.games.game import Game, Mask
from tengen.games.position import Position
from tengen.players.fours import Refutable
from tengen.players.limit import Limit
from tengen.players.player import Choice, Player, Thinking
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tengen.search.result import max_depth, principal_variation
from tengen.search.selection import Selection
from tengen.search.snapshot import Snapshot, of_search, tree_text
from tengen.search.tree import LOSS, WIN, Trees, children, nodes_in

PUCT = Puct(fpu_reduction=0.2)  # KataGo's reduction: a lost position is searched as deeply as any other
MOST_PLANNED = 400  # simulations of Gumbel search: at Connect 4 as good as PUCT with 200, worse with 800
VISITS_PER_LEAF = 128  # of a round: 8 leaves in a tree of 400 visits cost 96 Elo at gomoku15 (LOG.md)
LEAST_ROOM = 0.5  # of the memory: a kept tree that leaves less is dropped


class Mcts(Player):
    """One tree during a game, or a batch of trees for unrelated positions."""

    obeys = ("simulations", "nodes")

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        limit: Limit,
        memory: int,
        planned: Selection | None = None,
        discount: float = 1.0,
        leaves: int = 8,
        reuse: bool = True,
        puct: Puct = PUCT,
        most_planned: int = MOST_PLANNED,
    ) -> None:
        """memory: bytes of the tree. planned: the search for a known number of simulations, if it is at most
        `most_planned`; None: PUCT. leaves: per round of PUCT, evaluated together. reuse: keep the tree from
        move to move."""
        super().__init__(game, limit)
        self._evaluator, self._planned, self._puct = evaluator, planned or puct, puct
        self._discount, self._leaves, self._reuse = discount, leaves, reuse
        self._most_planned = most_planned
        self._max_nodes = nodes_in(memory, game)
        self._tree: Search | None = None  # PUCT's, kept during a game
        self._root: Position | None = None  # the position at its root
        self._batch: Search | None = None

    def prepare(self, limit: Limit | None = None) -> None:
        super().prepare(limit)
        start = Position.start(self.game)
        self.search(start, self._obeyed(limit)).refute(start.legal_actions[0], distance=2)  # compiles it
        self.new_game(0)

    def new_game(self, seed: int) -> None:
        self._root = None

    def begin(self, position: Position, limit: Limit) -> Thinking:
        return self.search(position, limit)

    def search(self, position: Position, limit: Limit, seen: Mask | None = None) -> "MctsThinking":
        """The search of a position, begun. seen: the moves that it looks at, with a limit of simulations."""
        selection = self._planned if seen is not None else self._selection(limit)
        if seen is not None or selection is not self._puct:
            search = self._new_batch([position], limit, selection, seen)
        else:
            search = self._kept_tree(position)
        return MctsThinking(position, search, limit)

    def choose_many(self, positions: Sequence[Position], limit: Limit | None = None) -> list[Choice]:
        wanted = self._obeyed(limit)
        if len(positions) == 1 or not self._is_planned(wanted):
            return super().choose_many(positions, limit)
        assert wanted.simulations is not None
        most = max(1, self._max_nodes // (wanted.simulations + 1))  # trees that fit in the memory
        found: list[Choice] = []
        for first in range(0, len(positions), most):
            some = positions[first : first + most]
            search = self._new_batch(some, wanted, self._selection(wanted))
            search.run(wanted.simulations)
            found += [choice_of(search, tree) for tree in range(len(some))]
        return found

    def _is_planned(self, limit: Limit) -> bool:
        """Is the number of simulations known in advance, and is there room for their nodes?"""
        if limit.simulations is None or limit.is_timed or limit.nodes is not None:
            return False
        return limit.simulations < self._max_nodes

    def _selection(self, limit: Limit) -> Selection:
        """The search for a limit."""
        is_small = limit.simulations is not None and limit.simulations <= self._most_planned
        return self._planned if is_small and self._is_planned(limit) else self._puct

    def _new_batch(
        self,
        positions: Sequence[Position],
        limit: Limit,
        selection: Selection,
        seen: Mask | None = None,
    ) -> Search:
        """A new tree for each position. seen: the moves that are looked at in all of them."""
        assert limit.simulations is not None
        kept = self._batch
        fits = kept is not None and kept.settings is selection and kept.trees.num_trees == len(positions)
        if kept is None or not fits or kept.trees.capacity <= limit.simulations:
            kept = self._batch = Search(
                self.game,
                self._evaluator,
                selection,
                num_trees=len(positions),
                max_simulations=limit.simulations,
                discount=self._discount,
            )
        states = np.stack([position.state for position in positions])
        kept.begin(states, seen=None if seen is None else np.tile(seen, (len(states), 1)))
        return kept

    def _kept_tree(self, position: Position) -> Search:
        """PUCT's tree, moved to a position; keeps what is known if the position follows from the last one."""
        if self._tree is None:
            self._tree = Search(
                self.game,
                self._evaluator,
                self._puct,
                max_simulations=self._max_nodes - 1,
                leaves_per_round=self._leaves,
                discount=self._discount,
                visits_per_leaf=VISITS_PER_LEAF,
            )
        actions = moves_between(self._root, position) if self._reuse and self._root is not None else None
        self._root = None  # if the evaluator fails, the tree's position is not known
        is_kept = actions is not None and all(
            self._tree.advance(np.array([action], np.int32))[0] for action in actions
        )
        if not is_kept or self._tree.room < LEAST_ROOM * self._max_nodes:
            self._tree.begin(position.state[None])
        self._root = position
        return self._tree


class MctsThinking(Refutable):
    """Simulations in the first tree of a search."""

    def __init__(self, position: Position, search: Search, limit: Limit) -> None:
        self._position, self._search = position, search
        # A simulation adds at most one node, so a limit of nodes is also a limit of simulations.
        limits = [number for number in (limit.simulations, limit.nodes) if number is not None]
        search.plan(min(limits) if limits else None)
        self._is_forced = limit.is_timed and len(position.legal_actions) == 1

    def run(self, seconds: float) -> bool:
        return self._search.run_for(seconds) or self._is_forced

    def refute(self, action: int, distance: int) -> None:
        self._search.refute(action, distance)

    def choice(self) -> Choice:
        return choice_of(self._search)

    def snapshot(self) -> Snapshot:
        return of_search(self._position, self._search)

    def tree_text(self, depth: int) -> str:
        return tree_text(self._position.game, self._search.trees, depth=depth)


def choice_of(search: Search, tree: int = 0) -> Choice:
    """The move that a tree of a search would play."""
    result = search.result()
    simulations = int(result.simulations[tree] - search.kept_visits[tree])
    action = int(result.actions[tree])
    root, used = int(search.trees.roots[tree]), int(search.trees.used[tree])
    is_decided = int(result.root_proven[tree]) in (WIN, LOSS)
    return Choice(
        action,
        float(result.values[tree]),
        _line(search.trees, tree, action),
        f"{simulations:,} simulations, {used:,} nodes",
        int(result.root_distance[tree]) if is_decided else None,
        simulations,
        used,
        max_depth(search.trees.nodes.parents, root, used),
    )


def _line(trees: Trees, tree: int, action: int) -> tuple[int, ...]:
    """The actions expected, this one first; it need not be the most visited (Gumbel)."""
    nodes = trees.nodes
    child = next((c for c in children(nodes, int(trees.roots[tree])) if nodes.actions[c] == action), None)
    return (action,) if child is None else tuple(principal_variation(trees, tree, child))


def moves_between(earlier: Position, later: Position) -> list[int] | None:
    """The actions that lead from one position of a game to another; None if no actions do."""
    before, after = earlier.actions, later.actions
    if after[: len(before)] != before:
        return None
    following = after[len(before) :]
    for action in following:
        earlier = earlier.play(action)
    return following if earlier == later else None  # the games may have different first positions
