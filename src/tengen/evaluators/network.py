"""A trained network: its card and its file, opened in one place, shared by all who play with it.

    network = open_network("zoo/gomoku15")           # the same object for everyone in this process
    evaluator = network.evaluator(game)              # for one search, in one thread
    evaluator.evaluate(states, legal)

Each search has its own evaluator, and all of them share the network:

    wins in one move, by the rules  →  cache  →  planes  ┐
    wins in one move, by the rules  →  cache  →  planes  ├→  gathering.py  →  one session of ONNX Runtime
    wins in one move, by the rules  →  cache  →  planes  ┘

Which games it plays: the one on its card, and others of the same family (family.py), on boards of any size if
the card says any_size. The rule or the number in a row may be another one: it was not trained for that, which
`notice` says.
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
from tengen.evaluators.card import FILES, Card, Precision, hash_of, read_card, read_onnx
from tengen.evaluators.evaluator import Evaluation, Evaluator
from tengen.evaluators.family import home_of, planes_for
from tengen.evaluators.gathering import Answers, Gathering
from tengen.evaluators.onnx import OnnxEvaluator
from tengen.evaluators.precision import precision_here
from tengen.evaluators.session import new_session
from tengen.evaluators.wins import SeesWins
from tengen.evaluators.zoo import find_network
from tengen.games.game import Game, Mask, Planes, State

CACHE_BYTES = 64 << 20  # of an evaluator: 68,000 positions of 15×15


class Network:
    """A network that plays, in one precision. Threads may share it."""

    def __init__(
        self, card: Card, data: bytes, precision: Precision | None = None, source: str = "the network"
    ) -> None:
        """data: its file in ONNX. source: where it is from, for messages."""
        self.card, self.data, self.source = card, data, source
        self.precision: Precision = precision or card.precision
        self._boards: dict[tuple[int, int], _Board] = {}
        self._lock = threading.Lock()

    def check_plays(self, game: Game) -> None:
        """UserError if it cannot play the game. Its file is looked at when an evaluator is made."""
        planes_for(self.card, game, self.source)

    def notice(self, game: Game) -> str:
        """What a user should know if it was trained for another game than this one; else empty."""
        if self.card.game == game.name or home_of(self.card, game).header == game.header != ():
            return ""
        return f"{self.source} was trained for {self.card.game} and plays {game.name}"

    def sees_last_move(self, game: Game) -> bool:
        return game.shows_last_move(planes_for(self.card, game, self.source))

    def evaluator(self, game: Game, memory: int = CACHE_BYTES) -> "NetworkEvaluator":
        """For one search in one thread, with a cache of its own that grows up to `memory` bytes."""
        own = OnnxEvaluator(game, planes_for(self.card, game, self.source), self._board(game).gathering)
        cache = CachedEvaluator(own, game, memory=memory, sees_last_move=self.sees_last_move(game))
        return NetworkEvaluator(
            self, cache, SeesWins(cache, game, self.card.discount) if self.card.sees_wins else cache
        )

    def direct(self, game: Game) -> OnnxEvaluator:
        """For self-play: nothing is remembered, and its batches are never mixed with those of others."""
        return OnnxEvaluator(game, planes_for(self.card, game, self.source), self._board(game).run)

    def _board(self, game: Game) -> "_Board":
        """The session for boards of the game's size; UserError if the file is not a network for the game."""
        size = game.rows, game.cols
        with self._lock:
            if size not in self._boards:
                self._boards[size] = _open_board(self, game)
            return self._boards[size]


@dataclass(frozen=True)
class NetworkEvaluator:
    """What one search asks. It belongs to one thread."""

    network: Network
    alone: CachedEvaluator  # the network's own opinion, without the rules
    chain: Evaluator  # the same, or first the rules whether there is a win in one move

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        return self.chain.evaluate(states, legal)

    def clear(self) -> None:
        """Forgets every position: what follows is the same as with a new evaluator."""
        self.alone.clear()

    @property
    def memory(self) -> int:
        """Bytes that its cache takes now."""
        return self.alone.memory


@dataclass(frozen=True)
class _Board:
    """A network on one size of board: a session that is optimised for it."""

    run: Callable[[Planes], Answers]  # one call of the session; several threads may do so at once
    gathering: Gathering


def _open_board(network: Network, game: Game) -> _Board:
    """Asks it once, with an empty board of zeros, whether it is a network for the game."""
    board, planes = (game.rows, game.cols), len(network.card.planes)
    try:
        session = new_session(network.data, board)
        outputs = [output.name for output in session.get_outputs()]

        def run(planes: Planes) -> Answers:
            answers: Answers = session.run(outputs, {"planes": planes})
            return answers

        answers = run(np.zeros((1, planes, *board), np.float32))
    except Exception as error:  # noqa: BLE001  (those of ONNX Runtime have no base class of their own)
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{network.source} is not a network for {game.name}: {reason}") from None
    shapes = [np.shape(answer) for answer in answers]
    if shapes not in ([(1, game.num_actions), (1,)], [(1, game.num_actions), (1,), (1,)]):
        wanted = f"expected logits of {(1, game.num_actions)}, values of (1,) and perhaps plies left"
        raise UserError(f"{network.source} is not a network for {game.name}: {wanted}, got {shapes}")
    return _Board(run, Gathering(run))


_opened: WeakValueDictionary[tuple[str, str, str], Network] = WeakValueDictionary()
_opening = threading.Lock()


@dataclass(frozen=True)
class SentNetwork:
    """The network that a path names, as a value: for a worker that does not have the folder."""

    path: str
    asked: Precision | None  # the precision that was asked for, if any
    card: Card
    data: bytes  # ONNX, in the precision below
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
    """While it lasts, open_network finds these by path and precision asked for, whatever is on the disk."""
    _received.update(networks)
    try:
        yield
    finally:
        for key in networks:
            del _received[key]


def open_network(path: str | Path, precision: Precision | None = None, game: Game | None = None) -> Network:
    """The network of a path: zoo/connect4, a run (runs/c4), or a folder with card.json and net.onnx.

    Without a precision, the one on its card, if that works on this machine (precision.py). Opened twice, it
    is the same object with the same session, as long as somebody has it. `game`: the one it was trained for,
    if that is not registered.
    """
    if (here := _received.get((str(path), precision))) is not None:
        return here
    folder = find_network(str(path))
    card = read_card(folder)
    if precision is None and card.precision == "int8":
        home = home_of(card, game)
        planes_for(card, home, str(folder))  # a card that names planes the game does not have
        precision = precision_here(folder, card, home)
    chosen: Precision = precision or card.precision
    data, file = read_onnx(folder, card, chosen), folder / FILES[chosen]
    key = str(file.resolve()), hash_of(data), card.to_text()
    with _opening:
        network = _opened.get(key)
        if network is None:
            network = _opened[key] = Network(card, data, chosen, _shown(str(path), file))
        return network


def _shown(path: str, file: Path) -> str:
    """How messages name it: zoo/connect4, or the file."""
    return path if path.startswith("zoo/") else str(file)
