"""Wins by continuous fours (VCF), exactly, for every game of the m,n,k family.

A four is a move after which the player threatens to complete a winning row. The attacker plays nothing but
fours, so the defender has almost no choice, and a search can go deep:

    attacker   a four. It must leave the defender no row to complete: if the defender's last reply made a
               four, the attacker's move has to stop that and still be a four
    defender   any reply that stops all the threatened rows: a stone on the one point that completes them
               or, in caro, one at the end of the row, which then does not count
    the end    no reply stops every row, or the only one that would is forbidden for black

        · X X X ○ ·        after ○ both ends complete a row: a win of depth 2, counted in attacking moves

The search deepens one attacking move at a time, so the depth of a win it finds is the smallest. Every win
is proven against every legal reply. Positions known to have no win are kept in a table by a 64-bit hash:
two positions with the same hash could hide a win (a chance of nodes / 2⁴⁸), but never invent one.

    find_win(position, game)                       # in one call, or in slices:
    work = new_work(game)
    begin(work, position)
    while advance(work, num_nodes=1000) == OPEN: ...   # the clock, a stop
    result(work)
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from tengen.errors import UserError
from tengen.games import mnk
from tengen.games.game import Game, State
from tengen.games.mnk import CARO, HEADER, RENJU, completes_row
from tengen.games.position import Position
from tengen.games.renju import FORBIDDEN
from tengen.games.result import RESULT
from tengen.search.tree import inlined, kernel
from tengen.tactics.lines import whole
from tengen.tactics.rows import (
    Ints,
    ends_of_runs,
    is_forbidden,
    legal_point,
    ray,
    winning_moves,
    winning_moves_near,
)

TO_MOVE = -1

Bits = npt.NDArray[np.uint64]

FOUND, NONE, UNKNOWN, OPEN = range(4)  # what `advance` returns; OPEN: not searched to the end
STATUSES: tuple[Literal["found", "none", "unknown"], ...] = ("found", "none", "unknown", "unknown")

# A frame of the search, one for each attacking move: how many moves there are to try and how many were tried,
# the one being tried, the replies that stop it and how many of those are answered, the rows the defender
# would complete at once, and whether something below was left out because of the limit.
MOVES, TRIED, MOVE, REPLIES, ANSWERED, DANGERS, CUT = range(7)

# Work.numbers: windows in `builds`, lists of moves made, fours tried; the attacker, the maximum number of
# attacking moves; the current limit, the current depth of that search (-1: before it), its result.
BUILDS, LISTS, NODES, ME, MAX_DEPTH, LIMIT, DEPTH, STATUS, LENGTH = range(9)

DEFENDER = 64  # a window's count: the attacker's stones in it, and 64 for each of the defender's
ENDLESS = 32767  # in the table: no win at any depth

# Numbers that kernels pass on are written whole(1): Numba compiles a function anew for every literal.


@dataclass(frozen=True)
class ThreatResult:
    """What is certain about the fours of the player to move."""

    status: Literal["found", "none", "unknown"]  # see find_win
    line: tuple[int, ...]  # attack and defence in turn, up to the winning move; one of several defences
    depth: int  # attacking moves, including the winning one, that suffice against every defence; else 0
    nodes: int  # fours tried


class Work(NamedTuple):
    """The memory of a search, for one game and one thread. Reuse it: the table stays valid."""

    board: State  # [S], the position being searched
    counts: Ints  # [4 · cells], of the window of k cells that begins at a cell in a direction
    builds: Ints  # [4 · cells], the windows with k - 2 stones of the attacker and no others
    places: Ints  # [4 · cells], where a window is in `builds`
    seen: Ints  # [cells], in which list of moves a cell was last
    marks: Ints  # [cells], for forced.py
    numbers: Ints  # [9], see BUILDS …
    wins: Ints  # [cells], where the attacker would complete a row now
    ends: Ints  # [8]
    frames: Ints  # [depth, 7]
    moves: Ints  # [depth, cells]
    dangers: Ints  # [depth, cells]
    replies: Ints  # [depth, 9]
    hashes: Bits  # [depth]
    line: Ints  # [2 · depth]
    words: Bits  # [3, cells], Zobrist: for a stone of either player, and for the attacker
    keys: Bits  # [a power of two]
    known: npt.NDArray[np.int16]  # [the same], the depth up to which a position has no win


def new_work(game: Game, max_depth: int = 40, table_bits: int = 16) -> Work:
    """Memory for searches of at most `max_depth` attacking moves, with a table of 2^table_bits positions."""
    if not mnk.is_mnk(game):
        raise UserError(f"{game.name} has no fours: only games of k in a row, such as gomoku15, do")
    if max_depth < 1:
        raise UserError(f"max_depth is the number of attacking moves, at least 1, got {max_depth}")
    cells = game.rows * game.cols
    depth = min(max_depth, cells // 2 + 2)
    return Work(
        board=np.zeros(game.state_size, np.int16),
        counts=np.zeros(4 * cells, np.int64),
        builds=np.zeros(4 * cells, np.int64),
        places=np.zeros(4 * cells, np.int64),
        seen=np.zeros(cells, np.int64),
        marks=np.zeros(cells, np.int64),
        numbers=np.zeros(9, np.int64),
        wins=np.zeros(max(cells, 8), np.int64),
        ends=np.zeros(8, np.int64),
        frames=np.zeros((depth, 7), np.int64),
        moves=np.zeros((depth, cells), np.int64),
        dangers=np.zeros((depth, max(cells, 8)), np.int64),
        replies=np.zeros((depth, 9), np.int64),
        hashes=np.zeros(depth, np.uint64),
        line=np.zeros(2 * depth + 1, np.int64),
        words=np.random.PCG64(0).random_raw(3 * cells).reshape(3, cells),
        keys=np.zeros(1 << table_bits, np.uint64),
        known=np.zeros(1 << table_bits, np.int16),
    )


def find_win(
    position: Position | State,
    game: Game,
    max_nodes: int = 200_000,
    max_depth: int = 40,
    work: Work | None = None,
) -> ThreatResult:
    """A win by continuous fours for the player to move, of the smallest depth, if there is one.

    found    a forced win against every legal defence, which begins with line[0]
    none     there is no win by fours of any length
    unknown  max_nodes fours were tried, or there is no win of max_depth attacking moves or fewer
    """
    work = work or new_work(game, max_depth)
    begin(work, position, max_depth)
    advance(work, max_nodes)
    return result(work)


def begin(work: Work, position: Position | State, max_depth: int = 40) -> None:
    """Starts to look for a win of the player to move, in place of the last search; `advance` continues."""
    state = np.array(position.state if isinstance(position, Position) else position, np.int16)
    begin_search(state, 1 if state[TO_MOVE] == 1 else 2, max_depth, work)


def result(work: Work) -> ThreatResult:
    """What is certain so far; can be called between any two slices."""
    numbers = work.numbers
    line = tuple(int(cell) for cell in work.line[: numbers[LENGTH]])
    depth = int(numbers[LIMIT]) if line else 0
    return ThreatResult(STATUSES[numbers[STATUS]], line, depth, int(numbers[NODES]))


@kernel
def begin_search(state: State, me: int, max_depth: int, work: Work) -> None:
    """Starts to look for a win of player `me`, as if it were to move."""
    numbers = work.numbers
    numbers[NODES] = numbers[LIMIT] = numbers[LENGTH] = 0
    numbers[STATUS] = NONE
    if state[RESULT] != 0:
        return
    if set_up(state, me, work) and winning_moves(state, me, work.wins) > 0:
        work.line[0] = work.wins[0]
        numbers[STATUS], numbers[LIMIT], numbers[LENGTH] = FOUND, 1, 1
    elif numbers[BUILDS] > 0:
        numbers[STATUS], numbers[ME], numbers[DEPTH] = OPEN, me, -1
        numbers[MAX_DEPTH] = min(max_depth, len(work.frames))


@kernel
def advance(work: Work, num_nodes: int) -> int:
    """FOUND, NONE, UNKNOWN (none within max_depth) or OPEN, after at most `num_nodes` more fours."""
    numbers = work.numbers
    stop = numbers[NODES] + num_nodes
    while numbers[STATUS] == OPEN:
        if numbers[DEPTH] < 0:  # one attacking move more than before, or than the table excludes
            known = look_up(work.hashes[0], work)
            numbers[LIMIT] = max(2, numbers[LIMIT] + 1, known + 1)
            if numbers[LIMIT] > numbers[MAX_DEPTH]:
                numbers[STATUS] = NONE if known == ENDLESS else UNKNOWN
                break
            numbers[DEPTH] = 0
            list_moves(numbers[DEPTH], numbers[ME], work)
        if not search_to(numbers[LIMIT], numbers[ME], stop, work):
            break
        if numbers[LENGTH] > 0:
            numbers[STATUS] = FOUND
    return int(numbers[STATUS])


@kernel
def set_up(state: State, me: int, work: Work) -> bool:
    """Copies the position, counts its windows, hashes it, and lists what the defender threatens.

    Returns whether the attacker may win at once: winning_moves looks at every cell, 5 µs.
    """
    board, num_cells, k = work.board, state[0] * state[1], state[2]
    bits = work.words[2, me - 1]
    for i in range(state.size):
        board[i] = state[i]
    for cell in range(num_cells):
        if board[HEADER + cell] == FORBIDDEN:
            board[HEADER + cell] = 0
        elif board[HEADER + cell] != 0:
            bits ^= work.words[board[HEADER + cell] - 1, cell]
    work.hashes[0] = bits
    work.numbers[BUILDS] = 0
    may_win, may_lose = False, False
    for direction in range(4):
        for cell in range(num_cells):
            step, ahead, _ = ray(board, cell, direction)
            if ahead < k - 1:
                continue
            count = 0
            for i in range(k):
                stone = board[HEADER + cell + i * step]
                count += 0 if stone == 0 else 1 if stone == me else DEFENDER
            window = direction * num_cells + cell
            work.counts[window] = count
            may_win |= count == k - 1
            may_lose |= count == DEFENDER * (k - 1)
            if count == k - 2:
                work.places[window] = work.numbers[BUILDS]
                work.builds[work.numbers[BUILDS]] = window
                work.numbers[BUILDS] += 1
    count = winning_moves(board, 3 - me, work.wins) if may_lose else 0
    work.frames[0, DANGERS] = count
    for i in range(count):
        work.dangers[0, i] = work.wins[i]
    return may_win


@kernel
def search_to(limit: int, me: int, stop: int, work: Work) -> bool:
    """Continues a search of at most `limit` attacking moves. Is it done? LENGTH is that of the winning line.

    It returns when `stop` fours have been tried, before it counts the next one.
    """
    frames, numbers = work.frames, work.numbers
    depth = numbers[DEPTH]
    while True:
        # 1. no four is left: there is no win here, and the four above is stopped
        if frames[depth, TRIED] == frames[depth, MOVES]:
            slot = work.hashes[depth] & np.uint64(work.keys.size - 1)
            work.keys[slot] = work.hashes[depth]
            work.known[slot] = limit - depth if frames[depth, CUT] else ENDLESS
            depth -= 1
            if depth < 0:
                numbers[DEPTH] = depth
                return True
            frames[depth, CUT] |= frames[depth + 1, CUT]
            remove_pair(depth, work)
            continue

        # 2. the next four
        frames[depth, MOVE] = work.moves[depth, frames[depth, TRIED]]
        is_next = is_four(depth, me, work)
        if is_next and numbers[NODES] >= stop:
            numbers[DEPTH] = depth
            return False
        frames[depth, TRIED] += 1
        if not is_next:
            continue
        numbers[NODES] += 1
        frames[depth, ANSWERED] = 0

        # 3. every reply is answered: won, and so is each four above to which no other reply is left
        length = write_line(depth, me, work) if frames[depth, REPLIES] == 0 else 0
        while frames[depth, ANSWERED] == frames[depth, REPLIES]:
            if depth == 0:
                numbers[LENGTH] = length
                return True
            depth -= 1
            remove_pair(depth, work)

        # 4. the next reply
        reply = work.replies[depth, frames[depth, ANSWERED]]
        frames[depth, ANSWERED] += 1
        after = work.hashes[depth] ^ work.words[me - 1, frames[depth, MOVE]] ^ work.words[2 - me, reply]
        left = limit - depth - 1
        known = look_up(after, work)
        if left < 2 or known >= left:  # no win at once: the reply stops all rows
            frames[depth, CUT] |= known != ENDLESS
            continue
        put_pair(depth, me, work)
        depth += 1
        work.hashes[depth] = after
        count = winning_moves_near(work.board, reply, 3 - me, work.ends)
        frames[depth, DANGERS] = count
        for i in range(count):
            work.dangers[depth, i] = work.ends[i]
        list_moves(depth, me, work)


@inlined
def look_up(bits: np.uint64, work: Work) -> int:
    """The depth up to which a position is known to have no win; 0 if nothing is known."""
    slot = bits & np.uint64(work.keys.size - 1)
    return int(work.known[slot]) if work.keys[slot] == bits else 0


@kernel
def list_moves(depth: int, me: int, work: Work) -> None:
    """Lists the moves that may be fours: the two empty cells of each window, the newest window first."""
    board, frames = work.board, work.frames
    frames[depth, TRIED], frames[depth, CUT] = 0, 0
    if frames[depth, DANGERS] > 0 and board[3] < CARO:  # only one point stops the defender's row
        work.moves[depth, 0] = work.dangers[depth, 0]
        frames[depth, MOVES] = 1
        return
    num_cells, k = board[0] * board[1], board[2]
    work.numbers[LISTS] += 1
    count = 0
    for i in range(work.numbers[BUILDS] - 1, -1, -1):
        direction, cell = work.builds[i] // num_cells, work.builds[i] % num_cells
        step, _, _ = ray(board, cell, direction)
        for _ in range(k):
            if board[HEADER + cell] == 0 and work.seen[cell] != work.numbers[LISTS]:
                work.seen[cell] = work.numbers[LISTS]
                work.moves[depth, count] = cell
                count += 1
            cell += step
    frames[depth, MOVES] = count


@kernel
def is_four(depth: int, me: int, work: Work) -> bool:
    """Is the frame's move a legal four that leaves the defender no win? Lists the replies that stop it."""
    board, wins, move = work.board, work.wins, work.frames[depth, MOVE]
    is_renju = board[3] == RENJU
    # 1. a four, which stops what the defender threatens
    board[HEADER + move] = me
    count = winning_moves_near(board, move, me, wins)
    for i in range(work.frames[depth, DANGERS]):
        danger = work.dangers[depth, i]
        if danger != move and completes_row(board, danger, 3 - me):
            count = 0
    board[HEADER + move] = 0
    if count == 0 or (is_renju and me == 1 and is_forbidden(board, move)):
        return False
    board[HEADER + move] = me
    # 2. a reply must at least stop the first row
    candidates = 1
    if board[3] >= CARO:
        candidates += ends_of_runs(board, wins[0], me, work.ends)
    num_replies = 0
    for i in range(candidates):
        reply = wins[0] if i == 0 else work.ends[i - 1]
        if is_renju and me == 2 and is_forbidden(board, reply):
            continue
        board[HEADER + reply] = 3 - me
        stops = True
        for j in range(count):
            if wins[j] != reply and completes_row(board, wins[j], me):
                stops = False
        board[HEADER + reply] = 0
        if stops:
            work.replies[depth, num_replies] = reply
            num_replies += 1
    work.frames[depth, REPLIES] = num_replies
    # 3. black has no legal point: a draw, not a win
    is_draw = is_renju and me == 2 and num_replies == 0 and legal_point(board) < 0
    board[HEADER + move] = 0
    return not is_draw


