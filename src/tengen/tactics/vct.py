"""Wins by continuous threats (VCT): threes and fours, in games of four to six in a row.

The attacker plays only threats, so the defender has few replies:

    a four     threatens to complete a row. The reply stops that row
    a three    threatens a win by fours. The reply stops that win, or is a four of the defender's own

        · · X X ○ · ·      after ○ the attacker threatens an open four: the defender has a handful of replies

The search is a proof-number search (df-pn; Nagai 2002, "Df-pn algorithm for searching AND/OR trees"). Each
position has two numbers: how many positions must at least be won to prove that the attack wins (proof), and
how many must fail to show that it does not (disproof). The search always goes to the position that may
settle the matter soonest, so narrow lines are followed very deep. Both numbers are kept in a table.

What is found is won against every legal defence. In a position in which the attacker wins by fours if
the defender passes, only these replies can change that: those near the points of that win, and own fours.
All of them are tried; every other reply loses to the fours. What is not found may still be won: an
attack can contain quiet moves, or threats that this search does not see.

    a four        all rules. In caro a stone at the end of the row stops it too
    open fours    all rules. The reply is in line with the point where the attacker makes the open four. In
                  renju any stone can make that point forbidden for black: every reply is tried
    more fours    freestyle and standard. The replies are those of quick_fours.py

Two positions with the same 64-bit hash could be mixed up: a chance of about (nodes / 2³²)².

    work = new_work(game)
    begin(work, position)
    while advance(work, max_nodes=1000) == OPEN: ...   # the clock, a stop
    result(work)
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from tengen.errors import UserError
from tengen.games import mnk
from tengen.games.game import Game, State
from tengen.games.mnk import CARO, HEADER, RENJU
from tengen.games.position import Position
from tengen.games.result import RESULT
from tengen.search.tree import inlined, kernel, spliced
from tengen.tactics.evaluation import MATE, UNKNOWN, find_point, is_legal, makes_four, settled
from tengen.tactics.lines import (
    FOUR_THREE,
    MOST_K,
    ONE_FOUR,
    ONE_THREE,
    TWO_THREES,
    WINS,
    WINS_IN_TWO,
    Lines,
    count,
    line_reach,
    new_lines,
    place,
    rank,
    remove,
    set_up,
    whole,
)
from tengen.tactics.quick_fours import SPARE_POINTS, QuickFours, find_fours, mark_defences, new_quick_fours

Ints = npt.NDArray[np.int64]

FOUND, NONE, OPEN = range(3)  # what `advance` returns; OPEN: not searched to the end
STATUSES: tuple[Literal["found", "none", "unknown"], ...] = ("found", "none", "unknown")

TABLE_BITS = 17
WAYS = 4  # places for a position in the table
MAX_PLIES = 80  # of an attack, before its last fours
MOST_MOVES = 100  # of a position; with more replies a threat is not followed
NUM_FOURS = 40  # tried by quick_fours.py in each position
INFINITE = 1 << 30

# One array of int64, as in windows.py. Numbers: the attacker, positions looked at so far, the status, plies
# to the win that was found, the length of its line, where the table begins and its size.
ME, NODES, STATUS, PLIES_TO_WIN, LENGTH, TABLE, TABLE_SIZE = range(7)
LINE = 7  # [MAX_PLIES]
WORDS = LINE + MAX_PLIES  # [2 · A + 3], Zobrist: for a stone of either player, for the attacker, for the turn

# A frame, one for each position of the current line: its hash; the limits of its numbers, beyond which
# another position comes first; the move being tried; OPEN, or what is known without a search; plies to the
# win if the defender passes, or if it is won; its moves.
HASH, MOST_PROOF, MOST_DISPROOF, MOVE, KNOWN, PLIES, NUM_MOVES = range(7)
MOVES = 7  # [MOST_MOVES]
FRAME_SIZE = MOVES + MOST_MOVES


class Work(NamedTuple):
    """The memory of a search, for one game and one thread. Reuse it: the table stays valid."""

    lines: Lines
    fours: QuickFours
    memory: (
        Ints  # numbers │ line │ words │ frames │ table; an entry of the table: a hash, proof << 32 | disproof
    )


@dataclass(frozen=True)
class VctResult:
    """What is certain about the threats of the player to move."""

    status: Literal["found", "none", "unknown"]  # none: all threats that it sees were tried
    line: tuple[int, ...]  # attack and defence in turn, up to where fours decide; one of many defences
    plies: int  # within which the win is forced; else 0
    nodes: int  # positions looked at


def sees_threats(game: Game) -> bool:
    """Is it a game in which this search works?"""
    return mnk.is_mnk(game) and 4 <= game.header[2] <= MOST_K


def new_work(game: Game, table_bits: int = TABLE_BITS) -> Work:
    """Memory for searches, with a table of 2^table_bits positions."""
    if not sees_threats(game):
        raise UserError(f"{game.name} has no threes: only games of four to six in a row do, such as gomoku15")
    table = frames_of(game.num_actions) + (MAX_PLIES + 1) * FRAME_SIZE
    memory = np.zeros(table + 2 * (1 << table_bits), np.int64)
    memory[TABLE], memory[TABLE_SIZE] = table, 1 << table_bits
    num_words = 2 * game.num_actions + 3
    memory[WORDS : WORDS + num_words] = np.random.PCG64(1).random_raw(num_words).view(np.int64)
    return Work(new_lines(game), new_quick_fours(game), memory)


def find_vct(position: Position | State, game: Game, max_nodes: int = 100_000) -> VctResult:
    """A win by threats for the player to move, not always the shortest, if `max_nodes` positions show one."""
    work = new_work(game)
    begin(work, position)
    advance(work, max_nodes)
    return result(work)


def begin(work: Work, position: Position | State) -> None:
    """Starts to look for a win of the player to move, in place of the last search; `advance` continues."""
    state = np.array(position.state if isinstance(position, Position) else position, np.int16)
    memory, size = work.memory, work.lines.shapes.size
    me = 1 if state[-1] == 1 else 2
    memory[ME], memory[NODES] = me, 0
    memory[STATUS] = OPEN if state[RESULT] == 0 else NONE
    set_up(work.lines, state)
    stones = work.lines.state[HEADER : HEADER + size]
    words = [memory[WORDS + 2 * size + me - 1]]
    words += [memory[WORDS + (stones[cell] - 1) * size + cell] for cell in np.flatnonzero(stones)]
    memory[frames_of(size) + HASH] = np.bitwise_xor.reduce(words)


def advance(work: Work, max_nodes: int) -> int:
    """FOUND, NONE or OPEN, after about `max_nodes` more positions."""
    if work.memory[STATUS] == OPEN:
        search(max_nodes, work.lines, work.fours, work.memory)
    return int(work.memory[STATUS])


def num_nodes(work: Work) -> int:
    """Positions looked at since `begin`."""
    return int(work.memory[NODES])


def forget(work: Work) -> None:
    """Clears the table: later answers are those of new memory."""
    work.memory[work.memory[TABLE] :] = 0


def result(work: Work) -> VctResult:
    """What is certain so far; can be called between any two slices."""
    memory = work.memory
    status = STATUSES[memory[STATUS]]
    if status != "found":
        return VctResult(status, (), 0, int(memory[NODES]))
    line = tuple(int(cell) for cell in memory[LINE : LINE + memory[LENGTH]])
    return VctResult(status, line, int(memory[PLIES_TO_WIN]), int(memory[NODES]))


@inlined
def frames_of(num_cells: int) -> int:
    """Where the frames begin."""
    return WORDS + 2 * num_cells + 3


@kernel
def search(max_nodes: int, lines: Lines, fours: QuickFours, memory: Ints) -> None:
    """Continues a search for about `max_nodes` positions more. It begins at the first position again, and
    the table leads to where it stopped."""
    me, stop = memory[ME], memory[NODES] + max_nodes
    depth, frame = 0, whole(frames_of(lines.shapes.size))
    is_won = False  # then it only goes down once more, to write the line
    memory[frame + MOST_PROOF] = memory[frame + MOST_DISPROOF] = INFINITE
    memory[frame + KNOWN] = expand(frame, True, lines, fours, memory)
    while True:
        attacks = depth % 2 == 0
        player = me if attacks else 3 - me
        # 1. the two numbers, from those of the positions below
        best, best_other, second, least, total = 0, 0, INFINITE, INFINITE, 0
        fastest, slowest, shortest, longest = 0, 0, INFINITE, 0
        for i in range(memory[frame + NUM_MOVES] if memory[frame + KNOWN] == OPEN else 0):
            bits = child_of(frame, memory[frame + MOVES + i], player, lines, memory)
            proof, disproof = look_up(bits, memory)
            if proof == 0:  # won: the other number is the distance
                if disproof + 1 < shortest:
                    fastest, shortest = i, disproof + 1
                if disproof + 1 > longest:
                    slowest, longest = i, disproof + 1
                disproof = INFINITE
            number, other = (proof, disproof) if attacks else (disproof, proof)
            total = min(INFINITE, total + other)
            if number < least:
                best, best_other, second, least = i, other, least, number
            elif number < second:
                second = number
        proof, disproof = (least, total) if attacks else (total, least)
        if memory[frame + KNOWN] == FOUND:
            proof, disproof = 0, memory[frame + PLIES]
        elif memory[frame + KNOWN] == NONE:
            proof, disproof = INFINITE, 0
        elif proof == 0:
            best = fastest if attacks else slowest
            disproof = shortest if attacks else max(longest, memory[frame + PLIES])
        write(memory[frame + HASH], proof, disproof, memory)

        # 2. the first position is settled
        is_settled = proof == 0 or disproof == 0
        if depth == 0 and is_settled and not is_won:
            memory[STATUS] = FOUND if proof == 0 else NONE
            if memory[STATUS] == NONE:
                return
            is_won = True
            memory[LINE], memory[LENGTH], memory[PLIES_TO_WIN] = memory[frame + MOVES + best], 1, disproof
        # 3. this one is settled, or another one comes first: go back; to the first one if the line ends here
        is_beyond = proof >= memory[frame + MOST_PROOF] or disproof >= memory[frame + MOST_DISPROOF]
        goes_back = is_settled or is_beyond or memory[NODES] >= stop
        if is_won:
            goes_back = proof != 0 or memory[frame + KNOWN] != OPEN
        if goes_back:
            is_last = is_won or depth == 0
            for _ in range(depth if is_won else min(1, depth)):
                depth -= 1
                frame -= FRAME_SIZE
                remove(lines, memory[frame + MOVE])
            if is_last:
                return
            continue

        # 4. the position below that may settle it soonest, until it is no longer the best by a quarter
        move = memory[frame + MOVES + best]
        limit, rest = min(INFINITE, second + second // 4 + 1), best_other - total
        most_proof, most_disproof = memory[frame + MOST_PROOF], memory[frame + MOST_DISPROOF]
        if attacks:
            most_proof, most_disproof = min(most_proof, limit), most_disproof + rest
        else:
            most_proof, most_disproof = most_proof + rest, min(most_disproof, limit)
        below = frame + FRAME_SIZE
        memory[below + HASH] = child_of(frame, move, player, lines, memory)
        memory[below + MOST_PROOF], memory[below + MOST_DISPROOF] = most_proof, most_disproof
        memory[frame + MOVE] = move
        if is_won:
            memory[LINE + depth] = move
            memory[LENGTH] = depth + 1
        place(lines, move, player)
        depth += 1
        frame = below
        memory[frame + KNOWN] = (
            expand(frame, not attacks, lines, fours, memory) if depth < MAX_PLIES else NONE
        )


@inlined
def child_of(frame: int, move: int, player: int, lines: Lines, memory: Ints) -> int:
    """The hash of the position after a move."""
    size = lines.shapes.size
    return int(
        memory[frame + HASH] ^ memory[WORDS + (player - 1) * size + move] ^ memory[WORDS + 2 * size + 2]
    )


@inlined
def look_up(bits: int, memory: Ints) -> tuple[int, int]:
    """(proof, disproof) of a position; 1, 1 if nothing is known. Of a won position: (0, plies to the win)."""
    slot = slot_of(bits, memory)
    for _ in range(WAYS):
        if memory[slot] == bits:
            return memory[slot + 1] >> 32, memory[slot + 1] & 0xFFFFFFFF
        slot += 2
    return 1, 1


@inlined
def write(bits: int, proof: int, disproof: int, memory: Ints) -> None:
    """Keeps the numbers of a position. If all its places are taken, a different one is given up each time:
    otherwise two moves of one position could push each other out for ever."""
    first = slot_of(bits, memory)
    slot = first + 2 * (memory[NODES] % WAYS)
    for i in range(WAYS):
        if memory[first + 2 * i] == bits or memory[first + 2 * i] == 0:
            slot = first + 2 * i
            break
    memory[slot] = bits
    memory[slot + 1] = proof << 32 | disproof


@inlined
def slot_of(bits: int, memory: Ints) -> int:
    """The first of the places in the table where a position can be."""
    return int(memory[TABLE] + 2 * (bits & memory[TABLE_SIZE] - WAYS))


@kernel
def expand(frame: int, attacks: bool, lines: Lines, fours: QuickFours, memory: Ints) -> int:
    """Lists the moves of a position. FOUND or NONE if it is won, or no threat, without any; else OPEN."""
    memory[NODES] += 1
    memory[frame + NUM_MOVES] = memory[frame + PLIES] = 0
    if attacks:
        return list_threats(frame, memory[ME], lines, fours, memory)
    return list_replies(frame, memory[ME], lines, fours, memory)


@spliced
def list_threats(frame: int, me: int, lines: Lines, fours: QuickFours, memory: Ints) -> int:
    """The attacker's moves. If it wins by fours, only the first of those."""
    mine, theirs = lines.tally[me - 1], lines.tally[2 - me]
    value = settled(lines, me, mine, theirs)
    if value != UNKNOWN:
        if value < 0:
            return NONE
        memory[frame + MOVES] = find_point(lines, me, whole(WINS if value == MATE - 1 else WINS_IN_TWO))
        memory[frame + PLIES] = MATE - value
        return FOUND
    plies = find_fours(lines, fours, me, whole(NUM_FOURS))
    if plies > 0:
        memory[frame + MOVES] = fours.line[0]
        memory[frame + PLIES] = plies
        return FOUND
    if count(theirs, WINS) > 0:  # a four of the defender comes first, even if the reply is no new threat
        point = find_point(lines, 3 - me, whole(WINS))
        if point < 0 or not is_legal(lines, me, point):
            return NONE
        memory[frame + MOVES] = point
        memory[frame + NUM_MOVES] = 1
        return OPEN
    found = 0
    for wanted in (FOUR_THREE, TWO_THREES, ONE_FOUR, ONE_THREE):
        if count(mine, wanted) == 0:
            continue
        for point in range(lines.shapes.size):
            if lines.state[HEADER + point] == 0 and rank(lines, lines.shapes[point], me) == wanted:
                if found < MOST_MOVES and is_legal(lines, me, point):
                    memory[frame + MOVES + found] = point
                    found += 1
    memory[frame + NUM_MOVES] = found
    return OPEN if found > 0 else NONE


