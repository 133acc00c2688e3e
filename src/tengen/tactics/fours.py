"""Wins by continuous fours at every leaf of a search, and what must be done against the opponent's.

For games of the m,n,k family, as a `Look` (evaluators/forced.py). Of each position it finds out

    1. does the player to move win by fours (threats.py)?           proven, won in n plies
    2. else: would the opponent win by fours if it were its turn?   then only some moves are playable

A move that does not stop the opponent's win is a proven loss: the search need not look at it. If no move
stops it, the position is lost. Both searches have a small budget of nodes: what they do not find in time
counts as unknown, so everything that is claimed is certain.

Which moves stop the opponent's line  a₀ r₀ a₁ r₁ … aₙ?  (aᵢ its fours, rᵢ the only replies)

    a stone on a point of the line, or on the second point that would complete its last row
    a four of one's own, which comes first
    a stone that makes a four of one's own together with a reply rᵢ; it lies in line with rᵢ

All other moves leave the line as it was. Whether a stone in line with a reply does change it is found out by
playing the line with the stone on the board. In renju a stone can also make a point forbidden, or free: every
move is tried. In caro it can block a row at its end, and there are several replies: all moves are tried that
are in line with any move that the search looked at.
"""

import numpy as np

from tengen.evaluators.evaluator import Int8s, Int16s
from tengen.evaluators.forced import Certain
from tengen.games import mnk
from tengen.games.batch import LOSS, WIN
from tengen.games.game import Game, Mask, State
from tengen.games.mnk import CARO, HEADER, RENJU, completes_row
from tengen.search.tree import inlined, kernel
from tengen.tactics.lines import whole
from tengen.tactics.rows import Ints, ray, winning_moves, winning_moves_near
from tengen.tactics.threats import (
    DANGERS,
    DEFENDER,
    FOUND,
    LENGTH,
    LISTS,
    MOVE,
    REPLIES,
    TO_MOVE,
    Work,
    advance,
    begin_search,
    is_four,
    new_work,
)

MAX_DEPTH = 12  # fours in a row; longer lines need more nodes than a leaf has
MAX_NODES = 100  # fours tried per position and player
TABLE_BITS = 14
MAY_STOP, STOPS = 1, 2  # marks of cells


def has_fours(game: Game) -> bool:
    """Is it a game of four or more in a row? With three, every second move would be a four."""
    return mnk.is_mnk(game) and game.header[2] >= 4


class SeesFours:
    """A `Look` for games with fours. It remembers positions without a win until it is cleared."""

    def __init__(self, game: Game, max_nodes: int = MAX_NODES) -> None:
        self._max_nodes, self._work = max_nodes, new_work(game, MAX_DEPTH, TABLE_BITS)

    def clear(self) -> None:
        """Forgets what it found: later answers are those of a new object."""
        self._work.known[:] = 0

    def __call__(self, states: State, legal: Mask) -> Certain:
        count = len(states)
        proven, distance = np.zeros(count, np.int8), np.zeros(count, np.int16)
        playable, wins = legal.copy(), np.zeros(legal.shape, np.bool_)
        _look(states, self._max_nodes, proven, distance, playable, wins, self._work)
        return Certain(proven, distance, playable, wins)


@kernel
def _look(
    states: State,
    max_nodes: int,
    proven: Int8s,
    distance: Int16s,
    playable: Mask,
    wins: Mask,
    work: Work,
) -> None:
    """Finds out what is certain of each position. `playable` holds the legal moves; those that do not stop
    the opponent are removed, unless no move does."""
    for b in range(len(states)):
        state = states[b]
        me = 1 if state[TO_MOVE] == 1 else 2
        begin_search(state, me, MAX_DEPTH, work)
        if advance(work, max_nodes) == FOUND:
            proven[b], distance[b], wins[b, work.line[0]] = WIN, work.numbers[LENGTH], True
            continue
        first_list = work.numbers[LISTS] + 1
        begin_search(state, 3 - me, MAX_DEPTH, work)
        if advance(work, max_nodes) != FOUND:
            continue
        length = work.numbers[LENGTH]
        if length == 1:
            count = mark_stops_of_row(me, playable[b], work)
        else:
            count = mark_stops_of_line(me, length, first_list, playable[b], work)
        distance[b] = length + 1
        if count == 0:
            proven[b] = LOSS
            continue
        for cell in range(playable.shape[1]):
            playable[b, cell] &= work.marks[cell] == STOPS


