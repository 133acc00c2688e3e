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
    while advance(work, max_nodes=1000) == OPEN: ...   # the clock, a stop
    result(work)
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tengen.errors import UserError
from tengen.games import mnk
from tengen.games.game import Game, State
from tengen.games.mnk import CARO, HEADER, completes_row
from tengen.games.position import Position
from tengen.games.renju import FORBIDDEN
from tengen.games.result import RESULT
from tengen.search.tree import inlined, kernel, spliced
from tengen.tactics import windows
from tengen.tactics.lines import whole
from tengen.tactics.rows import (
    ends_of_runs,
    is_forbidden,
    legal_point,
    winning_moves_near,
    winning_moves_of_windows,
)
from tengen.tactics.windows import (
    ANSWERED,
    CUT,
    DANGERS,
    DEFENDER,
    DEPTH,
    ENDS,
    FOUR,
    FOURS,
    FRAME_SIZE,
    FRAMES,
    HASH,
    LENGTH,
    LIMIT,
    LINE,
    MAX_CELLS,
    MAX_DEPTH,
    ME,
    NODES,
    NUM_DANGERS,
    NUM_FOURS,
    NUM_REPLIES,
    NUM_WINDOWS,
    NUM_WINS,
    REPLIES,
    STATUS,
    TABLE,
    TABLE_SIZE,
    TRIED,
    WINS,
    WORDS,
    Ints,
    Work,
    add_to_windows,
    count_windows,
    list_fours,
    remove_from_windows,
)

TO_MOVE = -1

FOUND, NONE, UNKNOWN, OPEN = range(4)  # what `advance` returns; OPEN: not searched to the end
STATUSES: tuple[Literal["found", "none", "unknown"], ...] = ("found", "none", "unknown", "unknown")

ENDLESS = 32767  # in the table: no win at any depth

# Numbers that kernels pass on are written whole(1): Numba compiles a function anew for every literal.


@dataclass(frozen=True)
class ThreatResult:
    """What is certain about the fours of the player to move."""

    status: Literal["found", "none", "unknown"]  # see find_win
    line: tuple[int, ...]  # attack and defence in turn, up to the winning move; one of several defences
    depth: int  # attacking moves, including the winning one, that suffice against every defence; else 0
    nodes: int  # fours tried


def new_work(game: Game, max_depth: int = 40, table_bits: int = 16) -> Work:
    """Memory for searches of at most `max_depth` attacking moves, with a table of 2^table_bits positions."""
    if not mnk.is_mnk(game):
        raise UserError(f"{game.name} has no fours: only games of k in a row, such as gomoku15, do")
    if max_depth < 1:
        raise UserError(f"max_depth is the number of attacking moves, at least 1, got {max_depth}")
    return windows.new_work(game, max_depth, table_bits)


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
    work.memory[MAX_DEPTH] = min(max_depth, work.num_frames)
    begin_search(state, 1 if state[TO_MOVE] == 1 else 2, work.board, work.memory)


def advance(work: Work, max_nodes: int) -> int:
    """FOUND, NONE, UNKNOWN (none within max_depth) or OPEN, after at most `max_nodes` more fours."""
    return search(max_nodes, *work)


def result(work: Work) -> ThreatResult:
    """What is certain so far; can be called between any two slices."""
    memory = work.memory
    line = tuple(int(cell) for cell in memory[LINE : LINE + memory[LENGTH]])
    depth = int(memory[LIMIT]) if line else 0
    return ThreatResult(STATUSES[memory[STATUS]], line, depth, int(memory[NODES]))


@kernel
def begin_search(state: State, me: int, board: State, memory: Ints) -> None:
    """Starts to look for a win of player `me`, as if it were to move, of at most MAX_DEPTH moves."""
    memory[NODES] = memory[LIMIT] = memory[LENGTH] = 0
    memory[STATUS] = NONE
    if state[RESULT] != 0:
        return
    # 1. the position, its hash, its windows
    bits = memory[WORDS + 2 * MAX_CELLS + me - 1]
    for i in range(state.size):
        board[i] = state[i]
    for cell in range(state[0] * state[1]):
        if board[HEADER + cell] == FORBIDDEN:
            board[HEADER + cell] = 0
        elif board[HEADER + cell] != 0:
            bits ^= memory[WORDS + (board[HEADER + cell] - 1) * MAX_CELLS + cell]
    memory[FRAMES + HASH] = bits
    may_win, may_lose = count_windows(board, me, memory)
    # 2. rows that the defender, then the attacker completes at once
    memory[FRAMES + NUM_DANGERS] = 0
    for player in (3 - me, me):
        place, full = (WINS, board[2] - 1) if player == me else (FRAMES + DANGERS, DEFENDER * (board[2] - 1))
        if may_win if player == me else may_lose:
            count = winning_moves_of_windows(board, player, full, memory, place)
            if player != me:
                memory[FRAMES + NUM_DANGERS] = count
            elif count > 0:
                memory[LINE] = memory[WINS]
                memory[STATUS], memory[LIMIT], memory[LENGTH] = FOUND, 1, 1
                return
    if memory[NUM_WINDOWS] > 0:
        memory[STATUS], memory[ME], memory[DEPTH] = OPEN, me, -1


