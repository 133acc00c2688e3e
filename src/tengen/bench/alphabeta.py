"""The speed of alpha-beta: nodes per second and time per move at depth 6, mid-game in gomoku15, one core.

A node is a position that was evaluated, even if only by patterns. The table is cleared before each position.
Seconds are processor time, so other programs do not change them.
"""

import time
from dataclasses import dataclass

import numpy as np

from tengen.bench.search import one_core
from tengen.games import find
from tengen.games.position import Position
from tengen.players.alphabeta import AlphaBeta
from tengen.players.greedy import score_points
from tengen.tactics.evaluation import SURE, evaluate_board
from tengen.tactics.lines import FOUR_THREE, new_lines, set_up

GAME = "gomoku15"
LEAST_STONES, MOST_STONES = 20, 40
CHOICE = 8  # a move is drawn from this many best points
GOAL_SECONDS = 1.0  # for depth 6, at most


@dataclass(frozen=True)
class DepthTime:
    """The nodes and seconds of searches to one depth."""

    depth: int
    positions: int
    nodes_per_second: float
    median_seconds: float
    seconds_95: float  # the 95th percentile
    most_seconds: float
    goal: float | None  # seconds at most


def thinking(num_positions: int, depths: tuple[int, ...] = (4, 6)) -> list[DepthTime]:
    """The measurements: the same positions at each depth."""
    positions = midgame_positions(num_positions)
    found = []
    for depth in depths:
        player = AlphaBeta(find(GAME), depth=depth)
        player.choose(positions[0])  # compile
        with one_core():
            measured = [_think(player, position) for position in positions]
        nodes, seconds = np.array(measured).T
        middle, high, most = np.quantile(seconds, (0.5, 0.95, 1.0))
        goal = GOAL_SECONDS if depth == 6 else None
        rate = nodes.sum() / seconds.sum()
        found.append(
            DepthTime(depth, num_positions, float(rate), float(middle), float(high), float(most), goal)
        )
    return found


def _think(player: AlphaBeta, position: Position) -> tuple[int, float]:
    """(nodes, seconds) of one move."""
    player.new_game(1)
    began = time.process_time()
    player.choose(position)
    return player.nodes, time.process_time() - began


def midgame_positions(num_positions: int) -> list[Position]:
    """Positions with 20 to 40 stones, from one seed, in which patterns alone do not decide the result."""
    random = np.random.default_rng(1)
    lines = new_lines(find(GAME))
    found: list[Position] = []
    while len(found) < num_positions:
        position = Position.from_moves(GAME, "h8")
        stones, wanted = 1, LEAST_STONES + len(found) % (MOST_STONES - LEAST_STONES + 1)
        set_up(lines, position.state.copy())
        while stones < wanted and not position.is_over:
            # One of the best few points, but every threat is answered.
            scores, make, prevent = score_points(lines, position.to_move)
            scores[~position.legal_mask] = -1
            is_sharp = max(make[scores >= 0].max(), prevent[scores >= 0].max()) >= FOUR_THREE
            best = np.argsort(-scores, kind="stable")[: 1 if is_sharp else CHOICE]
            position = position.play(int(random.choice(best)))
            set_up(lines, position.state.copy())
            stones += 1
        if not position.is_over and abs(evaluate_board(lines, position.to_move)) < SURE:
            found.append(position)
    return found
