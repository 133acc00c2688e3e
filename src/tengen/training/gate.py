"""Who plays for a run? The champion. A gate decides whether a new network takes its place.

    always     every new network is the champion at once (AlphaZero)
    champion   if it beats the champion by a win rate (AlphaGo Zero)
    rising     if it sets a new record against UCT with random playouts. When UCT loses badly, it gets more
               simulations and the record starts anew; the champion stays until the new record is beaten

Draws count half. The champion is beaten only by who wins more games than it loses: a match of draws promotes
nobody. A record needs no majority: a weak network's first points against UCT are one.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from tengen import files, players
from tengen.arena.duel import Duel, play_duel
from tengen.errors import UserError
from tengen.games.game import Game
from tengen.players.player import Player
from tengen.players.zero import Zero
from tengen.training.config import Config, Gate
from tengen.training.exporting import Exports
from tengen.training.manifest import GATE
from tengen.training.run import Run

FILE = GATE
LOSES_BADLY = 0.1  # the score of UCT at which it gets more simulations


@dataclass(frozen=True)
class Standing:
    """What the gate remembers from one generation to the next; kept with each checkpoint."""

    champion: int = 0  # its generation
    rollouts: int = 0  # rising: simulations of the opponent
    record: float = 0.0  # rising: the best score against it so far

    def save(self, checkpoint: Path) -> None:
        files.write_text(checkpoint / FILE, json.dumps(asdict(self)) + "\n")

    @classmethod
    def load(cls, checkpoint: Path) -> "Standing":
        try:
            return cls(**json.loads(files.read_bytes(checkpoint / FILE)))
        except (ValueError, TypeError) as error:
            raise UserError(f"{checkpoint / FILE} is damaged: {error}") from None


def judge(
    run: Run, config: Config, game: Game, before: Standing, generation: int, exports: Exports
) -> tuple[Standing, Duel | None]:
    """Does the new network become the champion? Where the gate stands then, and the match that decided it."""
    sims = config.gate.simulations
    new = Zero.of(game, exports.playing, sims)
    with new, run.player(before.champion, game, sims) as champion:
        return decide(config.gate, game, before, generation, new, champion, seed=config.seed + generation)


def decide(
    settings: Gate, game: Game, before: Standing, generation: int, new: Player, champion: Player, seed: int
) -> tuple[Standing, Duel | None]:
    """The same, when both can play."""
    if settings.kind == "always":
        return Standing(generation), None
    if settings.kind == "champion":
        match = play_duel(game, new, champion, settings.games, seed)
        is_better = match.score >= settings.win_rate and match.wins > match.losses
        return Standing(generation if is_better else before.champion), match
    rollouts = before.rollouts or settings.rollouts
    with players.find(f"uct:sims={rollouts}", game) as opponent:
        match = play_duel(game, new, opponent, settings.games, seed)
    standing = Standing(
        champion=generation if match.score > before.record else before.champion,
        rollouts=rollouts,
        record=max(before.record, match.score),
    )
    if 1 - match.score <= LOSES_BADLY:
        standing = Standing(standing.champion, rollouts + settings.rollouts, record=0.0)
    return standing, match