@spliced
def list_replies(frame: int, me: int, lines: Lines, fours: QuickFours, memory: Ints) -> int:
    """All replies of the defender that may stop the attacker's fours. NONE if there is no threat."""
    mine, theirs, rule = lines.tally[me - 1], lines.tally[2 - me], lines.state[3]
    if count(theirs, WINS) > 0 or (rule == RENJU and lines.left[0] <= SPARE_POINTS):
        return NONE
    # 1. the point that the threat needs; -1: there are several, and quick_fours.py marks the replies
    is_four = count(mine, WINS) > 0
    if is_four:
        needed = find_point(lines, me, whole(WINS))
        memory[frame + PLIES] = 2
    elif count(mine, WINS_IN_TWO) > 0:
        needed = find_point(lines, me, whole(WINS_IN_TWO))
        memory[frame + PLIES] = 4
        if needed < 0:  # all of them are forbidden
            return NONE
    else:
        needed = -1
        memory[frame + PLIES] = find_fours(lines, fours, me, whole(NUM_FOURS)) + 1
        if memory[frame + PLIES] == 1 or not mark_defences(lines, fours, 3 - me):
            return NONE
    # 2. replies that could matter, without those after which the attacker still wins
    tries_all = rule == RENJU and me == 1 and not is_four
    cols, reach = np.int64(lines.state[1]), line_reach(lines.state[2], rule)
    found = 0
    for point in range(lines.shapes.size):
        if lines.state[HEADER + point] != 0:
            continue
        if needed < 0:
            may_stop = fours.marks[point]
        elif is_four and rule < CARO:
            may_stop = point == needed
        else:
            down, right = abs(point // cols - needed // cols), abs(point % cols - needed % cols)
            may_stop = (down == 0 or right == 0 or down == right) and max(down, right) <= reach
            may_stop |= not is_four and (tries_all or makes_four(whole(lines.shapes[point]), 3 - me))
        if not may_stop or not is_legal(lines, 3 - me, point):
            continue
        place(lines, point, 3 - me)
        mine, theirs = lines.tally[me - 1], lines.tally[2 - me]
        value = settled(lines, me, mine, theirs)
        remove(lines, point)
        if value > 0 and value != UNKNOWN:
            continue
        is_quiet = count(theirs, WINS) == 0
        if found == MOST_MOVES or (is_quiet and mine == 0):  # no threat would be left
            return NONE
        bits = child_of(frame, point, 3 - me, lines, memory)
        if look_up(bits, memory) == (1, 1):  # a first guess: more threats are harder to stop
            num_threats = count(mine, ONE_FOUR) + count(mine, ONE_THREE)
            num_threats += count(mine, FOUR_THREE) + count(mine, TWO_THREES)
            write(bits, whole(1), 1 + num_threats, memory)
        memory[frame + MOVES + found] = point
        found += 1
    memory[frame + NUM_MOVES] = found
    if tries_all:
        memory[NODES] += 20  # it takes as long as so many
    return OPEN if found > 0 else FOUND
