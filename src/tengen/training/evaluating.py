"""The evaluator of a shard: the network, a cache in front of it, and in front of that what is forced.

Each shard begins with an empty cache, so that it depends only on its task. The network is opened once for all
shards of a worker.
"""

from collections.abc import Callable

from tengen.evaluators.cache import CachedEvaluator
from tengen.evaluators.evaluator import Evaluator
from tengen.evaluators.forced import SeesForced
from tengen.evaluators.wins import sees_wins
from tengen.games.game import Game
from tengen.tactics.fours import SeesFours, has_fours
from tengen.training.checkpoint import Checkpoint
from tengen.training.config import SelfPlayConfig

NewEvaluator = Callable[[], tuple[Evaluator, CachedEvaluator]]


def evaluators(game: Game, config: SelfPlayConfig, checkpoint: Checkpoint) -> NewEvaluator:
    """A function that makes a new evaluator, and gives its cache too, for its hit rate."""
    network = _network(game, config, checkpoint)
    sees_last_move = checkpoint.playing.sees_last_move(game)

    def new() -> tuple[Evaluator, CachedEvaluator]:
        cache = CachedEvaluator(network, game, config.cache_positions, sees_last_move=sees_last_move)
        if config.fours and has_fours(game):
            return SeesForced(cache, game, SeesFours(game, config.fours), config.discount), cache
        if config.see_wins:
            return SeesForced(cache, game, sees_wins(game), config.discount), cache
        return cache, cache

    return new


def _network(game: Game, config: SelfPlayConfig, checkpoint: Checkpoint) -> Evaluator:
    """The network with ONNX Runtime, or with PyTorch on a GPU."""
    if config.device != "cpu":
        from tengen.nets.checkpoint import net_of
        from tengen.nets.evaluator import TorchEvaluator, find_device

        device = find_device(config.device)
        if device.type != "cpu":
            assert checkpoint.weights is not None, "a run keeps the weights of its champion"
            return TorchEvaluator(game, net_of(checkpoint.card, checkpoint.weights), device)
    return checkpoint.playing.direct(game)
