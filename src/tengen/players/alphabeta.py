"""Generation 3: alpha-beta search on patterns, to a depth or for a time."""

import math
import time

import numpy as np

from tengen.errors import UserError
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.fours import Fours
from tengen.players.greedy import best_point
from tengen.players.player import Choice, Player
from tengen.search.tree import memory_of_machine
from tengen.tactics import alphabeta
from tengen.tactics.evaluation import SURE, evaluate_board, find_point, squash
from tengen.tactics.lines import WINS, check_plays, new_lines, set_up

NODES_A_LOOK = 20_000  # between two looks at the clock: some 5 ms
BYTES_AN_ENTRY = 16


class AlphaBeta(Player):
    """Deepens ply by ply; remembers positions through a game."""

    summary = "alpha-beta search on patterns, five-in-a-row games (depth=6 or seconds=1, vcf, table_mib=16)"

    def __init__(
        self,
        game: Game,
        depth: int = 6,
        seconds: float | None = None,
        table_mib: int = 16,
        vcf: bool = False,
    ) -> None:
        """vcf: look for a win by continuous fours first."""
        super().__init__(game)
        check_plays("alphabeta", game)
        if not 1 <= depth <= alphabeta.MAX_DEPTH:
            raise UserError(f"player 'alphabeta': depth is 1-{alphabeta.MAX_DEPTH}, got {depth}")
        if seconds is not None and not seconds > 0:
            raise UserError(f"player 'alphabeta': seconds is more than 0, got {seconds}")
        if table_mib < 1:
            raise UserError(f"player 'alphabeta': table_mib is 1 or more, got {table_mib}")
        if table_mib * 2**20 > memory_of_machine() // 2:
            most = memory_of_machine() // 2**21
            raise UserError(
                f"player 'alphabeta': table_mib is at most {most:,}, half of this machine, got {table_mib:,}"
            )
        self._seconds = seconds
        self._depth = depth if seconds is None else alphabeta.MAX_DEPTH
        self._fours = Fours(game) if vcf else None
        self._lines = new_lines(game)
        entries = table_mib * 2**20 // BYTES_AN_ENTRY
        self._search = alphabeta.new_search(game, entries.bit_length() - 1)
        self.new_game(0)

    def new_game(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        alphabeta.forget(self._search, self._random)

    @property
    def nodes(self) -> int:
        """Of the last search."""
        return int(self._search.counters[alphabeta.NODES])

    def choose(self, position: Position) -> Choice:
        if self._fours and (win := self._fours.win(position)):
            return win
        lines, search, me = self._lines, self._search, position.to_move
        ends = math.inf if self._seconds is None else time.perf_counter() + self._seconds
        set_up(lines, position.state.copy())
        search.counters[alphabeta.NODES] = 0
        # What to play without a search: five in a row, the first stone, or if all moves lose alike.
        action, why = best_point(lines, me, position.legal_mask, self._random)
        choice = Choice(action, squash(evaluate_board(lines, me)), (action,), why)
        if find_point(lines, me, WINS) >= 0:
            return choice
        for depth in range(1, min(self._depth, int(lines.left[0])) + 1):
            alphabeta.begin(lines, search, me, depth)
            is_complete = False
            while not is_complete and time.perf_counter() < ends:
                is_complete = alphabeta.advance(lines, search, me, NODES_A_LOOK)
            num_moves, value = int(search.num_moves[0]), int(search.best[0])
            line = tuple(int(move) for move in search.line[0, : search.line_length[0]])
            if line or (is_complete and num_moves > 0):
                note = f"depth {depth}, {self.nodes:,} nodes"
                choice = Choice(line[0] if line else action, squash(value), line or (action,), note)
            is_forced = num_moves <= 1 and self._seconds is not None
            if not is_complete or abs(value) > SURE or is_forced:
                break
        return choice
