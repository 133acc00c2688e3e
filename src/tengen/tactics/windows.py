"""The memory of a search for fours: one flat array, and the windows of the board kept in it.

A window is k cells in line; it is named by its first cell and direction. One that holds k - 2 stones of the
attacker and no others becomes a four by one more stone. The list of these windows is kept while stones are
placed and removed, so that the moves that may be fours need not be looked for.

Everything is in one array of int64. A tuple of 19 arrays, passed from kernel to kernel, took three times as
long to compile. Sections have a fixed size, for the largest board, so that their places are constants:

    numbers │ rays │ counts │ windows │ places │ seen │ marks │ wins │ ends │ words │ line │ frames │ table
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tengen.games.coordinates import MAX_SIDE
from tengen.games.game import Game, State
from tengen.games.mnk import HEADER, RENJU
from tengen.search.tree import inlined, kernel, spliced

Ints = npt.NDArray[np.int64]  # always int64, so that each kernel is compiled once

DEFENDER = 64  # a window's count: the attacker's stones in it, and 64 for each of the defender's

# Numbers: windows in the list, lists of moves made, fours tried, rows that the last four threatens; the
# attacker, the maximum number of attacking moves; the current limit, the current depth of that search (-1:
# before it), its result, the length of the line; where the table begins, and the number of its entries.
NUM_WINDOWS, LISTS, NODES, NUM_WINS, ME, MAX_DEPTH, LIMIT, DEPTH, STATUS, LENGTH, TABLE, TABLE_SIZE = range(
    12
)

MAX_CELLS = MAX_SIDE * MAX_SIDE
STEPS = 16  # [4], from a cell to the next in each direction: →  ↓  ↘  ↙
AHEAD = STEPS + 4  # [4 · cells], how many cells follow a cell in a direction
BEHIND = AHEAD + 4 * MAX_CELLS  # [4 · cells], how many cells come before it
COUNTS = BEHIND + 4 * MAX_CELLS  # [4 · cells], of the window that begins at a cell in a direction
WINDOWS = COUNTS + 4 * MAX_CELLS  # [4 · cells], those that may become fours
PLACES = WINDOWS + 4 * MAX_CELLS  # [4 · cells], where a window is in that list
SEEN = PLACES + 4 * MAX_CELLS  # [cells], in which list of moves a cell was last
MARKS = SEEN + MAX_CELLS  # [cells], for fours.py
WINS = MARKS + MAX_CELLS  # [cells], where the attacker would complete a row now
WEIGHTS = WINS + MAX_CELLS  # [cells], what the stone of each cell counts in a window
ENDS = WEIGHTS + MAX_CELLS  # [8]
WORDS = ENDS + 8  # [3 · cells], Zobrist: for a stone of either player, and for the attacker
LINE = WORDS + 3 * MAX_CELLS  # [cells + 5]
FRAMES = LINE + MAX_CELLS + 5  # [depth], see below

# A frame of the search, one for each attacking move: how many moves there are to try and how many were tried,
# the one being tried, the replies that stop it and how many of those are answered, the rows the defender
# would complete at once, whether something below was left out because of the limit, the position's hash.
NUM_FOURS, TRIED, FOUR, NUM_REPLIES, ANSWERED, NUM_DANGERS, CUT, HASH = range(8)
REPLIES = 8  # [9]
FOURS = REPLIES + 9  # [cells]
DANGERS = FOURS + MAX_CELLS  # [cells]
FRAME_SIZE = DANGERS + MAX_CELLS


class Work(NamedTuple):
    """The memory of a search, for one game and one thread. Reuse it: the table stays valid."""

    board: State  # [S], the position being searched
    memory: Ints  # its sections are described above
    renju: int | None  # RENJU; None in other games: Numba then compiles kernels without the rules of renju

    @property
    def num_frames(self) -> int:
        return int(self.memory[TABLE] - FRAMES) // FRAME_SIZE

    @property
    def table(self) -> Ints:
        """[entries, 2]: a position's hash, and the depth up to which it has no win."""
        return self.memory[self.memory[TABLE] :].reshape(-1, 2)