@kernel
def mark_stops_of_row(me: int, playable: Mask, work: Work) -> int:
    """Marks the moves after which the opponent, who could complete a row at once, cannot; their number."""
    board, wins, marks = work.board, work.wins, work.marks
    num_wins = winning_moves(board, 3 - me, wins)
    marks[:] = 0
    mark_in_line(wins[0], whole(board[2]), marks, board)  # in caro also the ends of a row
    count = 0
    for cell in range(playable.size):
        if marks[cell] == 0 or not playable[cell]:
            continue
        board[HEADER + cell] = me
        stops = True
        for i in range(num_wins):
            if wins[i] != cell and completes_row(board, wins[i], 3 - me):
                stops = False
        board[HEADER + cell] = 0
        marks[cell] = STOPS if stops else 0
        count += stops
    return count


@kernel
def mark_stops_of_line(me: int, length: int, first_list: int, playable: Mask, work: Work) -> int:
    """Marks the moves that may stop the opponent's line of fours; returns their number."""
    board, marks, rule = work.board, work.marks, work.board[3]
    num_cells, k = board[0] * board[1], whole(board[2])
    # 1. the moves that could matter
    marks[:] = MAY_STOP if rule == RENJU else 0
    if rule >= CARO:  # there are several lines: near all moves that were looked at
        for cell in range(num_cells):
            if work.seen[cell] >= first_list:
                mark_in_line(cell, k, marks, board)
    else:
        for i in range(length):
            marks[work.line[i]] = MAY_STOP
            if i % 2 == 1:
                mark_in_line(work.line[i], k - 1, marks, board)
    for direction in range(4):
        for cell in range(num_cells):
            if work.counts[direction * num_cells + cell] == DEFENDER * (k - 2):
                step, ahead, _ = ray(board, cell, direction)
                for i in range(k if ahead >= k - 1 else 0):
                    marks[cell + i * step] = MAY_STOP
    # 2. those of them after which the line no longer wins
    count = 0
    for cell in range(num_cells):
        if marks[cell] == 0 or not playable[cell]:
            continue
        board[HEADER + cell] = me
        frame = work.frames[0]
        frame[DANGERS] = winning_moves_near(board, cell, me, work.ends)
        for i in range(frame[DANGERS]):
            work.dangers[0, i] = work.ends[i]
        stops = not still_wins(me, length, work)
        board[HEADER + cell] = 0
        marks[cell] = STOPS if stops else 0
        count += stops
    return count


@kernel
def still_wins(me: int, length: int, work: Work) -> bool:
    """Does the opponent's line win, move by move, on the board as it is now? Leaves the board unchanged.

    Frame 0 holds the rows that `me` threatens to complete."""
    board, frame, attacker = work.board, work.frames[0], 3 - me
    wins, played = False, 0
    while 2 * played < length - 1:
        four, reply = work.line[2 * played], work.line[2 * played + 1]
        frame[MOVE] = four
        if board[HEADER + four] != 0 or not is_four(whole(0), attacker, work):
            break
        if frame[REPLIES] == 0:
            wins = True
            break
        if frame[REPLIES] > 1 or work.replies[0, 0] != reply:
            break
        board[HEADER + four], board[HEADER + reply] = attacker, me
        played += 1
        frame[DANGERS] = winning_moves_near(board, reply, me, work.ends)
        for i in range(frame[DANGERS]):
            work.dangers[0, i] = work.ends[i]
    for i in range(2 * played):
        board[HEADER + work.line[i]] = 0
    return wins


@inlined
def mark_in_line(cell: int, distance: int, marks: Ints, board: State) -> None:
    """Marks a cell and all cells in line with it, up to a distance."""
    marks[cell] = MAY_STOP
    for direction in range(4):
        step, ahead, behind = ray(board, cell, direction)
        for i in range(1, min(distance, ahead) + 1):
            marks[cell + i * step] = MAY_STOP
        for i in range(1, min(distance, behind) + 1):
            marks[cell - i * step] = MAY_STOP
