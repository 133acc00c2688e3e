"""The m,n,k family: k in a row on a board of rows × cols. Tic-tac-toe, gomoku, standard, caro, renju.

    rule        a run that wins
    freestyle   k or more
    standard    exactly k; a longer run counts as nothing
    renju       black exactly 5, white 5 or more; black has forbidden points (renju.py)
    caro        more than k, or exactly k unless an opponent's stone is at both ends
    caro-exact  exactly k, unless an opponent's stone is at both ends

An action is a cell. One compilation serves every size and rule, because both are read from the state. Only
renju has its own functions where forbidden points matter, so that other rules need not compile them (3 s):

    0 rows   1 cols   2 k   3 rule        the header
    4 …      the cells: 0 empty, 1 first player's, 2 second player's, 3 empty but forbidden for black
    -4       stones on the board
    -3       the result: 0 not over, 1 or 2 the winner, 3 a draw
    -2       the last action         -1   the player to move

Forbidden points are marked until the game is over, whichever player is to move.
"""

from collections.abc import Callable

import numpy as np
from numba import njit

from tengen.errors import UserError
from tengen.games import renju, symmetry
from tengen.games.coordinates import MAX_SIDE, Cells
from tengen.games.game import Game, Mask, Planes, Random, State
from tengen.games.planes import STONE_PLANES, stone_planes
from tengen.games.randomness import random_below
from tengen.games.renju import FORBIDDEN, OVERLINE, judge, mark_forbidden
from tengen.games.result import DRAW, RESULT, outcome

HEADER = 4
STONES, LAST_ACTION, TO_MOVE = -4, -2, -1

RULES = ("freestyle", "standard", "renju", "caro", "caro-exact")
FREESTYLE, STANDARD, RENJU, CARO, CARO_EXACT = range(5)


@njit(cache=True)
def start(state: State) -> None:
    for i in range(HEADER, state.size):
        state[i] = 0
    state[LAST_ACTION] = -1
    state[TO_MOVE] = 1


@njit(cache=True)
def legal(state: State, mask: Mask) -> None:
    if state[RESULT] != 0:
        mask[:] = False
    elif state[TO_MOVE] == 1:
        for i in range(mask.size):
            mask[i] = state[HEADER + i] == 0
    else:
        for i in range(mask.size):
            mask[i] = (state[HEADER + i] == 0) | (state[HEADER + i] == FORBIDDEN)


@njit(cache=True, forceinline=True)
def completes_row(state: State, action: int, me: int) -> bool:
    """Does the stone that `me` has just put on a cell win?"""
    rows, cols, k, rule = state[0], state[1], state[2], state[3]
    row, col = action // cols, action % cols
    for direction in range(4):  # →  ↓  ↘  ↙
        if direction == 0:
            step, room_ahead, room_behind = 1, cols - 1 - col, col
        elif direction == 1:
            step, room_ahead, room_behind = cols, rows - 1 - row, row
        elif direction == 2:
            step, room_ahead, room_behind = cols + 1, min(rows - 1 - row, cols - 1 - col), min(row, col)
        else:
            step, room_ahead, room_behind = cols - 1, min(rows - 1 - row, col), min(row, cols - 1 - col)
        ahead = 0
        while ahead < room_ahead and state[HEADER + action + (ahead + 1) * step] == me:
            ahead += 1
        behind = 0
        while behind < room_behind and state[HEADER + action - (behind + 1) * step] == me:
            behind += 1
        length = ahead + behind + 1
        if length < k:
            continue
        if rule == FREESTYLE or (rule == RENJU and me == 2):
            return True
        if rule in (STANDARD, RENJU):
            if length == k:
                return True
            continue
        if length > k:  # caro
            if rule == CARO:
                return True
            continue
        blocked_ahead = ahead < room_ahead and state[HEADER + action + (ahead + 1) * step] == 3 - me
        blocked_behind = behind < room_behind and state[HEADER + action - (behind + 1) * step] == 3 - me
        if not (blocked_ahead and blocked_behind):
            return True
    return False


@njit(cache=True)
def wins(state: State, action: int) -> bool:
    return completes_row(state, action, state[TO_MOVE])


@njit(cache=True)
def play(state: State, action: int, next_state: State) -> None:
    for i in range(state.size):  # 14 ns; next_state[:] = state takes 52
        next_state[i] = state[i]
    me = state[TO_MOVE]
    num_cells = state[0] * state[1]
    next_state[HEADER + action] = me
    next_state[STONES] += 1
    next_state[LAST_ACTION] = action
    next_state[TO_MOVE] = 3 - me
    if completes_row(next_state, action, me):
        next_state[RESULT] = me
    elif next_state[STONES] == num_cells:
        next_state[RESULT] = DRAW


@njit(cache=True)
def play_renju(state: State, action: int, next_state: State) -> None:
    play(state, action, next_state)
    update_forbidden(next_state)


@njit(cache=True)
def update_forbidden(state: State) -> None:
    """Marks black's forbidden points; none once the game is over. A draw if black has no legal point."""
    num_cells = state[0] * state[1]
    if state[RESULT] == 0:
        mark_forbidden(state)
        if state[TO_MOVE] == 2:
            return
        for i in range(num_cells):
            if state[HEADER + i] == 0:
                return
        state[RESULT] = DRAW
    for i in range(num_cells):
        if state[HEADER + i] == FORBIDDEN:
            state[HEADER + i] = 0


