"""Exports the learner as a checkpoint: its weights, the network in fp32 and another precision to play, and
the card."""

from dataclasses import asdict

import numpy as np

from tengen.errors import UserError
from tengen.evaluators.agreement import agreement, answers, compared
from tengen.evaluators.card import Card, Precision, hash_of
from tengen.evaluators.lookup import Lookup, to_bytes
from tengen.evaluators.probe import Probe, probe
from tengen.evaluators.samples import played_planes
from tengen.games.batch import lift
from tengen.games.game import Game, Planes
from tengen.nets import learning_precision
from tengen.nets.evaluator import TorchEvaluator
from tengen.nets.export import to_int8, to_onnx
from tengen.nets.lines import can_look_up
from tengen.nets.net import Net
from tengen.training.changes import changed
from tengen.training.checkpoint import Checkpoint
from tengen.training.config import Config
from tengen.training.generation import ExportMetrics
from tengen.training.learner import Learner
from tengen.training.replay import Replay
from tengen.training.run import settings_of

CALIBRATION = 1024  # positions, to calibrate int8
TABLE = "a network of lines answers by a table, some ten times as fast"


def export(
    config: Config, game: Game, learner: Learner, replay: Replay, generation: int
) -> tuple[Checkpoint, ExportMetrics]:
    """The learner's network as a checkpoint. If the run chose int8 or a table, that plays if it agrees with
    fp32."""
    net = learner.player
    planes = sample_planes(game, net, replay, [config.seed, generation, 2])
    networks: dict[Precision, bytes] = {"fp32": to_onnx(net, planes[:256])}
    precision: Precision = "fp32"
    found: dict[str, float] = {}
    chosen = config.selfplay.precision
    seen = np.ascontiguousarray(planes[:, net.planes])
    if chosen == "int8":
        networks[chosen] = to_int8(networks["fp32"], seen)
        agrees = agreement(networks["fp32"], networks[chosen], seen)
        precision, found = chosen if agrees.is_close else "fp32", asdict(agrees)
    elif chosen == "lookup":
        assert can_look_up(net)
        networks[chosen] = to_bytes(net.layers())
        agrees = compared(answers(networks["fp32"], seen), Lookup.of(networks[chosen]).answers(seen))
        precision, found = chosen if agrees.is_close else "fp32", asdict(agrees)
    card = Card(
        game=game.name,
        network=settings_of(config),
        planes=net.planes,
        generation=generation,
        discount=config.selfplay.discount,
        precision=precision,
        search=config.selfplay.search,
        c_scale=config.selfplay.c_scale,
        sees_wins=config.selfplay.see_wins,
        any_size=net.fits_any_size,
        hashes={name: hash_of(data) for name, data in networks.items()},
    )
    return Checkpoint(card, networks, learner.to_bytes()), ExportMetrics(precision, found)


def with_precisions(config: Config, game: Game, learner: Learner) -> Config:
    """The settings, each precision "auto" replaced by what a test of this machine chooses; the reasons are
    kept in the changes."""
    if config.learner.precision == "auto":
        trial = _tried(config, game)
        config = changed(config, [f"learner.precision={trial.precision}"], generation=0, why=trial.reason)
    if config.selfplay.precision == "auto" and can_look_up(learner.player):
        config = changed(config, ["selfplay.precision=lookup"], generation=0, why=TABLE)
    elif config.selfplay.precision == "auto":
        found = _probed(config, game, learner)
        # Whether int8 agrees with fp32 is asked again at every export: a network changes.
        precision = "int8" if found.is_fast else "fp32"
        config = changed(config, [f"selfplay.precision={precision}"], generation=0, why=found.reason)
    return config


def _tried(config: Config, game: Game) -> learning_precision.Trial:
    """fp32 or bf16 for learning."""
    if config.learner.device != "cpu":
        return learning_precision.Trial("fp32", "bf16 is tried on CPUs only")
    network = config.network
    channels, blocks = (network.channels, network.blocks) if network.name == "anysize" else (64, 5)
    return learning_precision.choose(channels, blocks, game.rows, game.cols)


def _probed(config: Config, game: Game, learner: Learner) -> Probe:
    """fp32 or int8 for play."""
    net = learner.player
    planes = sample_planes(game, net, Replay(config.replay), [config.seed, 0, 3])
    fp32 = to_onnx(net, planes[:256])
    seen = np.ascontiguousarray(planes[:, net.planes])
    found = probe(fp32, to_int8(fp32, seen), seen)
    if not found.is_conclusive:
        raise UserError(
            f"could not test whether int8 works on this machine ({found.reason}): "
            "try again, or choose with --set selfplay.precision=fp32"
        )
    return found


def sample_planes(game: Game, net: Net, replay: Replay, seed: list[int]) -> Planes:
    """Planes of typical positions, to calibrate int8: from the replay window, at first from games of the
    network's own policy."""
    if not replay.total:
        evaluator = TorchEvaluator(game, net, next(net.parameters()).device)
        return played_planes(game, evaluator, CALIBRATION, seed)
    samples = replay.samples()
    rows = np.random.default_rng(seed).integers(len(samples), size=CALIBRATION)
    planes = np.zeros((CALIBRATION, *game.planes_shape), np.float32)
    lift(game).planes(samples.states[rows], planes)
    return planes
