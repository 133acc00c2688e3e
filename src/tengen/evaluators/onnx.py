"""A network, fp32 or int8, by ONNX Runtime on the CPU. One thread: a worker is a core. No PyTorch."""

from dataclasses import dataclass

import numpy as np

from tengen.errors import UserError
from tengen.evaluators.evaluator import Evaluation
from tengen.evaluators.session import new_session
from tengen.games.batch import lift
from tengen.games.game import Game, Mask, Planes, State


@dataclass(frozen=True)
class NetworkFile:
    """A network as it is kept: ONNX, and which of the game's planes it sees."""

    data: bytes
    planes: tuple[int, ...]
    source: str = "the network"  # where it is from, for messages


class OnnxEvaluator:
    """Priors and values of a network, for a batch of states."""

    def __init__(self, game: Game, network: NetworkFile, threads: int = 1) -> None:
        """UserError if it is not a network for the game: it is asked once, with an empty board of zeros."""
        if max(network.planes) >= game.num_planes:
            has = f"{game.name} has {game.num_planes}"
            raise UserError(f"{network.source} sees plane {max(network.planes)}, counted from 0; {has}")
        try:
            self._session = new_session(network.data, threads)
            empty = np.zeros((1, len(network.planes), *game.planes_shape[1:]), np.float32)
            answers = self._session.run(None, {"planes": empty})
        except Exception as error:  # noqa: BLE001  (those of ONNX Runtime have no base class of their own)
            reason = " ".join(str(error).split())[:200]
            raise UserError(f"{network.source} is not a network for {game.name}: {reason}") from None
        shapes = [np.shape(answer) for answer in answers]
        if shapes not in ([(1, game.num_actions), (1,)], [(1, game.num_actions), (1,), (1,)]):
            wanted = f"expected logits of {(1, game.num_actions)}, values of (1,) and perhaps plies left"
            raise UserError(f"{network.source} is not a network for {game.name}: {wanted}, got {shapes}")
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
