"""Breakthrough on 6×6, a complete game whose pieces move. Try it:

    tengen --games examples/breakthrough.py check breakthrough
    tengen --games examples/breakthrough.py show breakthrough c2-c3 d5-d4
    tengen --games examples/breakthrough.py train breakthrough --minutes 5
    tengen --games examples/breakthrough.py play breakthrough --opponent zero:runs/breakthrough

A piece moves one step forward, straight or diagonally: the first player's (X) up the board, the second's
down.
Straight ahead, the cell must be empty; diagonally, a piece may also capture an opponent's. A player wins by
reaching the far row or by capturing the last piece. There is always a legal move, and no game is a draw.

    6 O O O O O O     An action is a cell and one of six steps: three up, three down.
    5 O O O O O O
    4 . . . . . .     state: 36 cells from the top row (0 empty, 1 first, 2 second player's), the winner
    3 . . . . . .     (0 while undecided), the last action, the player to move.
    2 X X X X X X
    1 X X X X X X
      a b c d e f
"""

from numba import njit

from tengen.games import symmetry
from tengen.games.coordinates import Steps
from tengen.games.game import FIRST_TO_MOVE, MINE, THEIRS, Game, Mask, Planes, State

SIZE = 6
CELLS = SIZE * SIZE
WINNER, LAST_ACTION, TO_MOVE = -3, -2, -1

UP = ((-1, -1), (-1, 0), (-1, 1))  # (rows down, columns right)
DOWN = ((1, -1), (1, 0), (1, 1))
MOVES = Steps(SIZE, SIZE, steps=UP + DOWN)
FROM, TO = MOVES.sources, MOVES.targets  # of each action; TO is -1 off the board


@njit(cache=True)
def start(state: State) -> None:
    state[:] = 0
    state[: 2 * SIZE], state[CELLS - 2 * SIZE : CELLS] = 2, 1
    state[LAST_ACTION], state[TO_MOVE] = -1, 1


@njit(cache=True)
def legal(state: State, mask: Mask) -> None:
    me = state[TO_MOVE]
    for action in range(mask.size):
        step, to = action % 6, TO[action]
        is_ahead = (step < 3) == (me == 1)
        is_straight = step % 3 == 1
        if state[WINNER] != 0 or to < 0 or not is_ahead or state[FROM[action]] != me:
            mask[action] = False
        else:
            mask[action] = state[to] == 0 or (state[to] == 3 - me and not is_straight)


@njit(cache=True)
def play(state: State, action: int, next_state: State) -> None:
    me, to = state[TO_MOVE], TO[action]
    next_state[:] = state
    next_state[FROM[action]], next_state[to] = 0, me
    next_state[LAST_ACTION], next_state[TO_MOVE] = action, 3 - me
    far_row = 0 if me == 1 else SIZE - 1
    if to // SIZE == far_row or not (next_state[:CELLS] == 3 - me).any():
        next_state[WINNER] = me


@njit(cache=True)
def outcome(state: State) -> tuple[bool, float]:
    """(is_over, value): +1, 0 or -1 for the player to move."""
    if state[WINNER] == 0:
        return False, 0.0
    return True, 1.0 if state[WINNER] == state[TO_MOVE] else -1.0


@njit(cache=True)
def planes(state: State, out: Planes) -> None:
    board, me = state[:CELLS].reshape(SIZE, SIZE), state[TO_MOVE]
    out[0], out[1] = board == me, board == 3 - me
    out[2] = me == 1  # which direction is forward


BREAKTHROUGH = Game("breakthrough", "reach the far row on 6×6", rows=SIZE, cols=SIZE,
                    state_size=CELLS + 3, num_actions=MOVES.num_actions,
                    plane_names=(MINE, THEIRS, FIRST_TO_MOVE),
                    start=start, legal=legal, play=play, outcome=outcome, planes=planes,
                    moves=MOVES, symmetries=symmetry.mirror(SIZE, SIZE).for_moves(MOVES))  # fmt: skip
