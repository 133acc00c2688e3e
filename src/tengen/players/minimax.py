"""Generation 2: tries every move and every reply to a depth, and prunes nothing.  Shannon 1950, type A."""

import time
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tengen.errors import UserError
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.greedy import best_point
from tengen.players.player import Choice, Player
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
    settled,
    squash,
)
from tengen.tactics.lines import WINS, Lines, check_plays, new_lines, place, remove, set_up, whole

MAX_DEPTH = 10
NODES_A_LOOK = 10_000  # between two looks at the clock

Longs = npt.NDArray[np.int64]


class Stack(NamedTuple):
    """One row a ply; it can be left and taken up again."""

    ply: Longs  # [1]
    nodes: Longs  # [1]
    moves: Moves  # [P, A]
    num_moves: Longs  # [P], -1 before they are listed
    tried: Longs  # [P]
    best: Longs  # [P]
    root_values: Longs  # [A], of each move at the root


@kernel
def advance(lines: Lines, stack: Stack, root_player: int, depth: int, num_nodes: int) -> bool:
    """Searches on for about so many nodes. Is the search complete, `best` and `root_values` known?"""
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
    """Equal moves are drawn."""

    summary = "plain game-tree search on patterns, five-in-a-row games (depth=2 or seconds=1)"

    def __init__(self, game: Game, depth: int = 2, seconds: float | None = None) -> None:
        super().__init__(game)
        check_plays("minimax", game)
        if not 1 <= depth <= MAX_DEPTH:
            raise UserError(f"player 'minimax': depth is 1-{MAX_DEPTH}, got {depth}")
        if seconds is not None and not seconds > 0:
            raise UserError(f"player 'minimax': seconds is more than 0, got {seconds}")
        self._depth, self._seconds = depth, seconds
        self._lines = new_lines(game)
        plies = MAX_DEPTH + 1
        self._stack = Stack(
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
        self._random = np.random.default_rng(seed)

    def choose(self, position: Position) -> Choice:
        lines, stack, me = self._lines, self._stack, position.to_move
        began = time.perf_counter()
        set_up(lines, position.state.copy())
        action, why = best_point(lines, me, position.legal_mask, self._random)
        choice = Choice(action, squash(evaluate_board(lines, me)), (action,), why)
        if find_point(lines, me, WINS) >= 0:
            return choice
        stack.nodes[0] = 0
        for depth in (self._depth,) if self._seconds is None else range(1, MAX_DEPTH + 1):
            set_up(lines, position.state.copy())
            stack.ply[0], stack.num_moves[0] = 0, -1
            stack.root_values[:] = -MATE
            while not advance(lines, stack, me, depth, NODES_A_LOOK):
                if self._seconds is not None and time.perf_counter() - began > self._seconds:
                    return choice
            if stack.num_moves[0] == 0:  # the first stone
                return choice
            best = np.flatnonzero(stack.root_values == stack.best[0])
            action = int(self._random.choice(best))
            note = f"depth {depth}, {stack.nodes[0]:,} nodes"
            choice = Choice(action, squash(int(stack.best[0])), (action,), note)
        return choice
