"""The gate decides whether a new network becomes the champion, which plays for the run and makes its games.

    always     every new network becomes the champion at once (AlphaZero)
    champion   if it beats the champion by a win rate (AlphaGo Zero)
    rising     if it sets a new record against UCT with random rollouts. When UCT loses badly, it gets more
               simulations and the record restarts at 0; the champion stays until the new record is beaten

A draw counts half. To beat the champion, a network must win more games than it loses: a match of draws only
promotes no network. A record needs no majority: the first points of a weak network against UCT are a record.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from tengen import files
from tengen.arena.contestants import NetworkPlayer
from tengen.arena.match import Match, Tally, play_quick_matches
from tengen.errors import UserError
from tengen.games.game import Game
from tengen.training.checkpoint import Checkpoint
from tengen.training.config import Config, GateConfig
from tengen.training.manifest import GATE
from tengen.training.run import Run
from tengen.workers.tasks import RunTasks

FILE = GATE
LOSES_BADLY = 0.1  # UCT gets more simulations if its score is not higher


@dataclass(frozen=True)
class Standing:
    """The state of the gate between two generations; kept with each checkpoint."""

    champion: int = 0  # its generation
    rollouts: int = 0  # rising: simulations of the opponent
    record: float = 0.0  # rising: the best score against it so far

    def to_text(self) -> str:
        return json.dumps(asdict(self)) + "\n"

    @classmethod
    def load(cls, checkpoint: Path) -> "Standing":
        try:
            return cls(**json.loads(files.read_bytes(checkpoint / FILE)))
        except (ValueError, TypeError) as error:
            raise UserError(f"{checkpoint / FILE} is damaged: {error}") from None


def standing_after(run: Run, generation: int) -> Standing:
    """The state of the gate after a generation. Until the first one, network 0 is the champion."""
    return Standing.load(run.checkpoint(generation)) if generation > 0 else Standing()


def hold_gate(
    run: Run, config: Config, game: Game, before: Standing, new: Checkpoint, run_tasks: RunTasks
) -> tuple[Standing, Tally | None]:
    """The state of the gate after a new network, and the match that decided it, from that network's view."""
    generation, match = new.card.generation, None
    if config.gate.kind != "always":
        champion = run.load_checkpoint(before.champion)
        networks = tuple(
            one.player(f"generation {one.card.generation}", config.gate.simulations)
            for one in (new, champion)
        )
        match = play_gate(config.gate, game, before, networks, config.seed + generation, run_tasks)
    return decide(config.gate, before, generation, match), match


def play_gate(
    config: GateConfig,
    game: Game,
    before: Standing,
    networks: tuple[NetworkPlayer, ...],
    seed: int,
    run_tasks: RunTasks,
) -> Tally:
    """The result of the first network against the second or, if the gate is rising, against UCT."""
    new, champion = (network.name for network in networks)
    opponent = champion if config.kind == "champion" else f"uct:sims={before.rollouts or config.rollouts}"
    [result] = play_quick_matches([Match(game, new, opponent, seed)], config.games, run_tasks, networks)
    return result


def decide(config: GateConfig, before: Standing, generation: int, match: Tally | None) -> Standing:
    """The state of the gate after the match of a generation's network: it became the champion or not. With no
    match, it did."""
    if match is None:
        return Standing(generation)
    if config.kind == "champion":
        is_better = match.score >= config.win_rate and match.wins > match.losses
        return Standing(generation if is_better else before.champion)
    rollouts = before.rollouts or config.rollouts
    champion = generation if match.score > before.record else before.champion
    if 1 - match.score <= LOSES_BADLY:
        return Standing(champion, rollouts + config.rollouts, record=0.0)
    return Standing(champion, rollouts, max(before.record, match.score))
