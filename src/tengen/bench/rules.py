"""The speed of the rules: random playouts per second on one core, next to OpenSpiel's in the same run."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np

from tengen.bench.peer import Peer
from tengen.games import find
from tengen.games.batch import lift
from tengen.games.game import Game, State
from tengen.games.randomness import new_random

# Our name → OpenSpiel's name of the same rules, if it has them.
OPENSPIEL = {
    "tictactoe": "tic_tac_toe",
    "connect4": "connect_four",
    "gomoku15": "gomoku(size=15)",
    "renju15": None,
    "caro15": None,
    "othello8": "othello",
    "hex11": "hex(board_size=11)",
}
STONES = 40  # on the board when legal moves are timed


@dataclass(frozen=True)
class PlayoutRate:
    """Random games per second from the first position."""

    game: str
    ours: float
    openspiel: float | None

    @property
    def ratio(self) -> float | None:
        return self.ours / self.openspiel if self.openspiel else None


@dataclass(frozen=True)
class MoveTime:
    """Nanoseconds per position with 40 stones, for renju and for gomoku."""

    what: str
    gomoku15: float
    renju15: float

    @property
    def ratio(self) -> float:
        return self.renju15 / self.gomoku15


def playout_rates(seconds: float, rounds: int, peer: Peer | None) -> Iterator[PlayoutRate]:
    """The rates of each game: medians over rounds in which both systems are measured alternately."""
    for name, openspiel_name in OPENSPIEL.items():
        game = find(name)
        batched, start, random = lift(game), game.new_state(), new_random(1)

        def ours(count: int) -> float:
            began = time.perf_counter()
            batched.playouts(start, count, random)  # noqa: B023 (called before the next iteration)
            return time.perf_counter() - began

        def theirs(count: int) -> float:
            assert peer is not None
            return float(peer.ask(game=openspiel_name, rollouts=count)["seconds"])  # noqa: B023

        ours(10)  # compile
        our_count = _count_for(seconds, ours)
        their_count = _count_for(seconds, theirs) if peer and openspiel_name else 0
        our_rates, their_rates = [], []
        for _ in range(rounds):
            our_rates.append(our_count / ours(our_count))
            if their_count:
                their_rates.append(their_count / theirs(their_count))
        yield PlayoutRate(name, median(our_rates), median(their_rates) if their_rates else None)


def move_times(seconds: float, rounds: int, num_positions: int = 512) -> Iterator[MoveTime]:
    """The times of `legal`, and of `play` and `legal` together, on random positions with 40 stones."""
    gomoku, renju = find("gomoku15"), find("renju15")
    boards = [position_with_stones(renju, STONES, seed) for seed in range(num_positions)]
    renju_states = np.stack(boards)
    gomoku_states = np.stack(
        [gomoku.set_up(np.where(board[renju.cells] == 3, 0, board[renju.cells]), 1) for board in boards]
    )
    actions = np.array(
        [np.random.default_rng(i).choice(np.flatnonzero(renju.legal_mask(s))) for i, s in enumerate(boards)]
    )
    batched = lift(gomoku)  # the same compiled loops serve both
    masks = np.empty((num_positions, gomoku.num_actions), np.bool_)
    next_states = np.empty_like(gomoku_states)

    def legal(states: State, count: int) -> float:
        began = time.perf_counter()
        for _ in range(count):
            batched.legal(states, masks)
        return time.perf_counter() - began

    def play_and_legal(states: State, count: int) -> float:
        began = time.perf_counter()
        for _ in range(count):
            batched.play(states, actions, next_states)
            batched.legal(next_states, masks)
        return time.perf_counter() - began

    for what, measure in (("legal moves", legal), ("play, then legal moves", play_and_legal)):
        measure(renju_states, 1)  # compile
        count = _count_for(seconds / 10, lambda n, measure=measure: measure(renju_states, n))  # type: ignore[misc]
        times: list[tuple[float, float]] = []
        for _ in range(rounds):
            times.append((measure(gomoku_states, count), measure(renju_states, count)))
        scale = 1e9 / (count * num_positions)
        yield MoveTime(what, median(t[0] for t in times) * scale, median(t[1] for t in times) * scale)


def position_with_stones(game: Game, stones: int, seed: int) -> State:
    """A position after random moves near other stones, as in real games; the game is not over."""
    random = np.random.default_rng(seed)
    while True:
        state = game.new_state()
        for _ in range(stones):
            legal = game.legal_mask(state).reshape(game.rows, game.cols)
            taken = np.isin(state[game.cells], (1, 2)).reshape(game.rows, game.cols)
            near = np.zeros_like(taken)
            for row, col in zip(*np.nonzero(taken), strict=True):
                near[max(0, row - 2) : row + 3, max(0, col - 2) : col + 3] = True
            choices = np.flatnonzero(legal & near)
            if len(choices) == 0:
                choices = np.flatnonzero(legal)
            state = game.after(state, int(random.choice(choices)))
            if game.outcome(state)[0]:
                break
        else:
            return state


def _count_for(seconds: float, measure: Callable[[int], float]) -> int:
    """The number of repetitions that take about this many seconds."""
    count = 10
    while (taken := measure(count)) < seconds / 4:
        count = max(count * 2, int(count * seconds / 2 / max(taken, 1e-9))) if taken > 1e-4 else count * 10
    return max(1, int(count * seconds / taken))
