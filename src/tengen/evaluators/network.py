"""A trained network: its card and its file, opened in one place, shared by all players that use it.

    network = open_network("zoo/gomoku15")           # the same object everywhere in this process
    evaluator = network.evaluator(game)              # for one search, in one thread
    evaluator.evaluate(states, legal)

Each search has its own evaluator, and all of them share the network:

    wins in one move, by the rules  →  cache  →  planes  ┐
    wins in one move, by the rules  →  cache  →  planes  ├→  gathering.py  →  one session of ONNX Runtime
    wins in one move, by the rules  →  cache  →  planes  ┘

It plays the game on its card and other games of the same family (family.py), on boards of any size if the
card says any_size. The rule or the number in a row may differ from what it was trained for; then `notice`
says so.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np

from tengen.errors import UserError
from tengen.evaluators.cache import CachedEvaluator
from tengen.evaluators.card import FILES, Card, Precision, find_file, hash_of, read_card, read_onnx
from tengen.evaluators.evaluator import Evaluation, Evaluator
from tengen.evaluators.family import home_of, planes_for
from tengen.evaluators.forced import SeesForced
from tengen.evaluators.gathering import Answers, Gathering
from tengen.evaluators.lookup import Lookup
from tengen.evaluators.onnx import OnnxEvaluator
from tengen.evaluators.precision import precision_here
from tengen.evaluators.session import new_session
from tengen.evaluators.wins import sees_wins
from tengen.evaluators.zoo import find_network
from tengen.games.game import Game, Mask, Planes, State

CACHE_BYTES = 64 << 20  # per evaluator: 68,000 positions of 15×15


class Network:
    """A network ready to play, in one precision. Threads may share it."""

    def __init__(
        self,
        card: Card,
        data: bytes,
        precision: Precision | None = None,
        source: str = "the network",
        threads: int = 1,
    ) -> None:
        """data: its file in that precision. source: where it comes from, for messages. threads: of one call
        of ONNX Runtime."""
        self.card, self.data, self.source, self.threads = card, data, source, threads
        self.precision: Precision = precision or card.precision
        self._lookup: Lookup | None = None  # the table of a network of lines; made when it is needed
        self._boards: dict[tuple[int, int], _Board] = {}
        self._lock = threading.Lock()

    def check_plays(self, game: Game) -> None:
        """UserError if it cannot play the game. Its file is checked when an evaluator is made."""
        planes_for(self.card, game, self.source)

    def notice(self, game: Game) -> str:
        """A note for the user if it was trained for another game than this one; else empty."""
        if self.card.game == game.name or home_of(self.card, game).header == game.header != ():
            return ""
        return f"{self.source} was trained for {self.card.game} and plays {game.name}"

    def sees_last_move(self, game: Game) -> bool:
        return game.shows_last_move(planes_for(self.card, game, self.source))

    def evaluator(self, game: Game, memory: int = CACHE_BYTES) -> "NetworkEvaluator":
        """An evaluator for one search in one thread, with its own cache that grows up to `memory` bytes."""
        own = OnnxEvaluator(game, planes_for(self.card, game, self.source), self._board(game).gathering)
        cache = CachedEvaluator(own, game, memory=memory, sees_last_move=self.sees_last_move(game))
        chain: Evaluator = cache
        if self.card.sees_wins:
            chain = SeesForced(cache, game, sees_wins(game), self.card.discount)
        return NetworkEvaluator(self, cache, chain)

    def direct(self, game: Game) -> OnnxEvaluator:
        """An evaluator for self-play: no cache, and its batches are never combined with others."""
        return OnnxEvaluator(game, planes_for(self.card, game, self.source), self._board(game).run)

    def _board(self, game: Game) -> "_Board":
        """The session for boards of the game's size; UserError if the file is not a network for the game."""
        size = game.rows, game.cols
        with self._lock:
            if size not in self._boards:
                self._boards[size] = _open_board(self, game)
            return self._boards[size]

    def run_on(self, game: Game) -> Callable[[Planes], Answers]:
        """What answers planes of the game's board size; several threads may call it at once."""
        if self.precision == "lookup":
            self._lookup = self._lookup or Lookup.of(self.data)
            return self._lookup.answers
        session = new_session(self.data, (game.rows, game.cols), self.threads)
        outputs = [output.name for output in session.get_outputs()]

        def run(planes: Planes) -> Answers:
            answers: Answers = session.run(outputs, {"planes": planes})
            return answers

        return run