@kernel
def write_line(depth: int, me: int, work: Work) -> int:
    """Writes the moves down to this depth, a legal reply that stops nothing and the winning move."""
    board, line, wins = work.board, work.line, work.wins
    for i in range(depth + 1):
        line[2 * i] = work.frames[i, MOVE]
        if i < depth:
            line[2 * i + 1] = work.replies[i, work.frames[i, ANSWERED] - 1]
    move, reply = HEADER + line[2 * depth], wins[0]
    board[move] = me
    if board[3] == RENJU and me == 2 and is_forbidden(board, reply):
        reply = legal_point(board)
    board[HEADER + reply] = 3 - me
    i = 0
    while wins[i] == reply or not completes_row(board, wins[i], me):
        i += 1
    board[HEADER + reply] = 0
    board[move] = 0
    line[2 * depth + 1], line[2 * depth + 2] = reply, wins[i]
    return 2 * depth + 3


@kernel
def put_pair(depth: int, me: int, work: Work) -> None:
    """Puts a frame's move and reply on the board."""
    move, reply = work.frames[depth, MOVE], work.replies[depth, work.frames[depth, ANSWERED] - 1]
    work.board[HEADER + move], work.board[HEADER + reply] = me, 3 - me
    add_to_windows(move, whole(1), work)
    add_to_windows(reply, whole(DEFENDER), work)


