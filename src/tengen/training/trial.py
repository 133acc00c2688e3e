"""Tests in a few seconds whether a game can be trained: the last part of `tengen check`.

A few games of self-play with the default network, a few steps of learning, and the export for playing.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from tengen import nets
from tengen.games.batch import lift
from tengen.games.check import Finding
from tengen.games.game import Game
from tengen.nets.evaluator import TorchEvaluator, find_device
from tengen.nets.export import to_onnx
from tengen.nets.net import Net
from tengen.training.config import LearnerConfig, NetworkConfig, SelfPlayConfig
from tengen.training.gradients import GradientWork
from tengen.training.learner import Learner
from tengen.training.record import Samples
from tengen.training.selfplay import play_shard
from tengen.workers.local import LocalWorkers

GAMES, SIMULATIONS, STEPS = 4, 8, 4
SMALL = {"channels": 16, "blocks": 2}  # contains every kind of layer


def try_training(game: Game, seed: int) -> Iterator[Finding]:
    """The findings, one after another; stops after the first problem."""
    trial = Trial(game, seed)
    for name, attempt in (
        (f"{NetworkConfig().name}, the default network, plays itself", trial.play),
        ("it learns from that", trial.learn),
        ("it is exported for playing", trial.export),
    ):
        problem = _problem(attempt)
        yield Finding(name, len(trial.samples) if trial.samples else 0, problem)
        if problem:
            return


def _problem(attempt: Callable[[], str | None]) -> str | None:
    try:
        return attempt()
    except Exception as error:  # noqa: BLE001 (a broken game may break anything: that is a finding too)
        return f"{type(error).__name__}: {error}"


class Trial:
    """A very short run, without files."""

    def __init__(self, game: Game, seed: int) -> None:
        self.game, self.seed = game, seed
        self.net: Net | None = None
        self.samples: Samples | None = None

    def play(self) -> str | None:
        game = self.game
        self.net = nets.make(NetworkConfig().name, game, SMALL)
        settings = replace(SelfPlayConfig(), simulations=SIMULATIONS, fast_simulations=2)
        evaluator = TorchEvaluator(game, self.net, find_device("cpu"))
        first = game.new_state()[np.newaxis]
        found = evaluator.evaluate(first, game.legal_mask(first[0])[np.newaxis])
        if found.logits.shape != (1, game.num_actions):
            return f"the network has {found.logits.shape[1]} logits, but the game {game.num_actions} actions"
        if not (np.isfinite(found.logits).all() and np.isfinite(found.values).all()):
            return "the network's output for the first position is not finite: check that the planes are"
        self.samples, _ = play_shard(game, evaluator, settings, SIMULATIONS, GAMES, [self.seed])
        if not np.isfinite(self.samples.policies).all() or not np.isfinite(self.samples.values).all():
            return "the search's policies or values are not finite"
        masks = np.empty((len(self.samples), game.num_actions), np.bool_)
        lift(game).legal(self.samples.states, masks)
        if (self.samples.policies[~masks] > 0).any():
            return "the search's policy is not 0 for illegal moves"
        return None

    def learn(self) -> str | None:
        assert self.net is not None and self.samples is not None
        learner = Learner(self.game, self.net, LearnerConfig(batch_size=64, parts=1))
        work = GradientWork(self.game.name, NetworkConfig().name, SMALL)
        with LocalWorkers(processes=1) as run_tasks:
            compute = partial(run_tasks, work)
            losses = learner.learn(self.samples, STEPS, 0.0, [self.seed], math.inf, compute, lambda _: None)
        if not np.isfinite([losses.policy, losses.value, losses.plies_left]).all():
            return f"the losses are not finite: policy {losses.policy}, value {losses.value}"
        return None

    def export(self) -> str | None:
        assert self.net is not None and self.samples is not None
        planes = np.zeros((len(self.samples), *self.game.planes_shape), np.float32)
        lift(self.game).planes(self.samples.states, planes)
        to_onnx(self.net.eval(), planes[:64])
        return None
