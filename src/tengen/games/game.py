"""What a game is: a few compiled functions over one flat array, and the facts around them.

A state is one int16 array:

    header        sizes and rules, prefilled from Game.header and never changed
    cells         the board, row by row from the top: 0 empty, 1 first player's, 2 second player's
    ...           whatever else the game needs (a winner, a counter)
    last action   the action that led here, -1 if there is none    state[-2]
    to move       the player to move, 1 or 2                       state[-1]

The functions, all compiled by Numba; inputs come first and stay untouched, outputs come last:

    start(state)                     fills in the first position; the header is there already
    legal(state, mask)               mask[action] = may the player to move play it?
    play(state, action, next_state)  writes every entry of next_state
    outcome(state)                   (is_over, value for the player to move: +1, 0 or -1)
    planes(state, out)               what a network sees, float32[C, H, W]
    rollout(state, random)           optional: plays random moves to the end, in place
    wins(state, action)              optional: does this legal action win at once? Without it, it is played
    settle(state)                    optional: completes a state of which only the header, the cells
                                     and the player to move are filled in (a position set up by hand)

Values are for the player to move, here and everywhere else.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from tengen.errors import UserError
from tengen.games.coordinates import MoveNames
from tengen.games.symmetry import Symmetries

State = npt.NDArray[np.int16]  # [S]
Mask = npt.NDArray[np.bool_]  # [A]
Planes = npt.NDArray[np.float32]  # [C, H, W]
Random = npt.NDArray[np.uint64]  # [1], see randomness.py

LAST_ACTION, TO_MOVE = -2, -1

Look = Literal["points", "squares", "columns", "hexagons"]


@dataclass(frozen=True)
class Game:
    """The rules of one game at one size. Made by the functions that games/__init__.py registers."""

    name: str  # as the user writes it: "gomoku15"
    summary: str  # one line for people: "five in a row on 15×15"
    rows: int
    cols: int
    state_size: int  # S
    num_actions: int  # A
    num_planes: int  # C
    start: Callable[[State], None] = field(repr=False)
    legal: Callable[[State, Mask], None] = field(repr=False)
    play: Callable[[State, int, State], None] = field(repr=False)
    outcome: Callable[[State], tuple[bool, float]] = field(repr=False)
    planes: Callable[[State, Planes], None] = field(repr=False)
    moves: MoveNames = field(repr=False)  # actions as people write them
    symmetries: Symmetries = field(repr=False)
    rollout: Callable[[State, Random], None] | None = field(default=None, repr=False)
    wins: Callable[[State, int], bool] | None = field(default=None, repr=False)
    settle: Callable[[State], None] | None = field(default=None, repr=False)
    header: tuple[int, ...] = ()
    cell_values: int = 3  # how many different values a cell can hold
    look: Look = "squares"  # how the board is drawn
    why_illegal: Callable[[State, int], str | None] | None = field(default=None, repr=False)

    @property
    def planes_shape(self) -> tuple[int, int, int]:
        return self.num_planes, self.rows, self.cols

    @cached_property
    def cells(self) -> slice:
        """Where the board is in a state."""
        return slice(len(self.header), len(self.header) + self.rows * self.cols)

    def new_state(self) -> State:
        """The first position of a game."""
        state = np.zeros(self.state_size, np.int16)
        state[: len(self.header)] = self.header
        self.start(state)
        return state

    def set_up(self, cells: npt.ArrayLike, to_move: int) -> State:
        """The position with this board (row by row from the top) and this player to move."""
        if self.settle is None:
            raise UserError(f"{self.name} cannot be set up from a board, only played from its start")
        board = np.asarray(cells, np.int16).ravel()
        if board.size != self.rows * self.cols or not np.isin(board, (0, 1, 2)).all():
            raise UserError(f"{self.name}: a board is {self.rows * self.cols} cells of 0, 1 or 2")
        if to_move not in (1, 2):
            raise UserError(f"{self.name}: the player to move is 1 or 2, got {to_move}")
        state = self.new_state()
        state[self.cells] = board
        state[LAST_ACTION], state[TO_MOVE] = -1, to_move
        self.settle(state)
        return state

    def after(self, state: State, action: int) -> State:
        """The state after an action, in an array of its own."""
        next_state = np.empty_like(state)
        self.play(state, action, next_state)
        return next_state

    def legal_mask(self, state: State) -> Mask:
        """bool[A]: what the player to move may play."""
        mask = np.empty(self.num_actions, np.bool_)
        self.legal(state, mask)
        return mask

    def to_integer(self, state: State) -> int:
        """The whole state as one integer: cells as digits, then 16 bits for each entry after them."""
        number = 0
        for cell in state[self.cells]:
            number = number * self.cell_values + int(cell)
        for entry in state[self.cells.stop :]:
            number = number << 16 | int(entry) & 0xFFFF
        return number

    def from_integer(self, number: int) -> State:
        """The state that to_integer made this number from."""
        if number < 0:
            raise UserError(f"{self.name}: a position's integer is not negative, got {number}")
        rest, state = number, self.new_state()
        for i in range(self.state_size - 1, self.cells.stop - 1, -1):
            rest, entry = rest >> 16, rest & 0xFFFF
            state[i] = entry - 0x10000 if entry & 0x8000 else entry
        for i in range(self.cells.stop - 1, self.cells.start - 1, -1):
            rest, state[i] = divmod(rest, self.cell_values)
        if rest or state[TO_MOVE] not in (1, 2) or not -1 <= state[LAST_ACTION] < self.num_actions:
            raise UserError(f"{number} is not a position of {self.name}")
        return state
