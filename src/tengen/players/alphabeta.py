"""Generation 3: alpha-beta search on patterns, limited by depth, number of nodes or time."""

import time

import numpy as np

from tengen.errors import UserError
from tengen.games.game import Game
from tengen.games.mnk import CARO
from tengen.games.position import Position
from tengen.players.decision import snapshot_of
from tengen.players.fours import Fours
from tengen.players.greedy import best_point
from tengen.players.limit import Limit
from tengen.players.player import Choice, Player, Thinking
from tengen.search.snapshot import Snapshot
from tengen.search.tree import memory_of_machine
from tengen.tactics import alphabeta
from tengen.tactics.evaluation import UNKNOWN, evaluate_board, find_point, plies_to_end, settled, squash
from tengen.tactics.fours import has_fours
from tengen.tactics.lines import WINS, check_plays, new_lines, set_up
from tengen.tactics.quick_fours import LENGTH, find_fours, new_quick_fours

NODES_PER_SLICE = 5_000  # 11 ms on 20×20 with renju, less elsewhere
MOST_NODES = 2**62
MOST_FOURS = 4_000  # before the search, in one piece
BYTES_PER_ENTRY = 16
DEPTH = 6  # plies, for moves without a limit


class AlphaBeta(Player):
    """Iterative deepening; remembers positions during a game."""

    summary = "alpha-beta search on patterns, five-in-a-row games (depth=6 or seconds=1, plain, vcf, memory)"
    obeys = ("nodes", "depth")

    def __init__(
        self,
        game: Game,
        depth: int | None = None,
        seconds: float | None = None,
        memory: int = 16,
        vcf: bool = False,
        plain: bool = False,
    ) -> None:
        """memory: MiB of the table of positions. plain: no selective search (tactics/alphabeta.py), and vcf:
        look for a win by continuous fours first; a selective search always does."""
        check_plays("alphabeta", game)
        if depth is not None and not 1 <= depth <= alphabeta.MAX_DEPTH:
            raise UserError(f"player 'alphabeta': depth is 1-{alphabeta.MAX_DEPTH}, got {depth}")
        if seconds is not None and not seconds > 0:
            raise UserError(f"player 'alphabeta': seconds is more than 0, got {seconds}")
        if memory < 1:
            raise UserError(f"player 'alphabeta': memory is 1 MiB or more, got {memory}")
        if memory * 2**20 > memory_of_machine() // 2:
            most = memory_of_machine() // 2**21
            raise UserError(
                f"player 'alphabeta': memory is at most {most:,} MiB, half of this machine, got {memory:,}"
            )
        super().__init__(game, Limit(depth=depth or (DEPTH if seconds is None else None), seconds=seconds))
        is_selective = not plain and has_fours(game)
        # The selective search sees fours itself, except in caro; threats.py takes seconds to compile.
        is_caro = game.header[3] >= CARO
        self._fours = Fours(game) if vcf or (is_selective and is_caro) else None
        self.quick_fours = new_quick_fours(game)
        self.lines = new_lines(game)
        entries = memory * 2**20 // BYTES_PER_ENTRY
        self.search = alphabeta.new_stack(game, entries.bit_length() - 1)
        self.search.is_selective[0] = is_selective
        self.new_game(0)

    def new_game(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        alphabeta.forget(self.search, self.random)

    @property
    def nodes(self) -> int:
        """The number of nodes of the last search."""
        return int(self.search.counters[alphabeta.NODES])

    def begin(self, position: Position, limit: Limit) -> Thinking:
        thinking = AlphaBetaThinking(self, position, limit)
        return self._fours.before(position, thinking) if self._fours else thinking


class AlphaBetaThinking(Thinking):
    """One depth after another, until the limit or a proven result."""

    def __init__(self, player: AlphaBeta, position: Position, limit: Limit) -> None:
        lines, search, me = player.lines, player.search, position.to_move
        self._position, self._lines, self._search, self._me = position, lines, search, me
        self._fours = player.quick_fours
        self._can_stop_early = limit.is_timed
        self._max_nodes = limit.nodes or MOST_NODES
        set_up(lines, position.state.copy())
        search.counters[alphabeta.NODES] = 0
        # The move without a search: five in a row, the first stone, or when all moves lose equally.
        self._action, why = best_point(lines, me, position.legal_mask, player.random)
        self._choice = Choice(self._action, squash(evaluate_board(lines, me)), (self._action,), why)
        self._last = min(limit.depth or alphabeta.MAX_DEPTH, alphabeta.MAX_DEPTH, int(lines.left[0]))
        self._depth = 1
        self._is_over = find_point(lines, me, WINS) >= 0
        if search.is_selective[0] and not self._is_over:
            self._look_for_fours(player)
        if not self._is_over:
            alphabeta.begin(lines, search, me, self._depth)

    def _look_for_fours(self, player: AlphaBeta) -> None:
        lines, me, fours = self._lines, self._me, player.quick_fours
        if settled(lines, me, lines.tally[me - 1], lines.tally[2 - me]) != UNKNOWN:
            return
        plies = int(find_fours(lines, fours, me, MOST_FOURS))
        if plies > 0:
            line = tuple(int(move) for move in fours.line[: fours.numbers[LENGTH]])
            self._choice = Choice(line[0], 1.0, line, f"wins by fours, {plies} plies", plies)
            self._is_over = True

    def run(self, seconds: float) -> bool:
        ends = time.perf_counter() + seconds
        while not self._is_over:
            slice_nodes = min(NODES_PER_SLICE, self._max_nodes - self.nodes)
            is_complete = alphabeta.advance(self._lines, self._search, self._fours, self._me, slice_nodes)
            self._read(is_complete)
            if is_complete:
                self._next_depth()
            elif self.nodes >= self._max_nodes:
                self._is_over = True
            if time.perf_counter() >= ends:
                break
        return self._is_over

    def _read(self, is_complete: bool) -> None:
        """Reads what the search has found at the root, also in the middle of a depth."""
        search = self._search
        num_moves, value = int(search.num_moves[0]), int(search.best[0])
        line = tuple(int(move) for move in search.line[0, : search.line_length[0]])
        if line or (is_complete and num_moves > 0):
            action = line[0] if line else self._action
            note = f"depth {self._depth}, {self.nodes:,} nodes"
            # A loss is proven when every move was tried; a selective search does not try the distant ones.
            is_proven = value > 0 or (is_complete and not search.is_quiet[0])
            self._choice = Choice(
                action,
                squash(value),
                line or (action,),
                note,
                plies_to_end(value) if is_proven else None,
                nodes=self.nodes,
                depth=self._depth,
            )

    def _next_depth(self) -> None:
        is_proven = plies_to_end(int(self._search.best[0])) is not None
        is_forced = self._can_stop_early and self._search.num_moves[0] <= 1
        self._depth += 1
        if is_proven or is_forced or self._depth > self._last:
            self._is_over = True
        else:
            alphabeta.begin(self._lines, self._search, self._me, self._depth)

    @property
    def nodes(self) -> int:
        return int(self._search.counters[alphabeta.NODES])

    def choice(self) -> Choice:
        return self._choice

    def snapshot(self) -> Snapshot:
        return snapshot_of(self._position, self._choice, "AlphaBeta", self.nodes, self._depth)