@kernel
def search(max_nodes: int, board: State, memory: Ints, renju: int | None) -> int:
    """Continues a search for at most `max_nodes` fours more, each time one attacking move deeper; STATUS."""
    me = memory[ME]
    stop = memory[NODES] + max_nodes
    while memory[STATUS] == OPEN:
        if memory[DEPTH] < 0:  # one attacking move more than before, or than the table excludes
            known = look_up(memory[FRAMES + HASH], memory)
            memory[LIMIT] = max(2, memory[LIMIT] + 1, known + 1)
            if memory[LIMIT] > memory[MAX_DEPTH]:
                memory[STATUS] = NONE if known == ENDLESS else UNKNOWN
                break
            memory[DEPTH] = 0
            list_moves(board, whole(FRAMES), memory)
        if not search_to(memory[LIMIT], me, stop, board, memory, renju):
            break
        if memory[LENGTH] > 0:
            memory[STATUS] = FOUND
    return int(memory[STATUS])


@spliced
def search_to(limit: int, me: int, stop: int, board: State, memory: Ints, renju: int | None) -> bool:
    """Continues a search of at most `limit` attacking moves. Is it done? LENGTH is that of the winning line.

    It returns when `stop` fours have been tried, before it counts the next one.
    """
    depth = memory[DEPTH]
    while True:
        frame = FRAMES + depth * FRAME_SIZE
        # 1. no four is left: there is no win here, and the four above is stopped
        if memory[frame + TRIED] == memory[frame + NUM_FOURS]:
            slot = slot_of(memory[frame + HASH], memory)
            memory[slot] = memory[frame + HASH]
            memory[slot + 1] = limit - depth if memory[frame + CUT] else ENDLESS
            depth -= 1
            if depth < 0:
                memory[DEPTH] = depth
                return True
            memory[frame - FRAME_SIZE + CUT] |= memory[frame + CUT]
            remove_pair(board, frame - FRAME_SIZE, memory)
            continue

        # 2. the next four
        memory[frame + FOUR] = memory[frame + FOURS + memory[frame + TRIED]]
        is_next = is_four(board, frame, me, memory, renju)
        if is_next and memory[NODES] >= stop:
            memory[DEPTH] = depth
            return False
        memory[frame + TRIED] += 1
        if not is_next:
            continue
        memory[NODES] += 1
        memory[frame + ANSWERED] = 0

        # 3. every reply is answered: won, and so is each four above to which no other reply is left
        length = write_line(board, depth, me, memory, renju) if memory[frame + NUM_REPLIES] == 0 else 0
        while memory[frame + ANSWERED] == memory[frame + NUM_REPLIES]:
            if depth == 0:
                memory[LENGTH] = length
                return True
            depth -= 1
            frame -= FRAME_SIZE
            remove_pair(board, frame, memory)

        # 4. the next reply
        four, reply = memory[frame + FOUR], memory[frame + REPLIES + memory[frame + ANSWERED]]
        memory[frame + ANSWERED] += 1
        after = memory[frame + HASH]
        after ^= memory[WORDS + (me - 1) * MAX_CELLS + four] ^ memory[WORDS + (2 - me) * MAX_CELLS + reply]
        left = limit - depth - 1
        known = look_up(after, memory)
        if left < 2 or known >= left:  # no win at once: the reply stops all rows
            memory[frame + CUT] |= known != ENDLESS
            continue
        board[HEADER + four], board[HEADER + reply] = me, 3 - me
        add_to_windows(board, four, whole(1), memory)
        add_to_windows(board, reply, whole(DEFENDER), memory)
        depth += 1
        frame += FRAME_SIZE
        memory[frame + HASH] = after
        memory[frame + NUM_DANGERS] = winning_moves_near(board, reply, 3 - me, memory, frame + DANGERS)
        list_moves(board, frame, memory)


