"""The speed of self-play: simulations and games per second on one core, next to mctx + pgx in the same run.

Both sides play whole games of Connect 4 with Gumbel search and the same residual network, with the same
weights. We play whole shards, as in training, including their ends, when few games of the batch are left.
Every shard is measured between two halves of an empty loop, which only evaluates full batches.

    peer │ loop, shard, loop │ peer │ loop, shard, loop │ …       ratios are of neighbours, then the median

Seconds are processor time, so other programs hardly change them (they still share caches and the clock rate).
Only the step from one process to two is measured in wall-clock time.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

from tengen import nets
from tengen.bench.peer import Peer
from tengen.bench.search import position_after
from tengen.bench.selfplay_goals import AlphaZeroGomokuRate, Scaling, SelfPlayRate
from tengen.bench.selfplay_networks import Candidate, network_of
from tengen.evaluators.cache import CachedEvaluator
from tengen.evaluators.card import Precision
from tengen.evaluators.evaluator import Evaluation, Evaluator
from tengen.evaluators.gathering import Answers
from tengen.evaluators.network import Network
from tengen.evaluators.samples import random_planes
from tengen.games import find
from tengen.games.game import Game, Mask, Planes, State
from tengen.nets.export import to_onnx
from tengen.training.checkpoint import Checkpoint
from tengen.training.config import SelfPlayConfig
from tengen.training.selfplay import play_shard
from tengen.training.shards import SelfPlay, ShardTask
from tengen.workers.local import LocalWorkers

SIMULATIONS = 32  # of every move
PRECISIONS: tuple[Precision, ...] = ("fp32", "int8")

PEER = "mctx + pgx"
PEER_BATCHES = (32, 64, 128, 256)  # games at once; the fastest is taken. 512 was a seventh slower than 64
CHECKED = [3, 3, 2, 4, 3]  # moves to a position for which both networks must have the same output

ALPHAZERO_GOMOKU = "mnk:rows=8,cols=8,k=5"
ALPHAZERO_GOMOKU_SIMULATIONS = 400
ALPHAZERO_GOMOKU_PEER = (4.8, 950.0)  # games per minute, simulations per second; with PyTorch
ALPHAZERO_GOMOKU_FEWER = 4  # times fewer games than of Connect 4: six times the simulations, or more

Show = Callable[[str], None]  # shows what was just measured


@dataclass(frozen=True)
class Effort:
    """How long to measure."""

    rounds: int
    seconds: float  # of the peer and of the empty loop, each time
    games: int  # of a shard
    opening_plies: int = 0  # our games begin with at most this many random moves; the peer's with none


@dataclass(frozen=True)
class Measured:
    """One measurement."""

    games: int
    moves: int
    simulations: int
    seconds: float
    network_seconds: float = 0.0  # of these, inside the network
    hit_rate: float | None = None  # of the cache
    loop: float = 0.0  # evaluations per second in the empty loop around it
    peer: float | None = None  # simulations per second of the peer just before

    @property
    def rate(self) -> float:
        """Simulations per second."""
        return self.simulations / max(self.seconds, 1e-6)


# ---- next to mctx + pgx


def compare(
    ours: Candidate, theirs: Candidate, peer: Peer | None, effort: Effort, show: Show
) -> list[SelfPlayRate]:
    """The rates of the peer, if there is one, and of the four ways in which we can play."""
    show(f"{ours.name}: {effort.games} games per round, in four ways")
    ways = [
        Way(find("connect4"), ours, precision, is_cached, _settings(ours, effort), effort.games)
        for is_cached in (False, True)
        for precision in PRECISIONS
    ]
    with tempfile.TemporaryDirectory() as folder:
        playing = PeerGames(peer, theirs, Path(folder), effort.seconds, show) if peer else None
        for number in range(1, effort.rounds + 1):
            for way in ways:
                before = playing.measure() if playing else None
                found = way.measure(number, effort.seconds, before)
                show(f"round {number} of {effort.rounds}: {way.name} {found.rate:,.0f} simulations/s")
    rates = [_rate(way.name, way.measured) for way in ways]
    return [_rate(PEER, playing.measured), *rates] if playing else rates


class PeerGames:
    """Games of the peer, which continue from measurement to measurement, in its fastest batch size."""

    def __init__(self, peer: Peer, network: Candidate, folder: Path, seconds: float, show: Show) -> None:
        self.measured: list[Measured] = []
        self._peer, self._weights = peer, folder / "net.npz"
        np.savez(self._weights, **network.weights)  # type: ignore[arg-type]
        self._check(network)
        rates = {}
        for batch in PEER_BATCHES:
            moves = max(PEER_BATCHES) // batch
            rates[batch] = max(self._play(batch, moves).rate for _ in range(2))
            show(f"{PEER}, {batch} games at once: {rates[batch]:,.0f} simulations/s")
        self._batch = max(rates, key=lambda batch: rates[batch])
        self._moves = max(1, round(seconds * rates[self._batch] / (self._batch * SIMULATIONS)))

    def measure(self) -> float:
        """Simulations per second."""
        self.measured.append(self._play(self._batch, self._moves))
        return self.measured[-1].rate

    def _play(self, batch: int, moves: int) -> Measured:
        answer = self._ask(batch, moves)
        return Measured(answer["games"], moves * batch, moves * batch * SIMULATIONS, answer["seconds"])

    def _ask(self, batch: int, moves: int) -> dict[str, Any]:
        return self._peer.ask(
            weights=str(self._weights), batch=batch, simulations=SIMULATIONS, moves=moves, position=CHECKED
        )

    def _check(self, network: Candidate) -> None:
        """Checks that both sides have the same network."""
        game = find("connect4")
        evaluator = network.network(game, "fp32").direct(game)
        state = position_after(game, CHECKED)
        ours = evaluator.evaluate(state[None], game.legal_mask(state)[None])
        theirs = self._ask(PEER_BATCHES[0], moves=0)
        assert np.allclose(ours.logits[0], theirs["logits"], atol=1e-3), "the peer has another network"
        assert np.allclose(ours.values[0], theirs["value"], atol=1e-3), "the peer has another network"


class Way:
    """One way to play: a precision, with or without a cache."""

    def __init__(
        self,
        game: Game,
        network: Candidate,
        precision: Precision,
        is_cached: bool,
        settings: SelfPlayConfig,
        num_games: int,
    ) -> None:
        self.name = f"{precision}, cache" if is_cached else precision
        self.measured: list[Measured] = []
        self._game, self._settings, self._num_games = game, settings, num_games
        self._is_cached, self._sees_last_move = is_cached, game.shows_last_move(network.planes)
        self._evaluator = TimedEvaluator(game, network.network(game, precision))
        play_shard(
            game, self._evaluator, settings, 1, num_games, [0]
        )  # compiles, and warms up with full batches
        self._play(simulations=1, seed=0)
        planes = random_planes(game, self._evaluator.session.largest_batch)
        self._planes = np.ascontiguousarray(planes[:, network.planes])

    def measure(self, seed: int, seconds: float, peer: float | None = None) -> Measured:
        """The measurement of a shard between two halves of an empty loop. `peer`: its rate just before."""
        before = self._loop(seconds / 2)
        played = self._play(self._settings.simulations, seed)
        after = self._loop(seconds / 2)
        self.measured.append(replace(played, loop=fmean((before, after)), peer=peer))
        return self.measured[-1]

    def _play(self, simulations: int, seed: int) -> Measured:
        session = self._evaluator.session
        evaluator: Evaluator = self._evaluator
        if self._is_cached:
            room = self._settings.cache_positions
            evaluator = CachedEvaluator(evaluator, self._game, room, sees_last_move=self._sees_last_move)
        inside, began = session.seconds, time.process_time()
        _, stats = play_shard(self._game, evaluator, self._settings, simulations, self._num_games, [seed])
        return Measured(
            games=stats.games,
            moves=stats.moves,
            simulations=stats.simulations,
            seconds=time.process_time() - began,
            network_seconds=session.seconds - inside,
            hit_rate=evaluator.hit_rate if isinstance(evaluator, CachedEvaluator) else None,
        )

    def _loop(self, seconds: float) -> float:
        """Evaluations per second, in full batches."""
        session = self._evaluator.session
        done, began = 0, session.seconds
        while done == 0 or session.seconds - began < seconds:
            session.run(self._planes)
            done += len(self._planes)
        return done / (session.seconds - began)


class TimedEvaluator:
    """An evaluator that measures the time inside the network."""

    def __init__(self, game: Game, network: Network) -> None:
        self._evaluator = network.direct(game)
        self.session = TimedSession(self._evaluator.run)
        self._evaluator.run = self.session.run

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        return self._evaluator.evaluate(states, legal)


class TimedSession:
    """A session of ONNX Runtime that measures its time."""

    def __init__(self, run: Callable[[Planes], Answers]) -> None:
        self.seconds, self.largest_batch = 0.0, 0
        self._run = run

    def run(self, planes: Planes) -> Answers:
        self.largest_batch = max(self.largest_batch, len(planes))
        began = time.process_time()
        answers = self._run(planes)
        self.seconds += time.process_time() - began
        return answers


def _rate(who: str, measured: list[Measured]) -> SelfPlayRate:
    """The rate over all rounds. The length of games is the mean over all: few games end in one round."""
    simulations, games = sum(one.simulations for one in measured), sum(one.games for one in measured)
    rate = median(one.rate for one in measured)
    peers = [one.rate / one.peer for one in measured if one.peer]
    hits = [one.hit_rate for one in measured if one.hit_rate is not None]
    is_ours = who != PEER
    return SelfPlayRate(
        who,
        simulations_per_second=rate,
        games_per_second=rate * games / simulations,
        moves_per_game=sum(one.moves for one in measured) / max(games, 1),
        times_peer=median(peers) if peers else None,
        network_share=median(one.network_seconds / one.seconds for one in measured) if is_ours else None,
        hit_rate=median(hits) if hits else None,
        loop_per_second=median(one.loop for one in measured) if is_ours else None,
        times_loop=median(one.rate / one.loop for one in measured) if is_ours else None,
    )


# ---- from one process to two


def scale(network: Candidate, effort: Effort, show: Show) -> Scaling:
    """The time of two shards, as in training, alternately with one process and with two; wall-clock time."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    shares = []
    work = TimedWork(SelfPlay("connect4", _settings(network, effort), _checkpoint(network)))
    with ExitStack() as stack:
        pools = {count: stack.enter_context(LocalWorkers(count)) for count in seconds}

        def play(count: int, simulations: int, games: int, seed: int) -> float:
            """Processor seconds."""
            tasks = [ShardTask(0, shard, games, simulations, (seed, shard)) for shard in (0, 1)]
            return sum(worked for _, worked in pools[count](work, tasks))

        for count in pools:
            play(count, simulations=1, games=2, seed=0)  # compiles
        for number in range(1, effort.rounds + 1):
            for count in pools:
                began = time.perf_counter()
                worked = play(count, SIMULATIONS, effort.games, number)
                seconds[count].append(time.perf_counter() - began)
            shares.append(worked / (2 * seconds[2][-1]))  # the two came last
            one, two = (seconds[count][-1] for count in seconds)
            show(f"round {number} of {effort.rounds}: one process {one:.1f} s, two {two:.1f} s")
    ratio = median(one / two for one, two in zip(seconds[1], seconds[2], strict=True))
    return Scaling(median(seconds[1]), median(seconds[2]), ratio, median(shares))


