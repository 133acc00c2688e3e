"""The speed of the search: simulations per second on one core, next to mctx + pgx and OpenSpiel, in one run.

A simulation is a visit of a root's move. Each side does all the work of choosing a move: create the trees,
add noise, search, read the result. The first run compiles and is not counted. Seconds are processor time, so
other programs do not change them.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

import numpy as np
import numpy.typing as npt

from tengen.bench.peer import Peer
from tengen.evaluators.evaluator import Evaluation, Evaluator, Floats
from tengen.evaluators.uniform import UniformEvaluator
from tengen.games import find
from tengen.games.game import Game, Mask, State
from tengen.games.randomness import new_random
from tengen.search import uct
from tengen.search.gumbel import Gumbel
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tengen.search.result import sample_actions
from tengen.search.selection import Selection
from tengen.search.tree import UNKNOWN, bytes_per_node
from tengen.search.uct import Uct

BATCH = 256  # trees
NUM_OPENINGS = 1000  # games whose first moves are compared
SETTINGS: dict[str, Selection] = {  # mctx's are the same
    "gumbel": Gumbel(),
    "puct": Puct(),
    "puct with noise": Puct(dirichlet_fraction=0.25),  # as in AlphaZero's self-play
}
MEBIBYTE = 2**20

Measure = Callable[[int], tuple[int, float]]  # repetitions → simulations done, seconds taken


@dataclass(frozen=True)
class SearchRate:
    """Simulations per second; the ratio is the median of those of neighbouring measurements."""

    search: str
    ours: float
    peer: str | None
    theirs: float | None
    ratio: float | None
    goal: float | None  # the ratio should be at least this


@dataclass(frozen=True)
class Memory:
    """The memory of trees, computed without allocating it."""

    trees: str
    bytes_per_node: int
    mebibytes: float
    goal: float | None  # MiB at most


@dataclass(frozen=True)
class Openings:
    """The distribution of first moves."""

    search: str
    most_played: float  # share of the games
    entropy: float  # bits


@dataclass(frozen=True)
class Comparison:
    """One line of the table to measure."""

    search: str
    ours: Measure
    peer: str | None = None
    theirs: Measure | None = None
    goal: float | None = None


@contextmanager
def one_core() -> Iterator[None]:
    """Keeps this thread and the processes it starts on one core, if the system allows it."""
    if sys.platform != "linux":
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def search_rates(
    seconds: float, rounds: int, mctx: Peer | None, openspiel: Peer | None
) -> Iterator[SearchRate]:
    """The rates of each comparison, from rounds in which both systems are measured alternately."""
    for comparison in _comparisons(mctx, openspiel):
        our_repetitions = _repetitions(seconds, comparison.ours)
        their_repetitions = _repetitions(seconds, comparison.theirs) if comparison.theirs else 0
        ours, theirs = [], []
        for _ in range(rounds):
            ours.append(_rate(comparison.ours, our_repetitions))
            if comparison.theirs:
                theirs.append(_rate(comparison.theirs, their_repetitions))
        yield SearchRate(
            comparison.search,
            median(ours),
            comparison.peer,
            median(theirs) if theirs else None,
            median(our / their for our, their in zip(ours, theirs, strict=True)) if theirs else None,
            comparison.goal,
        )


def opening_entropies() -> list[Openings]:
    """The variety of PUCT's first moves if the prior strongly prefers one move. In self-play, moves are drawn
    by visits; without noise all games have the same tree, and few moves get any visit."""
    game = find("gomoku9")
    logits = np.zeros(game.num_actions, np.float32)
    logits[game.num_actions // 2] = 6.0
    prior = np.exp(logits) / np.exp(logits).sum()
    found = [Openings("the prior itself", float(prior.max()), _bits(prior))]
    for name in ("puct", "puct with noise"):
        random = np.random.default_rng(1)
        search = Search(game, FixedPrior(logits), SETTINGS[name], NUM_OPENINGS, max_simulations=100)
        search.begin(np.tile(game.new_state(), (NUM_OPENINGS, 1)), random)
        search.run(100)
        moves = sample_actions(search.result(), 1.0, random)
        shares = np.bincount(moves, minlength=game.num_actions) / NUM_OPENINGS
        found.append(Openings(name, float(shares.max()), _bits(shares)))
    return found


def memory() -> list[Memory]:
    """The memory of the trees of PUCT and Gumbel."""
    return [
        _memory("connect4", BATCH, 800),
        _memory("gomoku15", BATCH, 400, goal=256),
        _memory("gomoku15", 1, 1_000_000, goal=2048),
    ]


def _comparisons(mctx: Peer | None, openspiel: Peer | None) -> Iterator[Comparison]:
    connect4, gomoku15 = find("connect4"), find("gomoku15")
    uniform, noisy = UniformEvaluator(), NoisyEvaluator(connect4)
    first: list[list[int]] = [[] for _ in range(BATCH)]
    random = [random_moves(connect4, seed % 21, seed) for seed in range(BATCH)]

    # 1. many trees at once, from the first position and from others
    for name, goal in (("gumbel", 4.0), ("puct", 10.0), ("puct with noise", None)):
        for where, games in (("", first), (", random positions", random)):
            yield Comparison(
                f"{name} 32 × {BATCH}{where}",
                _batch(name, 32, games, uniform),
                "mctx + pgx",
                _mctx(mctx, name, 32, games) if mctx else None,
                goal if games is first else None,
            )
        yield Comparison(
            f"{name} 32 × {BATCH}, random positions, noisy evaluator", _batch(name, 32, random, noisy)
        )

    # 2. OpenSpiel's search in Python has one tree and one leaf at a time; ours can have many
    for what, simulations, trees, leaves, asked_ratio in (
        ("puct 800, one tree", 800, 1, 1, None),
        ("puct 800, one tree, 16 leaves per round", 800, 1, 16, None),
        (f"puct 800 × {BATCH}", 800, BATCH, 1, None),
        (f"puct 32 × {BATCH}", 32, BATCH, 1, 50.0),
    ):
        yield Comparison(
            what,
            _batch("puct", simulations, first[:trees], uniform, leaves),
            "OpenSpiel, Python",
            _openspiel(openspiel, "puct", "connect_four", simulations) if openspiel else None,
            asked_ratio,
        )

    # 3. one random game per leaf
    for game, openspiel_name, simulations, goal in (
        (connect4, "connect_four", 2000, 4.0),
        (gomoku15, "gomoku(size=15)", 500, 3.0),
    ):
        yield Comparison(
            f"uct {simulations}, {game.name}",
            _uct(game, simulations),
            "OpenSpiel, C++",
            _openspiel(openspiel, "uct", openspiel_name, simulations) if openspiel else None,
            goal,
        )


def _batch(
    name: str, simulations: int, games: list[list[int]], evaluator: Evaluator, leaves: int = 1
) -> Measure:
    """A measurement of our search, from the positions after these games of Connect 4."""
    connect4 = find("connect4")
    search = Search(connect4, evaluator, SETTINGS[name], len(games), simulations, leaves)
    states = np.stack([position_after(connect4, moves) for moves in games])
    random = np.random.default_rng(1)

    def measure(repetitions: int) -> tuple[int, float]:
        done = 0
        began = time.process_time()
        for _ in range(repetitions):
            search.begin(states, random)
            search.run(simulations)
            result = search.result()
            done += int(result.visits.sum())  # fewer if a root was proven early
        taken = time.process_time() - began
        visits, is_open = result.visits, result.root_proven == UNKNOWN
        assert (visits[is_open].sum(axis=1) == simulations).all() and not visits[~result.legal].any()
        return done, taken

    return measure


def _uct(game: Game, simulations: int) -> Measure:
    """A measurement of our UCT, from the first position."""
    state, random = game.new_state(), new_random(1)

    def measure(repetitions: int) -> tuple[int, float]:
        done = 0
        began = time.process_time()
        for _ in range(repetitions):
            done += uct.search(game, state, simulations, Uct(), random).simulations
        return done, time.process_time() - began

    return measure


def _mctx(peer: Peer, name: str, simulations: int, games: list[list[int]]) -> Measure:
    def measure(repetitions: int) -> tuple[int, float]:
        answer = peer.ask(search=name, simulations=simulations, games=games, repetitions=repetitions)
        return repetitions * simulations * len(games), answer["seconds"]

    return measure


def _openspiel(peer: Peer, name: str, game: str, simulations: int) -> Measure:
    def measure(repetitions: int) -> tuple[int, float]:
        answer = peer.ask(search=name, game=game, simulations=simulations, repetitions=repetitions)
        return repetitions * simulations, answer["seconds"]

    return measure


class NoisyEvaluator:
    """Fixed pseudo-random priors and values, so that trees grow unevenly, as with a network."""

    def __init__(self, game: Game) -> None:
        random = np.random.default_rng(1)
        scale = 1 / np.sqrt(game.rows * game.cols)
        self._weights = random.normal(0, scale, (game.state_size, game.num_actions + 1)).astype(np.float32)

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        answers = np.tanh(states.astype(np.float32) @ self._weights)
        return Evaluation(answers[:, :-1], answers[:, -1])


class FixedPrior:
    """The same priors for every position."""

    def __init__(self, logits: Floats) -> None:
        self._logits = logits

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        return Evaluation(np.tile(self._logits, (len(states), 1)), np.zeros(len(states), np.float32))


def _bits(shares: npt.NDArray[np.floating]) -> float:
    """The Shannon entropy in bits."""
    shares = shares[shares > 0]
    return float((shares * -np.log2(shares)).sum())


def position_after(game: Game, moves: list[int]) -> State:
    state = game.new_state()
    for action in moves:
        state = game.after(state, action)
    return state


def random_moves(game: Game, plies: int, seed: int) -> list[int]:
    """Random actions from the first position that do not end the game."""
    random = np.random.default_rng(seed)
    while True:
        state, moves = game.new_state(), list[int]()
        while len(moves) < plies and not game.outcome(state)[0]:
            moves.append(int(random.choice(np.flatnonzero(game.legal_mask(state)))))
            state = game.after(state, moves[-1])
        if not game.outcome(state)[0]:
            return moves


def _memory(name: str, num_trees: int, simulations: int, goal: float | None = None) -> Memory:
    per_node = bytes_per_node(find(name))
    total = num_trees * (simulations + 1) * per_node
    trees = f"{num_trees} of {name}, {simulations:,} simulations"
    return Memory(trees, per_node, total / MEBIBYTE, goal)


def _repetitions(seconds: float, measure: Measure) -> int:
    """The number of repetitions that take about this many seconds."""
    measure(1)  # compile
    return max(1, round(seconds / max(measure(1)[1], 1e-4)))


def _rate(measure: Measure, repetitions: int) -> float:
    simulations, taken = measure(repetitions)
    return simulations / max(taken, 1e-4)
