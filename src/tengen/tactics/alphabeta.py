"""Alpha-beta search on pattern evaluation: negamax, null window after the first move, transposition table.

Knuth & Moore 1975; principal variation search, Marsland & Campbell 1982; table keys, Zobrist 1970.

In the plain search no move is pruned by guessing: every empty point within two of a stone is tried at every
ply, except where the opponent's threat leaves fewer moves that do not lose at once.

The selective search is a ply deeper in the same time (0.03 s, gomoku15). It does more and less:

    fours        a win by continuous fours is found at every node; if the opponent would have one, only the
                 moves that may stop it are tried; the reply to a four costs no depth
    width        where nothing is threatened, only the most promising moves are tried
    reductions   late quiet moves are searched less deep first, in full if they turn out well
    margins      near the leaves, a position far above or below the window is not searched

What it proves stays proven. A win is a win whatever else was left out; a loss counts as proven only where
every move was tried or is known to lose, elsewhere its value is UNPROVEN.

The stack is explicit, one row of each array per ply, so that a search can stop after a number of nodes and
continue later. The moves of the last ply are not played: `peek` says what each move would change.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tengen.games.game import Game
from tengen.games.mnk import HEADER, RENJU
from tengen.search.tree import inlined, kernel
from tengen.tactics.evaluation import (
    MATE,
    SURE,
    UNKNOWN,
    Moves,
    at_ply,
    estimate,
    evaluate,
    evaluate_board,
    is_legal,
    list_moves,
    settled,
)
from tengen.tactics.lines import (
    FOUR_THREE,
    WINS,
    WINS_IN_TWO,
    WORTH,
    Lines,
    count,
    peek,
    place,
    remove,
    whole,
)
from tengen.tactics.quick_fours import LENGTH, QuickFours, find_fours, mark_defences
from tengen.tactics.quick_fours import NODES as FOURS_TRIED

MAX_DEPTH = 40
KILLER = 4 * 40  # how much more promising a killer is
SORTED = 8  # moves that are tried in order; the rest in any order

# The selective search. Chosen by matches, see LOG.md.
UNPROVEN = 1 - SURE  # the least value where not every move is tried: as good as lost, but not proven
WIDTH, LAST_WIDTH = 12, 6  # moves that are tried where nothing is threatened; at the last ply
FULL_DEPTH_MOVES = 4  # so many are searched to the full depth; later ones first 1 or 2 plies less deep
FOURS_NODES, LAST_FOURS_NODES = 60, 20  # fours tried per node and player; at the last ply
CALM_DEPTH = 4  # plies before the leaves where the evaluation may decide
TOO_GOOD, TOO_BAD = 35, 40  # per ply left: a position that much above beta or below alpha will stay so
NOTABLE_SHAPE = 0o44444444  # the bits of a shape with an open three or better, of either player

# counters
PLY, PHASE, VALUE, NODES = range(4)
ENTER, NEXT, LEAVE = range(3)  # phases

EXACT, AT_LEAST, AT_MOST = 1, 2, 3  # bounds

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]


class SearchStack(NamedTuple):
    """The stack, P = MAX_DEPTH + 1 plies deep, and the memory of the search."""

    counters: Longs  # [4], the current PLY and PHASE, VALUE of the ply just left; NODES so far
    moves: Moves  # [P, A]
    order: Ints  # [P, A], the greatest first
    num_moves: Longs  # [P]
    tried: Longs  # [P]
    depth: Longs  # [P], plies left to search
    alpha: Longs  # [P]
    beta: Longs  # [P]
    is_asked: npt.NDArray[np.bool_]  # [P], null window: is it better than alpha?
    is_selective: npt.NDArray[np.bool_]  # [1], False: the plain search
    extended: Longs  # [P], by how many plies the moves of this ply are searched deeper
    reduced: Longs  # [P], by how many plies this one is searched less deep, on trial
    is_quiet: npt.NDArray[np.bool_]  # [P], selective, and nothing is threatened: not all moves are tried
    best: Longs  # [P]
    best_move: Longs  # [P], -1 while no move is better than the least value (list_moves)
    line: Moves  # [P, P], the moves expected from this ply on
    line_length: Longs  # [P]
    killers: Moves  # [P, 2], moves that refuted another one at this ply
    keys: Keys  # [P], of the positions on the stack
    stone_keys: Keys  # [3, A]; [0, 0] for the second player to move
    table: Keys  # [N, 2], key and entry, see `remember`
    shape_worth: Ints  # [4096], move ordering: how promising it is to make a shape
    jitter: Ints  # [A], 0-3, decides between equal moves


def new_stack(game: Game, log_table_size: int) -> SearchStack:
    """An empty stack and table; `forget` it before use."""
    plies, actions = MAX_DEPTH + 1, game.num_actions
    shapes = np.arange(4096)
    worth = sum(np.array(WORTH, np.int32)[shapes >> 3 * direction & 7] for direction in range(4))
    keys = np.random.default_rng(1).integers(1, 2**64, (3, actions), np.uint64)
    return SearchStack(
        counters=np.zeros(4, np.int64),
        moves=np.zeros((plies, actions), np.int16),
        order=np.zeros((plies, actions), np.int32),
        num_moves=np.zeros(plies, np.int64),
        tried=np.zeros(plies, np.int64),
        depth=np.zeros(plies, np.int64),
        alpha=np.zeros(plies, np.int64),
        beta=np.zeros(plies, np.int64),
        is_asked=np.zeros(plies, np.bool_),
        is_selective=np.ones(1, np.bool_),
        extended=np.zeros(plies, np.int64),
        reduced=np.zeros(plies, np.int64),
        is_quiet=np.zeros(plies, np.bool_),
        best=np.zeros(plies, np.int64),
        best_move=np.zeros(plies, np.int64),
        line=np.zeros((plies, plies), np.int16),
        line_length=np.zeros(plies, np.int64),
        killers=np.zeros((plies, 2), np.int16),
        keys=np.zeros(plies, np.uint64),
        stone_keys=keys,
        table=np.zeros((1 << log_table_size, 2), np.uint64),
        shape_worth=np.asarray(worth, np.int32),
        jitter=np.zeros(actions, np.int32),
    )


def forget(search: SearchStack, random: np.random.Generator) -> None:
    """Empties the table, and draws a new random order for equal moves."""
    search.table[:] = 0
    search.killers[:] = -1
    search.jitter[:] = random.integers(0, 4, search.jitter.size)


@kernel
def begin(lines: Lines, search: SearchStack, me: int, depth: int) -> None:
    """Starts a search of the board, `depth` plies deep."""
    key = search.stone_keys[0, 0] if me == 2 else np.uint64(0)
    for point in range(lines.shapes.size):
        stone = lines.state[HEADER + point]
        if stone != 0:
            key ^= search.stone_keys[stone, point]
    search.keys[0] = key
    search.depth[0], search.alpha[0], search.beta[0] = depth, -MATE, MATE
    search.counters[PLY], search.counters[PHASE] = 0, ENTER


@kernel
def advance(lines: Lines, search: SearchStack, fours: QuickFours, root_player: int, num_nodes: int) -> bool:
    """Continues the search for about `num_nodes` nodes. Is it complete?

    `best` and `line` of ply 0 hold the result. Before the search is complete, they hold the best of the moves
    tried so far, and stones of the search are on the board.
    """
    counters = search.counters
    ply, phase, value, nodes = counters[PLY], counters[PHASE], counters[VALUE], counters[NODES]
    limit = nodes + num_nodes
    while True:
        me = root_player if ply % 2 == 0 else 3 - root_player
        if phase == ENTER:
            if nodes >= limit:
                break
            counters[NODES] = nodes + 1
            value = enter(lines, search, fours, me, ply)
            nodes = counters[NODES]
            if value == UNKNOWN and search.depth[ply] + search.extended[ply] == 1:
                nodes += try_last_moves(lines, search, me, ply)
                value = search.best[ply]
                remember(search, ply)
            phase = NEXT if value == UNKNOWN else LEAVE
        elif phase == NEXT:
            move = next_move(lines, search, me, ply)
            if move < 0:
                value = search.best[ply]
                remember(search, ply)
                phase = LEAVE
                continue
            # After the first move, first ask only whether a move is better; if so, by how much.
            is_first = search.tried[ply] == 1
            less = reduction(lines, search, ply, move)
            play(lines, search, me, ply, move, search.beta[ply] if is_first else search.alpha[ply] + 1, less)
            ply += 1
            phase = ENTER
        else:
            if ply == 0:
                break
            was_asked, was_reduced = search.is_asked[ply], search.reduced[ply] > 0
            ply -= 1
            me = 3 - me
            move = whole(search.moves[ply, search.tried[ply] - 1])
            remove(lines, move)
            value = -value
            if (was_asked or was_reduced) and value > search.alpha[ply]:
                beta = search.alpha[ply] + 1 if was_reduced else search.beta[ply]
                play(lines, search, me, ply, move, beta, whole(0))
                ply += 1
                phase = ENTER
                continue
            phase = NEXT
            if value > search.best[ply] and improve(search, ply, move, value):
                value = search.best[ply]
                remember(search, ply)
                phase = LEAVE
    counters[PLY], counters[PHASE], counters[VALUE], counters[NODES] = ply, phase, value, nodes
    return bool(phase == LEAVE and ply == 0)


@kernel
def enter(lines: Lines, search: SearchStack, fours: QuickFours, me: int, ply: int) -> int:
    """The value of the position at this ply if it needs no search; else UNKNOWN, and its moves are listed."""
    search.line_length[ply] = 0
    if lines.left[0] == 0:
        return 0
    # 1. decided, or known from the table
    table_move = -1
    if ply > 0:
        value = settled(lines, me, lines.tally[me - 1], lines.tally[2 - me])
        if value != UNKNOWN:
            return at_ply(value, ply)
    slot = search.keys[ply] & np.uint64(search.table.shape[0] - 1)
    if search.table[slot, 0] == search.keys[ply]:
        entry = whole(search.table[slot, 1])
        table_move = (entry >> 16 & 0xFFFF) - 1
        alpha, beta = search.alpha[ply], search.beta[ply]
        if ply > 0 and beta - alpha == 1 and entry >> 8 & 0xFF >= search.depth[ply]:
            value = at_ply((entry >> 32) - 2 * MATE, ply)
            bound = entry & 0xFF
            if (
                bound == EXACT
                or (bound == AT_LEAST and value >= beta)
                or (bound == AT_MOST and value <= alpha)
            ):
                return value
    if is_calm(lines, search, me, ply):
        static = estimate(me, lines.worth[0], lines.tally[me - 1], lines.tally[2 - me])
        if static - TOO_GOOD * search.depth[ply] >= search.beta[ply]:
            return static
    # 2. its moves
    moves, order = search.moves[ply], search.order[ply]
    num_moves, least = list_moves(lines, me, moves)
    search.extended[ply] = 0
    if search.is_selective[0]:
        if least == 2 - MATE:  # a reply to a four costs no depth
            search.extended[ply] = num_moves == 1 and ply > 0 and ply + search.depth[ply] < MAX_DEPTH - 1
        elif ply > 0:
            value = win_by_fours(lines, search, fours, me, ply)
            if value != UNKNOWN:
                return at_ply(value, ply)
        if least == -MATE and (search.depth[ply] > 1 or ply == 0):
            num_moves, least = stop_fours(lines, search, fours, me, ply, num_moves)
    for i in range(num_moves):
        move = whole(moves[i])
        shape = whole(lines.shapes[move])
        worth = search.shape_worth[shape & 4095] + search.shape_worth[shape >> 12]
        order[i] = 4 * worth + search.jitter[move]
        if move == table_move:
            order[i] += 1 << 20
        elif move == search.killers[ply, 0] or move == search.killers[ply, 1]:
            order[i] += KILLER
    search.is_quiet[ply] = search.is_selective[0] and least == -MATE
    if search.is_quiet[ply] and ply > 0:
        num_moves, least = select_moves(lines, search, me, ply, num_moves)
    search.num_moves[ply], search.tried[ply] = num_moves, 0
    search.best[ply], search.best_move[ply] = at_ply(least, ply), -1
    search.alpha[ply] = max(search.alpha[ply], search.best[ply])
    if search.alpha[ply] >= search.beta[ply]:
        return whole(search.best[ply])
    if num_moves > 0:
        return UNKNOWN
    return least if search.is_quiet[ply] else 0


@kernel
def is_calm(lines: Lines, search: SearchStack, me: int, ply: int) -> bool:
    """May a selective search trust the evaluation? Near the leaves, if the opponent threatens little."""
    if not search.is_selective[0] or ply == 0 or search.depth[ply] > CALM_DEPTH:
        return False
    theirs = lines.tally[2 - me]
    threats = count(theirs, WINS) + count(theirs, WINS_IN_TWO) + count(theirs, FOUR_THREE)
    return bool(threats == 0 and search.beta[ply] - search.alpha[ply] == 1)


@kernel
def select_moves(lines: Lines, search: SearchStack, me: int, ply: int, num_moves: int) -> tuple[int, int]:
    """(count, least value) of the moves that a selective search tries where nothing is threatened.

    The most promising ones; just before the leaves, if the position is bad, only those that make or stop an
    open three or better.
    """
    moves, order, depth = search.moves[ply], search.order[ply], search.depth[ply]
    if depth <= 2 and is_calm(lines, search, me, ply):
        static = estimate(me, lines.worth[0], lines.tally[me - 1], lines.tally[2 - me])
        if static + TOO_BAD * depth <= search.alpha[ply]:
            useful = 0
            for i in range(num_moves):
                if lines.shapes[moves[i]] & NOTABLE_SHAPE:
                    moves[useful], order[useful] = moves[i], order[i]
                    useful += 1
            return useful, static
    width = min(num_moves, WIDTH if depth > 1 else LAST_WIDTH)
    for first in range(width):
        bring_forward(moves, order, first, num_moves)
    return width, UNPROVEN


@kernel
def win_by_fours(lines: Lines, search: SearchStack, fours: QuickFours, me: int, ply: int) -> int:
    """The value of a win by continuous fours for the player to move; UNKNOWN if none is found."""
    plies = find_fours(lines, fours, me, whole(FOURS_NODES if search.depth[ply] > 1 else LAST_FOURS_NODES))
    search.counters[NODES] += fours.numbers[FOURS_TRIED]
    if plies == 0:
        return UNKNOWN
    length = min(fours.numbers[LENGTH], search.line.shape[1] - ply)
    for i in range(length):
        search.line[ply, i] = fours.line[i]
    search.line_length[ply] = length
    return MATE - plies


@kernel
def stop_fours(
    lines: Lines, search: SearchStack, fours: QuickFours, me: int, ply: int, num_moves: int
) -> tuple[int, int]:
    """(count, least value) of the moves that may stop a win by fours of the opponent, as list_moves.

    If none is found, the moves stay as they are.
    """
    plies = find_fours(lines, fours, 3 - me, whole(FOURS_NODES))
    search.counters[NODES] += fours.numbers[FOURS_TRIED]
    if plies == 0 or not mark_defences(lines, fours, me):
        return num_moves, -MATE
    found = 0
    for point in range(lines.shapes.size):
        if fours.marks[point]:
            search.moves[ply, found] = point
            found += 1
    return found, plies + 1 - MATE


@kernel
def reduction(lines: Lines, search: SearchStack, ply: int, move: int) -> int:
    """By how many plies a move is searched less deep at first: late and quiet ones."""
    tried, depth = search.tried[ply], search.depth[ply]
    if not search.is_quiet[ply] or tried <= FULL_DEPTH_MOVES or depth < 3:
        return 0
    if lines.shapes[move] & NOTABLE_SHAPE:
        return 0
    return 2 if depth > 3 and tried > 3 * FULL_DEPTH_MOVES else 1


@inlined
def bring_forward(moves: Moves, order: Ints, first: int, num_moves: int) -> None:
    """Exchanges the most promising of the moves from `first` on with the first of them."""
    top = first
    for i in range(first + 1, num_moves):
        if order[i] > order[top]:
            top = i
    moves[first], moves[top] = moves[top], moves[first]
    order[first], order[top] = order[top], order[first]


@kernel
def next_move(lines: Lines, search: SearchStack, me: int, ply: int) -> int:
    """The most promising move not tried yet; -1 if there is none."""
    moves, order = search.moves[ply], search.order[ply]
    while search.tried[ply] < search.num_moves[ply]:
        first = search.tried[ply]
        if first < SORTED:
            bring_forward(moves, order, first, search.num_moves[ply])
        search.tried[ply] = first + 1
        if is_legal(lines, me, whole(moves[first])):
            return whole(moves[first])
    return -1


@kernel
def play(lines: Lines, search: SearchStack, me: int, ply: int, move: int, beta: int, less: int) -> None:
    """Plays a move and sets the window for the position after it: from alpha up to beta; `less` deep."""
    place(lines, move, me)
    search.keys[ply + 1] = search.keys[ply] ^ search.stone_keys[me, move] ^ search.stone_keys[0, 0]
    search.depth[ply + 1] = search.depth[ply] - 1 + search.extended[ply] - less
    search.reduced[ply + 1] = less
    search.is_asked[ply + 1] = beta < search.beta[ply]
    search.alpha[ply + 1], search.beta[ply + 1] = -beta, -search.alpha[ply]


@kernel
def improve(search: SearchStack, ply: int, move: int, value: int) -> bool:
    """Stores a better move. Is it a cutoff: so good that the opponent avoids this position?"""
    search.best[ply], search.best_move[ply] = value, move
    if value > search.alpha[ply]:
        search.alpha[ply] = value
        length = search.line_length[ply + 1]
        search.line[ply, 0] = move
        for i in range(length):
            search.line[ply, i + 1] = search.line[ply + 1, i]
        search.line_length[ply] = length + 1
    if value < search.beta[ply]:
        return False
    if search.killers[ply, 0] != move:
        search.killers[ply, 1] = search.killers[ply, 0]
        search.killers[ply, 0] = move
    return True


@kernel
def try_last_moves(lines: Lines, search: SearchStack, me: int, ply: int) -> int:
    """Tries the moves of the last ply, with no search below it; returns how many were tried."""
    tried = 0
    is_renju = lines.state[3] == RENJU
    search.line_length[ply + 1] = 0
    while True:
        move = next_move(lines, search, me, ply)
        if move < 0:
            return tried
        tried += 1
        if is_renju:  # the board decides whether a four is allowed
            place(lines, move, me)
            value = evaluate_board(lines, 3 - me)
            remove(lines, move)
        else:
            worth, first, second = peek(lines, move, me)
            value = evaluate(lines, 3 - me, worth, first, second, lines.left[0] - 1)
        value = -at_ply(value, ply + 1)
        if value > search.best[ply] and improve(search, ply, move, value):
            return tried


@kernel
def remember(search: SearchStack, ply: int) -> None:
    """Stores a ply in the table:  value + 2 · MATE (32 bits), move + 1 (16), depth (8), bound (8)."""
    value, move = search.best[ply], search.best_move[ply]
    if value >= search.beta[ply]:
        bound = AT_LEAST
    elif search.line_length[ply] > 0:
        bound = EXACT
    else:
        bound = AT_MOST
    slot = search.keys[ply] & np.uint64(search.table.shape[0] - 1)
    entry = (at_ply(value, -ply) + 2 * MATE) << 32 | (move + 1) << 16 | search.depth[ply] << 8 | bound
    search.table[slot, 0] = search.keys[ply]
    search.table[slot, 1] = np.uint64(entry)
