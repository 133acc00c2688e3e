"""Every setting of a training run, with its default, its unit and its reason.

This is the one complete, explained config: `tengen config` prints it. A game's file in configs/ says only
what differs and why. The config.toml of a run repeats these comments (config_files.py).
"""

import math
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class NetworkConfig:
    name: str = "anysize"  # or lines; or gobang, gomoku, connect4, mnk, which have fixed sizes
    channels: int = 48  # of anysize: its width; of lines: the features of a cell
    blocks: int = 5  # of anysize: its depth
    value: Literal["scalar", "wdl"] = "scalar"  # of anysize; wdl: chances of the results and plies left
    start: str = ""  # run or network to begin with, of at most this size, any board; empty: random weights
    teacher: str = ""  # run or network of any shape that plays the first games, for another to learn from
    teacher_generations: int = 20  # played by the teacher, if there is one


@dataclass(frozen=True)
class SelfPlayConfig:
    games: int = 512  # per generation: many short generations learn faster than few long ones
    games_per_shard: int = 256  # played in one batch by one worker; the records depend on the shard alone
    at_once: int = 128  # games per batch: more hardly speed up a CPU, and make the end of a shard slower
    search: Literal["gumbel", "puct"] = "gumbel"  # gumbel learns from few simulations; puct as in AlphaZero
    simulations: int = 32  # of a full search; the learner learns only from these positions
    simulations_rise: float = 0.0  # added per generation, up to four times the number above
    fast_simulations: int = 8  # of a fast search: its move is played, but its position is not learned from
    full_share: float = 0.5  # of the moves get a full search, the others a fast one (playout caps)
    random_opening_plies: int = 12  # a game begins with at most this many random moves, for variety
    opening_candidates: int = 1  # openings drawn per game; the network plays the one it values nearest to 0
    see_wins: bool = True  # a win in one move is found by the rules, not by the network
    fours: int = 100  # k in a row, k ≥ 4: nodes of the search for forced fours at each leaf; 0: none
    discount: float = 0.97  # per ply: a faster win is worth more
    td_lambda: float = 0.9  # per ply; 1 = only the final result, 0 = only the search's value
    considered: int = 16  # Gumbel: candidates at the root
    noise: float = 1.0  # Gumbel: scale of the noise in full searches; fast ones have none
    c_visit: float = 50.0  # Gumbel: σ(q) = (c_visit + max N) · c_scale · q
    c_scale: float = 0.5  # Gumbel: see c_visit; with 0.1 it learns more slowly, with 0.02 hardly at all
    c_puct: float = 1.5  # PUCT: weight of the prior compared with the value
    dirichlet_alpha: float = 0.3  # PUCT: of the noise at the root, about 10 / the number of legal moves
    dirichlet_fraction: float = 0.25  # PUCT: share of the noise in the root's priors
    temperature_plies: int = 10  # PUCT: for this many plies, moves are drawn in proportion to visits
    cache_positions: int = 200_000  # evaluations cached per worker, at most 256 MiB
    precision: Literal["auto", "fp32", "int8", "lookup"] = "auto"  # a probe decides when the run begins
    device: str = "cpu"  # for the network: cpu (ONNX Runtime), cuda, mps or auto (PyTorch)
    reanalyse: float = 0.0  # old positions searched again per new one, so that targets do not age; 0: none
    reanalyse_value: float = 0.5  # weight of that search in a value; the stored one, from games, has the rest
    overlap: int = 0  # 1: the next generation plays while this one is learned from, by a network one older

    @property
    def num_shards(self) -> int:
        """The number of shards per generation."""
        return -(-self.games // self.games_per_shard)


@dataclass(frozen=True)
class ReplayConfig:
    least_positions: int = 20_000  # in the window, at least
    share: float = 0.5  # the window holds this share of all positions so far, once that is more


@dataclass(frozen=True)
class LearnerConfig:
    batch_size: int = 256  # positions per step
    passes: float = 4.0  # over each new position: learning then takes about as long as self-play
    optimizer: Literal["muon", "adamw", "sgd"] = "muon"  # muon learns faster than adamw; sgd as in AlphaZero
    learning_rate: float = 0.002  # for muon and adamw; sgd needs 10 times as much
    final_share: float = 0.3  # the last part of the run, in which the learning rate falls to 1/20
    weight_decay: float = 0.05  # the L2 term, times the learning rate, per step
    clip: float = 1.0  # largest norm of the gradient
    average: float = 0.99  # decay per step of the averaged weights, which play
    parts: int = 2  # of a batch, each computed by one process with one thread; results depend on it
    precision: Literal["auto", "fp32", "bf16"] = "auto"  # of gradients; a trial decides when the run begins
    device: str = "cpu"  # or cuda, mps, auto


@dataclass(frozen=True)
class GateConfig:
    """How the champion is chosen: the network that plays for the run and makes its games of self-play."""

    kind: Literal["always", "champion", "rising"] = "always"  # how a network is promoted: docs/training.md
    games: int = 40  # of the match that decides; an even number
    win_rate: float = 0.55  # champion: the score that promotes, at least; a draw counts half
    simulations: int = 64  # per move, of the networks in that match
    rollouts: int = 1000  # rising: simulations of the opponent at first; this many are added when it loses


@dataclass(frozen=True)
class MeasureConfig:
    """How the strength of the network is measured. These games are not learned from."""

    every: int = 5  # generations; 0: never
    positions: int = 300  # number of positions with exact scores to solve (Connect 4)
    simulations: int = 64  # per move
    opponents: str = "uct:sims=200"  # players to play against, separated by spaces
    games: int = 20  # against each opponent, and against the network of the last measurement


@dataclass(frozen=True)
class LengthConfig:
    """When a run ends: at the first of these limits; with minutes, at the nearest end of a generation."""

    minutes: float = 0.0  # of work, over all commands of the run; 0: no limit
    generations: int = 100  # 0: no limit

    def progress(self, generations: int, seconds: float) -> float:
        """The share of the run that is over after these generations and seconds of work; 1: all of it."""
        by_time = seconds / (60 * self.minutes) if self.minutes else 0.0
        by_generations = generations / self.generations if self.generations else 0.0
        return max(by_time, by_generations)

    def seconds_left(self, seconds: float) -> float:
        """Seconds until the time limit after `seconds` of work; infinity without a time limit."""
        return 60 * self.minutes - seconds if self.minutes else math.inf

    def is_over(self, generations: int, seconds: float, pace: float) -> bool:
        """True if the run ends here. `pace`: seconds of the last generation. A next generation would end too
        late if more than half of it lay after the limit."""
        return self.progress(generations, seconds + pace / 2) >= 1

    def __str__(self) -> str:
        limits = [f"{self.minutes:g} minute{'s' * (self.minutes != 1)}"] if self.minutes else []
        limits += (
            [f"{self.generations} generation{'s' * (self.generations != 1)}"] if self.generations else []
        )
        return " or ".join(limits) or "no end"


@dataclass(frozen=True)
class Change:
    """A setting that changed after the run began; made by changes.py."""

    generation: int  # the first one that uses it
    setting: str  # section.key
    before: str
    after: str
    why: str


@dataclass(frozen=True)
class Config:
    game: str
    seed: int = 0
    length: LengthConfig = field(default_factory=LengthConfig)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    selfplay: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    replay: ReplayConfig = field(default_factory=ReplayConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    gate: GateConfig = field(default_factory=GateConfig)
    measure: MeasureConfig = field(default_factory=MeasureConfig)
    changes: tuple[Change, ...] = ()  # oldest first


SECTIONS: dict[str, Any] = {
    "length": LengthConfig,
    "network": NetworkConfig,
    "selfplay": SelfPlayConfig,
    "replay": ReplayConfig,
    "learner": LearnerConfig,
    "gate": GateConfig,
    "measure": MeasureConfig,
}

PRESETS: dict[str, dict[str, Any]] = {  # applied after a game's file
    "minutes": {"length.minutes": 10, "length.generations": 0, "network.channels": 32, "network.blocks": 4},
    "hour": {"length.minutes": 60, "length.generations": 0, "network.channels": 32, "network.blocks": 5},
    "night": {
        "length.minutes": 480,
        "length.generations": 0,
        "network.channels": 64,
        "network.blocks": 6,
        "selfplay.simulations": 48,
    },
    "gpu": {
        "length.minutes": 480,
        "length.generations": 0,
        "network.channels": 128,
        "network.blocks": 10,
        "selfplay.simulations": 64,
        "selfplay.games": 4096,
        "selfplay.games_per_shard": 2048,
        "selfplay.at_once": 1024,
        "selfplay.device": "auto",
        "learner.device": "auto",
        "learner.batch_size": 1024,
        "learner.parts": 1,
    },
}

LEAST = {  # where 0 makes no sense
    "network.channels": 1,
    "network.blocks": 1,
    "selfplay.games": 1,
    "selfplay.games_per_shard": 1,
    "selfplay.at_once": 1,
    "selfplay.simulations": 2,
    "selfplay.fast_simulations": 2,
    "selfplay.full_share": 0.01,
    "selfplay.discount": 0.01,
    "selfplay.opening_candidates": 1,
    "selfplay.considered": 2,
    "selfplay.cache_positions": 1,
    "learner.batch_size": 2,
    "learner.passes": 0.01,
    "learner.parts": 1,
    "gate.games": 2,
    "gate.simulations": 1,
    "gate.rollouts": 1,
    "measure.simulations": 2,
}
RENAMED = {  # old names, which earlier runs contain, and the new ones
    "learner.threads": "learner.parts",
    "selfplay.games_a_shard": "selfplay.games_per_shard",
    "selfplay.trust": "selfplay.td_lambda",
}
EARLIER = {
    "selfplay.fours": 0,
    "learner.precision": "fp32",
}  # before these settings existed: for runs without
MOST = {  # where more would crash, or never end
    "length.minutes": 10_000_000,
    "length.generations": 1_000_000,
    "network.channels": 4096,
    "network.blocks": 1000,
    "network.teacher_generations": 1_000_000,
    "selfplay.games": 10_000_000,
    "selfplay.games_per_shard": 1_000_000,
    "selfplay.at_once": 65_536,
    "selfplay.simulations": 1_000_000,
    "selfplay.simulations_rise": 1_000_000,
    "selfplay.fast_simulations": 1_000_000,
    "selfplay.random_opening_plies": 10_000,
    "selfplay.opening_candidates": 1000,
    "selfplay.considered": 100_000,
    "selfplay.temperature_plies": 1_000_000,
    "selfplay.fours": 1_000_000,
    "selfplay.cache_positions": 100_000_000,
    "selfplay.reanalyse": 100,
    "selfplay.overlap": 1,
    "replay.least_positions": 1_000_000_000,
    "learner.batch_size": 65_536,
    "learner.passes": 10_000,
    "learner.learning_rate": 100,
    "learner.parts": 1024,
    "gate.games": 100_000,
    "gate.simulations": 1_000_000,
    "gate.rollouts": 100_000_000,
    "measure.every": 1_000_000,
    "measure.positions": 1_000_000,
    "measure.simulations": 1_000_000,
    "measure.games": 100_000,
}
MOST_ANYWHERE = 1_000_000_000  # for settings that are not in the table
MOST_SEED = 2**31 - 1
SHARES = (  # at most 1
    "selfplay.full_share",
    "selfplay.discount",
    "selfplay.td_lambda",
    "selfplay.dirichlet_fraction",
    "selfplay.reanalyse_value",
    "replay.share",
    "learner.final_share",
    "learner.average",
    "gate.win_rate",
)