@dataclass(frozen=True)
class NetworkEvaluator:
    """The evaluator of one search. It belongs to one thread."""

    network: Network
    alone: CachedEvaluator  # the network alone, without the rules
    chain: Evaluator  # the same, perhaps after a check of the rules for a win in one move

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        return self.chain.evaluate(states, legal)

    def clear(self) -> None:
        """Forgets every position: later answers are as with a new evaluator."""
        self.alone.clear()

    @property
    def memory(self) -> int:
        """The current size of its cache in bytes."""
        return self.alone.memory


@dataclass(frozen=True)
class _Board:
    """A network on one board size: a session that is optimised for it, or its table."""

    run: Callable[[Planes], Answers]  # several threads may call it at once
    gathering: Gathering


def _open_board(network: Network, game: Game) -> _Board:
    """The network on a game's board size; one call with planes of zeros checks that it fits."""
    board, planes = (game.rows, game.cols), len(network.card.planes)
    try:
        run = network.run_on(game)
        answers = run(np.zeros((1, planes, *board), np.float32))
    except Exception as error:  # noqa: BLE001  (the errors of ONNX Runtime have no common base class)
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{network.source} is not a network for {game.name}: {reason}") from None
    shapes = [np.shape(answer) for answer in answers]
    if shapes not in ([(1, game.num_actions), (1,)], [(1, game.num_actions), (1,), (1,)]):
        wanted = f"expected logits of {(1, game.num_actions)}, values of (1,) and perhaps plies left"
        raise UserError(f"{network.source} is not a network for {game.name}: {wanted}, got {shapes}")
    return _Board(run, Gathering(run))


_opened: WeakValueDictionary[tuple[str, str, str, int], Network] = WeakValueDictionary()
_opening = threading.Lock()


@dataclass(frozen=True)
class SentNetwork:
    """The network that a path names, as a value: for a worker that does not have the folder."""

    path: str
    asked: Precision | None  # the precision that was asked for, if any
    card: Card
    data: bytes  # the file, in the precision below
    precision: Precision
    source: str

    @classmethod
    def of(cls, path: str, asked: Precision | None, game: Game) -> "SentNetwork":
        network = open_network(path, asked, game)
        return cls(path, asked, network.card, network.data, network.precision, network.source)

    def open(self) -> Network:
        return Network(self.card, self.data, self.precision, self.source)


_received: dict[tuple[str, Precision | None], Network] = {}


@contextmanager
def received(networks: Mapping[tuple[str, Precision | None], Network]) -> Iterator[None]:
    """Inside this context, open_network finds these by path and requested precision, and ignores the disk."""
    _received.update(networks)
    try:
        yield
    finally:
        for key in networks:
            del _received[key]


def open_network(
    path: str | Path, precision: Precision | None = None, game: Game | None = None, threads: int = 1
) -> Network:
    """The network of a path: zoo/connect4, a run (runs/c4), or a folder with card.json and net.onnx.

    Without a precision, the one on its card, if that works on this machine (precision.py). Opening it again
    returns the same object with the same session while it is in use. `game`: the one it was trained for,
    if that is not registered. threads: of one call.
    """
    if (here := _received.get((str(path), precision))) is not None:
        return here
    folder = find_network(str(path))
    while True:
        card = read_card(folder)
        try:
            return _open(path, folder, card, precision, game, threads)
        except UserError:
            if read_card(folder) == card:  # else a run in training has just replaced its best network
                raise


def _open(
    path: str | Path, folder: Path, card: Card, precision: Precision | None, game: Game | None, threads: int
) -> Network:
    """The network of a folder whose card has been read."""
    if precision is None and card.precision == "int8":
        home = home_of(card, game)
        planes_for(card, home, str(folder))  # a card that names planes the game does not have
        precision = precision_here(folder, card, home)
    chosen: Precision = precision or card.precision
    data, file = read_onnx(folder, card, chosen), find_file(folder, FILES[chosen])
    key = str(file.resolve()), hash_of(data), card.to_text(), threads
    with _opening:
        network = _opened.get(key)
        if network is None:
            network = _opened[key] = Network(card, data, chosen, _shown(str(path), file), threads)
        return network


def _shown(path: str, file: Path) -> str:
    """The network's name in messages: zoo/connect4, or the file."""
    return path if path.startswith("zoo/") else str(file)
