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
from tengen.games.mnk import CARO, HEADER, RENJU
from tengen.search.tree import kernel, spliced
from tengen.tactics.lines import whole
from tengen.tactics.rows import winning_moves, winning_moves_near
from tengen.tactics.threats import FOUND, TO_MOVE, begin_search, is_four, new_work, row_left, search
from tengen.tactics.windows import (
    COUNTS,
    DANGERS,
    DEFENDER,
    FOUR,
    FRAMES,
    LENGTH,
    LINE,
    LISTS,
    MARKS,
    MAX_DEPTH,
    NUM_DANGERS,
    NUM_REPLIES,
    REPLIES,
    SEEN,
    WINS,
    Ints,
    ray,
)

MOST_FOURS = 12  # fours in a row; longer lines need more nodes than a leaf has
MAX_NODES = 100  # fours tried per position and player
TABLE_BITS = 14
MAY_STOP, STOPS = 1, 2  # marks of cells


def has_fours(game: Game) -> bool:
    """Is it a game of four or more in a row? With three, every second move would be a four."""
    return mnk.is_mnk(game) and game.header[2] >= 4


class SeesFours:
    """A `Look` for games with fours. It remembers positions without a win until it is cleared."""

    def __init__(self, game: Game, max_nodes: int = MAX_NODES) -> None:
        self._max_nodes, self._work = max_nodes, new_work(game, MOST_FOURS, TABLE_BITS)
        self._work.memory[MAX_DEPTH] = self._work.num_frames

    def clear(self) -> None:
        """Forgets what it found: later answers are those of a new object."""
        self._work.table[:, 1] = 0

    def __call__(self, states: State, legal: Mask) -> Certain:
        count = len(states)
        proven, distance = np.zeros(count, np.int8), np.zeros(count, np.int16)
        playable, wins = legal.copy(), np.zeros(legal.shape, np.bool_)
        _look(states, self._max_nodes, proven, distance, playable, wins, *self._work)
        return Certain(proven, distance, playable, wins)


@kernel
def _look(
    states: State,
    max_nodes: int,
    proven: Int8s,
    distance: Int16s,
    playable: Mask,
    wins: Mask,
    board: State,
    memory: Ints,
    renju: int | None,
) -> None:
    """Finds out what is certain of each position. `playable` holds the legal moves; those that do not stop
    the opponent are removed, unless no move does."""
    for b in range(len(states)):
        state = states[b]
        me = 1 if state[TO_MOVE] == 1 else 2
        for attacker in (me, 3 - me):
            first_list = memory[LISTS] + 1
            begin_search(state, attacker, board, memory)
            if search(max_nodes, board, memory, renju) != FOUND:
                continue
            length = memory[LENGTH]
            if attacker == me:
                proven[b], distance[b], wins[b, memory[LINE]] = WIN, length, True
                break
            distance[b] = length + 1
            if mark_stops(me, length, first_list, playable[b], board, memory, renju) == 0:
                proven[b] = LOSS
                break
            for cell in range(playable.shape[1]):
                playable[b, cell] &= memory[MARKS + cell] == STOPS


@spliced
def mark_stops(
    me: int,
    length: int,
    first_list: int,
    playable: Mask,
    board: State,
    memory: Ints,
    renju: int | None,
) -> int:
    """Marks the moves that may stop the opponent's line of fours; returns their number."""
    num_cells, k, rule = board[0] * board[1], whole(board[2]), board[3]
    # 1. the moves that could matter: in line with certain points
    for cell in range(num_cells):
        memory[MARKS + cell] = MAY_STOP if rule == RENJU and length > 1 else 0
    num_wins = winning_moves(board, 3 - me, memory, whole(WINS)) if length == 1 else 0
    for i in range(num_cells if rule >= CARO and length > 1 else length):
        if length == 1:  # the opponent completes a row at once; in caro also the ends of that row matter
            point, distance = memory[WINS], k
        elif rule >= CARO:  # there are several lines: near all moves that were looked at
            point, distance = i, k if memory[SEEN + i] >= first_list else -1
        else:
            point, distance = memory[LINE + i], (k - 1) * (i % 2)
        if distance >= 0:
            mark_in_line(point, distance, memory)
    if length > 1:
        mark_own_fours(board, memory)
    # 2. those of them after which the line no longer wins
    count = 0
    for cell in range(num_cells):
        if memory[MARKS + cell] == 0 or not playable[cell]:
            continue
        if length == 1:
            stops = row_left(board, cell, 3 - me, memory, whole(WINS), num_wins) < 0
        else:
            stops = not still_wins(cell, me, length, board, memory, renju)
        memory[MARKS + cell] = STOPS if stops else 0
        count += stops
    return count


@spliced
def mark_own_fours(board: State, memory: Ints) -> None:
    """Marks the cells of all windows in which a stone of the defender makes a four."""
    num_cells, k = board[0] * board[1], board[2]
    for direction in range(4):
        for cell in range(num_cells):
            if memory[COUNTS + direction * num_cells + cell] == DEFENDER * (k - 2):
                step, ahead, _ = ray(cell, direction, memory)
                for i in range(k if ahead >= k - 1 else 0):
                    memory[MARKS + cell + i * step] = MAY_STOP


@spliced
def still_wins(cell: int, me: int, length: int, board: State, memory: Ints, renju: int | None) -> bool:
    """Does the opponent's line win, move by move, after this move of player `me`? Uses frame 0."""
    frame, attacker = whole(FRAMES), 3 - me
    board[HEADER + cell] = me
    wins, played, last = False, 0, cell
    while 2 * played < length - 1:
        memory[frame + NUM_DANGERS] = winning_moves_near(board, last, me, memory, frame + DANGERS)
        four, reply = memory[LINE + 2 * played], memory[LINE + 2 * played + 1]
        memory[frame + FOUR] = four
        if board[HEADER + four] != 0 or not is_four(board, frame, attacker, memory, renju):
            break
        if memory[frame + NUM_REPLIES] == 0:
            wins = True
            break
        if memory[frame + NUM_REPLIES] > 1 or memory[frame + REPLIES] != reply:
            break
        board[HEADER + four], board[HEADER + reply] = attacker, me
        played, last = played + 1, reply
    for i in range(2 * played):
        board[HEADER + memory[LINE + i]] = 0
    board[HEADER + cell] = 0
    return wins


@spliced
def mark_in_line(cell: int, distance: int, memory: Ints) -> None:
    """Marks a cell and all cells in line with it, up to a distance."""
    for direction in range(4):
        step, ahead, behind = ray(cell, direction, memory)
        for i in range(-min(distance, behind), min(distance, ahead) + 1):
            memory[MARKS + cell + i * step] = MAY_STOP