@kernel
def remove_pair(depth: int, work: Work) -> None:
    """Removes them again. All lists are as they were before, in the same order, so that a win that is found
    does not depend on what was searched before."""
    move, reply = work.frames[depth, MOVE], work.replies[depth, work.frames[depth, ANSWERED] - 1]
    work.board[HEADER + move] = work.board[HEADER + reply] = 0
    remove_from_windows(reply, whole(DEFENDER), work)
    remove_from_windows(move, whole(1), work)


@kernel
def add_to_windows(cell: int, weight: int, work: Work) -> None:
    """Counts a stone in the windows through a cell; updates the list of windows that may become fours."""
    board, counts, builds, places = work.board, work.counts, work.builds, work.places
    num_cells, k = board[0] * board[1], board[2]
    for direction in range(4):
        step, ahead, behind = ray(board, cell, direction)
        for i in range(max(0, k - 1 - ahead), min(k - 1, behind) + 1):
            window = direction * num_cells + cell - i * step
            before = counts[window]
            counts[window] = before + weight
            if before == k - 2:  # the last of the list moves to its place
                work.numbers[BUILDS] -= 1
                last = builds[work.numbers[BUILDS]]
                builds[places[window]] = last
                places[last] = places[window]
            elif before + weight == k - 2:
                builds[work.numbers[BUILDS]] = window
                places[window] = work.numbers[BUILDS]
                work.numbers[BUILDS] += 1


@kernel
def remove_from_windows(cell: int, weight: int, work: Work) -> None:
    """Undoes add_to_windows, its steps in reverse order."""
    board, counts, builds, places = work.board, work.counts, work.builds, work.places
    num_cells, k = board[0] * board[1], board[2]
    for direction in range(3, -1, -1):
        step, ahead, behind = ray(board, cell, direction)
        for i in range(min(k - 1, behind), max(0, k - 1 - ahead) - 1, -1):
            window = direction * num_cells + cell - i * step
            after = counts[window]
            counts[window] = after - weight
            if after == k - 2:  # it is the last of the list
                work.numbers[BUILDS] -= 1
            elif after - weight == k - 2:  # what had moved to its place goes back to the end
                moved = builds[places[window]]
                places[moved] = work.numbers[BUILDS]
                builds[work.numbers[BUILDS]] = moved
                builds[places[window]] = window
                work.numbers[BUILDS] += 1
