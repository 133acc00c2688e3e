"""Points that complete a winning row, in every game of the m,n,k family: for the search of fours."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

from tengen.games.game import State
from tengen.games.mnk import HEADER, completes_row
from tengen.games.renju import FORBIDDEN, OVERLINE, judge
from tengen.search.tree import kernel
from tengen.tactics.windows import COUNTS, Ints, ray

Function = TypeVar("Function", bound=Callable[..., Any])


def allocating(function: Function) -> Function:
    """Compiles a function that allocates; kernels that call it have no reference counting (tree.py)."""
    options: Any = {"cache": True, "nogil": True, "_nrt": True, "no_cfunc_wrapper": True}
    return cast(Function, njit(**options)(function))


@kernel
def winning_moves(state: State, player: int, memory: Ints, place: int) -> int:
    """Writes the points where a player would complete a row to memory[place:]; returns their number."""
    count = 0
    for cell in range(state[0] * state[1]):
        if state[HEADER + cell] in (0, FORBIDDEN) and completes_row(state, cell, player):
            memory[place + count] = cell
            count += 1
    return count


@kernel
def winning_moves_of_windows(state: State, player: int, full: int, memory: Ints, place: int) -> int:
    """The same, from the windows (windows.py) that hold `full`: k - 1 stones of the player and no others."""
    num_cells, k = state[0] * state[1], state[2]
    count = 0
    for direction in range(4):
        for cell in range(num_cells):
            if memory[COUNTS + direction * num_cells + cell] != full:
                continue
            step, ahead, _ = ray(cell, direction, memory)
            if ahead < k - 1:
                continue
            point = cell
            while state[HEADER + point] != 0:
                point += step
            # in order, each once
            i = count
            while i > 0 and memory[place + i - 1] > point:
                i -= 1
            if (i > 0 and memory[place + i - 1] == point) or not completes_row(state, point, player):
                continue
            for j in range(count, i, -1):
                memory[place + j] = memory[place + j - 1]
            memory[place + i] = point
            count += 1
    return count


@kernel
def winning_moves_near(state: State, stone: int, player: int, memory: Ints, place: int) -> int:
    """Writes the winning moves whose row would contain this stone of the player, 8 at most; 18 × as fast.

    If there were none before the stone was played, these are all.
    """
    count = 0
    for i in range(ends_of_runs(state, stone, player, memory, place)):
        cell = memory[place + i]
        if completes_row(state, cell, player):
            memory[place + count] = cell
            count += 1
    return count


@kernel
def ends_of_runs(state: State, stone: int, player: int, memory: Ints, place: int) -> int:
    """The first cell in each of the eight directions without a stone of the player, if it is empty."""
    count = 0
    for direction in range(4):
        step, ahead, behind = ray(stone, direction, memory)
        for _ in range(2):
            cell = HEADER + stone + step
            for _ in range(ahead):
                if state[cell] != player:
                    if state[cell] in (0, FORBIDDEN):
                        memory[place + count] = cell - HEADER
                        count += 1
                    break
                cell += step
            step, ahead = -step, behind
    return count


@allocating
def is_forbidden(board: State, cell: int) -> bool:
    """Is an empty cell forbidden for black in renju?"""
    return judge(board, cell) >= OVERLINE


@kernel
def legal_point(board: State) -> int:
    """A point where black may play in renju, or -1."""
    for cell in range(board[0] * board[1]):
        if board[HEADER + cell] == 0 and not is_forbidden(board, cell):
            return cell
    return -1