@njit(cache=True)
def planes(state: State, out: Planes) -> None:
    """My stones, the opponent's, its last move, ones if the first player is to move, forbidden points."""
    stone_planes(state, HEADER, out)
    rows, cols, last = state[0], state[1], state[LAST_ACTION]
    for row in range(rows):
        for col in range(cols):
            out[4, row, col] = state[HEADER + row * cols + col] == FORBIDDEN
    if last >= 0:
        out[2, last // cols, last % cols] = 1


@njit(cache=True)
def rollout(state: State, random: Random) -> None:
    """Random legal moves to the end, in place."""
    play_at_random(state, random, is_always_legal)


@njit(cache=True)
def rollout_renju(state: State, random: Random) -> None:
    play_at_random(state, random, is_legal_in_renju)


@njit(forceinline=True)
def is_always_legal(state: State, cell: int, me: int) -> bool:
    return True


@njit(forceinline=True)
def is_legal_in_renju(state: State, cell: int, me: int) -> bool:
    return not (me == 1 and judge(state, cell) >= OVERLINE)


@njit(forceinline=True)
def play_at_random(state: State, random: Random, is_legal: Callable[[State, int, int], bool]) -> None:
    """Plays random moves to the end, in place. `is_legal` is asked about empty cells, and inlined."""
    if state[RESULT] != 0:
        return
    num_cells = state[0] * state[1]
    empty = np.empty(num_cells, np.int16)  # the first `left` entries are the empty cells
    left = 0
    for i in range(num_cells):
        cell = state[HEADER + i]
        if cell == 0 or cell == FORBIDDEN:
            state[HEADER + i] = 0
            empty[left] = i
            left += 1
    me = state[TO_MOVE]
    action = state[LAST_ACTION]
    result = 0
    while result == 0:
        untried = left
        while untried > 0:
            j = random_below(random, untried)
            action = np.int64(empty[j])
            untried -= 1
            empty[j], empty[untried] = empty[untried], action
            if is_legal(state, action, me):  # type: ignore[arg-type]
                break
            untried = untried if untried > 0 else -1
        if untried < 0:  # every empty point is forbidden
            result = DRAW
            break
        left -= 1
        empty[untried], empty[left] = empty[left], empty[untried]
        state[HEADER + action] = me
        if completes_row(state, action, me):
            result = me
        elif left == 0:
            result = DRAW
        state[LAST_ACTION] = action
        me = 3 - me
    state[TO_MOVE] = me
    state[STONES] = num_cells - left
    state[RESULT] = result


@njit(cache=True)
def settle(state: State) -> None:
    """Completes a position set up by hand: counts stones, finds a finished row. For renju: settle_renju."""
    num_cells = state[0] * state[1]
    state[STONES] = 0
    state[RESULT] = 0
    for i in range(num_cells):
        cell = state[HEADER + i]
        if cell == 1 or cell == 2:
            state[STONES] += 1
            if completes_row(state, i, cell):
                state[RESULT] = cell
    if state[RESULT] == 0 and state[STONES] == num_cells:
        state[RESULT] = DRAW


@njit(cache=True)
def settle_renju(state: State) -> None:
    """Completes a renju position set up by hand: as `settle`, and marks forbidden points."""
    settle(state)
    update_forbidden(state)


def why_illegal(state: State, action: int) -> str | None:
    """Why the player to move may not play here, in words; None if the rules of renju do not forbid it."""
    if state[3] != RENJU or state[TO_MOVE] != 1 or state[HEADER + action] != FORBIDDEN:
        return None
    return f"forbidden for black, {renju.WHY[judge(state.copy(), action)]}"


def game(name: str = "mnk", rows: int = 3, cols: int = 3, k: int = 3, rule: str = "freestyle") -> Game:
    """A game of the family: `mnk:rows=7,cols=9,k=5,rule=standard`."""
    for what, value in (("rows", rows), ("cols", cols)):
        if not 1 <= value <= MAX_SIDE:
            raise UserError(f"{name}: {what} is 1-{MAX_SIDE}, got {value}")
    if not 1 <= k <= max(rows, cols):
        raise UserError(f"{name}: k is 1-{max(rows, cols)} on a board of {rows}×{cols}, got {k}")
    if rule not in RULES:
        raise UserError(f"{name}: rule is one of {', '.join(RULES)}, got '{rule}'")
    if rule == "renju" and k != 5:
        raise UserError(f"{name}: renju is played with k=5, got {k}")
    num_cells = rows * cols
    is_renju = rule == "renju"
    return Game(
        name=name,
        summary=f"{k} in a row on {rows}×{cols}, {rule}",
        rows=rows,
        cols=cols,
        header=(rows, cols, k, RULES.index(rule)),
        state_size=HEADER + num_cells + 4,
        num_actions=num_cells,
        plane_names=(*STONE_PLANES, "forbidden"),
        cell_values=4,
        start=start,
        legal=legal,
        play=play_renju if is_renju else play,
        outcome=outcome,
        planes=planes,
        rollout=rollout_renju if is_renju else rollout,
        wins=wins,
        settle=settle_renju if is_renju else settle,
        why_illegal=why_illegal,
        moves=Cells(rows, cols, row_one="bottom"),
        symmetries=symmetry.rectangle(rows, cols),
        look="squares" if max(rows, cols) <= 3 else "points",
    )


def is_mnk(game: Game) -> bool:
    """Is it a game of the family?"""
    return game.play in (play, play_renju)


def rule_distance(one: Game, other: Game) -> int:
    """How far apart the rules of two games of the family are: 0 the same, 1 the two kinds of caro,
    2 freestyle and another, 3 two others."""
    rules = {RULES[one.header[3]], RULES[other.header[3]]}
    if len(rules) == 1:
        return 0
    return 1 if rules == {"caro", "caro-exact"} else 2 if "freestyle" in rules else 3


def is_five_in_a_row(game: Game) -> bool:
    """Gomoku, standard, caro, renju on any board: not four in a row, not tic-tac-toe."""
    return is_mnk(game) and game.header[2] == 5