@inlined
def slot_of(bits: int, memory: Ints) -> int:
    """Where the table keeps a position: its hash, then the depth up to which it has no win."""
    return int(memory[TABLE] + 2 * (bits & memory[TABLE_SIZE] - 1))


@inlined
def look_up(bits: int, memory: Ints) -> int:
    """The depth up to which a position is known to have no win; 0 if nothing is known."""
    slot = slot_of(bits, memory)
    return int(memory[slot + 1]) if memory[slot] == bits else 0


@kernel
def list_moves(board: State, frame: int, memory: Ints) -> None:
    """Lists the moves to try: those that may be fours, or the only one that stops the defender's row."""
    memory[frame + TRIED], memory[frame + CUT] = 0, 0
    if memory[frame + NUM_DANGERS] > 0 and board[3] < CARO:
        memory[frame + FOURS] = memory[frame + DANGERS]
        memory[frame + NUM_FOURS] = 1
    else:
        memory[frame + NUM_FOURS] = list_fours(board, frame, memory)


@kernel
def is_four(board: State, frame: int, me: int, memory: Ints, renju: int | None) -> bool:
    """Is the frame's move a legal four that leaves the defender no win? Lists the replies that stop it."""
    four = memory[frame + FOUR]
    # 1. a legal four, which stops what the defender threatens
    board[HEADER + four] = me
    num_wins = winning_moves_near(board, four, me, memory, whole(WINS))
    board[HEADER + four] = 0
    if num_wins == 0:
        return False
    if row_left(board, four, 3 - me, memory, frame + DANGERS, memory[frame + NUM_DANGERS]) >= 0:
        return False
    if renju is not None:
        if me == 1 and is_forbidden(board, four):
            return False
    # 2. a reply must at least stop the first row
    board[HEADER + four] = me
    memory[NUM_WINS] = num_wins
    candidates = 1
    if board[3] >= CARO:
        candidates += ends_of_runs(board, memory[WINS], me, memory, whole(ENDS))
    num_replies = 0
    for i in range(candidates):
        reply = memory[WINS] if i == 0 else memory[ENDS + i - 1]
        if renju is not None:
            if me == 2 and is_forbidden(board, reply):
                continue
        if row_left(board, reply, me, memory, whole(WINS), num_wins) < 0:
            memory[frame + REPLIES + num_replies] = reply
            num_replies += 1
    memory[frame + NUM_REPLIES] = num_replies
    # 3. black has no legal point: a draw, not a win
    is_draw = False
    if renju is not None:
        is_draw = me == 2 and num_replies == 0 and legal_point(board) < 0
    board[HEADER + four] = 0
    return not is_draw


@kernel
def row_left(board: State, stone: int, player: int, memory: Ints, place: int, count: int) -> int:
    """The first of the points at memory[place:] where the player completes a row, or -1, if the opponent puts
    a stone here."""
    board[HEADER + stone] = 3 - player
    left, i = -1, 0
    while left < 0 and i < count:
        point = memory[place + i]
        if point != stone and completes_row(board, point, player):
            left = point
        i += 1
    board[HEADER + stone] = 0
    return left


@spliced
def write_line(board: State, depth: int, me: int, memory: Ints, renju: int | None) -> int:
    """Writes the moves down to this depth, a legal reply that stops nothing and the winning move."""
    for i in range(depth + 1):
        frame = FRAMES + i * FRAME_SIZE
        memory[LINE + 2 * i] = memory[frame + FOUR]
        if i < depth:
            memory[LINE + 2 * i + 1] = memory[frame + REPLIES + memory[frame + ANSWERED] - 1]
    end, reply = LINE + 2 * depth, memory[WINS]
    board[HEADER + memory[end]] = me
    if renju is not None:
        if me == 2 and is_forbidden(board, reply):
            reply = legal_point(board)
    memory[end + 1] = reply
    memory[end + 2] = row_left(board, reply, me, memory, whole(WINS), memory[NUM_WINS])
    board[HEADER + memory[end]] = 0
    return 2 * depth + 3


@kernel
def remove_pair(board: State, frame: int, memory: Ints) -> None:
    """Removes a frame's move and reply. All lists are as they were before, in the same order, so that a win
    that is found does not depend on what was searched before."""
    four, reply = memory[frame + FOUR], memory[frame + REPLIES + memory[frame + ANSWERED] - 1]
    board[HEADER + four] = board[HEADER + reply] = 0
    remove_from_windows(board, reply, whole(DEFENDER), memory)
    remove_from_windows(board, four, whole(1), memory)
