"""Random games played side by side with OpenSpiel: the same legal actions, turns, boards and results.

Each matchup plays 1000 games, in chunks that xdist can spread.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyspiel
import pytest

from tengen import games
from tengen.games.game import TO_MOVE, Game

CHUNKS, GAMES_PER_CHUNK = 4, 250


def cell(row: int, col: int, rows: int, cols: int) -> int:
    """OpenSpiel numbers the cells of these games row by row from the top, as we do."""
    return row * cols + col


@dataclass(frozen=True)
class Matchup:
    ours: str
    theirs: str
    symbols: str = ".xo"  # how their text shows empty, the first player's, the second player's
    their_cell: Callable[[int, int, int, int], int] | None = cell  # None: an action is a column

    def their_action(self, game: Game, action: int) -> int:
        """What OpenSpiel calls one of our actions."""
        if self.their_cell is None:
            return action  # a column, from the left
        if action == game.rows * game.cols:
            return action  # the pass comes after the cells
        return self.their_cell(*divmod(action, game.cols), game.rows, game.cols)


# In OpenSpiel's mnk, m is the number of columns and n the number of rows.
MATCHUPS = [
    Matchup("tictactoe", "tic_tac_toe"),
    Matchup("connect4", "connect_four", their_cell=None),
    Matchup("connect:rows=5,cols=8,k=3", "connect_four(rows=5,columns=8,x_in_row=3)", their_cell=None),
    Matchup("gomoku15", "mnk(m=15,n=15,k=5)"),
    Matchup("gomoku9", "gomoku(size=9,connect=5)", symbols=".bw"),
    Matchup("mnk:rows=5,cols=9,k=4", "mnk(m=9,n=5,k=4)"),
    Matchup("mnk:rows=8,cols=6,k=3", "mnk(m=6,n=8,k=3)"),  # short runs: often joined to overlines
    Matchup("othello8", "othello", symbols="-xo"),
    Matchup("hex7", "hex(num_cols=7,num_rows=7)"),
    Matchup("hex11", "hex(num_cols=11,num_rows=11)"),
]


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("matchup", MATCHUPS, ids=lambda matchup: matchup.ours)
def test_random_games(matchup: Matchup, chunk: int) -> None:
    game = games.find(matchup.ours)
    theirs = pyspiel.load_game(matchup.theirs)
    their_actions = np.array([matchup.their_action(game, action) for action in range(game.num_actions)])
    our_actions = {int(theirs): ours for ours, theirs in enumerate(their_actions)}
    assert len(our_actions) == game.num_actions == theirs.num_distinct_actions()
    rng = random.Random(chunk)
    for _ in range(GAMES_PER_CHUNK):
        play_side_by_side(matchup, game, theirs.new_initial_state(), their_actions, our_actions, rng)


def play_side_by_side(
    matchup: Matchup,
    game: Game,
    theirs: pyspiel.State,
    their_actions: np.ndarray[tuple[int], np.dtype[np.int64]],
    our_actions: dict[int, int],
    rng: random.Random,
) -> None:
    state, mask = game.new_state(), np.empty(game.num_actions, np.bool_)
    while not theirs.is_terminal():
        game.legal(state, mask)
        legal = theirs.legal_actions()
        assert sorted(their_actions[mask].tolist()) == legal
        assert state[TO_MOVE] == theirs.current_player() + 1
        assert game.outcome(state) == (False, 0.0)
        action = rng.choice(legal)
        theirs.apply_action(action)
        state = game.after(state, our_actions[action])
    game.legal(state, mask)
    assert not mask.any()
    is_over, value = game.outcome(state)
    assert is_over
    assert value == theirs.returns()[state[TO_MOVE] - 1]
    board = "".join(symbol for symbol in str(theirs) if symbol in matchup.symbols)
    assert board == "".join(matchup.symbols[cell] for cell in state[game.cells])


@pytest.mark.parametrize(
    ("ours", "theirs"), [("othello8", "othello"), ("hex7", "hex(num_cols=7,num_rows=7)")]
)
def test_moves_have_the_same_names(ours: str, theirs: str) -> None:
    """Column letters and rows counted from the top: in these two games everybody writes them so."""
    game = games.find(ours)
    state = pyspiel.load_game(theirs).new_initial_state()
    for action in range(game.rows * game.cols):
        assert game.moves.name(action) == state.action_to_string(0, action)