@dataclass(frozen=True)
class TimedWork:
    """Work: the processor time of a shard."""

    work: SelfPlay

    @contextmanager
    def open(self) -> Iterator[Callable[[ShardTask], float]]:
        with self.work.open() as play:

            def timed(task: ShardTask) -> float:
                began = time.process_time()
                play(task)
                return time.process_time() - began

            yield timed


def _checkpoint(network: Candidate) -> Checkpoint:
    """The checkpoint to play in int8."""
    return Checkpoint(network.card(find("connect4"), "int8"), network.data)


# ---- AlphaZero_Gomoku's network and settings


def alphazero_gomoku(effort: Effort, show: Show) -> list[AlphaZeroGomokuRate]:
    """The rates of five in a row on 8×8 with PUCT, 400 simulations per move. The peer is not measured."""
    game = find(ALPHAZERO_GOMOKU)
    net = nets.make("gomoku", game)
    data = to_onnx(net, random_planes(game, 64))
    network = network_of("gomoku", game, data, net.planes)
    settings = SelfPlayConfig(
        search="puct",
        simulations=ALPHAZERO_GOMOKU_SIMULATIONS,
        full_share=1.0,
        random_opening_plies=0,
        discount=1.0,
        c_puct=5.0,
        temperature_plies=game.rows * game.cols,  # all of them
    )
    num_games = max(1, effort.games // ALPHAZERO_GOMOKU_FEWER)
    ways = [
        Way(game, network, "fp32", False, settings, num_games),
        Way(game, network, "int8", True, settings, num_games),
    ]
    show(f"gomoku 8×8: {num_games} games per round, in two ways")
    for number in range(1, effort.rounds + 1):
        for way in ways:
            found = way.measure(number, effort.seconds)
            show(f"round {number} of {effort.rounds}: {way.name} {found.rate:,.0f} simulations/s")
    return [_alphazero_gomoku_rate(way) for way in ways]


def _alphazero_gomoku_rate(way: Way) -> AlphaZeroGomokuRate:
    rate, (games, simulations) = _rate(way.name, way.measured), ALPHAZERO_GOMOKU_PEER
    assert rate.network_share is not None
    return AlphaZeroGomokuRate(
        rate.who,
        games_per_minute=60 * rate.games_per_second,
        times_peer=60 * rate.games_per_second / games,
        simulations_per_second=rate.simulations_per_second,
        times_peer_simulations=rate.simulations_per_second / simulations,
        moves_per_game=rate.moves_per_game,
        network_share=rate.network_share,
        hit_rate=rate.hit_rate,
    )


def _settings(network: Candidate, effort: Effort) -> SelfPlayConfig:
    """The settings of training, but with the same number of simulations for every move."""
    return SelfPlayConfig(
        simulations=SIMULATIONS,
        full_share=1.0,
        random_opening_plies=effort.opening_plies,
        see_wins=False,  # the peer's search does not
        discount=network.discount,
        c_scale=network.c_scale,
    )
