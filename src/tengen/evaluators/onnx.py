"""A network, fp32 or int8, by ONNX Runtime on the CPU. One thread: a worker is a core. No PyTorch."""

from dataclasses import dataclass

import numpy as np

from tengen.evaluators.evaluator import Evaluation
from tengen.evaluators.session import new_session
from tengen.games.batch import lift
from tengen.games.game import Game, Mask, Planes, State


@dataclass(frozen=True)
class NetworkFile:
    """A network as it is kept: ONNX, and which of the game's planes it sees."""

    data: bytes
    planes: tuple[int, ...]


class OnnxEvaluator:
    """Priors and values of a network, for a batch of states."""

    def __init__(self, game: Game, network: NetworkFile, threads: int = 1) -> None:
        self._session = new_session(network.data, threads)
        self._batched = lift(game)
        self._chosen = network.planes
        self._all_seen = network.planes == tuple(range(game.num_planes))
        self._planes: Planes = np.zeros((0, *game.planes_shape), np.float32)
        self._outputs = [output.name for output in self._session.get_outputs()]

    def evaluate(self, states: State, legal: Mask) -> Evaluation:
        if len(states) > len(self._planes):
            self._planes = np.zeros((len(states), *self._planes.shape[1:]), np.float32)
        planes = self._planes[: len(states)]
        self._batched.planes(states, planes)
        seen = planes if self._all_seen else np.ascontiguousarray(planes[:, self._chosen])
        logits, values, *rest = self._session.run(self._outputs, {"planes": seen})
        return Evaluation(logits, values, rest[0] if rest else None)
