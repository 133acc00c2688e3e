"""The perfect player: it knows the result of every move, wins as soon and loses as late as it can.

Connect 4 by the solver, small games by looking at everything.
"""

from pathlib import Path

import numpy as np

from tengen.errors import UserError
from tengen.games import connect4
from tengen.games.game import TO_MOVE, Game, State
from tengen.games.position import Position
from tengen.players.player import Choice, Player
from tengen.tactics.connect4_book import read_book
from tengen.tactics.connect4_search import COLS, ROWS
from tengen.tactics.connect4_solver import Solver

MAX_CELLS = 9  # tic-tac-toe: 16,167 states, about a second
LONGEST = 1000  # plies, more than any small game lasts


class Perfect(Player):
    """Any of the best moves, by chance."""

    summary = "never errs; connect4 and boards of up to 9 cells (book=FILE, see tengen solve)"

    def __init__(self, game: Game, book: str | None = None) -> None:
        super().__init__(game)
        self._is_connect4 = game.play is connect4.play and game.header == (ROWS, COLS, 4)
        if not self._is_connect4 and game.rows * game.cols > MAX_CELLS:
            raise UserError(
                f"player 'perfect' plays connect4 and games of at most {MAX_CELLS} cells such as tictactoe; "
                f"{game.name} has {game.rows * game.cols}"
            )
        if book is not None and not self._is_connect4:
            raise UserError(f"player 'perfect': a book is for connect4, not for {game.name}")
        if self._is_connect4:
            self._solver = Solver(book=read_book(Path(book)) if book else None)
        self._known: dict[bytes, int] = {}
        self.new_game(0)

    def new_game(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def choose(self, position: Position) -> Choice:
        if self._is_connect4:
            score, best = self._solver.best_columns(position)
            note = f"score {score:+}"
        else:
            state = position.state.copy()
            values = {action: self._after(state, action) for action in position.legal_actions}
            score = max(values.values())
            best = [action for action, value in values.items() if value == score]
            left = LONGEST - abs(score)
            plies = f"{left} {'ply' if left == 1 else 'plies'}"
            note = f"{'wins' if score > 0 else 'loses'} in {plies}" if score else "draw"
        return Choice(int(self._random.choice(best)), float(np.sign(score)), note=note)

    def _after(self, state: State, action: int) -> int:
        """The score of a move for the player who makes it."""
        after = self.game.after(state, action)
        score = self._score(after)
        score += (score < 0) - (score > 0)  # a ply further away
        return score if after[TO_MOVE] == state[TO_MOVE] else -score

    def _score(self, state: State) -> int:
        """LONGEST less the plies to a win, minus that for a loss, 0 a draw; for the player to move."""
        key = state.tobytes()
        if key not in self._known:
            is_over, value = self.game.outcome(state)
            if is_over:
                self._known[key] = int(value) * LONGEST
            else:
                actions = np.flatnonzero(self.game.legal_mask(state))
                self._known[key] = max(self._after(state, int(action)) for action in actions)
        return self._known[key]
