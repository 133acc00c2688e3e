"""Position: a game in progress, for users and for the outer layers of the system.

    >>> Position.start("gomoku15").play("h8").play("h9").to_move
    1

Immutable: `play` and `undo` return another position. Moves are text ("h8") or action numbers.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tengen import games
from tengen.errors import UserError
from tengen.games import drawing
from tengen.games.coordinates import BoardMoves
from tengen.games.game import LAST_ACTION, TO_MOVE, Game, State


@dataclass(frozen=True)
class Outcome:
    """Is the game over, and who won: two separate answers."""

    is_over: bool
    winner: int | None  # 1, 2, or None for a draw and while the game goes on

    def __str__(self) -> str:
        if not self.is_over:
            return "not over"
        return "draw" if self.winner is None else f"{('first', 'second')[self.winner - 1]} player wins"


@dataclass(frozen=True)
class Value:
    """How good a position is, from -1 (lost) to 1 (won), for one player; shown for either."""

    for_player_to_move: float
    to_move: int

    def seen_by(self, player: int) -> float:
        return self.for_player_to_move if player == self.to_move else -self.for_player_to_move

    def __str__(self) -> str:
        return f"{self.for_player_to_move:+.2f} for the {('first', 'second')[self.to_move - 1]} player"


class Position:
    """A state of a game and the moves that led to it. Equal if game and state are equal."""

    def __init__(self, game: Game, state: State, parent: "Position | None" = None) -> None:
        self.game = game
        self._state = state  # Numba would compile every kernel again for a read-only array
        self._parent = parent

    @classmethod
    def start(cls, game: Game | str) -> "Position":
        """The first position of a game, given by name, spec or object."""
        rules = games.find(game) if isinstance(game, str) else game
        return cls(rules, rules.new_state())

    @classmethod
    def from_moves(cls, game: Game | str, moves: str | Iterable[str | int]) -> "Position":
        """The position after some moves; "4435" and "h8h9i8" are split into moves."""
        position = cls.start(game)
        for move in position.game.moves.split(moves) if isinstance(moves, str) else moves:
            position = position.play(move)
        return position

    @classmethod
    def from_integer(cls, game: Game | str, number: int) -> "Position":
        """The position whose .integer is this number; the moves that led there are not known."""
        rules = games.find(game) if isinstance(game, str) else game
        return cls(rules, rules.from_integer(number))

    @classmethod
    def from_cells(cls, game: Game | str, cells: Iterable[int], to_move: int) -> "Position":
        """A position set up by hand: the board row by row from the top, and who is to move."""
        rules = games.find(game) if isinstance(game, str) else game
        return cls(rules, rules.set_up(list(cells), to_move))

    def play(self, move: str | int) -> "Position":
        """The position after a move; UserError says why it cannot be played."""
        action = self.parse(move) if isinstance(move, str) else int(move)
        if self.is_over:
            raise UserError(f"{self._illegal(move)}: the game is over, {self.outcome}")
        if not 0 <= action < self.game.num_actions:
            raise UserError(f"{self._illegal(move)}: actions are 0-{self.game.num_actions - 1}")
        if not self.legal_mask[action]:
            raise UserError(f"{self._illegal(self.game.moves.name(action))}: {self.why_illegal(action)}")
        return Position(self.game, self.game.after(self._state, action), self)

    def undo(self) -> "Position":
        """The position before the last move."""
        if self._parent is None:
            raise UserError("there is no move to take back")
        return self._parent

    def parse(self, move: str) -> int:
        """The action that a move's text means."""
        try:
            return self.game.moves.action(move)
        except UserError as error:
            raise UserError(f"{self._illegal(move)}: {error}") from None

    def why_illegal(self, action: int) -> str:
        """Why the player to move may not play this action, in words."""
        reason = self.game.why_illegal(self._state, action) if self.game.why_illegal else None
        if reason:
            return reason
        cells = self._state[self.game.cells]
        if self.game.action_kind == "cells" and action < len(cells) and cells[action] in (1, 2):
            return "there is a stone already"
        if self.game.look == "columns":
            return "that column is full"
        where, names = self._moves_like(action)
        more = " …" if len(names) > 8 else ""
        return f"the rules do not allow it; legal moves{where} are {' '.join(names[:8])}{more}"

    def _moves_like(self, action: int) -> tuple[str, list[str]]:
        """The legal moves that begin on the same cell, and " from b2"; if there are none, all legal moves."""
        moves = self.game.moves
        if isinstance(moves, BoardMoves) and (start := moves.touched(action)[:1]):
            like = [legal for legal in self.legal_actions if moves.touched(legal)[:1] == start]
            if like:
                return f" from {moves.cell_name(start[0])}", [moves.name(legal) for legal in like]
        return "", self.legal_moves

    @property
    def state(self) -> State:
        """int16[S], read-only."""
        view = self._state.view()
        view.flags.writeable = False
        return view

    @cached_property
    def legal_mask(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """bool[A]"""
        mask = self.game.legal_mask(self._state)
        mask.flags.writeable = False
        return mask

    @property
    def legal_actions(self) -> list[int]:
        return [int(action) for action in np.flatnonzero(self.legal_mask)]

    @property
    def legal_moves(self) -> list[str]:
        return [self.game.moves.name(action) for action in self.legal_actions]

    @property
    def to_move(self) -> int:
        """The player to move, 1 or 2."""
        return int(self._state[TO_MOVE])

    @property
    def last_action(self) -> int | None:
        return int(self._state[LAST_ACTION]) if self._state[LAST_ACTION] >= 0 else None

    @property
    def last_move(self) -> str | None:
        return None if self.last_action is None else self.game.moves.name(self.last_action)

    @property
    def actions(self) -> list[int]:
        """The actions played, first to last."""
        found: list[int] = []
        position = self
        while position._parent is not None:
            found.append(int(position._state[LAST_ACTION]))
            position = position._parent
        return found[::-1]

    @property
    def moves(self) -> list[str]:
        """The moves played, first to last."""
        return [self.game.moves.name(action) for action in self.actions]

    @cached_property
    def outcome(self) -> Outcome:
        is_over, value = self.game.outcome(self._state)
        if not is_over or value == 0:
            return Outcome(bool(is_over), None)
        return Outcome(True, self.to_move if value > 0 else 3 - self.to_move)

    @property
    def is_over(self) -> bool:
        return self.outcome.is_over

    @property
    def winner(self) -> int | None:
        return self.outcome.winner

    @property
    def integer(self) -> int:
        """The whole state as one integer, see from_integer."""
        return self.game.to_integer(self._state)

    def text(self, color: bool = False) -> str:
        """The board for a terminal."""
        return drawing.text(self.game, self._state, color=color)

    def svg(self) -> str:
        """The board as a picture."""
        return drawing.svg(self.game, self._state)

    def _repr_svg_(self) -> str:
        """How a notebook shows it."""
        return self.svg()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return self.game.name == other.game.name and self._state.tobytes() == other._state.tobytes()

    def __hash__(self) -> int:
        return hash((self.game.name, self._state.tobytes()))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Position of {self.game.name} after {' '.join(self.moves) or 'no moves'}>"

    def _illegal(self, move: str | int) -> str:
        return f"illegal move '{move}' in {self.game.name}"
