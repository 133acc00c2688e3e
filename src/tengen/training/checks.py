"""Checks whether a run with these settings is possible on this machine, before the first file is written."""

from tengen import games
from tengen.arena.referee import check_players
from tengen.errors import UserError
from tengen.evaluators.card import read_card
from tengen.evaluators.zoo import find_network
from tengen.games.game import Game
from tengen.nets.checkpoint import load_net
from tengen.nets.describe import outline
from tengen.nets.evaluator import find_device
from tengen.nets.growing import check_fits, same_value
from tengen.nets.lines import can_look_up
from tengen.training.checkpoint import read as read_checkpoint
from tengen.training.config import Config
from tengen.training.playing import MOST_RISE
from tengen.training.run import arguments_of

MOST_BYTES = 32 << 30  # of one array in memory, by a rough estimate: more is surely a typing mistake
GIGABYTE = 1e9


def check(config: Config) -> None:
    """UserError if the game, the network, its starting weights, a device or an opponent is not possible."""
    game = games.find(config.game)
    for device in (config.selfplay.device, config.learner.device):
        find_device(device)
    if config.learner.batch_size < 2 * config.learner.parts:
        sizes = f"learner.batch_size is {config.learner.batch_size}, learner.parts {config.learner.parts}"
        raise UserError(f"a part of a batch needs at least 2 positions; {sizes}")
    _check_network(config, game)
    if config.network.teacher:
        read_checkpoint(find_network(config.network.teacher)).playing.check_plays(game)
    _check_memory(config, game)
    _check_opponents("measure.opponents", game, config.measure.opponents.split())
    if config.gate.kind == "rising":
        _check_opponents("gate.rollouts", game, [f"uct:sims={config.gate.rollouts}"])


def _check_network(config: Config, game: Game) -> None:
    network = outline(config.network.name, game, arguments_of(config))
    if config.selfplay.precision == "lookup" and not can_look_up(network):
        raise UserError(
            "selfplay.precision=lookup is for a network of type lines whose moves are cells, "
            f"got {config.network.name} for {game.name}: leave it at auto"
        )
    if start := config.network.start:
        folder = find_network(start)
        kind, other_kind = config.network.name, read_card(folder).network.get("name", "")
        if kind != other_kind:
            raise UserError(
                f"{start} is a network of type {other_kind}, and this run trains {kind}: choose its type "
                f"with --set network.name={other_kind}, or have it play the first games "
                f"with --set network.teacher={start}"
            )
        other = load_net(folder)
        check_fits(network, other)
        if not same_value(network, other) and not config.network.teacher:
            raise UserError(
                f"{start} predicts values in another way than network.value="
                f"{config.network.value}: the new part knows nothing, so name a teacher for the first "
                f"games, as with --set network.teacher={start}"
            )


def _check_memory(config: Config, game: Game) -> None:
    """UserError if one of the largest arrays would not fit into memory."""
    selfplay, learner, network = config.selfplay, config.learner, config.network
    most_simulations = max(selfplay.simulations * (MOST_RISE if selfplay.simulations_rise else 1), 1)
    node = 2 * game.state_size + 12 * game.num_actions
    layers = 2 * network.blocks + 2 if network.name == "anysize" else 12
    width = network.channels if network.name == "anysize" else 128
    needs = {
        "selfplay.cache_positions": selfplay.cache_positions * (4 * game.num_actions + 32),
        f"selfplay.at_once with {most_simulations:,} simulations": selfplay.at_once * most_simulations * node,
        "learner.batch_size": learner.batch_size * width * layers * game.rows * game.cols * 4 * 3,
    }
    for name, needed in needs.items():
        if needed > MOST_BYTES:
            raise UserError(f"{name} would need about {needed / GIGABYTE:,.0f} GB of memory: lower it")


def _check_opponents(name: str, game: Game, specs: list[str]) -> None:
    try:
        check_players(game, specs)
    except UserError as error:
        raise UserError(f"{name}: {error}") from None