def new_work(game: Game, max_depth: int, table_bits: int) -> Work:
    """Memory for searches of at most `max_depth` attacking moves, with a table of 2^table_bits positions."""
    table = FRAMES + min(max_depth, game.rows * game.cols // 2 + 2) * FRAME_SIZE
    memory = np.zeros(table + 2 * (1 << table_bits), np.int64)
    memory[TABLE], memory[TABLE_SIZE] = table, 1 << table_bits
    memory[WORDS : WORDS + 3 * MAX_CELLS] = np.random.PCG64(0).random_raw(3 * MAX_CELLS).view(np.int64)
    up, left = np.indices((game.rows, game.cols)).reshape(2, -1)
    down, right = game.rows - 1 - up, game.cols - 1 - left
    rays = (
        (1, right, left),
        (game.cols, down, up),
        (game.cols + 1, np.minimum(down, right), np.minimum(up, left)),
        (game.cols - 1, np.minimum(down, left), np.minimum(up, right)),
    )
    for direction, (step, ahead, behind) in enumerate(rays):
        first = direction * MAX_CELLS
        memory[STEPS + direction] = step
        memory[AHEAD + first : AHEAD + first + len(ahead)] = ahead
        memory[BEHIND + first : BEHIND + first + len(behind)] = behind
    return Work(np.zeros(game.state_size, np.int16), memory, RENJU if game.header[3] == RENJU else None)


@inlined
def ray(cell: int, direction: int, memory: Ints) -> tuple[int, int, int]:
    """(step, cells ahead, cells behind) in a direction: →  ↓  ↘  ↙."""
    place = direction * MAX_CELLS + cell
    return memory[STEPS + direction], memory[AHEAD + place], memory[BEHIND + place]


@spliced
def count_windows(board: State, me: int, memory: Ints) -> tuple[bool, bool]:
    """Counts the stones in every window. May the attacker, may the defender complete a row at once?"""
    num_cells, k = board[0] * board[1], board[2]
    # 1. all windows of a direction at once, also those that cross an edge: vectors take a quarter of the time
    for cell in range(num_cells):
        stone = board[HEADER + cell]
        memory[WEIGHTS + cell] = 0 if stone == 0 else 1 if stone == me else DEFENDER
    for direction in range(4):
        step, first = memory[STEPS + direction], COUNTS + direction * num_cells
        size = num_cells - (k - 1) * step
        counts = memory[first : first + max(0, size)]
        counts[:] = 0
        for i in range(k):
            weights = memory[WEIGHTS + i * step : WEIGHTS + i * step + max(0, size)]
            for window in range(counts.size):
                counts[window] += weights[window]
    # 2. those on the board
    num_windows = 0
    may_win, may_lose = False, False
    for direction in range(4):
        for cell in range(num_cells):
            if memory[AHEAD + direction * MAX_CELLS + cell] < k - 1:
                continue
            window = direction * num_cells + cell
            count = memory[COUNTS + window]
            may_win |= count == k - 1
            may_lose |= count == DEFENDER * (k - 1)
            if count == k - 2:
                memory[PLACES + window] = num_windows
                memory[WINDOWS + num_windows] = window
                num_windows += 1
    memory[NUM_WINDOWS] = num_windows
    return may_win, may_lose


@kernel
def add_to_windows(board: State, cell: int, weight: int, memory: Ints) -> None:
    """Counts a stone in the windows through a cell; updates the list of windows that may become fours."""
    num_cells, k = board[0] * board[1], board[2]
    num_windows = memory[NUM_WINDOWS]
    for direction in range(4):
        step, ahead, behind = ray(cell, direction, memory)
        for i in range(max(0, k - 1 - ahead), min(k - 1, behind) + 1):
            window = direction * num_cells + cell - i * step
            before = memory[COUNTS + window]
            memory[COUNTS + window] = before + weight
            if before == k - 2:  # the last of the list moves to its place
                num_windows -= 1
                last = memory[WINDOWS + num_windows]
                memory[WINDOWS + memory[PLACES + window]] = last
                memory[PLACES + last] = memory[PLACES + window]
            elif before + weight == k - 2:
                memory[WINDOWS + num_windows] = window
                memory[PLACES + window] = num_windows
                num_windows += 1
    memory[NUM_WINDOWS] = num_windows


@kernel
def remove_from_windows(board: State, cell: int, weight: int, memory: Ints) -> None:
    """Undoes add_to_windows, its steps in reverse order."""
    num_cells, k = board[0] * board[1], board[2]
    num_windows = memory[NUM_WINDOWS]
    for direction in range(3, -1, -1):
        step, ahead, behind = ray(cell, direction, memory)
        for i in range(min(k - 1, behind), max(0, k - 1 - ahead) - 1, -1):
            window = direction * num_cells + cell - i * step
            after = memory[COUNTS + window]
            memory[COUNTS + window] = after - weight
            if after == k - 2:  # it is the last of the list
                num_windows -= 1
            elif after - weight == k - 2:  # what had moved to its place goes back to the end
                place = memory[PLACES + window]
                moved = memory[WINDOWS + place]
                memory[PLACES + moved] = num_windows
                memory[WINDOWS + num_windows] = moved
                memory[WINDOWS + place] = window
                num_windows += 1
    memory[NUM_WINDOWS] = num_windows


@spliced
def list_fours(board: State, frame: int, memory: Ints) -> int:
    """Lists the moves that may be fours: the two empty cells of each window, the newest window first."""
    num_cells, k = board[0] * board[1], board[2]
    memory[LISTS] += 1
    count = 0
    for i in range(memory[NUM_WINDOWS] - 1, -1, -1):
        window = memory[WINDOWS + i]
        cell = window % num_cells
        step, _, _ = ray(cell, window // num_cells, memory)
        for _ in range(k):
            if board[HEADER + cell] == 0 and memory[SEEN + cell] != memory[LISTS]:
                memory[SEEN + cell] = memory[LISTS]
                memory[frame + FOURS + count] = cell
                count += 1
            cell += step
    return count
