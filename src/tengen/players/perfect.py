"""The perfect player: it knows the result of every move, wins as early and loses as late as possible.

Connect 4 by the solver, small games by full search. If the time is up before Connect 4 is solved, it plays
the column with the highest proven score so far.
"""

from pathlib import Path

import numpy as np

from tengen.errors import UserError
from tengen.games import connect4
from tengen.games.game import TO_MOVE, Game, State
from tengen.games.position import Position
from tengen.players.decision import Decision
from tengen.players.limit import Limit
from tengen.players.player import Choice, Player, Thinking
from tengen.search.snapshot import MoveInfo, Snapshot
from tengen.tactics.connect4_book import read_book
from tengen.tactics.connect4_search import COLS, ROWS
from tengen.tactics.connect4_solver import Solver, Solving, plies_to_end

MAX_CELLS = 9  # tic-tac-toe: 16,167 states, about a second
LONGEST = 1000  # plies, more than any small game lasts
MEBIBYTE = 2**20


class Perfect(Player):
    """Plays one of the best moves, chosen at random."""

    summary = "never errs; connect4 and boards of up to 9 cells (seconds=1, book=FILE, see tengen solve)"

    def __init__(
        self, game: Game, seconds: float | None = None, book: str | None = None, memory: int = 128
    ) -> None:
        """memory: MiB of the solver's table."""
        super().__init__(game, Limit(seconds=seconds))
        self._is_connect4 = game.play is connect4.play and game.header == (ROWS, COLS, 4)
        if not self._is_connect4 and game.rows * game.cols > MAX_CELLS:
            raise UserError(
                f"player 'perfect' plays connect4 and games of at most {MAX_CELLS} cells such as tictactoe; "
                f"{game.name} has {game.rows * game.cols}"
            )
        if book is not None and not self._is_connect4:
            raise UserError(f"player 'perfect': a book is for connect4, not for {game.name}")
        if self._is_connect4:
            self._solver = Solver(memory, read_book(Path(book)) if book else None)
        self._known: dict[bytes, int] = {}
        self.new_game(0)

    def new_game(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def begin(self, position: Position, limit: Limit) -> Thinking:
        if self._is_connect4:
            # An analysis shows every column; a move needs only the best ones.
            solving = self._solver.begin(position, "every" if limit.is_empty else "best")
            return SolvingThinking(position, self._solver, solving, self._random)
        return Decision(position, lambda: self._look_at_everything(position))

    def _look_at_everything(self, position: Position) -> Choice:
        state = position.state.copy()
        values = {action: self._after(state, action) for action in position.legal_actions}
        score = max(values.values())
        best = [action for action, value in values.items() if value == score]
        left = LONGEST - abs(score)
        plies = f"{left} {'ply' if left == 1 else 'plies'}"
        note = f"{'wins' if score > 0 else 'loses'} in {plies}" if score else "draw"
        action = int(self._random.choice(best))
        return Choice(action, float(np.sign(score)), note=note, distance=left if score else None)

    def _after(self, state: State, action: int) -> int:
        """The score of a move for the player who makes it."""
        after = self.game.after(state, action)
        score = self._score(after)
        score += (score < 0) - (score > 0)  # a ply further away
        return score if after[TO_MOVE] == state[TO_MOVE] else -score

    def _score(self, state: State) -> int:
        """The score for the player to move: LONGEST - plies to a win, minus that for a loss, 0 a draw."""
        key = state.tobytes()
        if key not in self._known:
            is_over, value = self.game.outcome(state)
            if is_over:
                self._known[key] = int(value) * LONGEST
            else:
                actions = np.flatnonzero(self.game.legal_mask(state))
                self._known[key] = max(self._after(state, int(action)) for action in actions)
        return self._known[key]


class SolvingThinking(Thinking):
    """The columns of a position of Connect 4, being solved."""

    def __init__(
        self, position: Position, solver: Solver, solving: Solving, random: np.random.Generator
    ) -> None:
        self._position, self._solver, self._solving, self._random = position, solver, solving, random
        self._nodes_before = solver.nodes
        self._stones = len(np.flatnonzero(position.state[position.game.cells]))

    def run(self, seconds: float) -> bool:
        return self._solving.run(seconds)

    def choice(self) -> Choice:
        lower, upper = self._solving.score_bounds
        columns, nodes = self._solving.best_columns, self._solver.nodes - self._nodes_before
        if not self._solving.is_done:
            note = f"score {lower:+} to {upper:+}, not solved in time"
            return Choice(columns[0], _value(lower, upper), (columns[0],), note, nodes=nodes)
        column = int(self._random.choice(columns))
        distance = plies_to_end(lower, self._stones) if lower else None
        return Choice(column, float(np.sign(lower)), (column,), f"score {lower:+}", distance, nodes=nodes)

    def snapshot(self) -> Snapshot:
        lower, upper = self._solving.score_bounds
        name = self._position.game.moves.name
        bounds = self._solving.bounds
        columns = sorted(bounds, key=lambda column: bounds[column], reverse=True)
        best = self._solving.best_columns[0]
        columns.sort(key=lambda column: column != best)
        return Snapshot(
            game=self._position.game.name,
            played=tuple(self._position.moves),
            to_move=self._position.to_move,
            search="Solver",
            simulations=0,
            value=_value(lower, upper),
            best=name(best),
            moves=tuple(self._info(column, *bounds[column]) for column in columns),
            nodes=self._solver.nodes - self._nodes_before,
            memory=self._solver.memory,
        )

    def _info(self, column: int, lower: int, upper: int) -> MoveInfo:
        is_known = lower == upper
        move = self._position.game.moves.name(column)
        return MoveInfo(
            move=move,
            visits=0,
            prior=None,
            value=_value(lower, upper),
            proven=("draw" if lower == 0 else "win" if lower > 0 else "loss") if is_known else None,
            distance=plies_to_end(lower, self._stones) if is_known and lower else None,
            is_exact=is_known,
            line=(move,),
        )


def _value(lower: int, upper: int) -> float:
    """-1, 0 or 1 where the sign of a score is known; else 0."""
    return 1.0 if lower > 0 else -1.0 if upper < 0 else 0.0
