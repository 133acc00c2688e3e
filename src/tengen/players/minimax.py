"""Generation 2: tries every move and every reply to a depth, and prunes nothing.  Shannon 1950, type A."""

import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tengen.errors import UserError
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.decision import snapshot_of
from tengen.players.greedy import best_point
from tengen.players.limit import Limit
from tengen.players.player import Choice, Player, Thinking
from tengen.search.snapshot import MoveInfo, Snapshot
from tengen.search.tree import kernel
from tengen.tactics.evaluation import (
    MATE,
    UNKNOWN,
    Moves,
    at_ply,
    evaluate_board,
    find_point,
    is_legal,
    list_near,
    plies_to_end,
    settled,
    squash,
)
from tengen.tactics.lines import WINS, Lines, check_plays, new_lines, place, remove, set_up, whole

MAX_DEPTH = 10
NODES_PER_SLICE = 10_000  # about 3 ms
MOST_NODES = 2**62

Longs = npt.NDArray[np.int64]


class Stack(NamedTuple):
    """The stack, one row per ply; the search can stop and continue."""

    ply: Longs  # [1]
    nodes: Longs  # [1]
    moves: Moves  # [P, A]
    num_moves: Longs  # [P], -1 before they are listed
    tried: Longs  # [P]
    best: Longs  # [P]
    root_values: Longs  # [A], of each move at the root


@kernel
def advance(lines: Lines, stack: Stack, root_player: int, depth: int, num_nodes: int) -> bool:
    """Continues for about `num_nodes` nodes. Is the search complete, `best` and `root_values` known?"""
    ply = stack.ply[0]
    limit = stack.nodes[0] + num_nodes
    while stack.nodes[0] < limit:
        me = root_player if ply % 2 == 0 else 3 - root_player
        if stack.num_moves[ply] < 0:  # a new position
            stack.nodes[0] += 1
            stack.num_moves[ply] = stack.tried[ply] = 0
            value = settled(lines, me, lines.tally[me - 1], lines.tally[2 - me]) if ply > 0 else UNKNOWN
            if lines.left[0] == 0:
                stack.best[ply] = 0
            elif value != UNKNOWN:
                stack.best[ply] = at_ply(value, ply)
            elif ply == depth:
                stack.best[ply] = evaluate_board(lines, me)
            else:
                stack.num_moves[ply] = list_near(lines, stack.moves[ply])
                stack.best[ply] = -MATE if stack.num_moves[ply] > 0 else 0
        elif stack.tried[ply] < stack.num_moves[ply]:
            move = whole(stack.moves[ply, stack.tried[ply]])
            stack.tried[ply] += 1
            if is_legal(lines, me, move):
                place(lines, move, me)
                ply += 1
                stack.num_moves[ply] = -1
        elif ply > 0:  # done with it
            value = -stack.best[ply]
            ply -= 1
            move = whole(stack.moves[ply, stack.tried[ply] - 1])
            remove(lines, move)
            stack.best[ply] = max(stack.best[ply], value)
            if ply == 0:
                stack.root_values[move] = value
        else:
            break
    stack.ply[0] = ply
    return bool(ply == 0 and 0 <= stack.num_moves[0] == stack.tried[0])


class Minimax(Player):
    """Full search to a depth; chooses at random between equal moves."""

    summary = "plain game-tree search on patterns, five-in-a-row games (depth=2 or seconds=1)"
    obeys = ("nodes", "depth")

    def __init__(self, game: Game, depth: int | None = None, seconds: float | None = None) -> None:
        """Without depth and seconds: two plies."""
        check_plays("minimax", game)
        if depth is not None and not 1 <= depth <= MAX_DEPTH:
            raise UserError(f"player 'minimax': depth is 1-{MAX_DEPTH}, got {depth}")
        if seconds is not None and not seconds > 0:
            raise UserError(f"player 'minimax': seconds is more than 0, got {seconds}")
        super().__init__(game, Limit(depth=depth or (2 if seconds is None else None), seconds=seconds))
        self.lines = new_lines(game)
        plies = MAX_DEPTH + 1
        self.stack = Stack(
            ply=np.zeros(1, np.int64),
            nodes=np.zeros(1, np.int64),
            moves=np.zeros((plies, game.num_actions), np.int16),
            num_moves=np.zeros(plies, np.int64),
            tried=np.zeros(plies, np.int64),
            best=np.zeros(plies, np.int64),
            root_values=np.zeros(game.num_actions, np.int64),
        )
        self.new_game(0)

    def new_game(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def begin(self, position: Position, limit: Limit) -> "MinimaxThinking":
        return MinimaxThinking(self, position, limit)


class MinimaxThinking(Thinking):
    """A search to the given depth; with a limit of time or nodes, to every depth up to it in turn."""

    def __init__(self, player: Minimax, position: Position, limit: Limit) -> None:
        self._position, self._lines, self._stack = position, player.lines, player.stack
        self._random, self._me = player.random, position.to_move
        self._last = min(limit.depth or MAX_DEPTH, MAX_DEPTH)
        self._max_nodes = limit.nodes or MOST_NODES
        set_up(self._lines, position.state.copy())
        action, why = best_point(self._lines, self._me, position.legal_mask, self._random)
        self._choice = Choice(action, squash(evaluate_board(self._lines, self._me)), (action,), why)
        self._is_over = find_point(self._lines, self._me, WINS) >= 0
        self._values: Longs | None = None  # [A], of the deepest search that was completed
        self._stack.nodes[0] = 0
        is_one_depth = limit.depth is not None and not limit.is_timed and limit.nodes is None
        self._depth = self._last if is_one_depth else 1
        self._start()

    def _start(self) -> None:
        """Starts the search to the next depth."""
        set_up(self._lines, self._position.state.copy())
        self._stack.ply[0], self._stack.num_moves[0] = 0, -1
        self._stack.root_values[:] = -MATE

    def run(self, seconds: float) -> bool:
        ends = time.perf_counter() + seconds
        while not self._is_over:
            slice_nodes = min(NODES_PER_SLICE, self._max_nodes - self.nodes)
            if advance(self._lines, self._stack, self._me, self._depth, slice_nodes):
                self._finish_depth()
            elif self.nodes >= self._max_nodes:
                self._is_over = True
            if time.perf_counter() >= ends:
                break
        return self._is_over

    def _finish_depth(self) -> None:
        stack = self._stack
        if stack.num_moves[0] == 0:  # the first stone
            self._is_over = True
            return
        best = np.flatnonzero(stack.root_values == stack.best[0])
        action = int(self._random.choice(best))
        note = f"depth {self._depth}, {self.nodes:,} nodes"
        value = int(stack.best[0])
        self._choice = Choice(
            action, squash(value), (action,), note, plies_to_end(value), nodes=self.nodes, depth=self._depth
        )
        self._values = stack.root_values.copy()
        self._depth += 1
        if self._depth > self._last or plies_to_end(value):
            self._is_over = True
        else:
            self._start()

    @property
    def nodes(self) -> int:
        return int(self._stack.nodes[0])

    def choice(self) -> Choice:
        return self._choice

    def snapshot(self) -> Snapshot:
        found = snapshot_of(self._position, self._choice, "Minimax", self.nodes, self._depth - 1)
        if self._values is None:
            return found
        name = self._position.game.moves.name
        others = [
            MoveInfo(name(action), 0, None, round(squash(value), 6), None, None, False, (name(action),))
            for value, action in sorted(
                zip(self._values.tolist(), range(len(self._values)), strict=True), reverse=True
            )
            if value > -MATE and action != self._choice.action
        ]
        return replace(found, moves=(*found.moves, *others))
