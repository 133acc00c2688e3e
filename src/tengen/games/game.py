"""What a game is: a few compiled functions over one flat array, and the facts around them.

A state is one int16 array:

    header        sizes and rules, prefilled from Game.header and never changed
    cells         the board, row by row from the top: 0 empty, 1 first player's, 2 second player's
    ...           anything else the game needs (a winner, a counter)
    last action   the action that led here, -1 if there is none    state[-2]
    to move       the player to move, 1 or 2                       state[-1]

The functions, all compiled by Numba; inputs come first and stay untouched, outputs come last:

    start(state)                     fills in the first position; the header is already filled in
    legal(state, mask)               mask[action] = may the player to move play it?
    play(state, action, next_state)  writes every entry of next_state
    outcome(state)                   (is_over, value for the player to move: +1, 0 or -1)
    planes(state, out)               what a network sees, float32[C, H, W]
    rollout(state, random)           optional: plays random moves to the end, in place
    wins(state, action)              optional: does this legal action win at once? If missing, it is played
    settle(state)                    optional: completes a state of which only the header, the cells
                                     and the player to move are filled in (a position set up by hand)

Values are for the player to move, here and everywhere else.

The last action is for people to see: what may be played, what it leads to and who won must not depend on it.

Each plane has a name: one from this list if it shows exactly that, else a name of the game's own. Networks
ask for planes by name, and nothing depends on a plane's number:

    mine           1 where a cell holds the number of the player to move
    theirs         1 where it holds the opponent's
    last move      where the last move was; `anysize` does not use it, other planes must not depend on it
    first to move  ones if player 1 is to move, else zeros
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from tengen.errors import UserError
from tengen.games.coordinates import ActionKind, MoveNames
from tengen.games.symmetry import Symmetries

State = npt.NDArray[np.int16]  # [S]
Mask = npt.NDArray[np.bool_]  # [A]
Planes = npt.NDArray[np.float32]  # [C, H, W]
Random = npt.NDArray[np.uint64]  # [1], see randomness.py

LAST_ACTION, TO_MOVE = -2, -1
MOST_ACTIONS = 2**15 - 1  # the last action is kept in 16 bits

MINE, THEIRS, LAST_MOVE, FIRST_TO_MOVE = "mine", "theirs", "last move", "first to move"

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
    plane_names: tuple[str, ...]  # what each plane shows, in their order
    start: Callable[[State], None] = field(repr=False)
    legal: Callable[[State, Mask], None] = field(repr=False)
    play: Callable[[State, int, State], None] = field(repr=False)
    outcome: Callable[[State], tuple[bool, float]] = field(repr=False)
    planes: Callable[[State, Planes], None] = field(repr=False)
    moves: MoveNames = field(repr=False)  # what an action is, and how people write it
    symmetries: Symmetries = field(repr=False)
    rollout: Callable[[State, Random], None] | None = field(default=None, repr=False)
    wins: Callable[[State, int], bool] | None = field(default=None, repr=False)
    settle: Callable[[State], None] | None = field(default=None, repr=False)
    header: tuple[int, ...] = ()
    cell_values: int = 3  # how many different values a cell can hold
    look: Look = "squares"  # how the board is drawn
    why_illegal: Callable[[State, int], str | None] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        problem = self._what_does_not_fit()
        if problem:
            raise UserError(f"game '{self.name}': {problem}")

    def _what_does_not_fit(self) -> str | None:
        """A contradiction between these fields, in words; None if there is none."""
        num_cells, group = self.rows * self.cols, self.symmetries
        if isinstance(self.plane_names, str) or not self.plane_names:
            return f"plane_names is a tuple of names, one for each plane, got {self.plane_names!r}"
        if len(set(self.plane_names)) < len(self.plane_names):
            return f"two planes have the same name: {', '.join(self.plane_names)}"
        least = len(self.header) + num_cells + 2
        if self.state_size < least:
            return f"state_size is at least {least}: header, cells, two entries; got {self.state_size}"
        if not 1 <= self.num_actions <= MOST_ACTIONS:
            return f"num_actions is from 1 to {MOST_ACTIONS}, got {self.num_actions}"
        expected = getattr(self.moves, "num_actions", self.num_actions)
        if expected != self.num_actions:
            return f"num_actions is {expected} with {type(self.moves).__name__}, got {self.num_actions}"
        shapes = {"cells": (len(group), num_cells), "actions": (len(group), self.num_actions)}
        for what, shape in shapes.items():
            if getattr(group, what).shape != shape:
                got = getattr(group, what).shape[1]
                return f"symmetries are of {got} {what}, the game has {shape[1]}: add .for_moves(MOVES)"
        return None

    @property
    def num_planes(self) -> int:  # C
        return len(self.plane_names)

    def planes_named(self, *names: str) -> tuple[int, ...]:
        """The numbers of the planes with these names."""
        return tuple(self.plane_names.index(name) for name in names)

    def shows_last_move(self, planes: tuple[int, ...]) -> bool:
        """Do these planes show the last move? UserError if there are no such planes."""
        if max(planes) >= self.num_planes:
            sees = f"this network sees plane {max(planes)}, the last of {self.name} is {self.num_planes - 1}"
            raise UserError(f"{sees}: it was trained before the game was changed")
        return any(self.plane_names[plane] == LAST_MOVE for plane in planes)

    @cached_property
    def action_kind(self) -> ActionKind:
        """What an action is: as `moves` says, else guessed from the number of actions."""
        kind: ActionKind | None = getattr(self.moves, "kind", None)
        num_cells = self.rows * self.cols
        if kind is not None:
            return kind
        if self.num_actions in (num_cells, num_cells + 1):
            return "cells"
        return "columns" if self.num_actions == self.cols else "general"

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
        """The state after an action, as a new array."""
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
